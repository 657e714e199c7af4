"""What partial execution did, and what would help where it is not enough, in sentences."""

from __future__ import annotations

from arenite.graph import Graph
from arenite.partial.candidates import Kind
from arenite.partial.search import BandedGroup, Execution
from arenite.plan import MemoryPlan


def sentences(graph: Graph, plain: MemoryPlan, found: Execution) -> tuple[str, ...]:
    """For the notes of a report; none where nothing is executed in bands. `graph` and its `plain` plan: before it was."""
    if not found.groups:
        return ()
    parts = "; ".join(group_text(graph, group) for group in found.groups)
    cost = [
        "no multiply-accumulate is computed twice" if not found.extra_macs else f"{found.extra_macs:,} multiply-accumulates more",
        f"{found.copied_bytes:,} bytes of rows are copied",
        f"{found.calls:,} kernel calls more, about {100 * found.slowdown:.1f} % slower (estimated)",
    ]
    before, after = found.space.bytes(plain), found.bytes
    lacking = found.space.lacking(plain)
    beyond = f", {lacking:,} of them beyond what there is" if lacking and len(found.space.memories) > 1 else ""
    where = "Arena" if len(found.space.memories) == 1 else "All memories"
    return (f"executed in bands of rows: {parts}. {where} {after:,} instead of {before:,} bytes{beyond}; {', '.join(cost)}.",)


def group_text(graph: Graph, group: BandedGroup) -> str:
    """Which layers are in bands, and how."""
    producers = graph.producers()
    first, last = producers[group.layers[0]].name, producers[group.layers[-1]].name
    layers = f"{first} to {last} ({len(group.layers)} layers)"
    if group.kind is Kind.PATCHES:
        return f"{layers}, {group.amount} bands that compute what they share again"
    rows = "1 row" if group.amount == 1 else f"{group.amount} rows"
    return f"{layers}, line buffers, up to {rows} of operands at a time"


def shortage(source: str, found: Execution, limit: int, session: int, hints: tuple[str, ...], weights: int = 0) -> str:
    """Why `limit` bytes of RAM are not enough, and what would help. `session`: bytes beside the arena, `weights` of them for constants."""
    arena = found.plan.arena_bytes
    least = arena + session
    how = "executed in bands of rows already" if found.groups else "and no part of it can be executed in bands with less"
    beside = f"session {session - weights:,}" + (f", weights in RAM up to {weights:,}" if weights else "")
    remedies = "\n".join(f"  - {hint}" for hint in (f"--max-ram {least}: the least that was found", *hints))
    return (
        f"{source}: does not fit --max-ram of {limit:,} bytes: the best plan found needs {least:,} (arena {arena:,}, {beside}), "
        f"{how}.\n{peak(found)} What would help:\n{remedies}"
    )


def peak(found: Execution) -> str:
    """What is needed where most bytes are live, a sentence."""
    graph, plan = found.graph, found.plan
    index = plan.order[plan.peak_step]
    node = graph.nodes[index]
    rows = "" if node.band is None else f", rows {node.band.rows[0]} to {node.band.rows[1] - 1}"
    tensors = [graph.tensors[name] for name in (*node.inputs, *node.outputs) if name is not None and not graph.tensors[name].is_constant]
    named = [f"{'×'.join(map(str, tensor.shape)) or 'a number'} of {tensor.bytes:,} bytes" for tensor in tensors]
    if index in plan.scratch:
        named.append(f"scratch memory of {plan.scratch[index].bytes:,} bytes")
    return f"The peak is at step {plan.peak_step} of {len(plan.order)}, {node.name} ({node.op}{rows}; {', '.join(named)})."
