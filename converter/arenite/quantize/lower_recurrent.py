"""LSTM, GRU, RNN: integer weights, row numbers and the table of their int8 form, and of that of 16-bit activations. Numerics §12, §16."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node, Quantization, Tensor
from arenite.graph.operators.recurrent import GRU, LSTM, TABLE_INTERVALS, cell_of
from arenite.quantize.lowering import Lowering
from arenite.quantize.multipliers import quantize_steps, scale_of, step_multiplier, zero_point_of

ACTIVATIONS = {"Lstm": ("Sigmoid", "Tanh", "Tanh"), "Gru": ("Sigmoid", "Tanh"), "Rnn": ("Tanh",)}
"""Those that the int8 form has, of a direction."""
CONSTANT = (1, 2, 3)
"""Operands that it must know: W, R, B."""
PEEPHOLE = 7
POINT = 15
"""Fractional bits of a gate's argument."""
BIAS_POINT = 19
"""Of a bias with 16-bit activations."""
WIDE_BITS = 60
"""Bits of a product of a 64-bit sum and its multiplier."""
MOST_WEIGHTS = 1 << 15
"""Of a row, for 64-bit sums."""
LARGEST_ARGUMENT = 1 << 19
LARGEST_SHIFT, LEAST_SHIFT = 46, 9
MULTIPLIER_LIMIT = 1 << 30
ACCUMULATOR_LIMIT = 1 << 31
UNUSED_ROW = 2.0**-19
"""What one step of the accumulator of a row without weights is worth: its bias is exact to that."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def fits_recurrent(graph: Graph, node: Node) -> bool:
    """Whether a recurrent node has constant weights and nothing that only float32 has."""
    return cell_of(node.op) is not None and not _obstacle(graph, node)


def fits_int16(graph: Graph, node: Node) -> bool:
    """Whether a node is a recurrent layer that has the form of 16-bit activations."""
    return cell_of(node.op) is not None and not int16_obstacle(graph, node)


def int16_obstacle(graph: Graph, node: Node) -> str:
    """What a recurrent node has for which it must stay float32 where 16-bit activations are asked for; nothing where it need not."""
    obstacle = _obstacle(graph, node)
    if obstacle:
        return obstacle
    if any(np.rint(np.abs(bias).max(initial=0.0) * 2.0**BIAS_POINT) >= 1 << 31 for bias in biases(graph, node)):
        return "a bias of 4096 or more"
    if any(graph.tensor(node.inputs[i]).shape[-1] > MOST_WEIGHTS for i in (1, 2)):
        return f"more than {MOST_WEIGHTS} weights a row"
    return ""


def _obstacle(graph: Graph, node: Node) -> str:
    """Of both integer forms."""
    cell = cell_of(node.op)
    assert cell is not None
    names = tuple(name for name, _, _ in node.attributes["activations"])
    if names != ACTIVATIONS[cell.name] * len(node.attributes["directions"]):
        return f"the activations {', '.join(dict.fromkeys(names))}"
    if node.attributes.get("coupled"):
        return "coupled gates"
    if cell is LSTM and len(node.inputs) > PEEPHOLE and node.inputs[PEEPHOLE] is not None:
        return "peepholes"
    if any(node.inputs[i] is not None and not graph.tensor(node.inputs[i]).is_constant for i in CONSTANT if i < len(node.inputs)):
        return "weights that are computed at run time"
    return "an input that is constant" if graph.tensor(node.inputs[0]).is_constant else ""


def reads_int16(node: Node, coarse: Set[str]) -> bool:
    """Whether a node is a recurrent layer, and x its only tensor among `coarse`: it takes an x of int16 then."""
    return cell_of(node.op) is not None and coarse.isdisjoint((*node.inputs[1:], *node.outputs))


def initial_states(node: Node) -> list[str]:
    """The operands that it starts from, h and c, as far as there are any."""
    cell = cell_of(node.op)
    positions = () if cell is None else (5, 6) if cell.has_cell else (5,)
    return [name for i in positions if i < len(node.inputs) and (name := node.inputs[i]) is not None]


def last_states(node: Node) -> tuple[str, ...]:
    """The results that hold its states after the last step, h and c."""
    return node.outputs if node.op.endswith("Last") else node.outputs[1:]


def tanh_table() -> NDArray[np.int16]:
    """T."""
    values = np.rint((1 << POINT) * np.tanh(np.arange(TABLE_INTERVALS + 1) / 64))
    return np.asarray(np.minimum(values, (1 << POINT) - 1), np.int16)


@dataclass(frozen=True)
class Matrix:
    """W or R in integers, with what is added to its product: arrays [directions, rows, …]."""

    weights: Integers
    scale: Floats
    bias: Integers
    doubled: int
    """Rows whose scale had to grow."""

    @property
    def real(self) -> NDArray[np.float32]:
        """The weights as they are stored."""
        return np.asarray(self.weights * self.scale[..., None], np.float32)


def integer_matrix(weights: Floats, bias: Floats, unit: float, largest: int, zero_point: int) -> Matrix:
    """Rows in steps of ±127, of scales that are float32 and for which the accumulator proof holds.

    `unit` is the scale of what the matrix is multiplied with, `largest` the greatest |q| of that, whose zero point goes into the bias.
    """
    peak = np.abs(weights).max(axis=-1, initial=0.0)
    scale = np.where(peak > 0, peak / 127, UNUSED_ROW / unit).astype(np.float32).astype(np.float64)
    scale = np.maximum(scale, float(np.finfo(np.float32).tiny))
    doubled = np.zeros(scale.shape, bool)
    while True:
        steps = np.clip(np.rint(weights / scale[..., None]), -127, 127).astype(np.int64)
        exact = np.rint(bias / (unit * scale)) - zero_point * steps.sum(axis=-1)
        failing = np.abs(exact) + largest * np.abs(steps).sum(axis=-1) >= ACCUMULATOR_LIMIT
        if not failing.any():
            return Matrix(steps, scale, exact.astype(np.int64), int(doubled.sum()))
        scale = np.where(failing, 2 * scale, scale)
        doubled |= failing


def row_multipliers(effective: Floats) -> tuple[Integers, int, bool]:
    """(m, S, whether all m are exact) for real numbers per step, [rows, …], in units of 2^−15."""
    largest = float(effective.max(initial=0.0))
    shift = LARGEST_SHIFT
    while shift > LEAST_SHIFT and np.rint(largest * 2.0**shift) >= MULTIPLIER_LIMIT:
        shift -= 1
    steps = np.rint(effective * 2.0**shift)
    return np.minimum(steps, MULTIPLIER_LIMIT - 1).astype(np.int64), shift, bool(np.all(steps < MULTIPLIER_LIMIT))


@dataclass(frozen=True)
class WideMatrix:
    """W or R in integers for sums of 64 bits: arrays [directions, rows, …]."""

    weights: Integers
    scale: Floats

    @property
    def real(self) -> NDArray[np.float32]:
        """The weights as they are stored."""
        return np.asarray(self.weights * self.scale[..., None], np.float32)


def wide_matrix(weights: Floats, largest: int) -> WideMatrix:
    """Rows in steps of ±largest; those without weights have the scale 0."""
    scale = np.abs(weights).max(axis=-1, initial=0.0) / largest
    steps = np.rint(weights / np.where(scale > 0, scale, 1.0)[..., None])
    return WideMatrix(steps.astype(np.int64), scale)


def wide_row_multipliers(effective: Floats, sums: Integers, bias: int) -> tuple[Integers, int, bool]:
    """As row_multipliers, where accumulators are at most `sums`, [rows, …], and the numbers b and b_r at most `bias`: §16."""
    limits = np.minimum(((1 << WIDE_BITS) - 1) // np.maximum(sums, 1), (1 << 31) - 1)
    shift = LARGEST_SHIFT
    while shift > LEAST_SHIFT and bias << (shift - BIAS_POINT + POINT) >= 1 << WIDE_BITS:
        shift -= 1
    while shift > LEAST_SHIFT and np.any(np.rint(effective * 2.0**shift) > limits):
        shift -= 1
    steps = np.rint(effective * 2.0**shift)
    return np.minimum(steps, limits).astype(np.int64), shift, bool(np.all(steps <= limits))


def bits_of(quantization: Quantization) -> Integers:
    """p of scales 2^−p."""
    return np.asarray(-np.log2(quantization.scale.astype(np.float64)), np.int64)


@dataclass(frozen=True)
class Numbers:
    """A layer's weights and numbers as the integer forms store them, and what its record says of them."""

    own: NDArray[np.signedinteger[Any]]
    """W."""
    other: NDArray[np.signedinteger[Any]]
    """R."""
    row: NDArray[np.int32]
    """b, m_x, m_r: [directions, rows, 3]; of an LSTM in 16 bits [directions, 3 · rows + hidden], with p_c of each unit."""
    recurrent_bias: NDArray[np.int32] | None
    """b_r, [directions, hidden]: of a GRU with linear_before_reset."""
    shift: int
    real: dict[int, NDArray[np.float32]]
    """W and R as they are stored, by the operands' positions."""


