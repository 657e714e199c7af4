"""Support vector machines, label encoding, ONNX's score transforms: docs/numerics.md §19."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import real, store_real

ROUNDS = 100
RESIDUAL = np.float32(0.005)


def squared_distance(p: Any, x: Array, vectors: Array, y: Array) -> None:
    difference = real(x).reshape(p.rows, 1, p.length) - real(vectors).reshape(1, p.vectors, p.length)
    with np.errstate(invalid="ignore"):
        store_real(y, (difference * difference).sum(axis=2))


def svm_decision(p: Any, kernel: Array, coefficient: Array, rho: Array, first: Array, y: Array) -> None:
    kernel, coefficient = real(kernel).reshape(p.rows, p.vectors), real(coefficient).reshape(p.classes - 1, p.vectors)
    spans = [slice(int(first[c]), int(first[c + 1])) for c in range(p.classes)]
    values: list[Array] = []
    for i in range(p.classes):
        for j in range(i + 1, p.classes):
            of_i = kernel[:, spans[i]] @ coefficient[j - 1, spans[i]]
            of_j = kernel[:, spans[j]] @ coefficient[i, spans[j]]
            values.append(of_i + of_j + rho.reshape(-1)[len(values)])
    store_real(y, np.stack(values, axis=1))


def svm_votes(p: Any, decision: Array, y: Array) -> None:
    decision, votes = decision.reshape(p.rows, -1), y.reshape(p.rows, p.classes)
    votes[...] = 0
    for index, (i, j) in enumerate(zip(*np.triu_indices(p.classes, 1), strict=True)):
        won = decision[:, index] > 0
        votes[:, i] += won
        votes[:, j] += ~won


def svm_probability(p: Any, decision: Array, a: Array, b: Array, y: Array) -> None:
    """In float32, operation by operation as in C: where the iteration stops decides how far it gets."""
    first, second = np.triu_indices(p.classes, 1)
    pair = np.zeros((p.rows, p.classes, p.classes), np.float32)
    with np.errstate(all="ignore"):
        v = decision.reshape(p.rows, -1) * a.reshape(-1) + b.reshape(-1)
        larger = np.float32(1) / (np.float32(1) + np.exp(-np.abs(v)))
        likely = np.clip(np.where(v < 0, larger, np.float32(1) - larger), np.float32(1e-7), np.float32(1) - np.float32(1e-7))
        pair[:, first, second], pair[:, second, first] = likely, np.float32(1) - likely
        y.reshape(p.rows, p.classes)[...] = [_couple(r) for r in pair]


def _couple(r: Array) -> Array:
    """Probabilities of n classes from those of the pairs, [n, n]. (A sum has the order of C's.)"""
    n = len(r)
    q = -r.T * r
    for i in range(n):
        q[i, i] = _sum(np.delete(r[:, i], i) ** 2)
    p = np.full(n, np.float32(1) / np.float32(n), np.float32)
    for _ in range(ROUNDS):
        qp = np.array([_sum(q[i] * p) for i in range(n)], np.float32)
        pqp = _sum(p * qp)
        if np.fmax.reduce(np.abs(qp - pqp), initial=np.float32(0)) < RESIDUAL / np.float32(n):
            break
        for i in range(n):
            step = (pqp - qp[i]) / q[i, i]
            scale = np.float32(1) + step
            p[i] += step
            pqp = (pqp + step * (step * q[i, i] + np.float32(2) * qp[i])) / scale / scale
            qp = (qp + step * q[i]) / scale
            p /= scale
    return p


def _sum(terms: Array) -> np.float32:
    """One after another."""
    return np.float32(np.cumsum(terms, dtype=np.float32)[-1])


def key_index(p: Any, x: Array, keys: Array, y: Array) -> None:
    keys, flat = keys.reshape(-1), x.reshape(-1)
    at = np.searchsorted(keys, flat)
    found = keys[np.minimum(at, p.keys - 1)] == flat
    missing = np.where(np.isnan(flat), p.nan, p.keys) if flat.dtype.kind == "f" else p.keys
    y.reshape(-1)[...] = np.where(found, at, missing)


def softmax_zero(p: Any, x: Array, y: Array) -> None:
    x = real(x).reshape(p.rows, p.length)
    with np.errstate(all="ignore"):
        exponential = np.where(np.abs(x) > np.float32(1e-7), np.exp(x - np.fmax.reduce(x, axis=1, keepdims=True)), 0.0)
        total = exponential.sum(axis=1, keepdims=True)
        store_real(y, np.where(total == 0, 0.0, exponential / total))


def probit(p: Any, x: Array, y: Array) -> None:
    """In float32, operation by operation: differences of nearly equal numbers make more of a rounding."""
    one, two = np.float32(1), np.float32(2)
    with np.errstate(all="ignore"):
        v = two * x.reshape(-1) - one
        logarithm = np.log((one - v) * (one + v))
        half = two / (np.float32(3.14159) * np.float32(0.147)) + np.float32(0.5) * logarithm
        root = np.sqrt(np.sqrt(half * half - logarithm / np.float32(0.147)) - half)
        y.reshape(-1)[...] = np.float32(1.41421356) * np.where(v < 0, -root, root)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("SquaredDistance", "float32"): squared_distance,
    ("SvmDecision", "float32"): svm_decision,
    ("SvmVotes", "float32"): svm_votes,
    ("SvmProbability", "float32"): svm_probability,
    ("SoftmaxZero", "float32"): softmax_zero,
    ("Probit", "float32"): probit,
    **{("KeyIndex", variant): key_index for variant in ("float32", "int32", "int64")},
}
"""By operator and variant."""
