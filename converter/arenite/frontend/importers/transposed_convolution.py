"""ConvTranspose, as a convolution that computes all phases of a stride at once, and their interleaving.

Along an axis of stride s, result m·s + r is Σ x[m − q] · w[q·s + r] over q: for each phase r an ordinary convolution, with every s-th
weight. All phases are filters of one Conv on x as it is, so that no zero is inserted and no product wasted; the phases, channels of its
result, are then moved between one another (depth to space). It works in INT8 as Conv does, with one rounding.

Specification: ONNX ConvTranspose, version 22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from arenite.frontend.importers.convolution import convolve, read_axis
from arenite.frontend.importers.window import WindowAxis, channels_first, channels_last
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.rearrange import cut_behind, padded_behind, repeated, reshaped, reversed_along, transposed, weights
from arenite.frontend.values import Constant, Value
from arenite.graph import Quantization


@dataclass(frozen=True)
class TransposedAxis:
    """One spatial axis."""

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    """The first result that is kept, of those that have a term; negative where zeros stand in front of them."""
    count: int
    """Results that are kept."""

    @property
    def taps(self) -> int:
        """Of a phase."""
        return self.kernel if self.stride == 1 else (self.kernel - 1) * self.dilation // self.stride + 1

    @property
    def first(self) -> int:
        """The first group of `stride` results that is computed."""
        return self.begin // self.stride

    @property
    def groups(self) -> int:
        return (self.begin + self.count - 1) // self.stride - self.first + 1

    @property
    def window(self) -> WindowAxis:
        """Of the convolution; negative padding cuts the input."""
        dilation = self.dilation if self.stride == 1 else 1
        reach = (self.taps - 1) * dilation
        before = reach - self.first
        return WindowAxis(self.taps, 1, dilation, before, self.groups + reach - self.size - before)


def conv_transpose(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    weight = weights(node, 1, "the weight")
    bias = weights(node, 2, "the bias") if node.has(2) else None
    filters = node.shape(weight)
    if len(shape) >= 3 and len(filters) != len(shape):
        node.malformed(f"weight {list(filters)} does not fit the input {list(shape)}")
    source = channels_last(node, x)
    group = int(node.attribute("group", 1))
    if group < 1 or shape[1] != filters[0] or shape[1] % group:
        node.malformed(f"{shape[1]} input channels do not fit weight {list(filters)} in {group} groups")
    if bias is not None and node.shape(bias) != (filters[1] * group,):
        node.malformed(f"the bias {list(node.shape(bias))} does not fit {filters[1] * group} output channels")
    axes = _axes(node, shape[2:], filters[2:])
    phases = prod(axis.stride for axis in axes)
    windows = []
    for at, axis in enumerate(axes, start=1):
        form = axis.window
        cut = max(0, -form.before)
        left = axis.size - cut - max(0, -form.after)
        if left < 1:
            node.refuse(f"pads leave nothing of spatial dimension {at - 1}", "pad less")
        source = read_axis(node, source, cut, 1, left, at)
        windows.append(replace(form, before=max(0, form.before), after=max(0, form.after)))
    biases = None if bias is None else _phase_bias(node, bias, group, phases)
    y = convolve(node, source, _phase_weights(node, weight, group, axes), biases, group, windows)
    return [channels_first(node, _interleaved(node, y, group, axes))]


def _axes(node: NodeImport, spatial: tuple[int, ...], kernel: tuple[int, ...]) -> list[TransposedAxis]:
    rank = len(spatial)
    strides, dilations = node.ints("strides", (1,) * rank), node.ints("dilations", (1,) * rank)
    more, pads = node.ints("output_padding", (0,) * rank), node.ints("pads", (0,) * 2 * rank)
    wanted = node.ints("output_shape", ()) or None
    auto_pad = node.attribute("auto_pad", "NOTSET") or "NOTSET"
    for name, values, length, least in (
        ("kernel_shape", node.ints("kernel_shape", kernel), rank, 1),
        ("strides", strides, rank, 1),
        ("dilations", dilations, rank, 1),
        ("output_padding", more, rank, 0),
        ("pads", pads, 2 * rank, 0),
    ):
        if len(values) != length:
            node.malformed(f"{name} {list(values)} has {len(values)} entries instead of {length}")
        if min(values, default=least) < least:
            node.refuse(f"{name} is {list(values)}", f"{name} must be {least} or more")
    if node.ints("kernel_shape", kernel) != kernel:
        node.malformed(f"kernel_shape {list(node.ints('kernel_shape', ()))} is not that of the weight, {list(kernel)}")
    if auto_pad not in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"):
        node.refuse(f"auto_pad is {auto_pad!r}", "use NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    if wanted is not None and len(wanted) == rank + 2:
        wanted = wanted[2:]  # with batch and channels, as some exporters write it
    if wanted is not None and len(wanted) != rank:
        node.malformed(f"output_shape {list(wanted)} has {len(wanted)} entries instead of {rank}")
    if wanted is None and auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(size * stride for size, stride in zip(spatial, strides, strict=True))
    axes = []
    for axis in range(rank):
        full = strides[axis] * (spatial[axis] - 1) + more[axis] + (kernel[axis] - 1) * dilations[axis] + 1
        begin, end = (0, 0) if auto_pad == "VALID" else (pads[axis], pads[rank + axis])
        count = full - begin - end
        if wanted is not None:  # the specification ignores pads then; the odd one is in front unless auto_pad is SAME_UPPER
            total = full - wanted[axis]
            begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            count = wanted[axis]
        if count < 1:
            node.refuse(f"its result has {count} elements along spatial dimension {axis}", "choose a size that leaves elements")
        axes.append(TransposedAxis(spatial[axis], kernel[axis], strides[axis], dilations[axis], begin, count))
    return axes


def _phase_weights(node: NodeImport, weight: Value, group: int, axes: Sequence[TransposedAxis]) -> Value:
    """[C, out / group, …] as [group · phases · out / group, C / group, taps…], of constants with the annotation of every filter."""
    channels, out = node.shape(weight)[:2]
    shape: tuple[int, ...] = (group, channels // group, out)
    split: Value = weight
    for i, axis in enumerate(axes):
        rest = tuple(a.kernel for a in axes[i + 1 :])
        at = len(shape)
        if axis.stride > 1:
            split = reshaped(node, split, (*shape, axis.kernel, 1, *rest))
            split = padded_behind(node, split, at + 1, axis.dilation - 1)
            split = reshaped(node, split, (*shape, axis.kernel * axis.dilation, *rest))
            split = cut_behind(node, split, at, (axis.kernel - 1) * axis.dilation + 1)
            split = padded_behind(node, split, at, axis.taps * axis.stride - node.shape(split)[at])
        shape = (*shape, axis.taps, axis.stride)
        split = reshaped(node, split, (*shape, *rest))
    taps = [3 + 2 * i for i in range(len(axes))]
    split = reversed_along(node, split, taps)
    phases = [4 + 2 * i for i in range(len(axes))]
    ordered = transposed(node, split, (0, *phases, 2, 1, *taps))
    filters = group * out * prod(axis.stride for axis in axes)
    result = reshaped(node, ordered, (filters, channels // group, *(axis.taps for axis in axes)))
    if isinstance(result, Constant) and isinstance(weight, Constant):
        return replace(result, quantization=_tiled(weight.quantization, 1, filters))
    return result


def _tiled(q: Quantization | None, axis: int, filters: int) -> Quantization | None:
    """Of weights per channel along `axis`: of every filter, for the channels follow one another in every group and phase."""
    if q is None or q.axis is None:
        return q
    if q.axis != axis:
        return None
    return Quantization(np.resize(q.scale, filters), np.resize(q.zero_point, filters), 0, q.bits)


def _phase_bias(node: NodeImport, bias: Value, group: int, phases: int) -> Value:
    """[group · out] as [group · phases · out]."""
    (channels,) = node.shape(bias)
    filters = channels * phases
    apart = repeated(node, reshaped(node, bias, (group, 1, channels // group)), 1, phases)
    result = reshaped(node, apart, (filters,))
    if isinstance(result, Constant) and isinstance(bias, Constant):
        q = bias.quantization
        if q is not None and q.axis is not None:
            order = np.broadcast_to(np.arange(channels).reshape(group, 1, -1), (group, phases, channels // group)).reshape(-1)
            q = Quantization(q.scale[order], q.zero_point[order], 0)
        return replace(result, quantization=q)
    return result


def _interleaved(node: NodeImport, y: str, group: int, axes: Sequence[TransposedAxis]) -> str:
    """[N, groups…, group · phases · out] as [N, count…, group · out]."""
    batch, *_, filters = node.graph.tensors[y].shape
    strides = [axis.stride for axis in axes]
    out = filters // (group * prod(strides))
    rank = len(axes)
    if prod(strides) > 1:
        apart = node.reshape(y, (batch, *(axis.groups for axis in axes), group, *strides, out))
        between = [d for i in range(rank) for d in (1 + i, 2 + rank + i)]
        turned = node.transpose(apart, (0, *between, 1 + rank, 2 + 2 * rank))
        y = node.reshape(turned, (batch, *(axis.groups * axis.stride for axis in axes), group * out))
    for at, axis in enumerate(axes, start=1):
        y = read_axis(node, y, axis.begin - axis.first * axis.stride, 1, axis.count, at)
    return y


TRANSPOSED_CONVOLUTION = {
    "ConvTranspose": Importer(
        conv_transpose,
        "any rank; groups, strides, dilations, pads, auto_pad, output_padding, output_shape; weight and bias constant or computed",
    ),
}
