"""TfIdfVectorizer on integers: comparisons with the n-grams of its pool, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from arenite.frontend.arithmetic import binary, cast, scalar
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType
from arenite.graph.operators import UNBOUNDED


@dataclass(frozen=True)
class _Grams:
    """Those of one length."""

    length: int
    items: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """[count, length]."""
    first: int
    """Position in the pool of the first one."""


def tf_idf_vectorizer(node: NodeImport) -> Sequence[Value]:
    """How often each n-gram of the pool stands in a row, its items next to each other or up to max_skip_count items apart."""
    if node.attribute("pool_strings"):
        node.refuse("its pool are texts, which do not exist on the target", "map texts to integers in front of the model: pool_int64s")
    shape = node.shape(node.value(0))
    if len(shape) not in (1, 2):
        node.malformed(f"the input {list(shape)} has neither one dimension nor two")
    x = str(cast(node, node.tensor(0), DType.INT64)) if _leaves_int32(node) else node.tensor(0)
    x = node.reshape(x, shape if len(shape) == 2 else (1, *shape))
    mode, places = node.attribute("mode"), node.ints("ngram_indexes", ())
    if mode not in ("TF", "IDF", "TFIDF"):
        node.malformed(f"mode is {mode!r}, not TF, IDF or TFIDF")
    counted: dict[int, str] = {}
    for grams in _pool(node):
        counts = _counts(node, x, grams)
        for position in range(len(grams.items)):
            index = grams.first + position
            if index >= len(places) or places[index] < 0:
                node.malformed(f"n-gram {index} of the pool has no place in ngram_indexes")
            single = node.emit("Slice", [counts], starts=(0, position), steps=(1, 1), sizes=(node.graph.tensors[counts].shape[0], 1))
            there = counted.get(places[index])
            counted[places[index]] = single if there is None else binary(node, "Add", there, single)
    if not counted:
        node.refuse("no n-gram of its pool is from min_gram_length to max_gram_length long and fits a row", "remove the node")
    zeros = node.add_constant(Constant(f"{node.name}/none", np.zeros((node.graph.tensors[x].shape[0], 1), np.float32)))
    columns = [counted.get(place, zeros) for place in range(max(places) + 1)]
    y = _weighted(node, columns[0] if len(columns) == 1 else node.emit("Concat", columns, axis=1), places)
    return [y if len(shape) == 2 else node.reshape(y, (len(columns),))]


def _leaves_int32(node: NodeImport) -> bool:
    ends = np.iinfo(np.int32)
    return not all(ends.min <= item <= ends.max for item in node.ints("pool_int64s", ()))


def _pool(node: NodeImport) -> list[_Grams]:
    """Its n-grams of the lengths asked for. ngram_counts says where those of each length begin among the items."""
    items, starts = np.asarray(node.ints("pool_int64s", ()), np.int64), node.ints("ngram_counts", ())
    least, most = int(node.attribute("min_gram_length", 1)), int(node.attribute("max_gram_length", 1))
    found, first = [], 0
    for length, (start, end) in enumerate(pairwise((*starts, len(items))), 1):
        if not 0 <= start <= end or (end - start) % length:
            node.malformed(f"items {start} to {end} of the pool are no n-grams of {length}")
        grams = _Grams(length, items[start:end].reshape(-1, length), first)
        first += len(grams.items)
        if least <= length <= most and len(grams.items):
            found.append(grams)
    return found


def _counts(node: NodeImport, x: str, grams: _Grams) -> str:
    """[rows, n-grams], float32."""
    rows, width = node.graph.tensors[x].shape
    dtype = node.graph.tensors[x].dtype
    total: str | None = None
    skips = int(node.attribute("max_skip_count", 0)) + 1 if grams.length > 1 else 1
    for distance in range(1, skips + 1):
        windows = width - (grams.length - 1) * distance
        if windows < 1:
            break
        match: str | None = None
        for item in range(grams.length):
            part = node.emit("Slice", [x], starts=(0, item * distance), steps=(1, 1), sizes=(rows, windows))
            wanted = Constant(f"{node.name}/items_{grams.length}_{item}", grams.items[None, None, :, item].astype(dtype.numpy))
            equal = binary(node, "Equal", node.reshape(part, (rows, windows, 1)), wanted)
            match = equal if match is None else binary(node, "BitwiseAnd", match, equal)
        found = node.results("ReduceSum", [str(cast(node, str(match), DType.FLOAT32))], axes=(1,), keepdims=False)[0]
        total = found if total is None else binary(node, "Add", total, found)
    if total is None:
        return node.add_constant(Constant(f"{node.name}/absent_{grams.length}", np.zeros((rows, len(grams.items)), np.float32)))
    return total


def _weighted(node: NodeImport, counts: str, places: Sequence[int]) -> str:
    """The weight of an n-gram, by its position in the pool, is that of its column. (As ONNX's text has it; onnxruntime and the reference
    take weights by column.)"""
    mode, weights = node.attribute("mode"), node.attribute("weights")
    if mode == "TF":
        return counts
    if mode == "IDF":
        counts = str(cast(node, binary(node, "Less", scalar(node, 0, DType.FLOAT32), counts), DType.FLOAT32))
    if not weights:
        return counts
    if len(weights) != len(places):
        node.malformed(f"{len(weights)} weights for {len(places)} n-grams")
    of_column = np.zeros((1, max(places) + 1), np.float32)
    of_column[0, list(places)] = weights
    return node.emit("Mul", [counts, node.add_constant(Constant(f"{node.name}/weights", of_column))], clip=UNBOUNDED)


NGRAM = {"TfIdfVectorizer": Importer(tf_idf_vectorizer, "pool_int64s; every mode, lengths and skips; costs rows · items · n-grams")}
