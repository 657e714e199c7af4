"""Gemm and MatMul: FullyConnected where one side is constant, MatMul where both are computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph.operators import UNBOUNDED


def gemm(node: NodeImport) -> Sequence[Value]:
    """alpha · A' · B' + beta · C, A' and B' perhaps transposed."""
    alpha, beta = float(node.attribute("alpha", 1.0)), float(node.attribute("beta", 1.0))
    a, b = (_matrix(node, i, bool(node.attribute(name, 0))) for i, name in enumerate(("transA", "transB")))
    if isinstance(a, Constant):
        assert not isinstance(b, Constant)  # constant nodes are folded
        rows, columns = a.array.shape[0], node.graph.tensors[b].shape[1]
    else:
        rows, columns = node.graph.tensors[a].shape[0], node.shape(b)[1]
    addend = node.value(2) if node.has(2) and beta != 0 else None
    if isinstance(addend, Constant):
        addend = node.finite(addend).scaled(beta)
        if np.broadcast_shapes(addend.array.shape, (rows, columns)) != (rows, columns):
            node.malformed(f"C {list(addend.array.shape)} does not broadcast to {[rows, columns]}")
    bias: list[str] = []
    if isinstance(addend, Constant) and not isinstance(a, Constant) and isinstance(b, Constant) and _is_row(addend, rows):
        bias, addend = [node.add_constant(_as_row(addend, columns))], None
    y = _gemm_product(node, a, b, alpha, bias)
    if addend is None:
        return [y]
    if isinstance(addend, str) and beta != 1:
        addend = node.emit("Mul", [addend, _scalar(node, "beta", beta, len(node.shape(addend)))], clip=UNBOUNDED)
    return [node.emit("Add", [y, node.to_rank(addend, 2)], clip=UNBOUNDED)]


def _matrix(node: NodeImport, index: int, transposed: bool) -> Value:
    value = node.value(index)
    if len(node.shape(value)) != 2:
        node.malformed(f"input {index} has the shape {list(node.shape(value))} instead of two dimensions")
    if isinstance(value, Constant):
        value = node.finite(value)
        return value.transposed((1, 0)) if transposed else value
    value = node.activation(index)
    return node.transpose(value, (1, 0)) if transposed else value


def _gemm_product(node: NodeImport, a: Value, b: Value, alpha: float, bias: list[str]) -> str:
    if isinstance(b, Constant):
        assert isinstance(a, str)
        weight = b.scaled(alpha).transposed((1, 0)).without_annotation_off(0)
        return node.emit("FullyConnected", [a, node.add_constant(weight), *bias], clip=UNBOUNDED)
    if isinstance(a, Constant):  # A·B = (Bᵀ·Aᵀ)ᵀ
        weight = a.scaled(alpha).without_annotation_off(0)
        return node.transpose(node.emit("FullyConnected", [node.transpose(b, (1, 0)), node.add_constant(weight)], clip=UNBOUNDED), (1, 0))
    y = node.emit("MatMul", [a, b], clip=UNBOUNDED)
    return y if alpha == 1 else node.emit("Mul", [y, _scalar(node, "alpha", alpha, 2)], clip=UNBOUNDED)


def _scalar(node: NodeImport, name: str, value: float, rank: int) -> str:
    return node.add_constant(Constant(f"{node.name}/{name}", np.full((1,) * rank, value, np.float32)))


def _is_row(c: Constant, rows: int) -> bool:
    """Does C add the same vector to every row?"""
    return c.array.ndim < 2 or c.array.shape[0] == 1 or rows == 1


def _as_row(c: Constant, columns: int) -> Constant:
    """C as a vector of one value a column. The annotation stays where its values do."""
    flat = c.reshaped((c.array.size,))
    if flat.array.size == columns:
        return flat
    return Constant(c.name, np.ascontiguousarray(np.broadcast_to(flat.array, (columns,))))


def matmul(node: NodeImport) -> Sequence[Value]:
    a, b = node.value(0), node.value(1)
    if not node.shape(a) or not node.shape(b):
        node.malformed("an input is a scalar")
    a_vector, b_vector = len(node.shape(a)) == 1, len(node.shape(b)) == 1
    a, b = _with_matrix(node, 0, a_vector), _with_matrix(node, 1, b_vector)
    if node.shape(a)[-1] != node.shape(b)[-2]:
        node.malformed(f"{list(node.shape(a))} and {list(node.shape(b))} cannot be multiplied")
    if isinstance(b, Constant):
        assert isinstance(a, str)
        y = _constant_product(node, a, b)
    elif isinstance(a, Constant):  # A·B = (Bᵀ·Aᵀ)ᵀ
        y = _swap(node, _constant_product(node, _swap(node, b), a.transposed(_swapped(a.array.ndim))))
    else:
        y = node.emit("MatMul", [a, b], clip=UNBOUNDED)
    shape = list(node.graph.tensors[y].shape)
    if b_vector:
        del shape[-1]
    if a_vector:
        del shape[-1 if b_vector else -2]
    return [node.reshape(y, shape)]


def _with_matrix(node: NodeImport, index: int, vector: bool) -> Value:
    """The operand as matrices: a vector is one row of A or one column of B."""
    value = node.value(index)
    value = node.finite(value) if isinstance(value, Constant) else node.activation(index)
    if not vector:
        return value
    length = node.shape(value)[0]
    shape = (1, length) if index == 0 else (length, 1)
    return value.reshaped(shape) if isinstance(value, Constant) else node.reshape(value, shape)


def _swapped(rank: int) -> tuple[int, ...]:
    return (*range(rank - 2), rank - 1, rank - 2)


def _swap(node: NodeImport, x: str) -> str:
    return node.transpose(x, _swapped(len(node.graph.tensors[x].shape)))


def _constant_product(node: NodeImport, x: str, matrices: Constant) -> str:
    """x[…, M, K] · matrices[…, K, N], leading dimensions broadcast: a FullyConnected for each of the constant's matrices."""
    rank = max(len(node.graph.tensors[x].shape), matrices.array.ndim)
    *leading, k, n = matrices.array.shape
    if all(size == 1 for size in leading):
        y = node.emit("FullyConnected", [x, _weight(node, matrices.reshaped((k, n)))], clip=UNBOUNDED)
        return node.reshape(y, (1,) * (rank - len(node.graph.tensors[y].shape)) + node.graph.tensors[y].shape)
    shape = node.graph.tensors[x].shape
    x = node.reshape(x, (1,) * (rank - len(shape)) + shape)
    return _split_product(node, x, matrices.reshaped((1,) * (rank - matrices.array.ndim) + matrices.array.shape), 0)


