"""Conv, DepthwiseConv, FullyConnected: integer weights, folded bias, multipliers, and the proof that nothing overflows. Numerics §2, §3."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Node, Quantization
from arenite.graph.operators.int4 import factors
from arenite.quantize import proof
from arenite.quantize.four_bit_scales import nearest_four_bits
from arenite.quantize.lowering import Lowering, WeightChoice, geometry
from arenite.quantize.multipliers import fits, requantization, scale_of, wide_multipliers, zero_point_of
from arenite.quantize.scales import SMALLEST_SCALE

FOUR_BITS = ("Conv", "FullyConnected")
"""Operators with a kernel for such weights."""
CHANNEL_AXIS = {"Conv": 0, "DepthwiseConv": 2, "FullyConnected": 0}
LARGEST_SCALE = float(np.finfo(np.float32).max) / 2
DEAD_MULTIPLIER = 2.0**-14
"""Effective scale given to channels without weights: the bias alone is then exact to 1/32768 of an output step."""
NARROW_LIMIT = 1 << 23
"""Accumulators below it can share words with others (§3.4)."""
LARGEST_ADDED_ERROR = 1 / 16
"""Of an output step, where scales are enlarged for that."""
LARGEST_IMPORTED = 128


@dataclass(frozen=True)
class Channels:
    """A layer's real numbers, one row a channel."""

    weights: NDArray[np.float64]
    """[channels, weights of one]."""
    bias: NDArray[np.float64]
    scale: NDArray[np.float32]
    """Of the weights, first choice."""
    imported: bool
    """The scales are the model's own and must be kept."""
    steps: NDArray[np.int64] | None = None
    """The weights in these scales, where they are not just rounded."""
    four_bits: bool = False
    """The weights are to be of four bits (§3.8)."""


@dataclass(frozen=True)
class Fixed:
    """The same in integers."""

    weights: NDArray[np.int64]
    scale: NDArray[np.float32]
    bias: list[int]
    """With the input zero point folded in."""
    effective: NDArray[np.float64]
    """M of each channel."""


@dataclass(frozen=True)
class Linear:
    """What the kernel gets."""

    weights: NDArray[np.int64]
    scale: NDArray[np.float32]
    bias: NDArray[np.generic]
    multiplier: NDArray[np.int32]
    shift: int
    variant: str
    notes: tuple[str, ...]


def solve(channels: Channels, x: Quantization, y: Quantization, bounds: tuple[int, int]) -> Linear:
    """Integers for a layer that satisfy the accumulator proof, or the wide variant (§2, "Where the proof fails").

    In order: the scales as they are; a bias that saturates the output for every input moved to where it just does; own weight scales
    doubled, as long as the layer's shift stays; 64-bit accumulators. What holds is narrowed for the layout `paired`.
    """
    scale, notes = channels.scale.copy(), []
    enlarged: set[int] = set()
    while True:
        fixed = _integers(channels, scale, x, y)
        multiplier, shift = requantization(fixed.effective)
        bias = fixed.bias
        held = proof.proven(proof.accumulator_bound(fixed.weights, bias), shift)
        moved = 0
        if fits(fixed.effective) and not all(held):
            bias = _saturated(fixed, multiplier, shift, y, bounds, held)
            moved = sum(a != b for a, b in zip(bias, fixed.bias, strict=True))
            held = proof.proven(proof.accumulator_bound(fixed.weights, bias), shift)
        if fits(fixed.effective) and all(held):
            if enlarged:
                notes.append(f"weight scale enlarged in {len(enlarged)} channels to keep the accumulator within 32 bits")
            if moved:
                notes.append(f"bias saturates the output of {moved} channels for every input; moved to the nearest value that does")
            if shift == 0 and not channels.four_bits:
                fixed, multiplier, bias = _narrowed(channels, fixed, bias, x, y, bounds)
            return Linear(fixed.weights, fixed.scale, np.array(bias, np.int32), multiplier.astype(np.int32), shift, "int8", tuple(notes))
        failing = [channel for channel, holds in enumerate(held) if not holds]
        room = 2.0 ** (shift - 32) * ((1 << 31) - 1)  # the largest M of this shift
        if channels.imported or not fits(fixed.effective) or any(2 * fixed.effective[c] > room for c in failing):
            return _wide(channels, x, y)
        for channel in failing:
            scale[channel] *= np.float32(2)
        enlarged.update(failing)


