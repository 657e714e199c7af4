"""Sequences of tensors, and optional values: known at conversion, where nothing of them is left.

The positions are constant, so that every operator says which of the tensors it means.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, TensorList, Unknown, Value


def _items(node: NodeImport, index: int = 0) -> tuple[Value, ...]:
    value = node.inputs[index] if index < len(node.inputs) else None
    if not isinstance(value, TensorList):
        node.malformed(f"input {index} is no sequence")
    return value.items


def _position(node: NodeImport, index: int, count: int, usual: int) -> int:
    """0…count − 1; a negative one counts from the end."""
    given = node.integers(index, "the position")
    position = usual if given is None else given[0]
    if given is not None and len(given) != 1:
        node.malformed(f"the position {list(given)} is not one number")
    if not -count <= position < count:
        node.malformed(f"position {position} is outside of a sequence of {count}")
    return position % count


def empty(node: NodeImport) -> Sequence[Value | TensorList]:
    return [TensorList(())]


def construct(node: NodeImport) -> Sequence[Value | TensorList]:
    return [TensorList(tuple(node.value(i) for i in range(len(node.inputs))))]


def insert(node: NodeImport) -> Sequence[Value | TensorList]:
    items = list(_items(node))
    given = node.integers(2, "the position")
    at = len(items) if given is None else given[0]
    if not -len(items) <= at <= len(items):
        node.malformed(f"position {at} is outside of a sequence of {len(items)}")
    items.insert(at, node.value(1))
    return [TensorList(tuple(items))]


def erase(node: NodeImport) -> Sequence[Value | TensorList]:
    items = _items(node)
    at = _position(node, 1, len(items), -1)
    return [TensorList(items[:at] + items[at + 1 :])]


def item(node: NodeImport) -> Sequence[Value | TensorList]:
    items = _items(node)
    if not node.has(1):
        node.malformed("the position is missing")
    return [items[_position(node, 1, len(items), 0)]]


def length(node: NodeImport) -> Sequence[Value | TensorList]:
    return [Constant(f"{node.name}/length", np.asarray(len(_items(node)), np.int64))]


def concatenation(node: NodeImport) -> Sequence[Value | TensorList]:
    """Along an axis that is there, or as a new one."""
    items = _items(node)
    if not items:
        node.malformed("the sequence is empty")
    parts = [node.add_constant(node.typed(value)) if isinstance(value, Constant) else value for value in items]
    shape = node.graph.tensors[parts[0]].shape
    if "axis" not in node.attributes:
        node.malformed("axis is missing")
    if node.attribute("new_axis", 0):
        axis = node.axis(int(node.attribute("axis")), len(shape) + 1)
        parts = [node.reshape(part, (*shape[:axis], 1, *shape[axis:])) for part in parts]
    else:
        axis = node.axis(int(node.attribute("axis")), len(shape))
    return [parts[0] if len(parts) == 1 else node.emit("Concat", parts, axis=axis)]


def split(node: NodeImport) -> Sequence[Value | TensorList]:
    """Parts of one size, the last as long as what is left, or of the sizes given."""
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    axis = node.axis(int(node.attribute("axis", 0)), len(shape))
    given = node.constant(1, "the sizes of the parts")
    if given is not None and given.array.ndim:
        sizes = [int(n) for n in given.array]
    else:
        each = 1 if given is None else int(np.asarray(given.array).reshape(()))
        if each < 1:
            node.malformed(f"parts of {each} elements")
        sizes = [min(each, shape[axis] - start) for start in range(0, shape[axis], each)]
    if sum(sizes) != shape[axis] or min(sizes, default=0) < 0:
        node.malformed(f"the parts {sizes} do not make axis {axis} of {shape[axis]}")
    parts, start, steps = [], 0, (1,) * len(shape)
    for size in sizes:
        starts = tuple(start if d == axis else 0 for d in range(len(shape)))
        own = (*shape[:axis], size, *shape[axis + 1 :])
        parts.append(_part(node, x, starts, steps, own) if size else Constant(f"{node.name}/nothing", _nothing(node, x, own)))
        start += size
    if given is None and not node.attribute("keepdims", 1):
        parts = [node.reshape(str(part), (*shape[:axis], *shape[axis + 1 :])) for part in parts]
    return [TensorList(tuple(parts))]


def _part(node: NodeImport, x: str, starts: tuple[int, ...], steps: tuple[int, ...], sizes: tuple[int, ...]) -> Value:
    return x if sizes == node.graph.tensors[x].shape else node.emit("Slice", [x], starts=starts, steps=steps, sizes=sizes)


def _nothing(node: NodeImport, x: str, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return np.zeros(shape, node.graph.tensors[x].dtype.numpy)


def optional(node: NodeImport) -> Sequence[Value | TensorList]:
    """The value itself."""
    value = node.inputs[0] if node.inputs else None
    if value is None or isinstance(value, Unknown):
        node.refuse("its value is absent", "remove the node and what reads it")
    return [value]


def has_element(node: NodeImport) -> Sequence[Value | TensorList]:
    return [Constant(f"{node.name}/present", np.asarray(bool(node.inputs) and node.inputs[0] is not None))]


_NOTES = "resolved at conversion; constant positions"

SEQUENCE = {
    "SequenceEmpty": Importer(empty, _NOTES),
    "SequenceConstruct": Importer(construct, _NOTES),
    "SequenceInsert": Importer(insert, _NOTES),
    "SequenceErase": Importer(erase, _NOTES),
    "SequenceAt": Importer(item, _NOTES),
    "SequenceLength": Importer(length, _NOTES),
    "ConcatFromSequence": Importer(concatenation, _NOTES),
    "SplitToSequence": Importer(split, _NOTES),
    "Optional": Importer(optional, "its value"),
    "OptionalGetElement": Importer(optional, "its value"),
    "OptionalHasElement": Importer(has_element, "a constant"),
}
