"""The float graph with its chosen scales becomes the int8 form, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arenite.errors import QuantizationError
from arenite.graph import DType, Graph, Node, Quantization, State, Tensor
from arenite.own_operators import OWN_OPERATORS
from arenite.quantize import lower_elementwise as elementwise
from arenite.quantize import lower_indexing as indexing
from arenite.quantize import lower_movement as movement
from arenite.quantize import lower_reduction as reduction
from arenite.quantize.int16_choice import NO_INT16, Int16Choice
from arenite.quantize.lower_linear import lower_linear
from arenite.quantize.lower_normalization import lower_normalization
from arenite.quantize.lower_own import own_lowering
from arenite.quantize.lower_recurrent import lower_recurrent
from arenite.quantize.lower_resample import lower_resample
from arenite.quantize.lower_typed import TypedPart
from arenite.quantize.lowering import Lowering, WeightChoice
from arenite.quantize.multipliers import lookup_table
from arenite.quantize.ranges import Range

NO_RANGES: Mapping[str, Range] = {}
LOWERINGS: dict[str, Callable[[Lowering, Node], None]] = {
    "Conv": lower_linear,
    "DepthwiseConv": lower_linear,
    "FullyConnected": lower_linear,
    "MatMul": elementwise.lower_matmul,
    "Add": elementwise.lower_sum,
    "Sub": elementwise.lower_sum,
    "Mul": elementwise.lower_product,
    "Div": elementwise.lower_quotient,
    "PRelu": elementwise.lower_prelu,
    "Softmax": elementwise.lower_softmax,
    "Elementwise": elementwise.lower_function,
    "MaxPool": movement.lower_max_pool,
    "AveragePool": movement.lower_mean,
    "ReduceMean": movement.lower_mean,
    "Reshape": movement.lower_move,
    "Transpose": movement.lower_move,
    "Slice": movement.lower_move,
    "Expand": movement.lower_move,
    "Pad": movement.lower_pad,
    "Concat": movement.lower_merge,
    "LayerNormalization": lower_normalization,
    **dict.fromkeys(("Lstm", "LstmLast", "Gru", "GruLast", "Rnn", "RnnLast"), lower_recurrent),
    **dict.fromkeys(("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "CumSum"), reduction.lower_reduction),
    "ReduceLogSumExp": reduction.lower_log_sum_exp,
    "ReduceMax": reduction.lower_extremum,
    "ReduceMin": reduction.lower_extremum,
    "Max": reduction.lower_greater,
    "Min": reduction.lower_greater,
    "Where": reduction.lower_choice,
    "ArgMax": reduction.lower_arg,
    "ArgMin": reduction.lower_arg,
    "TopK": reduction.lower_top_k,
    **dict.fromkeys(("Less", "LessOrEqual", "Equal"), reduction.lower_comparison),
    **dict.fromkeys(("Gather", "GatherElements", "GatherND", "ReverseSequence"), indexing.lower_selection),
    "Trilu": indexing.lower_with_zeros,
    "MaxUnpool": indexing.lower_with_zeros,
    "MaxPoolWithIndices": movement.lower_move,
    "Resample": lower_resample,
    **dict.fromkeys(
        ("ScatterElements", "ScatterND", "ScatterElementsReduce", "ScatterNdReduce", "TensorScatter", "OneHot"), indexing.lower_placement
    ),
}


def lowering_of(op: str) -> Callable[[Lowering, Node], None] | None:
    """How a node of this operator becomes int8; None where it has no int8 form."""
    return own_lowering(OWN_OPERATORS[op]) if op in OWN_OPERATORS else LOWERINGS.get(op)


def lower(
    graph: Graph,
    quantization: dict[str, Quantization],
    typed: frozenset[str] = frozenset(),
    steps: Mapping[str, Quantization | None] | None = None,
    choices: Mapping[str, WeightChoice] | None = None,
    solved: dict[tuple[object, ...], Any] | None = None,
    int16: Int16Choice = NO_INT16,
    ranges: Mapping[str, Range] = NO_RANGES,
) -> Lowering:
    """The int8 form of `graph`, every activation quantized as `quantization` says. Inputs and outputs that it names are int8.

    The nodes whose first output is in `typed` get their typed form instead (placement.py), and the tensors of `steps` are int16
    (state_tensors.py). `choices` and `solved` as in Lowering, `int16` and `ranges` as in Int16Layers. Raises QuantizationError, naming
    the node, for what has no form.
    """
    lowering = Lowering.of(graph, quantization, steps)
    lowering.choices = choices or {}
    lowering.solved = {} if solved is None else solved
    lowering.int16 = int16
    typed_part = TypedPart.of(lowering, int16, ranges)
    for node in graph.nodes:
        if node.output in typed:
            typed_part.lower(node)
            continue
        if node.op in movement.CARRYING and not lowering.steps.keys().isdisjoint((*node.inputs, node.output)):
            typed_part.move_steps(node)
            continue
        lowering_of_node = lowering_of(node.op)
        if lowering_of_node is None:
            raise QuantizationError(f"{graph.name}: {node.name} ({node.op}) has no int8 form. `arenite operators` lists what is supported.")
        lowering_of_node(lowering, node)
    _materialise_outputs(lowering)
    _requantize_states(lowering)
    lowering.target.prune()
    return lowering


def _materialise_outputs(lowering: Lowering) -> None:
    """An output that is constant, or an input of the model, gets memory of its own: a copy by an identity table. (Several outputs that are
    one tensor stay one.)"""
    target = lowering.target
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(target.outputs):
        tensor = lowering.source.tensors[name]
        copied = Node("Lookup", name, (name,), (name,))
        if tensor.data is not None and tensor.dtype is not DType.FLOAT32:
            value = lowering.constant(f"{name}/value", tensor.data)
            target.nodes.append(Node("Reshape", name, (value,), (name,), {"shape": tensor.shape}))
        elif tensor.is_constant:
            stored, chosen = lowering.operand(name)
            lowering.lookup(copied, stored, name, lookup_table(None, chosen, chosen), "copy")
        elif name in target.inputs and name in lowering.quantization:
            chosen = lowering.quantization[name]
            copy = target.add(Tensor(f"{name}_output", tensor.shape, DType.INT8, None, chosen)).name
            lowering.lookup(copied, name, copy, lookup_table(None, chosen, chosen), "copy")
            renamed[name] = copy
            if name in target.io_dtypes:
                target.io_dtypes[copy] = target.io_dtypes[name]
            if name in target.labels:
                target.labels[copy] = target.labels[name]
    target.outputs = [renamed.get(name, name) for name in target.outputs]


def _requantize_states(lowering: Lowering) -> None:
    """Where annotations give a state's end another quantization than its beginning, a table turns one into the other."""
    target = lowering.target
    for index, state in enumerate(target.states):
        end, beginning = target.tensors[state.output], target.tensors[state.input]
        if beginning.quantization is None or beginning.quantization.same_as(end.quantization):
            continue
        kept = lowering.temporary(state.output, end.shape, beginning.quantization)
        lowering.requantize(Node("Lookup", state.output, (state.output,), (state.output,)), state.output, kept)
        target.states[index] = State(kept, state.input)
        target.outputs = [kept if name == state.output else name for name in target.outputs]