def _narrowed(
    channels: Channels, fixed: Fixed, bias: list[int], x: Quantization, y: Quantization, bounds: tuple[int, int]
) -> tuple[Fixed, NDArray[np.int64], list[int]]:
    """The layer with accumulators below NARROW_LIMIT, in the channels where that is to be had: (numbers, multipliers, bias), shift 0.

    A saturating bias is moved; then own weight scales are doubled as long as the rounding of the weights stays unimportant.
    """
    largest = ((1 << 31) - 1) / 2.0**32
    scale = fixed.scale.copy()
    while True:
        multiplier, _ = requantization(fixed.effective)
        held = [bound < NARROW_LIMIT for bound in proof.accumulator_bound(fixed.weights, bias)]
        if not all(held):
            bias = _saturated(replace(fixed, bias=bias), multiplier, 0, y, bounds, held)
            held = [bound < NARROW_LIMIT for bound in proof.accumulator_bound(fixed.weights, bias)]
        wider = scale * np.where(held, 1, 2).astype(np.float32)
        candidate = _integers(channels, wider, x, y)
        possible = ~np.array(held) & (candidate.effective <= largest) & (_added_error(channels, candidate, x, y) < LARGEST_ADDED_ERROR)
        if channels.imported:
            possible &= ~np.any(fixed.weights, axis=1)
        if not np.any(possible):
            return fixed, multiplier, bias
        scale = np.where(possible, wider, scale)
        enlarged = _integers(channels, scale, x, y)
        bias = [new if chosen else old for old, new, chosen in zip(bias, enlarged.bias, possible, strict=True)]
        fixed = enlarged


def _added_error(channels: Channels, fixed: Fixed, x: Quantization, y: Quantization) -> NDArray[np.float64]:
    """Of each channel, output steps: the deviation that the rounding errors of its weights, which are independent, add up to at inputs as
    far from zero as there are; and the rounding of the bias."""
    errors = channels.weights - fixed.weights * fixed.scale.astype(np.float64)[:, None]
    deviation: NDArray[np.float64] = 255 * scale_of(x) / scale_of(y) * np.sqrt(np.square(errors).sum(axis=1))
    return deviation + fixed.effective / 2


def _integers(channels: Channels, scale: NDArray[np.float32], x: Quantization, y: Quantization) -> Fixed:
    per_channel = scale.astype(np.float64)
    limit = LARGEST_IMPORTED if channels.imported else 127
    weights = np.clip(np.rint(channels.weights / per_channel[:, None]), -limit, min(limit, 127)).astype(np.int64)
    if channels.four_bits and not channels.imported:
        weights = nearest_four_bits(channels.weights / per_channel[:, None])
    if channels.steps is not None:
        weights = np.where((scale == channels.scale)[:, None], channels.steps, weights)
    steps = np.rint(channels.bias / (scale_of(x) * per_channel))
    folded = (weights.sum(axis=1) * zero_point_of(x)).tolist()
    bias = [int(step) - fold for step, fold in zip(steps, folded, strict=True)]
    return Fixed(weights, scale, bias, scale_of(x) * per_channel / scale_of(y))


def _saturated(
    fixed: Fixed, multiplier: NDArray[np.int64], shift: int, y: Quantization, bounds: tuple[int, int], held: list[bool]
) -> list[int]:
    lows, highs = proof.product_extremes(fixed.weights)
    return [
        bias if holds else proof.saturating_bias(bias, (low, high), int(m), shift, zero_point_of(y), bounds)
        for bias, holds, low, high, m in zip(fixed.bias, held, lows, highs, multiplier, strict=True)
    ]


def _wide(channels: Channels, x: Quantization, y: Quantization) -> Linear:
    """§3.3. A bias beyond 2^39 saturates whatever the weights add; where the effective scale is so small that it does not, the weights
    cannot matter, and their scale grows until the bias fits."""
    scale = channels.scale.copy()
    while True:
        fixed = _integers(channels, scale, x, y)
        limit = proof.WIDE_BIAS_LIMIT
        lost = [c for c, b in enumerate(fixed.bias) if abs(b) > limit and fixed.effective[c] * limit < 1024]
        if not lost:
            break
        for channel in lost:
            scale[channel] *= np.float32(2)
    bias = np.array([max(-limit, min(limit, b)) for b in fixed.bias], np.int64)
    note = "64-bit accumulators (`wide`): the accumulator proof fails with these scales"
    return Linear(fixed.weights, scale, bias, wide_multipliers(fixed.effective), 0, "wide", (note,))


