"""Operators that move or rename elements: Pad, Concat, Slice, Split, Reshape and its kin, Transpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.selection import take
from arenite.frontend.values import Constant, Value
from arenite.graph import DType


def pad(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    rank = len(shape)
    if node.opset < 11:
        pads: tuple[int, ...] | None = node.ints("pads", ())
    else:
        pads = node.integers(1, "pads")
    axes = node.integers(3, "axes") if node.opset >= 18 else None
    axes = tuple(range(rank)) if axes is None else tuple(node.axis(a, rank) for a in axes)
    if pads is None or len(pads) != 2 * len(axes):
        node.malformed(f"pads has {0 if pads is None else len(pads)} entries instead of {2 * len(axes)}")
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[len(axes) + i]
    if not any(before) and not any(after):
        return [x]
    x = _crop(node, x, before, after)
    before, after = [max(0, n) for n in before], [max(0, n) for n in after]
    mode = node.attribute("mode", "constant")
    if mode == "constant":
        return [_pad_with_value(node, x, (*before, *after))]
    if mode not in _SOURCES:
        node.refuse(f"mode is {mode!r}", f"use constant, {', '.join(_SOURCES)}")
    for axis, size in enumerate(node.graph.tensors[x].shape):
        if before[axis] or after[axis]:
            x = take(node, x, axis, [_SOURCES[mode](i, size) for i in range(-before[axis], size + after[axis])])
    return [x]


_SOURCES: dict[str, Callable[[int, int], int]] = {
    "edge": lambda i, size: min(max(i, 0), size - 1),
    "wrap": lambda i, size: i % size,
    "reflect": lambda i, size: abs((i + size - 1) % max(1, 2 * (size - 1)) - (size - 1)),
}
"""The element of `size` ones that stands at position i of a padded axis, of which the first element's is 0."""


def _pad_with_value(node: NodeImport, x: str, pads: tuple[int, ...]) -> str:
    if not any(pads):
        return x
    if node.opset >= 11 and node.has(2) and isinstance(node.value(2), str):
        return node.emit("Pad", [x, node.reshape(node.tensor(2), (1,))], pads=pads, value=0.0)
    value = float(node.attribute("value", 0.0)) if node.opset < 11 else (node.scalar(2, "constant_value") or 0.0)
    if np.isnan(value):
        node.refuse(f"it pads with {value}", "pad with a number")
    if node.graph.tensors[x].dtype is DType.FLOAT32:
        return node.emit("Pad", [x], pads=pads, value=float(np.float32(value)))
    number = np.asarray([value], node.graph.tensors[x].dtype.numpy)
    return node.emit("Pad", [x, node.add_constant(Constant(f"{node.name}/value", number))], pads=pads, value=0.0)


def _crop(node: NodeImport, x: str, before: Sequence[int], after: Sequence[int]) -> str:
    """Negative padding takes elements away."""
    if min(*before, *after) >= 0:
        return x
    shape = node.graph.tensors[x].shape
    starts = tuple(max(0, -n) for n in before)
    sizes = tuple(n - start - max(0, -end) for n, start, end in zip(shape, starts, after, strict=True))
    if min(sizes) <= 0:
        node.refuse(f"negative pads leave {list(sizes)} of {list(shape)}", "crop less than the whole tensor")
    return node.emit("Slice", [x], starts=starts, steps=(1,) * len(shape), sizes=sizes)


def concat(node: NodeImport) -> Sequence[Value]:
    if "axis" not in node.attributes:
        node.malformed("axis is missing")
    rank = len(node.shape(node.value(0)))
    for i in range(len(node.inputs)):
        if len(node.shape(node.value(i))) != rank:
            node.malformed(f"input {i} has {len(node.shape(node.value(i)))} dimensions, input 0 has {rank}")
    axis = node.axis(node.attribute("axis"), rank)
    given = [i for i in range(len(node.inputs)) if 0 not in node.shape(node.value(i))]
    parts = [node.tensor(i) for i in given]
    return [parts[0] if len(parts) == 1 else node.emit("Concat", parts, axis=axis)]


