"""Parts of tensors such that each byte is needed no longer than it must be.

Two rewrites of a group's nodes. Rows that are kept of a window are taken as soon as nothing else is read of it: the window's other rows are
free from then on. And a tensor that the group reads band by band is cut up before the first: what a band has read last is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from arenite.graph import Band, Graph, Node
from arenite.partial.bands import height, join_rows, rows_of, slice_rows
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


def cut_up(graph: Graph, group: Group, nodes: Sequence[Node]) -> list[Node]:
    """`nodes`, with every tensor from outside of the group of which only bands are read, and only here, in disjoint pieces.

    Neighbouring bands overlap by the rows that both read: these are pieces of their own. Each can die on its own.
    """
    inside = set(group.nodes)
    elsewhere = {name for index, node in enumerate(group.graph.nodes) if index not in inside for name in node.inputs}
    result = list(nodes)
    for name in group.readers:
        if name in group.members or name in elsewhere or name in graph.outputs:
            continue
        bands = [node for node in result if _is_part(node, "Slice") and node.input == name]
        if not bands or any(name in node.inputs for node in result if not _is_part(node, "Slice")):
            continue
        result = _with_pieces(graph, name, bands, result)
    return result


def _with_pieces(graph: Graph, name: str, bands: Sequence[Node], nodes: Sequence[Node]) -> list[Node]:
    whole, rows = graph.tensors[name], {node.output: node.band.rows for node in bands if node.band is not None}
    borders = sorted({0, height(whole), *(row for pair in rows.values() for row in pair)})
    pieces: list[Node] = []
    made: dict[tuple[int, int], str] = {}
    for first, last in pairwise(borders):
        piece = graph.add(rows_of(whole, (first, last), f"{name}/rows_{first}_{last - 1}/piece"))
        made[first, last] = piece.name
        pieces.append(slice_rows(whole, first, piece, bands[0].name, Band(name, (first, last))))
    result = list(pieces)
    for node in nodes:
        if node.output not in rows:
            result.append(node)
            continue
        span = rows[node.output]
        parts = tuple(piece for (first, last), piece in made.items() if span[0] <= first and last <= span[1])
        result.append(join_rows(parts, graph.tensors[node.output], node.name, Band(name, span)))
    return result


def _is_part(node: Node, op: str) -> bool:
    """A Slice or Concat that partial execution made."""
    return node.op == op and node.band is not None and node.band.tensor != "" and "variant" not in node.attributes
