"""What may follow an operator whose number of results depends on data.

Its output has a row (of NonZero: a column) for each result that there can be. Those behind the results hold −1, and what is computed from
them, row by row, stands in the same rows and means nothing. A node that would mix them with results is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from arenite.errors import Unsupported

FILLED = frozenset({"NonMaxSuppression", "NonZero"})
ROW_BY_ROW = frozenset(
    {
        *("Gather", "GatherND", "GatherElements", "Slice", "Split", "Concat", "Transpose"),
        *("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Cast"),
        *("Add", "Sub", "Mul", "Div", "Where", "Min", "Max", "Clip"),
    }
)
ABOUT_SHAPES = frozenset({"Shape", "Size"})


def mixed_rows(nodes: Iterable[onnx.NodeProto]) -> list[Unsupported]:
    """A problem for each node that reads filled rows and is none of the above."""
    source: dict[str, str] = {}
    problems = []
    for node in nodes:
        if node.op_type in FILLED and node.domain in ("", "ai.onnx"):
            source.update(dict.fromkeys(node.output, node.name or node.op_type))
            continue
        found = next((source[name] for name in node.input if name in source), None)
        if found is None or node.op_type in ABOUT_SHAPES:
            continue
        if node.op_type in ROW_BY_ROW:
            source.update(dict.fromkeys(node.output, found))
            continue
        problems.append(
            Unsupported(
                node.name or node.output[0],
                node.op_type,
                f"it would mix the results of {found} with the rows of −1 behind them",
                "end the model in front of this node: its output holds as many results as rows without −1",
            )
        )
    return problems
