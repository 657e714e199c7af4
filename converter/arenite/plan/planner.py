"""plan(): order, aliases, memories, offsets, in this order; each is its own module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arenite.errors import PlanError
from arenite.graph import Graph
from arenite.plan.aliasing import is_view, nested, overlapping, parts, sharings, views
from arenite.plan.blocks import Block, Packing, Sharing
from arenite.plan.bodies import planned_part
from arenite.plan.distribution import distribute
from arenite.plan.lifetimes import Lifetime, lifetimes
from arenite.plan.memory_plan import Memory, MemoryPlan, Placement
from arenite.plan.offsets import Enough
from arenite.plan.schedule import schedule
from arenite.plan.states import peak
from arenite.plan.traffic import Traffic, traffic
from arenite.plan.work import Bodies, round_up, scratch_bytes, with_views, work

ARENA = Memory("arena")
_WORD = 4
"""Bytes. Kernels load words of int8 tensors, from any address, but soonest from one that is aligned."""


def plan(
    graph: Graph,
    *,
    keep_inputs: bool = False,
    memories: Sequence[Memory] = (ARENA,),
    order: Sequence[int] | None = None,
    enough: Enough | None = None,
) -> MemoryPlan:
    """Where every tensor of `graph` (int8 form) lies, and when.

    `keep_inputs`: no input is overwritten; those that are states never are. `memories`: the fastest first, memory 0 is the arena; what
    does not fit its capacity goes to the others, in turn (plan.distribution). `order`: indices into graph.nodes to execute in this order;
    None: the planner chooses the one of least peak. `enough`, with an order: an arena that will do.

    Raises PlanError where the memories are too small or an output is a constant, ValueError where `order` is none of this graph.
    """
    _require_computed_outputs(graph)
    granule = granule_of(graph)
    bodies = {
        index: tuple(plan(planned_part(node, body), keep_inputs=True) for body in node.bodies)
        for index, node in enumerate(graph.nodes)
        if node.bodies
    }
    if order is not None:
        _require_topological(graph, order)
        return _place(graph, tuple(order), bodies, keep_inputs, memories, granule, ("the execution order was given",), enough)

    tasks, nodes = work(graph, keep_inputs, granule, bodies)
    best = schedule(tasks)
    given_peak = peak(tasks, range(len(tasks.tasks)))
    if best.peak == best.lower_bound:
        note = f"no execution order needs less than {best.peak:,} bytes at its peak"
    else:
        note = f"the execution order needs {best.peak:,} bytes at its peak; none needs less than {best.lower_bound:,}"
    chosen = _place(graph, with_views(graph, [nodes[i] for i in best.order]), bodies, keep_inputs, memories, granule, (note,))
    if best.peak < given_peak < chosen.arena_bytes:
        # The peak is a bound only: the order of the file may fit better.
        as_given = _place(
            graph, with_views(graph, nodes), bodies, keep_inputs, memories, granule, ("the execution order is the model's own",)
        )
        if as_given.arena_bytes < chosen.arena_bytes:
            return as_given
    return chosen


def granule_of(graph: Graph) -> int:
    """Every offset is a multiple of it: a word, or the widest element of the graph and its bodies."""
    widths = [tensor.dtype.itemsize for tensor in graph.tensors.values()]
    return max([_WORD, *widths, *(granule_of(body) for node in graph.nodes for body in node.bodies)])


def _require_computed_outputs(graph: Graph) -> None:
    for name in graph.outputs:
        if graph.tensors[name].is_constant:
            raise PlanError(f"{graph.name}: output {name} is a constant, not computed from the inputs; remove it from the model's outputs")


def _require_topological(graph: Graph, order: Sequence[int]) -> None:
    if sorted(order) != list(range(len(graph.nodes))):
        raise ValueError(f"{graph.name}: the order {list(order)} does not name each of {len(graph.nodes)} nodes once")
    ready = {name for name, tensor in graph.tensors.items() if tensor.is_constant} | set(graph.inputs)
    for index in order:
        node = graph.nodes[index]
        missing = [name for name in node.inputs if name is not None and name not in ready]
        if missing:
            raise ValueError(f"{graph.name}: the order executes {node.name} ({node.op}) before {missing[0]} is computed")
        ready.update(node.outputs)


@dataclass(frozen=True)
class _Item:
    """A block, and what lies in it: tensors by name or the scratch memory of a node by index."""

    block: Block
    tensors: tuple[str, ...] = ()
    scratch: int | None = None


def _place(
    graph: Graph,
    order: tuple[int, ...],
    bodies: Bodies,
    keep_inputs: bool,
    memories: Sequence[Memory],
    granule: int,
    notes: tuple[str, ...],
    enough: Enough | None = None,
) -> MemoryPlan:
    spans = lifetimes(graph, order, keep_inputs)
    roots = views(graph)
    items = [*_tensor_items(graph, spans, roots, granule), *_scratch_items(graph, order, bodies, granule)]
    allowed = _sharings(graph, order, items, roots, granule)
    moved = traffic(graph) if len(memories) > 1 else Traffic({}, {})
    weights = [_bytes_moved(item, moved) for item in items]
    shares = distribute(graph.name, [item.block for item in items], weights, allowed, memories, granule, enough)
    notes = (*notes, *_traffic_notes(memories, [(sum(weights[i] for i in share), layout.bytes) for share, layout in shares]))

    placements: dict[str, Placement] = {}
    scratch: dict[int, Placement] = {}
    for memory, (share, layout) in enumerate(shares):
        for i, offset in zip(share, layout.offsets, strict=True):
            item = items[i]
            for name in item.tensors:
                placements[name] = Placement(memory, offset, graph.tensors[name].bytes, spans[name].first, spans[name].last)
            if item.scratch is not None:
                step = item.block.first
                scratch[item.scratch] = Placement(memory, offset, scratch_bytes(graph, item.scratch, bodies), step, step)
    arena = shares[0][1]
    everything = Packing(tuple(item.block for item in items), allowed)
    return MemoryPlan(
        order=order,
        placements={name: placements[name] for name in spans},
        scratch=scratch,
        aliases=_aliases(graph, order, roots, placements, [(items[a].tensors[0], items[b].tensors[0]) for a, b in allowed]),
        memories=tuple(memories),
        memory_bytes=tuple(layout.bytes for _, layout in shares),
        lower_bound=arena.lower_bound,
        proven_optimal=arena.proven_optimal,
        peak_step=max(0, min(everything.busiest_step(), len(order) - 1)),
        notes=notes if arena.proven_optimal else (*notes, f"the arena may be {arena.bytes - arena.lower_bound:,} bytes larger than needed"),
        bodies=bodies,
    )


def _tensor_items(graph: Graph, spans: Mapping[str, Lifetime], roots: Mapping[str, str], granule: int) -> list[_Item]:
    """One for each value: a tensor with its reshapes."""
    values: dict[str, list[str]] = {}
    for name in spans:
        values.setdefault(roots[name], []).append(name)
    items = []
    for root, names in values.items():
        life = Lifetime.union(spans[name] for name in names)
        items.append(_Item(Block(round_up(graph.tensors[root].bytes, granule), life.first, life.last), tensors=tuple(names)))
    return items


def _bytes_moved(item: _Item, moved: Traffic) -> int:
    scratch = 0 if item.scratch is None else moved.scratch.get(item.scratch, 0)
    return scratch + sum(moved.tensors.get(name, 0) for name in item.tensors)


def _traffic_notes(memories: Sequence[Memory], shares: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What each memory has of the traffic, where several hold something. `shares`: traffic and bytes of each."""
    total = sum(moved for moved, _ in shares)
    if total and sum(size > 0 for _, size in shares) > 1:
        for memory, (moved, size) in zip(memories, shares, strict=True):
            yield f"{memory.name} holds {size:,} bytes, and {moved / total:.1%} of what an inference reads and writes (estimated)"


