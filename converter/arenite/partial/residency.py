"""How many bytes are live at each step, where bands of a tensor are parts of it that live each on their own.

A quick account for the search, of what no placement can avoid: rows cut from a tensor are its bytes, bands that are joined are
written where the whole will be, and bytes that nobody reads again are free. Where tensors lie, and in what arena, the planner says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.partial.known import Known


@dataclass(frozen=True)
class _Home:
    """Bytes of a tensor inside those of another."""

    root: str
    offset: int


def live_bytes(graph: Graph, order: Sequence[int], known: Known) -> NDArray[np.int64]:
    """By step of `order`: bytes of the tensors and of the scratch memory that are needed then."""
    homes = _homes(graph, order)
    spans = _spans(graph, order, homes)
    change = np.zeros(len(order) + 2, np.int64)  # step −1, all steps, and behind the last
    parts: dict[str, list[tuple[int, int, int, int]]] = {}
    for name, (first, last) in spans.items():
        home = homes[name]
        parts.setdefault(home.root, []).append((home.offset, home.offset + graph.tensors[name].bytes, first, last))
    for spread in parts.values():
        _account(spread, change)
    live = np.cumsum(change)[1 : len(order) + 1]
    for step, index in enumerate(order):
        figures = known.of(graph, graph.nodes[index])
        live[step] += figures.scratch - _taken(figures.saved, graph.nodes[index], spans, step)
    return live


def is_row_view(graph: Graph, node: Node) -> bool:
    """A Slice whose result is one stretch of its operand's bytes."""
    if node.op != "Slice" or graph.tensor(node.input).is_constant:
        return False
    x, steps, sizes = graph.tensor(node.input).shape, node.attributes["steps"], node.attributes["sizes"]
    if any(step != 1 for step in steps):
        return False
    cut = [axis for axis in range(len(x)) if sizes[axis] != x[axis]]
    return not cut or (len(cut) == 1 and all(sizes[axis] == 1 for axis in range(cut[0])))


def slice_offset(graph: Graph, node: Node) -> int | None:
    """Where in its operand the rows of a Slice begin, in bytes; None where they are not one stretch."""
    if not is_row_view(graph, node):
        return None
    x = graph.tensor(node.input)
    axis = next((i for i, (a, b) in enumerate(zip(x.shape, node.attributes["sizes"], strict=True)) if a != b), 0)
    return int(node.attributes["starts"][axis]) * prod(x.shape[axis + 1 :]) * x.dtype.itemsize


def is_row_join(graph: Graph, node: Node) -> bool:
    """A Concat whose operands are stretches of its result's bytes, one behind the other."""
    return node.op == "Concat" and prod(graph.tensors[node.output].shape[: node.attributes["axis"]]) == 1


def _homes(graph: Graph, order: Sequence[int]) -> dict[str, _Home]:
    """Where every tensor that is not constant lies."""
    homes = {name: _Home(name, 0) for name in graph.inputs}
    joined: dict[str, tuple[str, int]] = {}
    nodes = [graph.nodes[index] for index in order]
    producers = {name: node for node in nodes for name in node.outputs}
    for node in nodes:
        if not is_row_join(graph, node):
            continue
        offset = 0
        for name in node.inputs:
            assert name is not None
            made = producers.get(name)
            # Rows that are kept are copied; bands that are views of something else, too.
            if made is not None and made.op not in VIEWS and name not in joined and name not in graph.outputs:
                joined[name] = node.output, offset
            offset += graph.tensors[name].bytes
    own = {name for name in producers if name not in joined}
    homes.update({name: _Home(name, 0) for name in own})

    def settle(name: str) -> _Home:
        if name in joined and name not in homes:
            target, offset = joined[name]
            home = settle(target)
            homes[name] = _Home(home.root, home.offset + offset)
        return homes[name]

    for node in nodes:
        settled = [settle(name) for name in node.outputs if name in joined]
        if settled:
            continue
        if node.op in VIEWS and node.input in homes:
            homes[node.output] = homes[node.input]
        elif (start := slice_offset(graph, node)) is not None:
            homes[node.output] = _Home(homes[node.input].root, homes[node.input].offset + start)
    return homes


def _spans(graph: Graph, order: Sequence[int], homes: dict[str, _Home]) -> dict[str, tuple[int, int]]:
    """First and last step of every tensor. That a view is taken of a tensor is no use of it: what the view reads, it keeps."""
    first = dict.fromkeys(graph.inputs, -1)
    last = dict(first)
    for step, index in enumerate(order):
        node = graph.nodes[index]
        moves = node.op in VIEWS or is_row_view(graph, node)
        view = moves and node.input in homes and homes[node.input].root == homes[node.output].root
        for name in node.inputs:
            if name in first and not view:
                last[name] = step
        for name in node.outputs:
            # A view's bytes are needed from where the tensor is that it is part of.
            first[name] = first[node.input] if view and node.input in first else step
            last[name] = step
    for name in graph.outputs:
        last[name] = len(order)
    return {name: (first[name], last[name]) for name in first}


def _account(spread: list[tuple[int, int, int, int]], change: NDArray[np.int64]) -> None:
    """Add the bytes of parts (from, to, first step, last step) of one root, each byte once at a time."""
    if len(spread) == 1:
        begin, end, first, last = spread[0]
        change[first + 1] += end - begin
        if last + 2 < len(change):
            change[last + 2] -= end - begin
        return
    borders = sorted({border for begin, end, _, _ in spread for border in (begin, end)})
    for low, high in pairwise(borders):
        reached = -2
        for first, last in sorted((first, last) for begin, end, first, last in spread if begin <= low and high <= end):
            first = max(first, reached + 1)
            if last < first:
                continue
            change[first + 1] += high - low
            if last + 2 < len(change):
                change[last + 2] -= high - low
            reached = last


def _taken(saved: tuple[tuple[int, int], ...], node: Node, spans: dict[str, tuple[int, int]], step: int) -> int:
    """Bytes of an operand that dies here which the result lies over, at best."""
    found = [size for position, size in saved if (name := node.inputs[position]) in spans and spans[name][1] == step]
    return max(found, default=0)
