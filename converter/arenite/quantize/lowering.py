"""What the lowering of every operator family works with: the float graph, the chosen quantization, and the int8 graph that grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import QuantizationError
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.int16_choice import NO_INT16, Int16Choice
from arenite.quantize.multipliers import activation_bounds, lookup_table, quantize_values
from arenite.quantize.ranges import Range
from arenite.quantize.scales import asymmetric


@dataclass(frozen=True)
class WeightChoice:
    """What a method chose for a linear layer, one row a channel; None: what rounding to the nearest gives."""

    scale: NDArray[np.float32] | None = None
    """Of the weights, [channels]. Lowering doubles one where the accumulator proof asks for it."""
    steps: NDArray[np.int64] | None = None
    """The weights in these scales, [channels, weights of one]."""
    bias: NDArray[np.float64] | None = None
    """Real values, [channels]."""
    four_bits: bool = False
    """`steps` are of four bits, with a factor for every 32 taps (four_bits.py), and are to be stored so where the layer allows it."""


@dataclass
class Lowering:
    """Builds the int8 form of `source`. Activations keep their names; `target` gets nodes in the order of execution."""

    source: Graph
    quantization: dict[str, Quantization]
    """Of every activation."""
    target: Graph
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Remarks for the report, by output tensor."""
    steps: dict[str, Quantization | None] = field(default_factory=dict)
    """Of the tensors that are int16, or int32 (state_tensors.py, fine_inputs.py); one for each unit of cells, None where a tensor holds
    states of several scales."""
    rounded: dict[str, dict[int, NDArray[np.float32]]] = field(default_factory=dict)
    """Constant operands as the nodes have them, by first output and position, where the stored form does not tell."""
    choices: Mapping[str, WeightChoice] = field(default_factory=dict)
    """Of linear layers, by first output."""
    int16: Int16Choice = NO_INT16
    """Of recurrent layers; the other ones are none of this graph's int8 nodes."""
    solved: dict[tuple[object, ...], Any] = field(default_factory=dict)
    """Linear layers in integers (lower_linear.Linear), by all that they follow from; lowerings that differ in a few layers share it."""
    _constants: dict[tuple[object, ...], str] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Graph, quantization: dict[str, Quantization], steps: Mapping[str, Quantization | None] | None = None) -> Lowering:
        target = source.copy()
        target.tensors, target.nodes = {}, []
        for name, chosen in quantization.items():
            target.tensors[name] = Tensor(name, source.tensors[name].shape, DType.INT8, None, chosen)
        for name, scale in (steps or {}).items():
            whole = scale if scale is not None and scale.is_per_tensor else None
            dtype = DType.INT32 if whole is not None and whole.bits == 24 else DType.INT16
            target.tensors[name] = Tensor(name, source.tensors[name].shape, dtype, None, whole)
        for name in source.outputs:  # a constant output: its name is for the copy that the model gives away
            tensor = source.tensors[name]
            if tensor.is_constant and tensor.dtype is DType.FLOAT32:
                target.tensors[name] = Tensor(name, tensor.shape, DType.INT8, None, constant_quantization(tensor))
            elif tensor.is_constant:
                target.tensors[name] = Tensor(name, tensor.shape, tensor.dtype)
        return cls(source, quantization, target, steps=dict(steps or {}))

    def note(self, node: Node, remark: str) -> None:
        self.notes.setdefault(node.output, []).append(remark)

    def scale_of_steps(self, name: str) -> Quantization:
        """Of an int16 tensor. Raises ValueError where it has no single one."""
        chosen = self.steps[name]
        if chosen is None or not chosen.is_per_tensor:
            raise ValueError(f"{name} holds states of several scales")
        return chosen

    def emit(self, node: Node, op: str, inputs: tuple[str | None, ...], output: str | None = None, **attributes: Any) -> str:
        """Append an int8 node that stands for `node`, with all of its outputs. Returns the first."""
        output = output or node.output
        variant = attributes.pop("variant", "int8")
        for name in node.outputs[1:]:
            self.target.tensors[name] = self.source.tensors[name]
        outputs = (output, *node.outputs[1:]) if op == node.op else (output,)
        self.target.nodes.append(Node(op, node.name, inputs, outputs, {**attributes, "variant": variant}, node.origins))
        return output

    def index(self, name: str | None) -> str | None:
        """An operand that is not quantized, indices as a rule, in the int8 graph."""
        if name is None:
            return None
        tensor = self.source.tensors[name]
        return name if tensor.data is None else self.constant(name, tensor.data)

    def brought_to(self, node: Node, name: str | None, quantization: Quantization) -> str:
        """An int8 operand of `node` in this quantization: a constant is quantized so, an activation passes a table where it has another."""
        tensor = self.source.tensor(name)
        if tensor.is_constant:
            return self.constant_as(tensor, quantization)
        if self.quantization[tensor.name].same_as(quantization):
            return tensor.name
        between = self.temporary(tensor.name, tensor.shape, quantization)
        self.requantize(node, tensor.name, between)
        return between

    def constant(self, name: str, data: NDArray[np.generic], quantization: Quantization | None = None) -> str:
        """A constant with this content: one that is there already, or a new one under `name` or a name like it."""
        data = np.asarray(data, order="C")
        parts: tuple[object, ...] = (data.dtype.str, data.shape, data.tobytes())
        if quantization is not None:
            parts += (quantization.scale.tobytes(), quantization.zero_point.tobytes(), quantization.axis)
        if parts not in self._constants:
            self._constants[parts] = self.target.add_constant(name, data, quantization).name
        return self._constants[parts]

    def is_constant(self, name: str | None) -> bool:
        return self.source.tensor(name).is_constant

    def values(self, node: Node, index: int) -> NDArray[np.float32]:
        """The data of a constant operand. Raises QuantizationError where it is an activation."""
        tensor = self.source.tensor(node.inputs[index])
        if tensor.data is None:
            raise QuantizationError(
                f"{self.source.name}: {node.name} ({node.op}) computes its operand {index}, `{tensor.name}`, at run time; it must be "
                "constant. Fold it into an initializer (a simplifier such as onnxsim does), or remove the node."
            )
        return np.asarray(tensor.data, np.float32)

    def operand(self, name: str | None) -> tuple[str, Quantization]:
        """An int8 operand, activation or constant, and its quantization. A constant without annotation gets the range of its values."""
        tensor = self.source.tensor(name)
        if tensor.data is None:
            return tensor.name, self.quantization[tensor.name]
        chosen = constant_quantization(tensor)
        return self.constant_as(tensor, chosen), chosen

    def constant_as(self, tensor: Tensor, quantization: Quantization) -> str:
        assert tensor.data is not None
        return self.constant(tensor.name, quantize_values(np.asarray(tensor.data, np.float64), quantization), quantization)

    def temporary(self, like: str, shape: tuple[int, ...], quantization: Quantization) -> str:
        """A new int8 activation, named after `like`."""
        return self.target.add(Tensor(f"{like}_requantized", shape, DType.INT8, None, quantization)).name

    def lookup(self, node: Node, source: str, output: str, table: NDArray[np.int8], function: str) -> None:
        """A Lookup; `function` says what it does, for readers."""
        name = self.constant(f"{output}/table", table)
        self.emit(node, "Lookup", (source, name), output, function=function)

    def requantize(self, node: Node, source: str, output: str, function: str = "requantize") -> None:
        """A table between two tensors of the int8 graph that differ in quantization only."""
        before, after = self.target.tensors[source].quantization, self.target.tensors[output].quantization
        assert before is not None and after is not None
        self.lookup(node, source, output, lookup_table(None, before, after), function)

    def clamp(self, node: Node) -> dict[str, Any]:
        """activation_min and activation_max of the fused activation."""
        low, high = activation_bounds(node.attributes.get("clip", UNBOUNDED), self.quantization[node.output])
        return {"activation_min": low, "activation_max": high}


def constant_quantization(tensor: Tensor) -> Quantization:
    """Of a constant operand that is no weight: its annotation where it has one per tensor, else the range of its values."""
    if tensor.quantization is not None and tensor.quantization.is_per_tensor:
        return tensor.quantization
    values = np.asarray(tensor.data, np.float64)
    return asymmetric(Range(float(values.min(initial=0.0)), float(values.max(initial=0.0))))


def geometry(node: Node) -> dict[str, Any]:
    """The float form's attributes that the int8 form keeps."""
    return {name: value for name, value in node.attributes.items() if name not in ("clip", "expression")}