def lower_recurrent(lowering: Lowering, node: Node) -> None:
    cell = cell_of(node.op)
    assert cell is not None
    state, *cells = (_states_scale(lowering, name) for name in last_states(node))
    if node.output in lowering.int16.layers:
        numbers, output = _int16_numbers(lowering, node, state, cells), {"output_zero_point": 0, "output_multiplier": 0, "output_shift": 1}
        variant = lowering.int16.weights.variant
    else:
        numbers, output, variant = _int8_numbers(lowering, node, state), _output(lowering, node, state), "int8"
    lowering.rounded[node.output] = numbers.real
    operands: list[str | None] = [
        node.input,
        lowering.constant(str(node.inputs[1]), numbers.own),
        lowering.constant(str(node.inputs[2]), numbers.other),
        lowering.constant(f"{node.output}/row", numbers.row),
        lowering.constant("tanh_table", tanh_table()),
        _lengths(lowering, node),
        _initial(lowering, node, 5, state),
    ]
    attributes = {
        **node.attributes,
        "shift": numbers.shift,
        "limit": int(min(np.rint(float(node.attributes["threshold"]) * 2.0**POINT), LARGEST_ARGUMENT)),
        "state_bits": int(bits_of(state)),
        **output,
        "variant": variant,
    }
    if cell is LSTM:
        operands.append(_initial(lowering, node, 6, cells[0]))
        attributes["cell_bits"] = int(bits_of(cells[0]).min())
    if cell is GRU:
        bias = numbers.recurrent_bias
        operands.append(None if bias is None else lowering.constant(f"{node.output}/recurrent_bias", bias))
    lowering.target.nodes.append(Node(node.op, node.name, tuple(operands), node.outputs, attributes, node.origins))


