"""Parts of tensors such that each byte is needed no longer than it must be.

Two rewrites of a group's nodes. Rows that are kept of a window are taken as soon as nothing else is read of it: the window's other rows are
free from then on. And of a tensor that the group reads band by band only what is left for later bands is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph import Band, Graph, Node
from arenite.partial.bands import height, leading_rows, rows_of, slice_rows
from arenite.partial.groups import Group


def kept_at_once(nodes: Sequence[Node]) -> list[Node]:
    """`nodes`, each Slice whose rows go into a Concat directly behind the last use of what it is taken from."""
    joined = {name for node in nodes if _is_part(node, "Concat") for name in node.inputs}
    cut_from = {node.output: node.input for node in nodes if _is_part(node, "Slice") and node.output not in joined}
    last_use: dict[str | None, int] = {}
    moved: dict[int, list[Node]] = {}
    stays: list[tuple[int, Node]] = []
    for position, node in enumerate(nodes):
        if _is_part(node, "Slice") and node.output in joined and node.input in last_use:
            moved.setdefault(last_use[node.input], []).append(node)
            continue
        stays.append((position, node))
        for name in (*node.inputs, *node.outputs):
            last_use[name] = position
            if name in cut_from:
                last_use[cut_from[name]] = position
    return [each for position, node in stays for each in (node, *moved.get(position, ()))]


def consumed(graph: Graph, group: Group, nodes: Sequence[Node]) -> list[Node]:
    """`nodes`, where of a tensor from outside of the group bands are read, and only here, with what is left of it as a tensor after each.

    A band is then the beginning of what is left, and what no later band reads is free.
    """
    inside = set(group.nodes)
    elsewhere = {name for index, node in enumerate(group.graph.nodes) if index not in inside for name in node.inputs}
    result = list(nodes)
    for name in group.readers:
        whole_read = any(name in node.inputs for node in nodes if not _is_part(node, "Slice"))
        if name not in group.members and name not in elsewhere and name not in graph.outputs and not whole_read:
            result = _consumed(graph, name, result)
    return result


def _consumed(graph: Graph, name: str, nodes: Sequence[Node]) -> list[Node]:
    """The same for one tensor."""
    whole = graph.tensors[name]
    cuts = [position for position, node in enumerate(nodes) if _is_part(node, "Slice") and node.input == name]
    starts = [node.band.rows[0] for position in cuts if (node := nodes[position]).band is not None]
    rest, begins = whole, 0
    result: list[Node] = []
    pending: dict[str | None, Node] = {}
    """By band, what is left behind the node that reads it."""
    for position, node in enumerate(nodes):
        if not cuts or position != cuts[0]:
            result.append(node)
            result += [pending.pop(operand) for operand in dict.fromkeys(node.inputs) if operand in pending]
            continue
        assert node.band is not None
        first = node.band.rows[0]
        del cuts[0], starts[0]
        band = graph.tensors[node.output]
        if first == begins:
            result.append(leading_rows(rest.name, band, node.name, node.band))
        else:
            result.append(slice_rows(rest, first - begins, band, node.name, node.band))
        if starts and min(starts) > begins:
            rows = min(starts), height(whole)
            left = graph.add(rows_of(whole, rows, f"{name}/rows_{rows[0]}_{rows[1] - 1}/left"))
            pending[band.name] = slice_rows(rest, rows[0] - begins, left, node.name, Band(name, rows))
            rest, begins = left, rows[0]
    return result


def _is_part(node: Node, op: str) -> bool:
    """A Slice or Concat that partial execution made."""
    return node.op == op and node.band is not None
