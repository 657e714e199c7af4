"""Gather and Scatter of every kind, OneHot, Compress, Trilu, ReverseSequence, Tile, Expand, EyeLike, space and depth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
from onnx import helper

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType


def _indices(node: NodeImport, index: int, what: str = "the indices") -> str:
    """Operand `index` as int32 or int64; constant ones as int32, which holds every index that a tensor has."""
    if not node.has(index):
        node.malformed(f"{what} (input {index}) are missing")
    value = node.value(index)
    if isinstance(value, Constant):
        ends = np.iinfo(np.int32)
        return node.add_constant(Constant(f"{value.name}/int32", np.clip(value.array, ends.min, ends.max).astype(np.int32)))
    name = node.tensor(index)
    dtype = node.graph.tensors[name].dtype
    if dtype not in (DType.INT32, DType.INT64):
        node.refuse(f"{what}, {name}, are {dtype.value}", "use int32 or int64 indices")
    return name


def gather(node: NodeImport) -> Sequence[Value]:
    """Constant indices at even distances are a Slice, which copies as fast as memory allows."""
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    axis = node.axis(int(node.attribute("axis", 0)), len(shape))
    given = node.value(1)
    if not isinstance(given, Constant):
        return [node.results("Gather", [x, _indices(node, 1)], axis=axis)[0]]
    indices = np.asarray(given.array, np.int64)
    return [_constant_gather(node, x, axis, indices)]


def _constant_gather(node: NodeImport, x: str, axis: int, indices: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
    shape = node.graph.tensors[x].shape
    flat = [int(i) + (shape[axis] if i < 0 else 0) for i in indices.reshape(-1)]
    if any(not 0 <= i < shape[axis] for i in flat):
        node.malformed(f"indices {indices.tolist()} leave axis {axis} of {shape[axis]}")
    if not flat:
        node.refuse("it selects nothing", "remove the node")
    steps = {b - a for a, b in pairwise(flat)} or {1}
    if len(steps) != 1 or steps == {0}:
        values = node.add_constant(Constant(f"{node.name}/indices", np.asarray(flat, np.int32).reshape(indices.shape)))
        return node.results("Gather", [x, values], axis=axis)[0]
    (step,) = steps
    starts = tuple(flat[0] if d == axis else 0 for d in range(len(shape)))
    by = tuple(step if d == axis else 1 for d in range(len(shape)))
    sizes = tuple(len(flat) if d == axis else n for d, n in enumerate(shape))
    y = x if sizes == shape and step == 1 else node.results("Slice", [x], starts=starts, steps=by, sizes=sizes)[0]
    return node.reshape(y, (*shape[:axis], *indices.shape, *shape[axis + 1 :]))


def gather_elements(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    axis = node.axis(int(node.attribute("axis", 0)), len(node.graph.tensors[x].shape))
    return [node.results("GatherElements", [x, _indices(node, 1)], axis=axis)[0]]


def gather_nd(node: NodeImport) -> Sequence[Value]:
    return [node.results("GatherND", [node.tensor(0), _indices(node, 1)], batch_dims=int(node.attribute("batch_dims", 0)))[0]]


def scatter_elements(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    axis = node.axis(int(node.attribute("axis", 0)), len(node.graph.tensors[x].shape))
    operands = [x, _indices(node, 1), node.tensor(2)]
    reduction = node.attribute("reduction", "none")
    if reduction == "none":
        return [node.results("ScatterElements", operands, axis=axis)[0]]
    return [node.results("ScatterElementsReduce", operands, axis=axis, reduction=reduction)[0]]


def scatter_nd(node: NodeImport) -> Sequence[Value]:
    operands = [node.tensor(0), _indices(node, 1), node.tensor(2)]
    reduction = node.attribute("reduction", "none")
    if reduction == "none":
        return [node.results("ScatterND", operands)[0]]
    return [node.results("ScatterNdReduce", operands, reduction=reduction)[0]]


def tensor_scatter(node: NodeImport) -> Sequence[Value]:
    cache, update = node.tensor(0), node.tensor(1)
    axis = node.axis(int(node.attribute("axis", -2)), len(node.graph.tensors[cache].shape))
    starts = _indices(node, 2, "write_indices") if node.has(2) else None
    circular = node.attribute("mode", "linear") == "circular"
    return [node.results("TensorScatter", [cache, update, starts], axis=axis, circular=circular)[0]]


def one_hot(node: NodeImport) -> Sequence[Value]:
    indices = node.tensor(0)
    depth = node.constant(1, "the depth", "give the depth as a constant: it is a dimension of the result")
    if depth is None or depth.array.size != 1 or int(np.asarray(depth.array).reshape(())) < 1:
        node.malformed("the depth is not one positive number")
    rank = len(node.graph.tensors[indices].shape) + 1
    axis, count = node.axis(int(node.attribute("axis", -1)), rank), int(np.asarray(depth.array).reshape(()))
    return [node.results("OneHot", [indices, node.tensor(2)], axis=axis, depth=count)[0]]


def compress(node: NodeImport) -> Sequence[Value]:
    """With a constant condition: how many elements are left is part of the shape."""
    x = node.tensor(0)
    condition = node.constant(1, "the condition", "make the condition a constant: it decides how many elements are left")
    if condition is None:
        node.malformed("the condition is missing")
    axis = node.attribute("axis")
    if axis is None:
        x, axis = node.reshape(x, (node.graph.tensors[x].elements,)), 0
    along = node.axis(int(axis), len(node.graph.tensors[x].shape))
    chosen = np.flatnonzero(np.asarray(condition.array)[: node.graph.tensors[x].shape[along]])
    return [_constant_gather(node, x, along, chosen.astype(np.int64))]


def trilu(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    if len(node.graph.tensors[x].shape) < 2:
        node.malformed("the input has fewer than two dimensions")
    k = node.tensor(1) if node.has(1) else None
    return [node.results("Trilu", [x, k], upper=bool(node.attribute("upper", 1)))[0]]


def reverse_sequence(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    time, batch = int(node.attribute("time_axis", 0)), int(node.attribute("batch_axis", 1))
    if {time, batch} != {0, 1} or len(node.graph.tensors[x].shape) < 2:
        node.malformed(f"time_axis {time} and batch_axis {batch} must be 0 and 1")
    return [node.results("ReverseSequence", [x, _indices(node, 1, "sequence_lens")], time_axis=time)[0]]


def eye_like(node: NodeImport) -> Sequence[Value]:
    """Known from the shape alone."""
    x = node.value(0)
    shape = node.shape(x)
    if len(shape) != 2:
        node.malformed(f"the input {list(shape)} is no matrix")
    given = node.attribute("dtype")
    own = x.array.dtype if isinstance(x, Constant) else node.graph.tensors[x].dtype.numpy
    dtype = own if given is None else helper.tensor_dtype_to_np_dtype(int(given))
    return [Constant(node.outputs[0], np.eye(*shape, k=int(node.attribute("k", 0)), dtype=dtype))]


def _broadcast(node: NodeImport, x: str, target: Sequence[int]) -> str:
    """x repeated along its dimensions of 1; target has its rank."""
    return x if node.graph.tensors[x].shape == tuple(target) else node.results("Expand", [x], shape=tuple(int(n) for n in target))[0]


def expand(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    try:
        target = np.broadcast_shapes(shape, node.integers(1, "the shape") or ())
    except ValueError as error:
        node.malformed(str(error))
    if 0 in target:
        node.refuse(f"its result has the shape {list(target)}: no elements", "remove the node, or choose a size that leaves elements")
    return [_broadcast(node, node.reshape(x, (1,) * (len(target) - len(shape)) + shape), target)]


def tile(node: NodeImport) -> Sequence[Value]:
    """Every dimension n repeated r times is [r, n], of which the first is broadcast."""
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    repeats = node.integers(1, "repeats") or ()
    if len(repeats) != len(shape) or min(repeats, default=1) < 0:
        node.malformed(f"repeats {list(repeats)} do not fit {list(shape)}")
    if 0 in repeats:
        node.refuse(f"repeats {list(repeats)} leave no elements", "remove the node")
    narrow = [n for size, repeat in zip(shape, repeats, strict=True) for n in ((1, size) if repeat > 1 else (size,))]
    wide = [n for size, repeat in zip(shape, repeats, strict=True) for n in ((repeat, size) if repeat > 1 else (size,))]
    y = _broadcast(node, node.reshape(x, narrow), wide)
    return [node.reshape(y, [size * repeat for size, repeat in zip(shape, repeats, strict=True)])]


def depth_to_space(node: NodeImport) -> Sequence[Value]:
    x, (n, c, h, w), block = _blocks(node)
    if c % block**2:
        node.malformed(f"{c} channels do not split into blocks of {block} by {block}")
    if node.attribute("mode", "DCR") == "CRD":
        split = node.reshape(x, (n, c // block**2, block, block, h, w))
        turned = node.transpose(split, (0, 1, 4, 2, 5, 3))
    else:
        split = node.reshape(x, (n, block, block, c // block**2, h, w))
        turned = node.transpose(split, (0, 3, 4, 1, 5, 2))
    return [node.reshape(turned, (n, c // block**2, h * block, w * block))]


def space_to_depth(node: NodeImport) -> Sequence[Value]:
    x, (n, c, h, w), block = _blocks(node)
    if h % block or w % block:
        node.malformed(f"{h} by {w} does not split into blocks of {block} by {block}")
    split = node.reshape(x, (n, c, h // block, block, w // block, block))
    order = (0, 1, 3, 5, 2, 4) if node.attribute("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    return [node.reshape(node.transpose(split, order), (n, c * block**2, h // block, w // block))]


def _blocks(node: NodeImport) -> tuple[str, tuple[int, ...], int]:
    x = node.tensor(0)
    shape, block = node.graph.tensors[x].shape, int(node.attribute("blocksize", 0))
    if len(shape) != 4 or block < 1:
        node.malformed(f"the input {list(shape)} must have four dimensions, blocksize {block} be positive")
    assert prod(shape) > 0
    return x, shape, block


_RUN_TIME = "indices constant or computed, int32 or int64"

INDEXING = {
    "Gather": Importer(gather, f"{_RUN_TIME}; constant, evenly spaced ones are a Slice"),
    "GatherElements": Importer(gather_elements, f"{_RUN_TIME}; up to 6 dimensions"),
    "GatherND": Importer(gather_nd, f"{_RUN_TIME}; batch_dims"),
    "Scatter": Importer(scatter_elements, f"{_RUN_TIME}; up to 6 dimensions"),
    "ScatterElements": Importer(scatter_elements, f"{_RUN_TIME}; up to 6 dimensions; reduction none, add, mul, max, min"),
    "ScatterND": Importer(scatter_nd, f"{_RUN_TIME}; reduction none, add, mul, max, min"),
    "TensorScatter": Importer(tensor_scatter, "write_indices constant or computed; linear, circular"),
    "OneHot": Importer(one_hot, "constant depth; indices and values constant or computed"),
    "Compress": Importer(compress, "constant condition"),
    "Trilu": Importer(trilu, "k constant or computed"),
    "ReverseSequence": Importer(reverse_sequence, "lengths constant or computed"),
    "EyeLike": Importer(eye_like, "a constant, from the shape"),
    "Expand": Importer(expand, "constant shape"),
    "Tile": Importer(tile, "constant repeats"),
    "DepthToSpace": Importer(depth_to_space, "DCR, CRD"),
    "SpaceToDepth": Importer(space_to_depth, "DCR, CRD"),
}
