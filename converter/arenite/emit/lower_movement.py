"""Concat, Slice, Transpose, Pad and copying Reshapes as StridedCopy and Fill. Numerics §9.

Each is one or more copies between a strided view of the input and a strided view of the output. Neighbouring dimensions that both
sides walk as one are merged, so that a copy has few dimensions and long inner runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from arenite.errors import Unsupported, UnsupportedModelError
from arenite.graph import DType, Node, Tensor
from arenite.graph.operators import MAX_DIMS, Record

MOVEMENT_OPERATORS = ("Concat", "Slice", "Transpose", "Pad", "Reshape", "Expand", "BitCast", "Leading")
MAX_COPIES = 64
"""Calls that one node may become where its view has more than MAX_DIMS dimensions."""


@dataclass(frozen=True)
class Move:
    """One StridedCopy (of the operand at `source`) or Fill (`source` is None) into the node's output."""

    op: str
    record: Record
    source: int | None
    at: int = 0
    """Byte of the output that a Fill begins at."""


@dataclass(frozen=True)
class View:
    """A copy between two strided views. Strides and offsets count elements."""

    dims: tuple[int, ...]
    input_stride: tuple[int, ...]
    output_stride: tuple[int, ...]
    input_offset: int = 0
    output_offset: int = 0

    def collapsed(self) -> View:
        """The same copy without dimensions of 1, neighbours merged where both sides walk them as one."""
        merged: list[tuple[int, int, int]] = []
        for size, inner_input, inner_output in zip(self.dims, self.input_stride, self.output_stride, strict=True):
            if size == 1:
                continue
            if merged and merged[-1][1:] == (size * inner_input, size * inner_output):
                merged[-1] = (merged[-1][0] * size, inner_input, inner_output)
            else:
                merged.append((size, inner_input, inner_output))
        dims, input_stride, output_stride = zip(*merged, strict=True) if merged else ((), (), ())
        return View(dims, input_stride, output_stride, self.input_offset, self.output_offset)

    def unrolled(self, axes: Sequence[int]) -> list[View]:
        """One view for every index along `axes`, which are dropped."""
        rest = [axis for axis in range(len(self.dims)) if axis not in axes]
        return [
            View(
                tuple(self.dims[axis] for axis in rest),
                tuple(self.input_stride[axis] for axis in rest),
                tuple(self.output_stride[axis] for axis in rest),
                self.input_offset + sum(i * self.input_stride[axis] for i, axis in zip(index, axes, strict=True)),
                self.output_offset + sum(i * self.output_stride[axis] for i, axis in zip(index, axes, strict=True)),
            )
            for index in product(*(range(self.dims[axis]) for axis in axes))
        ]

    def record(self, element_size: int) -> Record:
        """The record of a StridedCopy; at most MAX_DIMS dimensions, filled up in front with 1."""
        missing = MAX_DIMS - len(self.dims)
        return {
            "element_size": element_size,
            "dims": (1,) * missing + self.dims,
            "input_stride": (0,) * missing + self.input_stride,
            "output_stride": (0,) * missing + self.output_stride,
            "input_offset": self.input_offset,
            "output_offset": self.output_offset,
        }


def lower_movement(file: str, node: Node, inputs: Sequence[Tensor], output: Tensor) -> tuple[Move, ...]:
    """The calls, in order, that do what `node` (one of MOVEMENT_OPERATORS) does.

    `file` is for messages. Raises UnsupportedModelError where the view has too many dimensions, or a padding value has no byte.
    """
    if output.elements == 0:
        return ()
    match node.op:
        case "Concat":
            return tuple(move for move in _concat(file, node, inputs, output))
        case "Pad":
            return (*_fill(file, node, inputs, output), *_copies(file, node, 0, _pad(node, inputs[0], output), output.dtype))
        case "Slice":
            return _copies(file, node, 0, _slice(node, inputs[0], output), output.dtype)
        case "Transpose":
            return _copies(file, node, 0, _transpose(node, inputs[0], output), output.dtype)
        case "Expand":
            return _copies(file, node, 0, _expand(inputs[0], output), output.dtype)
        case "Reshape" | "BitCast" | "Leading":
            return _copies(file, node, 0, View((output.elements,), (1,), (1,)), output.dtype)
    raise ValueError(f"{node.name}: {node.op} does not move elements")


