"""Einsum as Reshape, Transpose, ReduceSum, Mul and MatMul (or FullyConnected, where one operand is constant)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType
from arenite.graph.operators import UNBOUNDED

_EQUATION = re.compile(r"[A-Za-z.,]*(->[A-Za-z.]*)?")


@dataclass(frozen=True)
class _Term:
    """A value whose axes are named, each by its own letter."""

    value: Value
    letters: str


def einsum(node: NodeImport) -> Sequence[Value]:
    operands, output = _parse(node)
    terms = [_diagonal(node, _Term(_operand(node, i), letters)) for i, letters in enumerate(operands)]
    while len(terms) > 1:
        first, second, *rest = terms
        kept = set(output).union(*(term.letters for term in rest))
        terms = [_product(node, _summed(node, first, kept | set(second.letters)), _summed(node, second, kept | set(first.letters)), kept)]
        terms += rest
    (result,) = terms
    result = _summed(node, result, set(output))
    name = _tensor(node, result.value)
    return [node.transpose(name, [result.letters.index(letter) for letter in output])]


def _parse(node: NodeImport) -> tuple[list[str], str]:
    """Letters of every operand and of the result; an ellipsis becomes upper-case letters that the equation does not use."""
    equation = str(node.attribute("equation", "")).replace(" ", "")
    if not _EQUATION.fullmatch(equation):
        node.malformed(f"the equation {equation!r} is not one")
    left, arrow, output = equation.partition("->")
    operands = left.split(",")
    if len(operands) != len(node.inputs):
        node.malformed(f"the equation {equation!r} has {len(operands)} operands, the node {len(node.inputs)}")
    spare = [letter for letter in map(chr, range(192, 1024)) if letter.isalpha()]
    ranks = [len(node.shape(node.value(i))) for i in range(len(operands))]
    widths = [rank - len(letters.replace("...", "")) for rank, letters in zip(ranks, operands, strict=True)]
    if any(width < 0 or (width and "..." not in letters) for width, letters in zip(widths, operands, strict=True)):
        node.malformed(f"the equation {equation!r} does not fit operands of {ranks} dimensions")
    most = max((width for width, letters in zip(widths, operands, strict=True) if "..." in letters), default=0)
    whole = "".join(spare[:most])
    expanded = [letters.replace("...", whole[most - width :]) for width, letters in zip(widths, operands, strict=True)]
    if arrow:
        return expanded, output.replace("...", whole)
    letters = [letter for letter in left if letter.isalpha()]
    return expanded, whole + "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))


def _operand(node: NodeImport, index: int) -> Value:
    value = node.value(index)
    return node.typed(value) if isinstance(value, Constant) else node.tensor(index)


def _tensor(node: NodeImport, value: Value) -> str:
    return node.add_constant(value) if isinstance(value, Constant) else value


def _diagonal(node: NodeImport, term: _Term) -> _Term:
    """A letter that is there twice: its two axes, brought to the end and joined, are walked in steps of n + 1."""
    for letter in dict.fromkeys(term.letters):
        while term.letters.count(letter) > 1:
            first = term.letters.index(letter)
            second = term.letters.index(letter, first + 1)
            rest = [axis for axis in range(len(term.letters)) if axis not in (first, second)]
            name = _tensor(node, term.value)
            shape = node.graph.tensors[name].shape
            if shape[first] != shape[second]:
                node.malformed(f"{letter} names axes of {shape[first]} and {shape[second]} elements")
            size, outer = shape[first], tuple(shape[axis] for axis in rest)
            joined = node.reshape(node.transpose(name, (*rest, first, second)), (*outer, size * size))
            starts, steps = (0,) * (len(outer) + 1), (*(1,) * len(outer), size + 1 if size > 1 else 1)
            walked = node.results("Slice", [joined], starts=starts, steps=steps, sizes=(*outer, size))[0]
            term = _Term(walked, "".join(term.letters[axis] for axis in rest) + letter)
    return term


def _summed(node: NodeImport, term: _Term, kept: set[str]) -> _Term:
    """Summed over the letters that nobody needs any more."""
    axes = tuple(axis for axis, letter in enumerate(term.letters) if letter not in kept)
    if not axes:
        return term
    letters = "".join(letter for letter in term.letters if letter in kept)
    return _Term(node.results("ReduceSum", [_tensor(node, term.value)], axes=axes, keepdims=False)[0], letters)


def _sizes(node: NodeImport, *terms: _Term) -> dict[str, int]:
    """Elements of every letter; a size of 1 is broadcast."""
    sizes: dict[str, int] = {}
    for term in terms:
        for letter, size in zip(term.letters, node.shape(term.value), strict=True):
            if sizes.setdefault(letter, size) not in (1, size) and size != 1:
                node.malformed(f"{letter} names axes of {sizes[letter]} and {size} elements")
            sizes[letter] = max(sizes[letter], size)
    return sizes


def _product(node: NodeImport, a: _Term, b: _Term, kept: set[str]) -> _Term:
    sizes = _sizes(node, a, b)
    summed = [letter for letter in a.letters if letter in b.letters and letter not in kept]
    whole = all(size == sizes[letter] for t in (a, b) for letter, size in zip(t.letters, node.shape(t.value), strict=True))
    dtype = node.dtype(a.value)
    if not summed or not whole or dtype is not DType.FLOAT32:
        return _broadcast_product(node, a, b, kept)
    batch = [letter for letter in a.letters if letter in b.letters and letter in kept]
    if isinstance(a.value, Constant) and not isinstance(b.value, Constant):
        a, b = b, a
    rows = [letter for letter in a.letters if letter not in b.letters]
    columns = [letter for letter in b.letters if letter not in a.letters]
    inner = prod(sizes[letter] for letter in summed)
    left = _arranged(node, a, [*batch, *rows, *summed])
    if isinstance(b.value, Constant) and not batch:
        matrix = b.value.array.transpose([b.letters.index(letter) for letter in (*columns, *summed)]).reshape(-1, inner)
        weight = node.add_constant(Constant(f"{b.value.name}/{node.name}", np.ascontiguousarray(matrix)))
        y = node.emit("FullyConnected", [node.reshape(left, (prod(sizes[n] for n in rows), inner)), weight], clip=UNBOUNDED)
    else:
        right = _arranged(node, b, [*batch, *summed, *columns])
        outer = tuple(sizes[letter] for letter in batch)
        shapes = ((*outer, prod(sizes[n] for n in rows), inner), (*outer, inner, prod(sizes[n] for n in columns)))
        y = node.emit("MatMul", [node.reshape(left, shapes[0]), node.reshape(right, shapes[1])], clip=UNBOUNDED)
    letters = "".join([*batch, *rows, *columns])
    return _Term(node.reshape(y, [sizes[letter] for letter in letters]), letters)


def _arranged(node: NodeImport, term: _Term, letters: Sequence[str]) -> str:
    return node.transpose(_tensor(node, term.value), [term.letters.index(letter) for letter in letters])


def _broadcast_product(node: NodeImport, a: _Term, b: _Term, kept: set[str]) -> _Term:
    """A Mul of both, brought to the same axes, then a sum."""
    letters = a.letters + "".join(letter for letter in b.letters if letter not in a.letters)
    operands = []
    for term in (a, b):
        name = _arranged(node, term, [letter for letter in letters if letter in term.letters])
        held = dict(zip(term.letters, node.shape(term.value), strict=True))
        operands.append(node.reshape(name, [held.get(letter, 1) for letter in letters]))
    return _summed(node, _Term(node.results("Mul", operands, clip=UNBOUNDED)[0], letters), kept)


EINSUM = {"Einsum": Importer(einsum, "any equation: ellipsis, repeated letters, any number of operands, constant or computed")}
