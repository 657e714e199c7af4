"""LSTM, GRU and RNN as ONNX defines them, on float32, on int8 with int16 states (numerics §12), or on int16 (§16). Batches are in the
second dimension of x (layout 0).

The outputs that hold the last states are the kernel's working memory as well. Where nobody reads the states of every step, the operator
is the one without that output: `LstmLast` for `Lstm`, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Form, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import DType, Tensor

ACTIVATIONS = {
    "Sigmoid": 0,
    "Tanh": 1,
    "Relu": 2,
    "Affine": 3,
    "LeakyRelu": 4,
    "ThresholdedRelu": 5,
    "ScaledTanh": 6,
    "HardSigmoid": 7,
    "Elu": 8,
    "Softsign": 9,
    "Softplus": 10,
}
"""Numbers in the record, fixed for ever."""

MAX_ACTIVATIONS = 6
"""Three a direction."""

TABLE_INTERVALS = 512
"""Of the integer forms' table of tanh on [0, 8]."""

INTEGER_VARIANTS = ("int8", "int16_steps", "int16_weights")


@dataclass(frozen=True)
class Cell:
    """A kind of recurrent layer."""

    name: str
    code: int
    gates: int
    """Rows of the weights are gates · hidden."""
    biases: int
    functions: int
    """Activations a direction."""
    scratch: int
    """Vectors of `hidden` floats that the kernel needs."""
    scratch_int8: int
    """Vectors of `hidden` int16 that the integer forms need."""
    has_cell: bool = False


LSTM = Cell("Lstm", 190, gates=4, biases=8, functions=3, scratch=4, scratch_int8=1, has_cell=True)
GRU = Cell("Gru", 192, gates=3, biases=6, functions=2, scratch=3, scratch_int8=2)
RNN = Cell("Rnn", 194, gates=1, biases=2, functions=1, scratch=1, scratch_int8=1)
CELLS = {cell.name: cell for cell in (LSTM, GRU, RNN)}


def cell_of(op: str) -> Cell | None:
    """The kind of layer that an operator of this file is; None for other operators."""
    return CELLS.get(op.removesuffix("Last"))


def _is_integer(attributes: Attributes) -> bool:
    return attributes.get("variant") in INTEGER_VARIANTS


def _row_shape(cell: Cell, directions: int, hidden: int, attributes: Attributes) -> Shape:
    if cell.has_cell and attributes["variant"] != "int8":
        return (directions, (3 * cell.gates + 1) * hidden)
    return (directions, cell.gates * hidden, 3)


def _sizes(cell: Cell, inputs: Inputs, attributes: Attributes) -> tuple[int, int, int, int, int]:
    """steps, batch, inputs, hidden, directions. Raises ValueError where the operands do not fit each other."""
    x, weight, recurrent = (given(inputs, i).shape for i in range(3))
    directions, hidden = len(attributes["directions"]), attributes["hidden"]
    if len(x) != 3 or weight != (directions, cell.gates * hidden, x[2]) or recurrent != (directions, cell.gates * hidden, hidden):
        raise ValueError(f"x{x}, W{weight} and R{recurrent} do not fit {directions} directions of {hidden} units")
    state = (directions, x[1], hidden)
    expected: list[Shape] = [(directions, cell.biases * hidden), (x[1],), state]
    if cell.has_cell:
        expected += [state, (directions, 3 * hidden)]
    if _is_integer(attributes):
        expected = [_row_shape(cell, directions, hidden, attributes), (TABLE_INTERVALS + 1,), (x[1],), state]
        if cell.has_cell:
            expected.append(state)
        if cell is GRU:
            expected.append((directions, hidden))
    for position, shape in enumerate(expected, 3):
        tensor = inputs[position] if position < len(inputs) else None
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"{tensor.name} has the shape {tensor.shape}, not {shape}")
    return x[0], x[1], x[2], hidden, directions