def slice_(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    if node.opset < 10:
        starts, ends = node.ints("starts", ()), node.ints("ends", ())
        axes: tuple[int, ...] | None = node.ints("axes", range(len(starts)))
        steps: tuple[int, ...] | None = None
    else:
        starts, ends = node.integers(1, "starts") or (), node.integers(2, "ends") or ()
        axes, steps = node.integers(3, "axes"), node.integers(4, "steps")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        node.malformed(f"starts, ends, axes and steps have {len(starts)}, {len(ends)}, {len(axes)} and {len(steps)} entries")
    first, step, sizes = [0] * len(shape), [1] * len(shape), list(shape)
    for start, end, axis, by in zip(starts, ends, axes, steps, strict=True):
        axis = node.axis(axis, len(shape))
        if by == 0:
            node.malformed(f"the step along axis {axis} is 0")
        indices = range(shape[axis])[slice(start, _end(end, by, shape[axis]), by)]
        sizes[axis] = len(indices)
        if indices:
            first[axis], step[axis] = indices[0], by if len(indices) > 1 else 1
    if 0 in sizes:
        return [_nothing(node, x, sizes)]
    if tuple(sizes) == shape and all(by == 1 for by in step):
        return [x]
    return [node.emit("Slice", [x], starts=tuple(first), steps=tuple(step), sizes=tuple(sizes))]


def _nothing(node: NodeImport, x: str, shape: Sequence[int]) -> Constant:
    """What has no elements: only Concat can do something with it."""
    return Constant(f"{node.name}/nothing", np.zeros(shape, node.graph.tensors[x].dtype.numpy))


def _end(end: int, step: int, size: int) -> int | None:
    """ONNX counts a negative end from the back, once, and clamps; Python's slice alike, where None passes the first element."""
    return None if step < 0 and end + (size if end < 0 else 0) < 0 else end


def split(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    axis = node.axis(node.attribute("axis", 0), len(shape))
    sizes = node.integers(1, "split") if node.opset >= 13 else (node.ints("split", ()) or None)
    count = len(node.outputs)
    if sizes is None:
        each = -(-shape[axis] // int(node.attribute("num_outputs", count)))
        sizes = tuple(min(each, shape[axis] - each * i) for i in range(count))
        if node.opset < 18 and shape[axis] % count:
            node.malformed(f"{shape[axis]} elements along axis {axis} do not split into {count} equal parts")
    if len(sizes) != count or sum(sizes) != shape[axis] or min(sizes) < 0:
        node.malformed(f"parts {list(sizes)} do not make up {shape[axis]} elements along axis {axis} in {count} outputs")
    values: list[Value] = []
    for i, size in enumerate(sizes):
        part = tuple(size if d == axis else n for d, n in enumerate(shape))
        if size == 0:
            values.append(_nothing(node, x, part))
            continue
        starts = tuple(sum(sizes[:i]) if d == axis else 0 for d in range(len(shape)))
        values.append(x if part == shape else node.emit("Slice", [x], starts=starts, steps=(1,) * len(shape), sizes=part))
    return values


def reshape(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    wanted = node.integers(1, "the shape")
    if wanted is None:
        node.malformed("the shape is missing")
    target = list(wanted)
    if not node.attribute("allowzero", 0):
        for i, size in enumerate(target):
            if size == 0:
                if i >= len(shape):
                    node.malformed(f"dimension {i} of {list(wanted)} copies one that {list(shape)} does not have")
                target[i] = shape[i]
    if target.count(-1) > 1 or min(target, default=0) < -1:
        node.malformed(f"shape {list(wanted)} is not valid")
    if -1 in target:
        rest = prod(n for n in target if n != -1)
        if rest == 0 or prod(shape) % rest:
            node.malformed(f"{list(shape)} has {prod(shape)} elements, which do not fill {list(wanted)}")
        target[target.index(-1)] = prod(shape) // rest
    if prod(target) != prod(shape):
        node.malformed(f"{list(shape)} has {prod(shape)} elements, {target} has {prod(target)}")
    return [node.reshape(x, target)]


def flatten(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    axis = int(node.attribute("axis", 1))
    if not -len(shape) <= axis <= len(shape):
        node.malformed(f"axis {axis} is outside of a tensor of {len(shape)} dimensions")
    axis += len(shape) if axis < 0 else 0
    return [node.reshape(x, (prod(shape[:axis]), prod(shape[axis:])))]


def transpose(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    rank = len(node.graph.tensors[x].shape)
    perm = node.ints("perm", range(rank)[::-1])
    if sorted(perm) != list(range(rank)):
        node.malformed(f"perm {list(perm)} is no permutation of {rank} axes")
    return [node.transpose(x, perm)]


def squeeze(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    given = node.integers(1, "axes") if node.opset >= 13 else (node.ints("axes", ()) or None)
    axes = {i for i, n in enumerate(shape) if n == 1} if given is None else {node.axis(a, len(shape)) for a in given}
    for axis in axes:
        if shape[axis] != 1:
            node.malformed(f"axis {axis} of {list(shape)} has {shape[axis]} elements and cannot be squeezed")
    return [node.reshape(x, [n for i, n in enumerate(shape) if i not in axes])]


def unsqueeze(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = list(node.graph.tensors[x].shape)
    given = (node.integers(1, "axes") if node.opset >= 13 else node.ints("axes", ())) or ()
    axes = sorted(node.axis(a, len(shape) + len(given)) for a in given)
    if len(set(axes)) != len(axes):
        node.malformed(f"axes {list(given)} name one axis twice")
    for axis in axes:
        shape.insert(axis, 1)
    return [node.reshape(x, shape)]


def identity(node: NodeImport) -> Sequence[Value]:
    return [node.value(0)]


def constant(node: NodeImport) -> Sequence[Value]:
    """Every value_* form that holds numbers."""
    forms = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    if len(node.attributes) != 1:
        node.malformed(f"it has {len(node.attributes)} attributes instead of one value")
    ((name, value),) = node.attributes.items()
    if name != "value" and name not in forms:
        node.refuse(f"its value is given as {name}", "give numbers in a dense tensor (attribute value)")
    return [Constant(node.outputs[0], np.asarray(value, forms.get(name)))]


MOVEMENT = {
    "Pad": Importer(pad, "every mode; pads and axes as attribute or constant input, negative pads; any element type"),
    "Concat": Importer(concat, "activations and constants"),
    "Slice": Importer(slice_, "constant starts, ends, axes, steps (attributes or inputs), negative steps too"),
    "Split": Importer(split, "sizes as attribute or constant input, num_outputs"),
    "Reshape": Importer(reshape, "constant shape; 0, −1, allowzero"),
    "Flatten": Importer(flatten),
    "Transpose": Importer(transpose),
    "Squeeze": Importer(squeeze, "axes as attribute or constant input"),
    "Unsqueeze": Importer(unsqueeze, "axes as attribute or constant input"),
    "Identity": Importer(identity),
    "Constant": Importer(constant, "numeric values"),
}

_FIRST = (0,)
MOVES_INT8: dict[str, tuple[int, ...]] = {
    "Concat": (),
    **dict.fromkeys(("Expand", "Flatten", "MaxPool", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"), _FIRST),
    **dict.fromkeys(("Gather", "GatherElements", "GatherND", "Compress", "ReverseSequence"), _FIRST),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth", "Resize", "Upsample"), _FIRST),
    "Pad": (0, 2),
    "ScatterElements": (0, 2),
    "ScatterND": (0, 2),
}
"""Operators that may stand between QuantizeLinear and DequantizeLinear, because they commute with both, and the operands that are values
(all of Concat's). quantized_movement.py names the attributes with which they do not."""
