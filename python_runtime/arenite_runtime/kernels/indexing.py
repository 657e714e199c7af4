"""Gather and Scatter of every kind, OneHot, Trilu, ReverseSequence: docs/numerics.md §11.

Indices may hold anything: a negative one counts from the end; what is outside still reads the nearest place and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64
from arenite_runtime.kernels.movement import strided

_FAR = np.int64(1) << 62


def _integers(indices: Array) -> Int64:
    """Float indices lose their fraction; what no int32 holds is outside of everything."""
    flat = indices.reshape(-1)
    if flat.dtype == np.float32:
        fits = np.abs(flat) < np.float32(2e9)
        return np.where(fits, np.trunc(np.where(fits, flat, 0)).astype(np.int64), -_FAR)
    return np.clip(flat.astype(np.int64), -_FAR, _FAR)


def _places(indices: Array, size: int) -> Int64:
    """−1 where outside."""
    index = _integers(indices)
    place = np.where(index < 0, index + size, index)
    return np.where((place < 0) | (place >= size), -1, place)


def _nearest_places(indices: Array, size: int) -> Int64:
    index = _integers(indices)
    return np.clip(np.where(index < 0, index + size, index), 0, size - 1)


def _elements(array: Array, size: int) -> Array:
    """As unsigned numbers of `size` bytes."""
    return array.reshape(-1).view(f"u{size}")


def gather(p: Any, x: Array, indices: Array, y: Array) -> None:
    entries = x.reshape(-1).view(np.uint8).reshape(p.outer, p.size, p.inner)
    y.reshape(-1).view(np.uint8)[...] = entries[:, _nearest_places(indices, p.size)].reshape(-1)


def _offsets(p: Any) -> Int64:
    """Of every index into x, without what the index itself adds."""
    index = np.indices(p.dims).reshape(len(p.dims), -1)
    return np.asarray((index * np.asarray(p.stride)[:, None]).sum(axis=0), np.int64)


def gather_elements(p: Any, x: Array, indices: Array, y: Array) -> None:
    at = _offsets(p) + _nearest_places(indices, p.size) * p.step
    _elements(y, p.element_size)[...] = _elements(x, p.element_size)[at]


def _copied(x: Array, y: Array) -> Array:
    y.reshape(-1).view(np.uint8)[...] = x.reshape(-1).view(np.uint8).copy()
    return y.reshape(-1)


def _reduce(y: Array, at: Int64, updates: Array, reduction: int) -> None:
    functions: dict[int, np.ufunc] = {1: np.add, 2: np.multiply, 3: np.maximum, 4: np.minimum}
    with np.errstate(all="ignore"):
        if reduction > 2:  # as C's comparisons: a NaN loses
            for place, update in zip(at, updates, strict=True):
                y[place] = update if (update > y[place] if reduction == 3 else update < y[place]) else y[place]
        else:
            functions[reduction].at(y, at, updates)


def _element_places(p: Any, indices: Array) -> tuple[Int64, Array]:
    """Places in y of the updates that have one, and which they are."""
    place = _places(indices, p.size)
    return (_offsets(p) + place * p.step)[place >= 0], place >= 0


def scatter_elements(p: Any, x: Array, indices: Array, updates: Array, y: Array) -> None:
    at, inside = _element_places(p, indices)
    y = _elements(_copied(x, y), p.element_size)
    for place, update in zip(at, _elements(updates, p.element_size)[inside], strict=True):
        y[place] = update


def scatter_elements_reduce(p: Any, x: Array, indices: Array, updates: Array, y: Array) -> None:
    at, inside = _element_places(p, indices)
    _reduce(_copied(x, y), at, updates.reshape(-1)[inside], p.reduction)


def gather_nd(p: Any, x: Array, indices: Array, y: Array) -> None:
    sizes = p.sizes[: p.depth]
    entries = _elements(x, p.element_size).reshape(p.batches, int(np.prod(sizes)), p.inner)
    index = indices.reshape(p.batches, p.rows, p.depth)
    entry = np.zeros((p.batches, p.rows), np.int64)
    for d, size in enumerate(sizes):
        entry = entry * size + _nearest_places(index[..., d], size).reshape(entry.shape)
    _elements(y, p.element_size)[...] = entries[np.arange(p.batches)[:, None], entry].reshape(-1)


def _entries(p: Any, indices: Array) -> tuple[Int64, Array]:
    """The entry of every row of indices that has one, and which rows these are."""
    index = indices.reshape(p.rows, p.depth)
    entry, inside = np.zeros(p.rows, np.int64), np.ones(p.rows, bool)
    for d in range(p.depth):
        place = _places(index[:, d], p.sizes[d])
        inside &= place >= 0
        entry = entry * p.sizes[d] + place
    return entry[inside], inside


def scatter_nd(p: Any, x: Array, indices: Array, updates: Array, y: Array) -> None:
    at, inside = _entries(p, indices)
    y = _elements(_copied(x, y), p.element_size).reshape(-1, p.inner)
    for entry, update in zip(at, _elements(updates, p.element_size).reshape(p.rows, p.inner)[inside], strict=True):
        y[entry] = update


def scatter_nd_reduce(p: Any, x: Array, indices: Array, updates: Array, y: Array) -> None:
    at, inside = _entries(p, indices)
    places = (at[:, None] * p.inner + np.arange(p.inner)).reshape(-1)
    _reduce(_copied(x, y), places, updates.reshape(p.rows, p.inner)[inside].reshape(-1), p.reduction)


def tensor_scatter(p: Any, x: Array, updates: Array, starts: Array | None, y: Array) -> None:
    first = np.zeros(p.batch, np.int64) if starts is None else starts.reshape(-1).astype(np.int64)
    first = first % p.size if p.circular else np.clip(first, -_FAR, _FAR)
    update = updates.reshape(-1).view(np.uint8).reshape(p.batch, p.outer, p.count, p.inner)
    to = _copied(x, y).view(np.uint8).reshape(p.batch, p.outer, p.size, p.inner)
    for b in range(p.batch):
        place = first[b] + np.arange(p.count)
        if p.circular:
            place %= p.size
        inside = (place >= 0) & (place < p.size)
        to[b][:, place[inside]] = update[b][:, inside]


def one_hot(p: Any, indices: Array, values: Array, y: Array) -> None:
    place = _places(indices, p.depth).reshape(p.outer, 1, p.inner)
    off, on = _elements(values, p.element_size)
    _elements(y, p.element_size)[...] = np.where(place == np.arange(p.depth)[:, None], on, off).reshape(-1)


def trilu(p: Any, x: Array, k: Array | None, y: Array) -> None:
    diagonal = 0 if k is None else int(k.reshape(()))
    distance = np.arange(p.columns) - np.arange(p.rows)[:, None]
    kept = distance >= diagonal if p.upper else distance <= diagonal
    matrices = _elements(x, p.element_size).reshape(p.outer, p.rows, p.columns)
    fill = np.full(p.element_size, p.fill, np.int8).view(matrices.dtype)
    _elements(y, p.element_size)[...] = np.where(kept, matrices, fill).reshape(-1)


def reverse_sequence(p: Any, x: Array, lengths: Array, y: Array) -> None:
    stride = (p.inner, p.batch * p.inner, 1) if p.time_first else (p.time * p.inner, p.inner, 1)
    dims = (p.batch, p.time, p.inner)
    source = strided(x.reshape(-1).view(np.uint8), dims, stride)
    target = strided(y.reshape(-1).view(np.uint8), dims, stride, writeable=True)
    length = np.clip(_integers(lengths), 0, p.time)[:, None]
    time = np.arange(p.time)
    order = np.where(time < length, length - 1 - time, time)
    target[...] = source[np.arange(p.batch)[:, None], order]


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("Gather", "bytes"): gather,
    ("GatherElements", "bytes"): gather_elements,
    ("GatherND", "bytes"): gather_nd,
    ("ScatterElements", "bytes"): scatter_elements,
    ("ScatterND", "bytes"): scatter_nd,
    ("TensorScatter", "bytes"): tensor_scatter,
    ("OneHot", "bytes"): one_hot,
    ("Trilu", "bytes"): trilu,
    ("ReverseSequence", "bytes"): reverse_sequence,
    **{("ScatterElementsReduce", variant): scatter_elements_reduce for variant in ("float32", "int32", "int64", "plain_int8")},
    **{("ScatterNdReduce", variant): scatter_nd_reduce for variant in ("float32", "int32", "int64", "plain_int8")},
}
"""By operator and variant."""
