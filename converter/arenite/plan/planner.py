"""plan(): order, aliases, memories, offsets, in this order; each is its own module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arenite.errors import PlanError
from arenite.graph import Graph
from arenite.plan.aliasing import is_view, takeable, views
from arenite.plan.bodies import planned_part
from arenite.plan.lifetimes import Lifetime, lifetimes
from arenite.plan.memory_plan import Memory, MemoryKind, MemoryPlan, Placement
from arenite.plan.offsets import Block, Offsets, Part, assign, busiest_step
from arenite.plan.schedule import peak, schedule
from arenite.plan.work import Bodies, round_up, scratch_bytes, with_views, work

ARENA = Memory("arena")


def plan(
    graph: Graph, *, keep_inputs: bool = False, memories: Sequence[Memory] = (ARENA,), order: Sequence[int] | None = None
) -> MemoryPlan:
    """Where every tensor of `graph` (int8 form) lies, and when.

    `keep_inputs`: no input is overwritten; those that are states never are. `memories`: memory 0 is the arena; what does not fit its
    capacity goes to the others, in turn. `order`: indices into graph.nodes to execute in this order; None: the planner chooses the one of
    least peak.

    Raises PlanError where the memories are too small or an output is a constant, ValueError where `order` is none of this graph.
    """
    _require_computed_outputs(graph)
    alignment = max(memory.alignment for memory in memories)
    bodies = {
        index: tuple(
            plan(planned_part(node, body), keep_inputs=True, memories=(Memory("arena", alignment=alignment),)) for body in node.bodies
        )
        for index, node in enumerate(graph.nodes)
        if node.bodies
    }
    if order is not None:
        _require_topological(graph, order)
        return _place(graph, tuple(order), bodies, keep_inputs, memories, alignment, ("the execution order was given",))

    tasks, nodes = work(graph, keep_inputs, alignment, bodies)
    best = schedule(tasks)
    given_peak = peak(tasks, range(len(tasks.tasks)))
    if best.peak == best.lower_bound:
        note = f"no execution order needs less than {best.peak:,} bytes at its peak"
    else:
        note = f"the execution order needs {best.peak:,} bytes at its peak; none needs less than {best.lower_bound:,}"
    chosen = _place(graph, with_views(graph, [nodes[i] for i in best.order]), bodies, keep_inputs, memories, alignment, (note,))
    if best.peak < given_peak and chosen.arena_bytes > best.peak:
        # The peak is a bound only: the order of the file may fit better.
        as_given = _place(
            graph, with_views(graph, nodes), bodies, keep_inputs, memories, alignment, ("the execution order is the model's own",)
        )
        if as_given.arena_bytes < chosen.arena_bytes:
            return as_given
    return chosen


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
    """A block, and what lies in it: tensors by name or the scratch memory of nodes by index."""

    block: Block
    tensors: tuple[str, ...] = ()
    scratch: tuple[int, ...] = ()


def _place(
    graph: Graph,
    order: tuple[int, ...],
    bodies: Bodies,
    keep_inputs: bool,
    memories: Sequence[Memory],
    alignment: int,
    notes: tuple[str, ...],
) -> MemoryPlan:
    spans = lifetimes(graph, order, keep_inputs)
    aliases = _aliases(graph, order, spans)
    items = [*_tensor_items(graph, spans, aliases, alignment), *_scratch_items(graph, order, bodies, alignment)]
    shares = _distribute(graph.name, items, memories)

    placements: dict[str, Placement] = {}
    scratch: dict[int, Placement] = {}
    for memory, (share, layout) in enumerate(shares):
        for item, offset in zip(share, layout.offsets, strict=True):
            for name in item.tensors:
                placements[name] = Placement(memory, offset, graph.tensors[name].bytes, spans[name].first, spans[name].last)
            for index in item.scratch:
                step = item.block.first
                scratch[index] = Placement(memory, offset, scratch_bytes(graph, index, bodies), step, step)
    arena = shares[0][1]
    return MemoryPlan(
        order=order,
        placements={name: placements[name] for name in spans},
        scratch=scratch,
        aliases=aliases,
        memories=tuple(memories),
        memory_bytes=tuple(layout.bytes for _, layout in shares),
        lower_bound=arena.lower_bound,
        proven_optimal=arena.proven_optimal,
        peak_step=max(0, min(busiest_step([item.block for item in items]), len(order) - 1)),
        notes=notes if arena.proven_optimal else (*notes, f"the arena may be {arena.bytes - arena.lower_bound:,} bytes larger than needed"),
        bodies=bodies,
    )


def _aliases(graph: Graph, order: Sequence[int], spans: dict[str, Lifetime]) -> dict[str, str]:
    """Tensor → the operand whose bytes it takes: views always, in-place results where the operand dies with all its views."""
    roots = views(graph)
    life = _value_lifetimes(roots, spans)
    aliases = {}
    for step, index in enumerate(order):
        node = graph.nodes[index]
        if is_view(graph, node):
            aliases[node.output] = node.input
            continue
        dying = [name for name in takeable(graph, node, roots) if life[roots[name]].last == step]
        if dying:
            aliases[node.output] = min(dying, key=lambda name: graph.tensors[name].bytes)
    return aliases


def _value_lifetimes(roots: dict[str, str], spans: dict[str, Lifetime]) -> dict[str, Lifetime]:
    members: dict[str, list[Lifetime]] = {}
    for name, root in roots.items():
        if name in spans:
            members.setdefault(root, []).append(spans[name])
    return {root: Lifetime.union(lives) for root, lives in members.items()}


def _tensor_items(graph: Graph, spans: dict[str, Lifetime], aliases: dict[str, str], alignment: int) -> list[_Item]:
    """One for each chain of tensors that share bytes."""
    life = _value_lifetimes(views(graph), spans)
    chains: dict[str, list[str]] = {}
    head: dict[str, str] = {}
    for name in spans:  # operands come before what aliases them
        head[name] = head[aliases[name]] if name in aliases else name
        chains.setdefault(head[name], []).append(name)
    items = []
    for names in chains.values():
        # A view's bytes live as long as its value; the root's part says that already.
        parts = [Part(round_up(graph.tensors[name].bytes, alignment), life[name].first, life[name].last) for name in names if name in life]
        items.append(_Item(Block(tuple(parts)), tensors=tuple(names)))
    return items


def _scratch_items(graph: Graph, order: Sequence[int], bodies: Bodies, alignment: int) -> list[_Item]:
    needed = {index: (step, scratch_bytes(graph, index, bodies)) for step, index in enumerate(order)}
    return [
        _Item(Block((Part(round_up(size, alignment), step, step),)), scratch=(index,)) for index, (step, size) in needed.items() if size
    ]


def _distribute(file: str, items: list[_Item], memories: Sequence[Memory]) -> list[tuple[list[_Item], Offsets]]:
    """Give each memory what it can hold, first the arena; the rest goes on to the next.

    Where not all fits, the largest block at the busiest step goes on, until the rest fits: large blocks relieve the peak at
    the cost of the fewest tensors in the slower memory.
    """
    shares: list[tuple[list[_Item], Offsets]] = []
    left, needed = items, 0
    for memory in memories:
        if memory.kind is not MemoryKind.ARENA:
            shares.append(([], assign([])))
            continue
        share, left = left, []
        layout = assign([item.block for item in share])
        needed = layout.bytes
        while memory.capacity is not None and layout.bytes > memory.capacity:
            step = busiest_step([item.block for item in share])
            largest = max(share, key=lambda item: item.block.at(step))
            share = [item for item in share if item is not largest]
            left.append(largest)
            layout = assign([item.block for item in share])
        shares.append((share, layout))
    if left:
        holding = ", ".join(f"{memory.name} {memory.capacity:,} bytes" for memory in memories if memory.capacity is not None)
        raise PlanError(
            f"{file}: the tensors do not fit: {needed:,} bytes are needed beyond what other memories hold, there are {holding}; "
            "raise the limit, or make the layers at the peak smaller"
        )
    return shares