def _split_product(node: NodeImport, x: str, matrices: Constant, axis: int) -> str:
    if matrices.array.ndim == 2:
        return node.emit("FullyConnected", [x, _weight(node, matrices)], clip=UNBOUNDED)
    shape, count = node.graph.tensors[x].shape, matrices.array.shape[0]
    if count == 1:
        return _split_product(node, x, matrices.part(0), axis + 1)
    if shape[axis] not in (1, count):
        node.malformed(f"dimension {axis} of {shape[axis]} does not broadcast with {count}")
    parts = []
    for i in range(count):
        piece = x
        if shape[axis] > 1:
            starts = tuple(i if d == axis else 0 for d in range(len(shape)))
            sizes = tuple(1 if d == axis else size for d, size in enumerate(shape))
            piece = node.emit("Slice", [x], starts=starts, steps=(1,) * len(shape), sizes=sizes)
        parts.append(_split_product(node, piece, matrices.part(i), axis + 1))
    return node.emit("Concat", parts, axis=axis)


def _weight(node: NodeImport, matrix: Constant) -> str:
    return node.add_constant(matrix.transposed((1, 0)).without_annotation_off(0))


def det(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        node.malformed(f"the input {list(shape)} has no square matrices")
    return [node.emit("Det", [x])]


MATRIX = {
    "Gemm": Importer(gemm, "alpha, beta, transA, transB, C of any broadcast; A or B constant, or neither"),
    "Det": Importer(det, "any rank"),
    "MatMul": Importer(matmul, "any ranks; A or B constant, or neither"),
}
