"""What the classifiers and regressors of ai.onnx.ml share: post_transform, the second column of a binary score, labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arenite.frontend.node_import import NodeImport
from arenite.frontend.values import Constant
from arenite.graph import DType, Expression
from arenite.graph.operators import UNBOUNDED

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""In the order of ONNX's numbers."""


@dataclass(frozen=True)
class Labels:
    """Of the classes: integers, or texts that never exist at run time."""

    numbers: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.numbers) + len(self.texts)


def class_labels(node: NodeImport, numbers: str) -> Labels:
    """The attributes `numbers` and classlabels_strings, of which one may be given."""
    texts = strings(node, "classlabels_strings")
    labels = Labels(node.ints(numbers, ()) if not texts else (), texts)
    if texts and node.attribute(numbers):
        node.malformed(f"both {numbers} and classlabels_strings are given")
    return labels


def post_transform(node: NodeImport) -> str:
    transform = node.attribute("post_transform", "NONE")
    name = TRANSFORMS[transform] if isinstance(transform, int) and 0 <= transform < len(TRANSFORMS) else str(transform)
    if name not in TRANSFORMS:
        node.malformed(f"post_transform is {transform}, none of {', '.join(TRANSFORMS)}")
    return name


def transformed(node: NodeImport, scores: str, transform: str) -> str:
    """[rows, n] → the same shape. Also of a single score, where onnxruntime leaves out all but PROBIT."""
    match transform:
        case "SOFTMAX":
            return node.emit("Softmax", [scores], clip=UNBOUNDED)
        case "LOGISTIC":
            return node.elementwise(scores, Expression.single("Sigmoid"))
        case "SOFTMAX_ZERO":
            return node.emit("SoftmaxZero", [scores])
        case "PROBIT":
            return node.emit("Probit", [scores])
    return scores


def opposite(node: NodeImport, score: str) -> str:
    """[rows, 1] → [rows, 2]: −s, s."""
    return node.emit("Concat", [node.elementwise(score, Expression.single("Neg")), score], axis=1)


def complement(node: NodeImport, score: str) -> str:
    """[rows, 1] → [rows, 2]: 1 − s, s."""
    return node.emit("Concat", [node.elementwise(score, Expression.binary("Sub", 1.0, constant_first=True)), score], axis=1)


def best_label(node: NodeImport, scores: str, labels: Labels) -> str:
    """[rows, n] → [rows]: the label of the first greatest score, int64; where labels are texts, its position among them."""
    best = node.results("ArgMax", [scores], axis=1, keepdims=False, last=False)[0]
    if labels.texts:
        node.graph.labels[best] = labels.texts
        return best
    if labels.numbers in ((), tuple(range(len(labels.numbers)))):
        return best
    return take(node, np.asarray(labels.numbers, np.int64), best, "labels")


def take(node: NodeImport, table: np.ndarray[tuple[int, ...], np.dtype[np.generic]], index: str, what: str) -> str:
    """table[index] along the first axis."""
    values = node.add_constant(Constant(f"{node.name}/{what}", table))
    return node.results("Gather", [values, index], axis=0)[0]


def real_rows(node: NodeImport, index: int = 0) -> str:
    """Operand `index` as [rows, features] of float32."""
    x = real(node, index)
    shape = node.graph.tensors[x].shape
    if len(shape) > 2 or not shape:
        node.malformed(f"input {index} has the shape {list(shape)} instead of [rows, features]")
    return node.reshape(x, (1, *shape)) if len(shape) == 1 else x


def real(node: NodeImport, index: int) -> str:
    """Operand `index` as float32."""
    return as_type(node, node.tensor(index), DType.FLOAT32)


def as_type(node: NodeImport, x: str, dtype: DType) -> str:
    return x if node.graph.tensors[x].dtype is dtype else node.results("Cast", [x], to=dtype.value)[0]


def floats(node: NodeImport, name: str, default: Sequence[float] = ()) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """An attribute of numbers, which must be finite; of NAME_as_tensor where that is given instead."""
    given = node.attribute(f"{name}_as_tensor")
    values = np.asarray(node.attribute(name, default) if given is None else given, np.float64).reshape(-1)
    if not np.isfinite(values).all():
        node.malformed(f"{name} holds {values[~np.isfinite(values)][0]}")
    return values


def strings(node: NodeImport, name: str) -> tuple[str, ...]:
    """An attribute of texts."""
    return tuple(text.decode(errors="replace") if isinstance(text, bytes) else str(text) for text in node.attribute(name, ()))
