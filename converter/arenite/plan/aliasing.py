"""What can share bytes: reshapes always; a result with an operand that dies, as its kernel allows; parts with the whole they lie in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lcm, prod

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.plan.blocks import Sharing


def views(graph: Graph) -> dict[str, str]:
    """For every tensor that is not constant, the tensor whose bytes it is: its reshape's input, followed to the root, or itself.

    A reshape of a constant is none: its output is an activation of its own.
    """
    roots = {name: name for name, tensor in graph.tensors.items() if not tensor.is_constant}
    for node in graph.nodes:
        if is_view(graph, node):
            roots[node.output] = roots[node.input]
    return roots


def is_view(graph: Graph, node: Node) -> bool:
    """The node does nothing: its output is its input's bytes."""
    return node.op in VIEWS and not graph.tensors[node.input].is_constant


def sharings(graph: Graph, node: Node, roots: Mapping[str, str], granule: int) -> dict[str, Sharing]:
    """By root, where the node's first result may lie over an operand that dies here, in the order of the operands.

    All operands with the same bytes must allow it. Offsets are multiples of `granule`.
    """
    if node.op in VIEWS or not node.outputs:
        return {}
    found: dict[str, list[Sharing | None]] = {}
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    overlaps = OPERATORS[node.op].overlaps(node, operands, [graph.tensors[name] for name in node.outputs])
    for position, name in enumerate(node.inputs):
        if name is None or name not in roots:
            continue
        sharing = None
        if (overlap := overlaps.get(position)) is not None:
            period = lcm(overlap.step, granule)
            sharing = Sharing(-(-overlap.distance // period) * period, period)
        elif _walks_along(graph, node, position):
            sharing = Sharing(0, 0)
        found.setdefault(roots[name], []).append(sharing)
    joined = {root: _all(known) for root, known in found.items()}
    return {root: sharing for root, sharing in joined.items() if sharing is not None}


def _walks_along(graph: Graph, node: Node, position: int) -> bool:
    """The kernel is declared to read element i of the operand before it writes element i, and never again. So the operand has as many
    elements as the result (is not broadcast), and they are no smaller."""
    operand, result = graph.tensor(node.inputs[position]), graph.tensors[node.outputs[0]]
    fits = operand.elements == result.elements and operand.dtype.itemsize >= result.dtype.itemsize
    return position in OPERATORS[node.op].in_place and fits


def _all(known: list[Sharing | None]) -> Sharing | None:
    """What several sharings of one pair of blocks allow."""
    sharings = [sharing for sharing in known if sharing is not None]
    if len(sharings) < len(known):
        return None
    period = 0 if any(sharing.period == 0 for sharing in sharings) else lcm(*(sharing.period for sharing in sharings))
    least = max(sharing.least for sharing in sharings)
    if period:
        return Sharing(-(-least // period) * period, period)
    return Sharing(0, 0) if least == 0 else None


def parts(graph: Graph, roots: Mapping[str, str], granule: int) -> dict[tuple[str, str], int]:
    """For pairs (part, whole) of roots, at which offset in the whole the part lies where both share bytes, both then holding the same.

    A Concat's input in its result, a Slice of its input, and a Pad's input in its result, where the part is one run of bytes. Nothing is
    copied where the planner places them so. Every part has one whole, and parts of a whole are apart, but for rows that partial execution
    takes of a window: see `overlapping`, and `nested` for parts of parts.
    """
    found: dict[tuple[str, str], int] = {}
    taken: dict[str, list[tuple[int, int]]] = {}
    inside: set[str] = set()

    def enter(part: str, whole: str, offset: int, apart: bool = True) -> None:
        size = graph.tensors[part].bytes
        # The ends of states, and outputs that lie in an input, are read and written by others than nodes.
        fits = offset % granule == 0 and part != whole and part not in inside and not (part in graph.outputs and whole in graph.inputs)
        if fits and size and (not apart or all(offset >= end or offset + size <= start for start, end in taken.get(whole, ()))):
            found[part, whole] = offset
            inside.add(part)
            taken.setdefault(whole, []).append((offset, offset + size))

    # Rows that partial execution keeps of a window belong to the next one: they are copied once at most, and new rows go behind them.
    windows = [node for node in graph.nodes if node.op == "Concat" and node.band is not None]
    for node in (*windows, *(node for node in graph.nodes if node.op != "Concat" or node.band is None)):
        if node.op == "Concat":
            for part, offset in _concat_parts(graph, node):
                if part in roots:
                    enter(roots[part], node.output, offset)
        elif node.op == "Pad" and node.input in roots and (begin := pad_start(graph, node)) is not None:
            # Under no other name it may have bytes that the padding would overwrite.
            if graph.tensors[roots[node.input]].bytes == graph.tensors[node.input].bytes:
                enter(roots[node.input], node.output, begin)
        elif node.op == "Slice" and node.input in roots and (start := _slice_start(graph, node)) is not None:
            enter(node.output, roots[node.input], start, apart=node.band is None)
    return found


def overlapping(graph: Graph, pairs: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, str, int]]:
    """Parts of one whole that have bytes in common, neither of the other: (one, other, offset of the first minus that of the other)."""
    parts_of: dict[str, list[tuple[int, str]]] = {}
    for (part, whole), offset in pairs.items():
        parts_of.setdefault(whole, []).append((offset, part))
    for spread in parts_of.values():
        spread.sort()
        for position, (offset, part) in enumerate(spread):
            for other_offset, other in spread[position + 1 :]:
                if other_offset >= offset + graph.tensors[part].bytes:
                    break
                yield part, other, offset - other_offset


def nested(pairs: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """`pairs`, and those of a part with what its whole is part of."""
    whole_of = {part: (whole, offset) for (part, whole), offset in pairs.items()}
    found = dict(pairs)
    for part, (whole, offset) in whole_of.items():
        while whole in whole_of:
            whole, further = whole_of[whole]
            offset += further
            found[part, whole] = offset
    return found


def _concat_parts(graph: Graph, node: Node) -> list[tuple[str, int]]:
    """The operands of a Concat and where in the result they lie, in bytes; none where they lie in several runs."""
    axis, result = node.attributes["axis"], graph.tensors[node.output]
    if prod(result.shape[:axis]) != 1:
        return []
    placed, offset = [], 0
    for name in node.inputs:
        placed.append((name or "", offset))
        offset += graph.tensor(name).bytes
    return placed


def pad_start(graph: Graph, node: Node) -> int | None:
    """Where in a Pad's result its input lies, in bytes; None where it is several runs."""
    x, result = graph.tensors[node.input], graph.tensors[node.output]
    rank = len(x.shape)
    before, after = node.attributes["pads"][:rank], node.attributes["pads"][rank:]
    padded = [axis for axis in range(rank) if before[axis] or after[axis]]
    if not padded or prod(x.shape[: padded[-1]]) != 1:
        return None  # nothing is padded, or something between two rows of the input
    return int(sum(before[axis] * prod(result.shape[axis + 1 :]) for axis in padded)) * x.dtype.itemsize


def _slice_start(graph: Graph, node: Node) -> int | None:
    """Where in its input a Slice begins, in bytes; None where it is several runs."""
    x, result = graph.tensors[node.input], graph.tensors[node.output]
    starts, steps = node.attributes["starts"], node.attributes["steps"]
    whole = len(x.shape)  # from this axis on nothing is left out
    while whole and starts[whole - 1] == 0 and result.shape[whole - 1] == x.shape[whole - 1] and steps[whole - 1] == 1:
        whole -= 1
    if whole and (prod(result.shape[: whole - 1]) != 1 or (steps[whole - 1] != 1 and result.shape[whole - 1] != 1)):
        return None
    return int(sum(start * prod(x.shape[axis + 1 :]) for axis, start in enumerate(starts))) * x.dtype.itemsize