def lower_borders(file: str, node: Node, inputs: Sequence[Tensor], output: Tensor, start: int) -> tuple[Move, ...]:
    """The calls of a Pad whose input lies in the output already, from byte `start` on: they write what is before and behind it."""
    end = start + inputs[0].bytes
    spans = [(first, last) for first, last in ((0, start), (end, output.bytes)) if first < last]
    if len(inputs) > 1:
        width = output.dtype.itemsize
        views = [View(((last - first) // width,), (0,), (1,), 0, first // width) for first, last in spans]
        return tuple(move for view in views for move in _copies(file, node, 1, view, output.dtype))
    value = _fill_value(file, node, output)
    return tuple(Move("Fill", {"count": last - first, "value": value}, None, first) for first, last in spans)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Element strides of a dense tensor."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _concat(file: str, node: Node, inputs: Sequence[Tensor], output: Tensor) -> list[Move]:
    axis, stride, at = node.attributes["axis"], row_major(output.shape), 0
    moves: list[Move] = []
    for position, x in enumerate(inputs):
        if x.elements:
            view = View(x.shape, row_major(x.shape), stride, 0, at * stride[axis])
            moves += _copies(file, node, position, view, output.dtype)
        at += x.shape[axis]
    return moves


def _pad(node: Node, x: Tensor, output: Tensor) -> View:
    stride, before = row_major(output.shape), node.attributes["pads"][: len(x.shape)]
    return View(x.shape, row_major(x.shape), stride, 0, sum(p * s for p, s in zip(before, stride, strict=True)))


def _slice(node: Node, x: Tensor, output: Tensor) -> View:
    starts, steps, stride = node.attributes["starts"], node.attributes["steps"], row_major(x.shape)
    return View(
        output.shape,
        tuple(step * s for step, s in zip(steps, stride, strict=True)),
        row_major(output.shape),
        sum(start * s for start, s in zip(starts, stride, strict=True)),
    )


def _expand(x: Tensor, output: Tensor) -> View:
    stride = tuple(0 if size == 1 else s for size, s in zip(x.shape, row_major(x.shape), strict=True))
    return View(output.shape, stride, row_major(output.shape))


def _transpose(node: Node, x: Tensor, output: Tensor) -> View:
    stride = row_major(x.shape)
    return View(output.shape, tuple(stride[axis] for axis in node.attributes["perm"]), row_major(output.shape))


def _fill(file: str, node: Node, inputs: Sequence[Tensor], output: Tensor) -> tuple[Move, ...]:
    """Fill writes bytes: enough for int8 and for zeros. Any other value is an operand of one element, which is copied everywhere."""
    if not any(node.attributes["pads"]):
        return ()
    if len(inputs) > 1:
        return _copies(file, node, 1, View((output.elements,), (0,), (1,)), output.dtype)
    return (Move("Fill", {"count": output.bytes, "value": _fill_value(file, node, output)}, None),)


def _fill_value(file: str, node: Node, output: Tensor) -> int:
    if output.dtype is DType.INT8:
        return int(node.attributes["fill"])
    if node.attributes.get("value", 0.0) == 0:
        return 0
    problem = f"padding {output.dtype.value} with value {node.attributes['value']}; only 0 can be written byte by byte"
    raise _refusal(file, node, problem, "pad with 0")


def _copies(file: str, node: Node, source: int, view: View, dtype: DType) -> tuple[Move, ...]:
    view = view.collapsed()
    if 0 in view.dims:
        return ()
    # Where dimensions remain that the kernel has no loop for, the shortest are unrolled into calls.
    surplus = max(0, len(view.dims) - MAX_DIMS)
    axes = sorted(sorted(range(len(view.dims)), key=lambda axis: view.dims[axis])[:surplus])
    calls = prod(view.dims[axis] for axis in axes)
    if calls > MAX_COPIES:
        needed = f"moving {view.dims} needs {len(view.dims)} loops, or {calls} calls of {MAX_DIMS} loops"
        problem = f"{needed}; at most {MAX_DIMS} loops and {MAX_COPIES} calls are supported"
        raise _refusal(file, node, problem, "split the operator, or merge dimensions with a Reshape before it")
    return tuple(Move("StridedCopy", part.record(dtype.itemsize), source) for part in view.unrolled(axes))


def _refusal(file: str, node: Node, problem: str, remedy: str) -> UnsupportedModelError:
    return UnsupportedModelError(file, [Unsupported(node.name, node.op, problem, remedy)])