def own_scale(weights: NDArray[np.float64], x: Quantization, y: Quantization) -> NDArray[np.float32]:
    """Symmetric scales, one a row: the largest weight becomes ±127. A channel without weights gets the one that suits its bias."""
    largest = np.abs(weights).max(axis=1, initial=0.0)
    dead = DEAD_MULTIPLIER * scale_of(y) / scale_of(x)
    return np.clip(np.where(largest > 0, largest / 127, dead), SMALLEST_SCALE, LARGEST_SCALE).astype(np.float32)


def channels_of(lowering: Lowering, node: Node) -> tuple[Channels, str | None]:
    """The layer's numbers, and a remark where an annotation could not be kept."""
    axis = CHANNEL_AXIS[node.op]
    data = lowering.values(node, 1).astype(np.float64)
    weights = np.moveaxis(data, axis, 0).reshape(data.shape[axis], -1)
    has_bias = len(node.inputs) > 2 and node.inputs[2] is not None
    bias = lowering.values(node, 2).astype(np.float64).reshape(-1) if has_bias else np.zeros(len(weights))
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    choice = lowering.choices.get(node.output, WeightChoice())
    bias = bias if choice.bias is None else choice.bias
    own = own_scale(weights, x, y) if choice.scale is None else choice.scale
    annotation = lowering.source.tensor(node.inputs[1]).quantization
    if annotation is None or annotation.bits > 8:
        return Channels(weights, bias, own, False, choice.steps, choice.four_bits), None
    if annotation.axis not in (None, axis):
        return Channels(weights, bias, own, False), f"weights quantized along axis {annotation.axis} were quantized anew, along {axis}"
    scale = np.broadcast_to(np.asarray(annotation.scale, np.float32), (len(weights),)).copy()
    steps = np.rint(weights / np.where(scale > 0, scale, 1).astype(np.float64)[:, None])
    if np.any(scale <= 0) or not np.all(np.isfinite(scale)):
        return Channels(weights, bias, own, False), "weight scales that are not positive were chosen anew"
    if np.any(steps < -128) or np.any(steps > 127):
        return Channels(weights, bias, own, False), "asymmetric weights were quantized anew, symmetrically"
    dead = ~np.any(steps, axis=1)
    four_bits = choice.four_bits or (annotation.bits <= 4 and node.op in FOUR_BITS)
    return Channels(weights, bias, np.where(dead, own, scale), True, four_bits=four_bits), None


def _solved(lowering: Lowering, channels: Channels, x: Quantization, y: Quantization, bounds: tuple[int, int]) -> Linear:
    """solve(), once for all lowerings that share `solved`."""
    arrays = (channels.weights, channels.bias, channels.scale, *(() if channels.steps is None else (channels.steps,)))
    numbers = (scale_of(x), zero_point_of(x), scale_of(y), zero_point_of(y), *bounds, channels.imported, channels.four_bits)
    key = (*numbers, *(hashlib.blake2b(array.tobytes(), digest_size=16).digest() for array in arrays), channels.weights.shape)
    if key not in lowering.solved:
        lowering.solved[key] = solve(channels, x, y, bounds)
    solved: Linear = lowering.solved[key]
    return solved


def lower_linear(lowering: Lowering, node: Node) -> None:
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    clamp = lowering.clamp(node)
    channels, remark = channels_of(lowering, node)
    result = _solved(lowering, channels, x, y, (clamp["activation_min"], clamp["activation_max"]))
    for note in (*([remark] if remark else []), *result.notes):
        lowering.note(node, note)
    variant = result.variant
    if channels.four_bits:
        if variant == "int8" and factors(result.weights) is not None:
            variant = "int4"
        else:
            lowering.note(node, "weights stay int8: four bits do not hold them as the model or the accumulator proof wants them")
    axis = CHANNEL_AXIS[node.op]
    shape = lowering.source.tensor(node.inputs[1]).shape
    moved = (shape[axis], *(size for i, size in enumerate(shape) if i != axis))
    weight = np.moveaxis(result.weights.reshape(moved), 0, axis).astype(np.int8)
    operands = (
        node.input,
        lowering.constant(str(node.inputs[1]), weight, Quantization.per_channel(result.scale, axis)),
        lowering.constant(f"{node.output}/bias", result.bias),
        lowering.constant(f"{node.output}/multiplier", result.multiplier),
    )
    lowering.emit(
        node,
        node.op,
        operands,
        **geometry(node),
        input_zero_point=zero_point_of(x),
        output_zero_point=zero_point_of(y),
        shift=result.shift,
        variant=variant,
        **clamp,
    )
