"""Operators of onnxruntime's own domain, com.microsoft, that its graph optimizations write into files."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Value
from arenite.graph import Expression
from arenite.graph.operators import UNBOUNDED


def _biased(node: NodeImport) -> str:
    """x plus the bias of the last dimension, where there is one."""
    x = node.activation(0)
    if not node.has(1):
        return x
    return node.emit("Add", [x, node.to_rank(node.activation(1), len(node.graph.tensors[x].shape))], clip=UNBOUNDED)


def gelu(node: NodeImport) -> Sequence[Value]:
    return [node.elementwise(_biased(node), Expression.single("Gelu", approximate="none"))]


def fast_gelu(node: NodeImport) -> Sequence[Value]:
    return [node.elementwise(_biased(node), Expression.single("Gelu", approximate="tanh"))]


def quick_gelu(node: NodeImport) -> Sequence[Value]:
    """x · sigmoid(alpha x)."""
    return [node.elementwise(node.activation(0), Expression.single("Swish", alpha=float(node.attribute("alpha", 1.702))))]


ONNXRUNTIME_FUSED = {
    "com.microsoft.Gelu": Importer(gelu),
    "com.microsoft.BiasGelu": Importer(gelu),
    "com.microsoft.FastGelu": Importer(fast_gelu),
    "com.microsoft.QuickGelu": Importer(quick_gelu),
}