def _results(cell: Cell, every: bool) -> Callable[[Inputs, Attributes], tuple[tuple[Shape, DType], ...]]:
    def results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
        steps, batch, _, hidden, directions = _sizes(cell, inputs, attributes)
        integer = _is_integer(attributes)
        state_type = DType.INT16 if integer else DType.FLOAT32
        every_type = DType.INT8 if attributes.get("variant") == "int8" else state_type
        state = ((directions, batch, hidden), state_type)
        states = (state, state) if cell.has_cell else (state,)
        return (((steps, directions, batch, hidden), every_type), *states) if every else states

    return results


def _record(cell: Cell) -> Callable[[Node, Inputs, Sequence[Tensor]], Record]:
    def record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
        a = node.attributes
        steps, batch, features, hidden, directions = _sizes(cell, inputs, a)
        missing = MAX_ACTIVATIONS - len(a["activations"])
        values: Record = {
            "steps": steps,
            "batch": batch,
            "features": features,
            "hidden": hidden,
            "directions": directions,
            "first_reverse": int(a["directions"][0]),
            "activation": tuple(ACTIVATIONS[name] for name, _, _ in a["activations"]) + (0,) * missing,
            "alpha": tuple(alpha for _, alpha, _ in a["activations"]) + (0.0,) * missing,
            "beta": tuple(beta for _, _, beta in a["activations"]) + (0.0,) * missing,
            "clip": float(a["threshold"]),
        }
        if cell is LSTM:
            values["coupled"] = int(a["coupled"])
        if cell is GRU:
            values["linear_before_reset"] = int(a["linear_before_reset"])
        return values

    return record


def _integer_record(cell: Cell) -> Callable[[Node, Inputs, Sequence[Tensor]], Record]:
    def record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
        a = node.attributes
        steps, batch, features, hidden, directions = _sizes(cell, inputs, a)
        values: Record = {
            "steps": steps,
            "batch": batch,
            "features": features,
            "hidden": hidden,
            "directions": directions,
            "first_reverse": int(a["directions"][0]),
            "input_bytes": given(inputs, 0).dtype.itemsize,
            **{name: a[name] for name in ("shift", "limit", "state_bits", "output_zero_point", "output_multiplier", "output_shift")},
        }
        if cell is LSTM:
            values["cell_bits"] = a["cell_bits"]
        if cell is GRU:
            values["linear_before_reset"] = int(a["linear_before_reset"])
        return values

    return record


def _scratch(cell: Cell) -> Callable[[Node, Inputs, Sequence[Tensor]], int]:
    def scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
        return (2 * cell.scratch_int8 if _is_integer(node.attributes) else 4 * cell.scratch) * int(node.attributes["hidden"])

    return scratch


def _macs(inputs: Inputs, output: Shape) -> int:
    x = given(inputs, 0).shape
    return x[0] * x[1] * (given(inputs, 1).elements + given(inputs, 2).elements)


