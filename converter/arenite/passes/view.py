"""Views: what a chain of Transpose and Reshape does to the elements of a tensor, in one normal form.

A view reads the elements of a source in another order. The order is a list of factors (size, stride), major first: the index into
the target, written with the sizes as digits, times the strides is the index into the source. That is the notation of strided
arrays, independent of where the borders of the dimensions lie, so that dimensions of 1 and Reshape vanish from it: a Transpose that
moves only dimensions of 1 has the order of a Reshape, and two chains do the same if their factors are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]
Factor = tuple[int, int]
"""(size, stride in elements of the source)."""


def _merged(factors: Iterable[Factor]) -> tuple[Factor, ...]:
    """Without sizes of 1, and with neighbours that walk the source as one joined."""
    result: list[Factor] = []
    for size, stride in factors:
        if size == 1:
            continue
        if result and result[-1][1] == size * stride:
            result[-1] = (result[-1][0] * size, stride)
        else:
            result.append((size, stride))
    return tuple(result)


def split_factors(factors: Sequence[Factor], dims: Sequence[int]) -> list[tuple[Factor, ...]] | None:
    """The factors of each dimension of `dims`; None where a border lies inside a digit (a stride no integer divides)."""
    rest, groups = list(factors), []
    for dim in dims:
        group: list[Factor] = []
        while dim > 1:
            size, stride = rest.pop(0)
            if dim % size == 0:
                group.append((size, stride))
                dim //= size
            elif size % dim == 0:
                group.append((dim, stride * (size // dim)))
                rest.insert(0, (size // dim, stride))
                dim = 1
            else:
                return None
        groups.append(_merged(group))
    return groups


@dataclass(frozen=True)
class View:
    """A target of shape `target`, read from a source of shape `source` in the order of `factors` (merged: equal orders are equal)."""

    source: Shape
    target: Shape
    factors: tuple[Factor, ...]

    @classmethod
    def identity(cls, shape: Shape) -> View:
        return cls(shape, shape, _merged([(prod(shape), 1)]))

    @property
    def moves(self) -> bool:
        """Whether elements change their order: a Transpose is needed, a Reshape does not do."""
        return len(self.factors) > 1

    @property
    def is_identity(self) -> bool:
        return not self.moves and self.source == self.target

    def reshape(self, shape: Shape) -> View:
        return View(self.source, shape, self.factors)

    def transpose(self, perm: Sequence[int]) -> View | None:
        """None where a dimension of the target is no group of factors; the chain then cannot be one view."""
        groups = split_factors(self.factors, self.target)
        if groups is None:
            return None
        factors = _merged(factor for axis in perm for factor in groups[axis])
        return View(self.source, tuple(self.target[axis] for axis in perm), factors)

    def then(self, other: View) -> View | None:
        """First this view, then `other` on its target."""
        by_stride = sorted(other.factors, key=lambda factor: -factor[1])
        digits = View(self.source, tuple(size for size, _ in by_stride), self.factors)
        moved = digits.transpose([by_stride.index(factor) for factor in other.factors])
        return None if moved is None else moved.reshape(other.target)

    def inverse(self) -> View:
        target_strides, step = {}, 1
        for factor in reversed(self.factors):
            target_strides[factor] = step
            step *= factor[0]
        by_stride = sorted(self.factors, key=lambda factor: -factor[1])
        return View(self.target, self.source, _merged((factor[0], target_strides[factor]) for factor in by_stride))

    def steps(self) -> list[tuple[str, Shape]]:
        """The shortest ("Transpose", perm) and ("Reshape", shape) sequence found that does it: at most one Transpose."""
        if not self.moves:
            return [] if self.source == self.target else [("Reshape", self.target)]
        perm = self._perm_of_source()
        if perm is not None:
            shape = tuple(self.source[axis] for axis in perm)
            return [("Transpose", perm), *([("Reshape", self.target)] if shape != self.target else [])]
        # Transpose straight into the target where each of its dimensions is one digit, else into the digits.
        groups = split_factors(self.factors, self.target)
        direct = groups is not None and all(len(group) <= 1 for group in groups)
        digits = [group[0] if group else (1, 0) for group in groups] if groups is not None and direct else list(self.factors)
        order = sorted(range(len(digits)), key=lambda i: (digits[i][0] > 1, -digits[i][1]))
        before = tuple(digits[i][0] for i in order)
        steps: list[tuple[str, Shape]] = [] if before == self.source else [("Reshape", before)]
        steps.append(("Transpose", tuple(order.index(i) for i in range(len(digits)))))
        return steps if direct else [*steps, ("Reshape", self.target)]

    def _perm_of_source(self) -> Shape | None:
        """The Transpose of the source's own dimensions that gives this order, with the target's shape where that is possible."""
        strides = [prod(self.source[axis + 1 :]) for axis in range(len(self.source))]
        wide = [axis for axis, size in enumerate(self.source) if size > 1]
        moved: list[int] = []
        for size, stride in self.factors:
            covered = [axis for axis in wide if stride <= strides[axis] < size * stride]
            if prod(self.source[axis] for axis in covered) != size or not covered or strides[covered[-1]] != stride:
                return None
            moved += covered
        ones = [axis for axis, size in enumerate(self.source) if size == 1]
        perm, wide_left, ones_left = [], list(moved), list(ones)
        for size in self.target:
            left = ones_left if size == 1 else wide_left
            if not left:
                break
            perm.append(left.pop(0))
        if sorted(perm) == list(range(len(self.source))) and tuple(self.source[axis] for axis in perm) == self.target:
            return tuple(perm)
        return (*ones, *moved)
