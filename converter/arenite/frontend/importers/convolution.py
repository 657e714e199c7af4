"""Conv: of any rank, grouped, depthwise, dilated, padded anyhow; weights that are constant or computed.

The IR convolves images. Along every spatial axis in front of the last two, the taps of a window become channels: what a window reads
is put side by side, and one two-dimensional convolution does the rest, in INT8 with one rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

from arenite.frontend.importers.window import WindowAxis, channels_first, channels_last, image, plane, window
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.rearrange import reshaped, stored, transposed, weights
from arenite.frontend.values import Constant, Value
from arenite.graph.operators import UNBOUNDED


def conv(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    weight = weights(node, 1, "the weight")
    bias = weights(node, 2, "the bias") if node.has(2) else None
    filters = node.shape(weight)
    kernel = filters[2:]
    if len(shape) >= 3 and len(filters) != len(shape):
        node.malformed(f"weight {list(filters)} does not fit the input {list(shape)}")
    source = channels_last(node, x)
    if node.ints("kernel_shape", kernel) != kernel:
        node.malformed(f"kernel_shape {list(node.ints('kernel_shape', ()))} is not that of the weight, {list(kernel)}")
    group, channels, out = int(node.attribute("group", 1)), shape[1], filters[0]
    if group < 1 or channels != filters[1] * group or out % group:
        node.malformed(f"{channels} input channels do not fit weight {list(filters)} in {group} groups")
    if bias is not None and node.shape(bias) != (out,):
        node.malformed(f"the bias {list(node.shape(bias))} does not fit {out} output channels")
    return [channels_first(node, convolve(node, source, weight, bias, group, window(node, shape[2:], kernel)))]


def convolve(node: NodeImport, x: str, weight: Value, bias: Value | None, group: int, axes: Sequence[WindowAxis]) -> str:
    """Convolve x [N, …, C] with weight [out, C / group, …]: [N, …, out]."""
    if len(axes) > 2:
        return _fold_axis(node, x, weight, bias, group, axes)
    out, depth = node.shape(weight)[:2]
    channels = node.graph.tensors[x].shape[-1]
    height, width = (*(axis.kernel for axis in axes), 1)[:2]
    weight = reshaped(node, weight, (out, depth, height, width))
    if isinstance(weight, Constant):
        weight = weight.without_annotation_off(0)
    source = image(node, x, len(axes))
    biases = [] if bias is None else [stored(node, bias)]
    if group == channels and channels > 1:
        taps = transposed(node, reshaped(node, weight, (out, height, width)), (1, 2, 0))
        y = node.emit("DepthwiseConv", [source, stored(node, taps), *biases], **plane(axes), clip=UNBOUNDED)
    else:
        dense = transposed(node, weight, (0, 2, 3, 1))
        y = node.emit("Conv", [source, stored(node, dense), *biases], **plane(axes), group=group, clip=UNBOUNDED)
    batch, *spatial, _ = node.graph.tensors[y].shape
    return node.reshape(y, (batch, *spatial[: len(axes)], out))


def _fold_axis(node: NodeImport, x: str, weight: Value, bias: Value | None, group: int, axes: Sequence[WindowAxis]) -> str:
    """The first spatial axis joins the batch; the channels of a group become [taps, channels]."""
    first = axes[0]
    x = pad_axis(node, x, first)
    batch, size, *spatial, channels = node.graph.tensors[x].shape
    count = (size - first.extent) // first.stride + 1
    depth = channels // group
    taps = []
    for tap in range(first.kernel):
        read = read_axis(node, x, tap * first.dilation, first.stride, count)
        taps.append(node.reshape(read, (batch * count, *spatial, group, 1, depth)))
    joined = taps[0] if len(taps) == 1 else node.emit("Concat", taps, axis=len(spatial) + 2)
    source = node.reshape(joined, (batch * count, *spatial, group * first.kernel * depth))
    out, _, _, *kernel = node.shape(weight)
    order = (0, 2, 1, *range(3, len(kernel) + 3))
    filters = reshaped(node, transposed(node, weight, order), (out, first.kernel * depth, *kernel))
    y = convolve(node, source, filters, bias, group, axes[1:])
    return node.reshape(y, (batch, count, *node.graph.tensors[y].shape[1:]))


def pad_axis(node: NodeImport, x: str, axis: WindowAxis, at: int = 1) -> str:
    """Zeros before and after x along an axis."""
    rank = len(node.graph.tensors[x].shape)
    pads = [0] * 2 * rank
    pads[at], pads[rank + at] = axis.before, axis.after
    return node.emit("Pad", [x], pads=tuple(pads), value=0.0) if any(pads) else x


def read_axis(node: NodeImport, x: str, start: int, step: int, count: int, at: int = 1) -> str:
    """`count` entries of x along an axis; x itself where that is all of it."""
    shape = node.graph.tensors[x].shape
    if (start, step, count) == (0, 1, shape[at]):
        return x
    starts = tuple(start if d == at else 0 for d in range(len(shape)))
    steps = tuple(step if d == at and count > 1 else 1 for d in range(len(shape)))
    sizes = tuple(count if d == at else n for d, n in enumerate(shape))
    return node.emit("Slice", [x], starts=starts, steps=steps, sizes=sizes)


CONVOLUTION = {
    "Conv": Importer(conv, "any rank; groups, depthwise, strides, dilations, pads, auto_pad; weight and bias constant or computed"),
}