def _operator(cell: Cell, every: bool) -> Operator:
    operands = [
        Operand("x", "[steps, batch, features]"),
        Operand("weight", f"[directions, {cell.gates} · hidden, features]: W"),
        Operand("recurrent", f"[directions, {cell.gates} · hidden, hidden]: R"),
        Operand("bias", f"[directions, {cell.biases} · hidden]: B", optional=True),
        Operand("lengths", "int32 [batch]: steps of each sequence", optional=True),
        Operand("initial_h", "[directions, batch, hidden]", optional=True),
    ]
    if cell.has_cell:
        operands += [
            Operand("initial_c", "[directions, batch, hidden]", optional=True),
            Operand("peephole", "[directions, 3 · hidden]: P", optional=True),
        ]
    row = f"int32 [directions, {cell.gates} · hidden, 3]: of each row b, m_x, m_r"
    if cell.has_cell:
        row += f"; of int16 [directions, {3 * cell.gates + 1} · hidden], with p_c of each unit behind them"
    integer_operands = [
        Operand("x", "int8, int16 or int32 [steps, batch, features]"),
        Operand("weight", f"int8 or int16 [directions, {cell.gates} · hidden, features]: W", constant=True),
        Operand("recurrent", f"int8 or int16 [directions, {cell.gates} · hidden, hidden]: R", constant=True),
        Operand("row", row, constant=True),
        Operand("table", f"int16 [{TABLE_INTERVALS + 1}]: tanh", constant=True),
        Operand("lengths", "int32 [batch]: steps of each sequence", optional=True),
        Operand("initial_h", "int16 [directions, batch, hidden]", optional=True),
    ]
    if cell.has_cell:
        integer_operands.append(Operand("initial_c", "int16 [directions, batch, hidden]", optional=True))
    if cell is GRU:
        integer_operands.append(
            Operand("recurrent_bias", "int32 [directions, hidden]: b_r, with linear_before_reset", constant=True, optional=True)
        )
    results = _results(cell, every)
    return Operator(
        name=cell.name if every else f"{cell.name}Last",
        summary=f"{cell.name.upper()}: {'the states of every step, then the last' if every else 'the last states only'}",
        onnx=(cell.name.upper(),),
        inputs=tuple(operands),
        attributes=(
            Attribute("hidden", "units"),
            Attribute("directions", "of each: does it go from the end to the start?"),
            Attribute("activations", f"{cell.functions} a direction: (name, alpha, beta)"),
            Attribute("threshold", "bound of what enters the activations; not finite: none"),
        ),
        shape=lambda inputs, attributes: results(inputs, attributes)[0][0],
        results=results,
        code=cell.code if every else cell.code + 1,
        variants=INTEGER_VARIANTS,
        stored=tuple(integer_operands),
        params=(*_SIZES, *_INTEGER_PARAMS, *_INTEGER_OWN[cell.name]),
        record=_integer_record(cell),
        typed=Form(("float32",), tuple(operands), (*_SIZES, *_float_params(cell)), _record(cell)),
        macs=_macs,
        scratch=_scratch(cell),
    )


_SIZES = (
    Param("steps", ""),
    Param("batch", ""),
    Param("features", "of the input"),
    Param("hidden", "units"),
    Param("directions", "1 or 2"),
    Param("first_reverse", "0 or 1: the first direction goes from the end to the start; a second one does"),
)
_INTEGER_PARAMS = (
    Param("shift", "S, 9 … 46"),
    Param("limit", "C, 0 … 2^19"),
    Param("state_bits", "p_h, 0 … 15"),
    Param("output_zero_point", "of the states of every step in int8; 0 where these are not given"),
    Param("output_multiplier", "below 2^15"),
    Param("output_shift", "1 … 30"),
    Param("input_bytes", "of an element of x, 1, 2 or 4: int8, int16, or with int16 states of every step int32"),
)
_OWN = {
    "Lstm": (Param("coupled", "0 or 1: the forget gate is 1 − the input gate"),),
    "Gru": (Param("linear_before_reset", "0 or 1"),),
    "Rnn": (),
}
_INTEGER_OWN = {"Lstm": (Param("cell_bits", "p_c, 0 … 15; of int16 the least"),), "Gru": _OWN["Gru"], "Rnn": ()}


def _float_params(cell: Cell) -> tuple[Param, ...]:
    return (
        Param("activation", f"numbers of the functions, {cell.functions} a direction, then 0", MAX_ACTIVATIONS),
        Param("alpha", "their parameters", MAX_ACTIVATIONS, is_float=True),
        Param("beta", "", MAX_ACTIVATIONS, is_float=True),
        Param("clip", "bound of what enters them; not finite: none", is_float=True),
        *_OWN[cell.name],
    )


RECURRENT = tuple(_operator(cell, every) for cell in (LSTM, GRU, RNN) for every in (True, False))
