"""Operators with operands of two kinds: values, which are quantized, and indices, which stay the integers that they are."""

from __future__ import annotations

from arenite.graph import Node

VALUES: dict[str, tuple[int, ...]] = {
    "Gather": (0,),
    "GatherElements": (0,),
    "GatherND": (0,),
    "ReverseSequence": (0,),
    "Trilu": (0,),
    "MaxPoolWithIndices": (0,),
    "TopK": (0,),
    "MaxUnpool": (0,),
    "ScatterElements": (0, 2),
    "ScatterND": (0, 2),
    "ScatterElementsReduce": (0, 2),
    "ScatterNdReduce": (0, 2),
    "TensorScatter": (0, 1),
    "OneHot": (1,),
    "Where": (1, 2),
}
"""Positions of the operands that are values; the others, and all outputs but the first, are integers. All of these only move elements."""

DECIDING = ("ArgMax", "ArgMin", "Less", "LessOrEqual", "Equal")
"""Their operands are values, their results integers or truths."""

TABLES = {
    "Resample": (0, 2),
    **dict.fromkeys(("Lstm", "LstmLast"), (0, 1, 2, 3, 5, 6, 7)),
    **dict.fromkeys(("Gru", "GruLast", "Rnn", "RnnLast"), (0, 1, 2, 3, 5)),
}
"""The same of operators that compute."""

SELECTING = tuple(op for op, positions in VALUES.items() if positions == (0,))
"""The result has elements of the first operand, and perhaps zeros."""
MERGING = ("Concat", *(op for op in VALUES if op not in SELECTING))
"""The result has elements of several operands, or of one that is no activation as a rule."""


def value_operands(node: Node) -> list[str]:
    """The operands of `node` that are values, in order; absent ones left out."""
    positions = VALUES.get(node.op) or TABLES.get(node.op) or tuple(range(len(node.inputs)))
    operands = (node.inputs[i] for i in positions if i < len(node.inputs))
    return [name for name in operands if name is not None]


def index_operands(node: Node) -> list[str]:
    """The others."""
    positions = VALUES.get(node.op) or TABLES.get(node.op)
    if positions is None:
        return []
    return [name for i, name in enumerate(node.inputs) if i not in positions and name is not None]


def merges(node: Node) -> bool:
    """Whether the result has elements of several operands."""
    return node.op in MERGING or (node.op == "Pad" and len(node.inputs) > 1)
