"""The least extra computation with which a graph keeps within so many bytes of memory.

A group must cover every step that needs too much, of one stretch of layers that can be cut at all. From there it may begin earlier, where
operands are small, and end later, where results are. For each such group the coarsest bands whose live bytes keep within the limit are
looked for, and what costs least is given to the planner, whose word is the last. Where several stretches need too much, each has a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arenite.graph import Graph
from arenite.partial.candidates import COPY_CYCLES, Candidate, Kind, amounts, graph_cycles, kept_bytes, macs, with_less_scratch
from arenite.partial.groups import stretches
from arenite.partial.residency import live_bytes, slice_offset
from arenite.plan import MemoryPlan
from arenite.variants import Offer

MOST_GROUPS = 4
MOST_PLANS = 4
"""Candidates of a group that are given to the planner, for each of the shares below, where none keeps within the limit."""
ROOM = (1.0, 0.93, 0.86)
"""Parts of the limit that live bytes keep within. What they leave is for gaps: tensors do not always fill the arena."""
LATER_ENDS = 6
"""Places at which a group may end behind the last step that needs too much; likewise earlier beginnings."""
SCRATCH_SHARES = (2, 4, 8, 16)
"""Kernels with less scratch memory than these parts of the limit are tried, too."""

Plan = Callable[[Graph], MemoryPlan]
"""Plans a graph for execution in the order that it has."""


@dataclass(frozen=True)
class BandedGroup:
    """Layers that are executed in bands."""

    layers: tuple[str, ...]
    """Their results, in order."""
    kind: Kind
    amount: int
    """As Candidate.amount."""


@dataclass(frozen=True)
class Execution:
    """A graph of which parts may be executed in bands, and its plan."""

    graph: Graph
    plan: MemoryPlan
    groups: tuple[BandedGroup, ...] = ()
    extra_macs: int = 0
    copied_bytes: int = 0
    """Bytes of rows that are moved, each as often as it is."""
    slowdown: float = 0.0
    """Estimated cycles of the layers with products, beyond those of the plain graph, as a share of these."""
    calls: int = 0
    """Kernel calls more than there were, copies aside."""


@dataclass
class Search:
    """Looks for executions of `graph`, whose kernels are chosen. Keeps what it has looked at, for the next limit."""

    graph: Graph
    """In the order of its plain execution."""
    plain: MemoryPlan
    make_plan: Plan
    features: frozenset[str]
    offers: Mapping[int, tuple[Offer, ...]] = field(default_factory=dict)
    """Kernels that nodes can take instead: those with less scratch memory are tried, too."""
    kinds: tuple[Kind, ...] = (Kind.LINE_BUFFERS, Kind.PATCHES)
    _candidates: dict[tuple[object, ...], Candidate] = field(default_factory=dict)

    def within(self, limit: int) -> Execution:
        """The cheapest execution found whose arena has `limit` bytes at most; where none has, the one with the smallest arena."""
        best = Execution(self.graph, self.plain)
        current = best
        # Below what inputs or outputs take there is nothing to find: the best is looked for near that.
        limit = max(
            limit, *(sum(self.graph.tensors[name].bytes for name in set(names)) for names in (self.graph.inputs, self.graph.outputs))
        )
        for _ in range(MOST_GROUPS):
            if current.plan.arena_bytes <= limit:
                return current
            found = self._one_group_more(current, limit)
            if found is None:
                break
            current = found
            if current.plan.arena_bytes < best.plan.arena_bytes:
                best = current
        return current if current.plan.arena_bytes <= limit else best

    def _one_group_more(self, current: Execution, limit: int) -> Execution | None:
        """The cheapest execution within the limit that has a further group, or else the one that helps most; None where none helps."""
        tried: dict[Candidate, Execution] = {}
        promising: list[Candidate] = []
        for share in ROOM:
            promising = sorted(self._promising(current.graph, int(limit * share)), key=lambda each: each.cycles)
            fitting = [each for each in promising if each.live_bytes <= limit * share and each not in tried]
            for candidate in fitting[:MOST_PLANS]:
                made = tried[candidate] = self._execution(current, candidate)
                if made.plan.arena_bytes <= limit:
                    return made
        nearest = [each for each in sorted(promising, key=lambda each: each.live_bytes) if each not in tried]
        for candidate in nearest[: MOST_PLANS if len(tried) < MOST_PLANS else 0]:
            made = tried[candidate] = self._execution(current, candidate)
            if made.plan.arena_bytes <= limit:
                return made
        smallest = min(tried.values(), key=lambda each: each.plan.arena_bytes, default=None)
        return smallest if smallest is not None and smallest.plan.arena_bytes < current.plan.arena_bytes else None

    def _promising(self, graph: Graph, limit: int) -> Iterator[Candidate]:
        """For every group that may help and each kind, the coarsest bands that keep within the limit, or the finest."""
        live = live_bytes(graph, range(len(graph.nodes)))
        steps = [step for step in range(len(graph.nodes)) if live[step] > limit] or [int(live.argmax())]
        for nodes in _groups(graph, steps):
            for source in self._sources(graph, nodes, limit):
                for kind in self.kinds:
                    yield self._coarsest(source, nodes, kind, limit)

    def _sources(self, graph: Graph, nodes: tuple[int, ...], limit: int) -> Iterator[Graph]:
        """`graph`, and with kernels for `nodes` whose scratch memory is but a part of the limit."""
        yield graph
        seen = [graph.nodes]
        for share in SCRATCH_SHARES if not any(node.band for node in graph.nodes) else ():
            lean = with_less_scratch(graph, nodes, self.offers, limit // share)
            if lean.nodes not in seen:
                seen.append(lean.nodes)
                yield lean

    def _coarsest(self, source: Graph, nodes: tuple[int, ...], kind: Kind, limit: int) -> Candidate:
        candidate = None
        for amount in amounts(kind):
            candidate = self._candidate(source, nodes, kind, amount)
            if candidate.live_bytes <= limit:
                break
        assert candidate is not None
        return candidate

    def _candidate(self, source: Graph, nodes: tuple[int, ...], kind: Kind, amount: int) -> Candidate:
        kernels = tuple(str(source.nodes[index].attributes.get("variant")) for index in nodes)
        key = (len(source.nodes), source.nodes[nodes[0]].output, source.nodes[nodes[-1]].output, kernels, kind, amount)
        if key not in self._candidates:
            self._candidates[key] = Candidate(source, nodes, kind, amount, self.features)
        return self._candidates[key]

    def _execution(self, current: Execution, candidate: Candidate) -> Execution:
        graph = candidate.graph
        group = BandedGroup(tuple(candidate.source.nodes[index].output for index in candidate.nodes), candidate.kind, candidate.amount)
        plain, memory = graph_cycles(self.graph, self.features), self.make_plan(graph)
        copied = max(copied_bytes(graph, memory) - copied_bytes(self.graph, self.plain), 0)
        return Execution(
            graph=graph,
            plan=memory,
            groups=(*current.groups, group),
            extra_macs=macs(graph) - macs(self.graph),
            copied_bytes=copied,
            slowdown=(candidate.cycles + COPY_CYCLES * (copied - kept_bytes(graph)) - plain) / plain if plain else 0.0,
            calls=sum(node.op not in ("Concat", "Slice") for node in graph.nodes)
            - sum(node.op not in ("Concat", "Slice") for node in self.graph.nodes),
        )


def copied_bytes(graph: Graph, memory: MemoryPlan) -> int:
    """Of the Slices and Concats of rows, what does not lie in place."""
    total, places = 0, memory.placements

    def apart(part: str, whole: str, offset: int) -> bool:
        if part not in places or whole not in places:
            return True
        return (places[part].memory, places[part].offset) != (places[whole].memory, places[whole].offset + offset)

    for node in graph.nodes:
        if node.op == "Slice" and (start := slice_offset(graph, node)) is not None:
            total += graph.tensors[node.output].bytes if apart(node.output, node.input, start) else 0
        if node.op == "Concat":
            offset = 0
            for name in node.inputs:
                size = graph.tensor(name).bytes
                total += size if apart(str(name), node.output, offset) else 0
                offset += size
    return total


def _groups(graph: Graph, steps: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Parts of stretches that cover all of `steps` that lie in the stretch, by the first stretch that has any."""
    for stretch in stretches(graph, range(len(graph.nodes))):
        inside = [step for step in steps if step in stretch and graph.nodes[step].band is None]
        if not inside:
            continue
        stretch = tuple(index for index in stretch if graph.nodes[index].band is None)
        first, last = stretch.index(min(inside)), stretch.index(max(inside))
        beginnings = sorted({max(first - back, 0) for back in range(LATER_ENDS)} | {0})
        ends = sorted({min(last + on, len(stretch) - 1) for on in range(LATER_ENDS)} | {len(stretch) - 1})
        for begin in beginnings:
            for end in ends:
                if end > begin:
                    yield stretch[begin : end + 1]
        return
