"""Conv: one- and two-dimensional, grouped, depthwise, dilated, padded anyhow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arenite.frontend.importers.window import from_image, image, spatial_rank, window
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Value
from arenite.graph.operators import UNBOUNDED


def conv(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    rank = spatial_rank(node, x)
    weight = node.weights(1, "the weight")
    bias = node.weights(2, "the bias") if node.has(2) else None
    shape = node.graph.tensors[x].shape
    kernel = weight.array.shape[2:]
    if len(kernel) != rank - 2:
        node.malformed(f"weight {list(weight.array.shape)} does not fit the input {list(shape)}")
    if node.ints("kernel_shape", kernel) != kernel:
        node.malformed(f"kernel_shape {list(node.ints('kernel_shape', ()))} is not that of the weight, {list(kernel)}")
    group, channels, out = node.attribute("group", 1), shape[1], weight.array.shape[0]
    if group < 1 or channels != weight.array.shape[1] * group or out % group:
        node.malformed(f"{channels} input channels do not fit weight {list(weight.array.shape)} in {group} groups")
    if bias is not None and bias.array.shape != (out,):
        node.malformed(f"the bias {list(bias.array.shape)} does not fit {out} output channels")
    form = window(node, shape[2:], kernel)
    for axis, size in enumerate(shape[2:]):
        extent = (form.kernel[axis] - 1) * form.dilations[axis] + 1
        if extent > size + form.pads[axis] + form.pads[axis + 2]:
            node.malformed(
                f"a window of {extent} does not fit spatial dimension {axis} of {size} + {form.pads[axis]} + {form.pads[axis + 2]}"
            )
    attributes: dict[str, Any] = {"strides": form.strides, "dilations": form.dilations, "pads": form.pads}
    weight = weight.reshaped((out, weight.array.shape[1], *form.kernel)).without_annotation_off(0)
    source = image(node, x)
    biases = [] if bias is None else [node.add_constant(bias)]
    if group == channels and channels > 1:
        depthwise = node.add_constant(weight.reshaped((out, *form.kernel)).transposed((1, 2, 0)))
        y = node.emit("DepthwiseConv", [source, depthwise, *biases], **attributes, clip=UNBOUNDED)
    else:
        dense = node.add_constant(weight.transposed((0, 2, 3, 1)))
        y = node.emit("Conv", [source, dense, *biases], **attributes, group=group, clip=UNBOUNDED)
    return [from_image(node, y, rank)]


CONVOLUTION = {
    "Conv": Importer(conv, "1-D and 2-D; groups, depthwise, strides, dilations, pads, auto_pad; constant weight and bias"),
}