def _scratch_items(graph: Graph, order: Sequence[int], bodies: Bodies, granule: int) -> list[_Item]:
    needed = {index: (step, scratch_bytes(graph, index, bodies)) for step, index in enumerate(order)}
    return [_Item(Block(round_up(size, granule), step, step), scratch=index) for index, (step, size) in needed.items() if size]


def _sharings(
    graph: Graph, order: Sequence[int], items: Sequence[_Item], roots: Mapping[str, str], granule: int
) -> dict[tuple[int, int], Sharing]:
    """By operand and result, both numbers of items."""
    numbers = {item.tensors[0]: i for i, item in enumerate(items) if item.tensors}
    found: dict[tuple[int, int], Sharing] = {}
    for step, index in enumerate(order):
        node = graph.nodes[index]
        for root, sharing in sharings(graph, node, roots, granule).items():
            operand = numbers[root]
            if items[operand].block.last == step:
                found[operand, numbers[node.outputs[0]]] = sharing
    pairs = parts(graph, roots, granule)
    for part, other, offset in overlapping(graph, pairs):
        found[numbers[part], numbers[other]] = Sharing(offset, 0, lasting=True)
    for (part, whole), offset in nested(pairs).items():
        # Of the two the later is the result; which one makes no difference to where they go together.
        found[numbers[part], numbers[whole]] = Sharing(offset, 0, lasting=True)
    return found


def _aliases(
    graph: Graph,
    order: Sequence[int],
    roots: Mapping[str, str],
    placements: Mapping[str, Placement],
    allowed: Sequence[tuple[str, str]],
) -> dict[str, str]:
    """Tensor → the tensor written before it, some of whose bytes it takes."""
    written = {name: step for step, index in enumerate(order) for name in graph.nodes[index].outputs}
    found: dict[str, str] = {}
    for pair in allowed:
        earlier, later = sorted(pair, key=lambda name: written.get(name, -1))
        a, b = placements[earlier], placements[later]
        if a.memory == b.memory and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes:
            found.setdefault(later, earlier)
    for index in order:
        if is_view(graph, graph.nodes[index]):
            found[graph.nodes[index].output] = graph.nodes[index].input
    return {name: found[name] for name in placements if name in found}
