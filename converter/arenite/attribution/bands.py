"""Layers that are executed in bands of rows, as if they were whole: what an analysis by layers looks at.

An artifact in bands has no tensor of such a layer's name, but one for each band, and copies of rows between them. Here is a model with
the whole tensors: every band reads its rows of whole operands and writes those of its whole result. It is not for running from end to
end: its tensors have no place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from arenite_runtime import Model
from arenite_runtime.record import Record
from arenite_runtime.structure import Node, Storage, Tensor
from numpy.typing import NDArray

from arenite.report import Report

Array = NDArray[Any]

_ROWS = re.compile(r"(?P<whole>.+)/rows_(?P<first>\d+)_(?P<last>\d+)(/left)?(_\d+)?")
"""Names that partial execution gives to rows of a tensor."""


@dataclass(frozen=True)
class Rows:
    """Of the tensor `whole`, an index: from the first on, up to the one behind the last."""

    whole: int
    first: int
    last: int


@dataclass(frozen=True)
class Gathered:
    model: Model
    calls: tuple[int | None, ...]
    """By node of `model`, the node of the artifact; None for what moves rows."""
    bands: Mapping[str, tuple[tuple[str, Rows], ...]]
    """By name of a whole tensor that the artifact has not: the bands that are computed of it."""

    def values(self, found: Mapping[str, Array]) -> dict[str, Array]:
        """`found`, the values of the artifact's tensors by name, and those of whole tensors, where all of their rows are there."""
        result = dict(found)
        tensors = {tensor.name: tensor for tensor in self.model.tensors}
        for name, parts in self.bands.items():
            if all(part in found for part, _ in parts):
                result[name] = np.zeros(tensors[name].shape, tensors[name].dtype)
                for part, rows in parts:
                    result[name][:, rows.first : rows.last] = found[part]
        return result


def gathered(model: Model, report: Report) -> Gathered:
    """`model` with whole tensors. Where nothing is in bands, or the file has no names, it is as given."""
    wholes = {layer.band[0] for layer in report.layers if layer.band is not None}
    named = {tensor.name: tensor for tensor in model.tensors}
    cut = {}
    for tensor in model.tensors:
        found = _ROWS.fullmatch(tensor.name)
        if found is not None and tensor.storage is Storage.REGION and (found["whole"] in wholes or found["whole"] in named):
            cut[tensor.index] = (found["whole"], int(found["first"]), int(found["last"]) + 1)
    if not wholes or not cut:
        return Gathered(model, tuple(range(len(model.nodes))), {})
    return _Writer(model, cut).write()


class _Writer:
    def __init__(self, model: Model, cut: Mapping[int, tuple[str, int, int]]) -> None:
        self.model, self.cut = model, cut
        self.tensors = list(model.tensors)
        self.by_name = {tensor.name: tensor.index for tensor in model.tensors}
        self.nodes: list[Node] = []
        self.calls: list[int | None] = []
        self.bands: dict[str, dict[str, Rows]] = {}

    def write(self) -> Gathered:
        whole_before = set(self.by_name)
        for number, node in enumerate(self.model.nodes):
            if not self._moves_rows(node):
                self._band(number, node)
        main = replace(self.model.subgraphs[0], nodes=tuple(self.nodes))
        model = replace(self.model, tensors=tuple(self.tensors), subgraphs=(main, *self.model.subgraphs[1:]))
        return Gathered(
            model, tuple(self.calls), {name: tuple(parts.items()) for name, parts in self.bands.items() if name not in whole_before}
        )

    def _moves_rows(self, node: Node) -> bool:
        """A copy of rows from one part of a tensor to another, or to the whole."""
        places = [self._whole_name(index) for index in (*node.inputs, *node.outputs) if index is not None]
        return node.op == "StridedCopy" and len(set(places)) == 1 and any(index in self.cut for index in (*node.inputs, *node.outputs))

    def _whole_name(self, index: int) -> str:
        return self.cut[index][0] if index in self.cut else self.model.tensors[index].name

    def _band(self, number: int, node: Node) -> None:
        inputs = tuple(self._read(index) if index is not None and index in self.cut else index for index in node.inputs)
        self._append(replace(node, inputs=inputs), number)
        for index in node.outputs:
            if index in self.cut:
                rows, part = self._rows(index), self.tensors[index]
                self._append(self._copy(index, rows.whole, part, rows, taken=False))
                self.bands.setdefault(self.tensors[rows.whole].name, {})[part.name] = rows

    def _read(self, index: int) -> int:
        """A tensor with the rows that a band reads, of its own: what computes that part is another layer's."""
        rows, part = self._rows(index), self.tensors[index]
        read = self._add(replace(part, name=f"{part.name}/read"))
        self._append(self._copy(rows.whole, read, part, rows, taken=True))
        return read

    def _append(self, node: Node, number: int | None = None) -> None:
        self.nodes.append(node)
        self.calls.append(number)

    def _rows(self, index: int) -> Rows:
        name, first, last = self.cut[index]
        if name not in self.by_name:
            height = max(end for whole, _, end in self.cut.values() if whole == name)
            part = self.tensors[index]
            self._add(replace(part, name=name, shape=(part.shape[0], height, *part.shape[2:])))
        return Rows(self.by_name[name], first, last)

    def _copy(self, source: int, target: int, part: Tensor, rows: Rows, *, taken: bool) -> Node:
        above = rows.first * (part.elements // part.shape[1])
        offsets = (above, 0) if taken else (0, above)
        record = Record(
            element_size=part.dtype.itemsize,
            dims=(part.elements,),
            input_stride=(1,),
            input_offset=offsets[0],
            output_stride=(1,),
            output_offset=offsets[1],
        )
        return Node("StridedCopy", "bytes", part.name, (source,), (target,), None, record)

    def _add(self, tensor: Tensor) -> int:
        made = replace(tensor, index=len(self.tensors))
        self.tensors.append(made)
        self.by_name.setdefault(made.name, made.index)
        return made.index