def _int8_numbers(lowering: Lowering, node: Node, state: Quantization) -> Numbers:
    source, wide = lowering.source, node.input in lowering.steps
    x = lowering.scale_of_steps(node.input) if wide else lowering.quantization[node.input]
    own_bias, other_bias = biases(source, node)
    own = integer_matrix(_float64(source.tensor(node.inputs[1])), own_bias, scale_of(x), 1 << 15 if wide else 128, zero_point_of(x))
    other = integer_matrix(_float64(source.tensor(node.inputs[2])), other_bias, scale_of(state), 1 << 15, 0)
    effective = np.stack([scale_of(x) * own.scale, scale_of(state) * other.scale], -1) * 2.0**POINT
    multipliers, shift, exact = row_multipliers(effective)
    _remark(lowering, node, own.doubled + other.doubled, exact)
    row = np.concatenate([own.bias[..., None], multipliers], -1).astype(np.int32)
    after = other.bias[:, 2 * node.attributes["hidden"] :].astype(np.int32) if _is_after(node) else None
    return Numbers(own.weights.astype(np.int8), other.weights.astype(np.int8), row, after, shift, {1: own.real, 2: other.real})


def _states_scale(lowering: Lowering, name: str) -> Quantization:
    """Of a state as a layer computes it: one for each unit of some cells. Raises ValueError where there is none."""
    chosen = lowering.steps[name]
    return lowering.scale_of_steps(name) if chosen is None else chosen


def _int16_numbers(lowering: Lowering, node: Node, state: Quantization, cells: Sequence[Quantization]) -> Numbers:
    """§16."""
    source, weights = lowering.source, lowering.int16.weights
    x = lowering.scale_of_steps(node.input)
    own, other = (wide_matrix(_float64(source.tensor(node.inputs[i])), weights.largest) for i in (1, 2))
    own_bias, other_bias = (np.rint(bias * 2.0**BIAS_POINT).astype(np.int64) for bias in biases(source, node))
    effective = np.stack([scale_of(x) * own.scale, scale_of(state) * other.scale], -1) * 2.0**POINT
    bits = 23 if x.bits == 24 else 15
    sums = np.stack([np.abs(own.weights).sum(axis=-1) << bits, np.abs(other.weights).sum(axis=-1) << 15], -1)
    multipliers, shift, exact = wide_row_multipliers(effective, sums, int(max(np.abs(own_bias).max(), np.abs(other_bias).max())))
    _remark(lowering, node, 0, exact)
    row = np.concatenate([own_bias[..., None], multipliers], -1)
    if cells:
        units = np.broadcast_to(bits_of(cells[0]), (len(row), node.attributes["hidden"]))
        row = np.concatenate([row.reshape(len(row), -1), units], -1)
    after = other_bias[:, 2 * node.attributes["hidden"] :].astype(np.int32) if _is_after(node) else None
    return Numbers(
        own.weights.astype(weights.dtype),
        other.weights.astype(weights.dtype),
        row.astype(np.int32),
        after,
        shift,
        {1: own.real, 2: other.real},
    )


def _is_after(node: Node) -> bool:
    return bool(node.attributes.get("linear_before_reset"))


def _float64(tensor: Tensor) -> Floats:
    return np.asarray(tensor.data, np.float64)


def biases(source: Graph, node: Node) -> tuple[Floats, Floats]:
    """Of W's rows and of R's, [directions, rows]: all are W's, but that of a GRU's candidate whose reset gate multiplies R's part."""
    cell = cell_of(node.op)
    assert cell is not None
    shape = (len(node.attributes["directions"]), cell.gates * node.attributes["hidden"])
    if len(node.inputs) < 4 or node.inputs[3] is None:
        return np.zeros(shape), np.zeros(shape)
    own, other = np.moveaxis(_float64(source.tensor(node.inputs[3])).reshape(shape[0], 2, shape[1]), 1, 0)
    kept = np.zeros(shape)
    if _is_after(node):
        kept[:, 2 * node.attributes["hidden"] :] = other[:, 2 * node.attributes["hidden"] :]
    return own + other - kept, kept


def _lengths(lowering: Lowering, node: Node) -> str | None:
    name = node.inputs[4] if len(node.inputs) > 4 else None
    if name is None:
        return None
    data = lowering.source.tensors[name].data
    return name if data is None else lowering.constant(name, np.asarray(data, np.int32))


def _initial(lowering: Lowering, node: Node, position: int, state: Quantization) -> str | None:
    name = node.inputs[position] if position < len(node.inputs) else None
    data = None if name is None else lowering.source.tensors[name].data
    if data is None:
        return name
    if state.is_per_tensor:
        steps = quantize_steps(data, state)
        return lowering.constant(str(name), steps, state) if steps.any() else None
    steps = quantize_steps(data.astype(np.float64) / state.scale, Quantization.per_tensor(1.0, 0))
    return lowering.constant(str(name), steps) if steps.any() else None


def _output(lowering: Lowering, node: Node, state: Quantization) -> dict[str, int]:
    """Of the states of every step."""
    if node.op.endswith("Last"):
        return {"output_zero_point": 0, "output_multiplier": 0, "output_shift": 1}
    y = lowering.quantization[node.output]
    multiplier, shift = step_multiplier(scale_of(state) / scale_of(y))
    return {"output_zero_point": zero_point_of(y), "output_multiplier": multiplier, "output_shift": shift}


def _remark(lowering: Lowering, node: Node, doubled: int, exact: bool) -> None:
    if doubled:
        lowering.note(node, f"weight scale enlarged in {doubled} rows to keep the accumulators within 32 bits")
    if not exact:
        lowering.note(node, "the input's scale is so coarse that one step of it saturates gates")
