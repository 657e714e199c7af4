"""The least extra computation with which a graph keeps within so many bytes of memory.

A group must cover every step that needs too much, of one stretch of layers that can be cut at all. From there it may begin earlier, where
operands are small, and end later, where results are. Each such group, in either kind of bands and with the chosen kernels or such that need
less scratch memory, is looked at in the order of what it costs at least; bands are written only where an estimate of their bytes
keeps within the limit, and planned only where their live bytes do. The planner's word is the last: the first that fits is the cheapest.
Where several stretches need too much, each has a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from math import isqrt

from arenite.graph import Graph, Node
from arenite.partial.candidates import Candidate, Kind, amounts, calls, copying_cycles, graph_cycles, kept_rows, macs, with_less_scratch
from arenite.partial.estimate import Estimate
from arenite.partial.groups import Group, stretches
from arenite.partial.known import Known
from arenite.partial.residency import live_bytes, slice_offset
from arenite.partial.space import ONE_ARENA, SHARES, Space
from arenite.plan import MemoryPlan
from arenite.variants import Offer

MOST_GROUPS = 4
MOST_PLANS = 3
"""Candidates of a group that are given to the planner, for each of the shares below, where none keeps within the limit."""
ROOM = (1.0, 0.95, 0.9, 0.85)
"""Parts of the limit that live bytes keep within. What they leave is for gaps: tensors do not always fill the arena."""
MOST_LIMITS = 8
"""Limits that are tried for the least that is needed."""
NEAREST = 1.02
"""The least is near enough where nothing was found within this part less; and a limit so near to it is left nothing cheaper."""
NEAR = 1.03
"""A plan that needs no more than this part of the limit is looked at again with patience."""
MOST_WRITTEN = 100
"""Candidates of a group whose bands are written."""
LATER_ENDS = 6
"""Places at which a group may end behind the last step that needs too much; likewise earlier beginnings."""
SCRATCH_SHARES = (2, 4, 8, 16)
"""Kernels with less scratch memory than these parts of the limit are tried, too."""
ESTIMATED = 0.95
"""An estimate of bytes may be too high by what this leaves."""

Plan = Callable[[Graph, int, bool], MemoryPlan]
"""Plans a graph for execution in the order that it has, in an arena of so many bytes if it can be; True: however long that takes."""


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
    space: Space = ONE_ARENA
    """The memories that the plan is for."""

    @property
    def bytes(self) -> int:
        """Of all memories together; more than they have where the plan does not fit them."""
        return self.space.bytes(self.plan)


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
    space: Space = ONE_ARENA
    """The memories that plans are made for."""
    progress: Callable[[int, int], None] = lambda done, total: None
    """Told how many candidates have been looked at, of how many at most for the limit at hand."""
    _candidates: dict[tuple[object, ...], Candidate] = field(default_factory=dict)

    @cached_property
    def known(self) -> Known:
        return Known(self.features)

    def within(self, limit: int) -> Execution:
        """The cheapest execution found that needs `limit` bytes of the memories at most; where none does, the one that needs least."""
        # Below what cannot be in bands there is nothing to find: the best is looked for near that.
        limit = max(limit, self._floor)
        found = self._plain
        if self._has_too_large_a_port:
            return found
        for number, target in enumerate(self._targets(limit)):
            found = min(found, self._within(limit, target), key=lambda each: each.bytes)
            if found.bytes <= limit or (number == 0 and self._knows_least and limit < self.least.bytes * NEAREST):
                break
        return self.least if self._knows_least and found.bytes > limit else found

    @cached_property
    def least(self) -> Execution:
        """The execution in one arena that needs the fewest bytes of those found, whatever it costs.

        It depends on no limit, so that an error may name it as what would be enough: a search within that much finds it again.
        """
        best, low = self._plain, self._floor
        for _ in range(MOST_LIMITS):
            if best.bytes <= low * NEAREST:
                break
            limit = isqrt(low * best.bytes)
            for target in self._targets(limit):
                found = self._within(limit, target)
                if found.groups or best.groups:
                    break
            low = low if found.bytes <= limit else limit
            best = min(best, found, key=lambda each: each.bytes)
        return best

    @property
    def _knows_least(self) -> bool:
        """`least` is about the memory that there is."""
        return len(self.space.memories) == 1

    def _targets(self, limit: int) -> tuple[int, ...]:
        """Bytes that are live at once at most, in turn, for an execution within `limit`."""
        if not self._knows_least:
            return self.space.targets(limit)
        live = live_bytes(self.graph, range(len(self.graph.nodes)), self.known)
        most = min(limit, max((int(live[step]) for step in _bandable(self.graph)), default=limit))
        return (limit, *(int(most * share) for share in SHARES))

    @cached_property
    def _floor(self) -> int:
        """Bytes that no execution in bands is below: inputs, outputs, and the layers that cannot be in bands."""
        inside = set(_bandable(self.graph))
        live = live_bytes(self.graph, range(len(self.graph.nodes)), self.known)
        ports = (sum(self.graph.tensors[name].bytes for name in set(names)) for names in (self.graph.inputs, self.graph.outputs))
        return max(*ports, *(int(live[step]) for step in range(len(live)) if step not in inside), 1)

    @property
    def _has_too_large_a_port(self) -> bool:
        """No memory can hold an input or output, which are whole whatever is done."""
        largest = self.space.largest if len(self.space.memories) > 1 else None
        return largest is not None and any(self.graph.tensors[name].bytes > largest for name in (*self.graph.inputs, *self.graph.outputs))

    @property
    def _plain(self) -> Execution:
        return Execution(self.graph, self.plain, space=self.space)

    def _within(self, limit: int, target: int) -> Execution:
        """`target`: bytes that are live at once at most."""
        best = current = self._plain
        for _ in range(MOST_GROUPS):
            if current.bytes <= limit:
                return current
            found = self._one_group_more(current, limit, target)
            if found is None:
                break
            current = found
            best = min(best, current, key=lambda each: each.bytes)
        return best

    def _one_group_more(self, current: Execution, limit: int, target: int) -> Execution | None:
        """The cheapest execution within the limit that has a further group, or else the one that helps most; None where none helps."""
        tried: list[tuple[Execution, Candidate]] = []
        room = target
        over: list[Candidate] = []
        for candidate in self._cheapest_first(current.graph, target):
            if candidate.live_bytes > room:
                over.append(candidate)
                continue
            made = self._execution(current, candidate, limit)
            if made.bytes <= limit:
                return made
            tried.append((made, candidate))
            if len(tried) == MOST_PLANS * len(ROOM):
                break
            room = int(target * ROOM[len(tried) // MOST_PLANS])
        if len(tried) < MOST_PLANS:
            nearest = sorted(over, key=lambda each: each.live_bytes)[:MOST_PLANS]
            tried += [(self._execution(current, candidate, limit), candidate) for candidate in nearest]
        if not tried:
            return None
        smallest, candidate = min(tried, key=lambda each: each[0].bytes)
        if limit < smallest.bytes <= limit * NEAR and candidate.live_bytes <= limit:
            smallest = self._execution(current, candidate, limit, thorough=True)
        return smallest if smallest.bytes < current.bytes else None

    def _cheapest_first(self, graph: Graph, limit: int) -> Iterator[Candidate]:
        """Candidates in the order of their cycles, as far as they may keep within the limit, coarser bands first; then, where there are
        none, those that need least."""
        queue: list[tuple[float, int, _Way | Candidate]] = []
        ways, written = self._ways(graph, limit), 0
        fitting = [way for way in ways if way.bytes * ESTIMATED <= limit]
        if not fitting:
            fitting = sorted(ways, key=lambda way: way.bytes)[: MOST_PLANS * len(ROOM)]
        for number, way in enumerate(fitting):
            heappush(queue, (way.cycles, number, way))
        while queue:
            _, number, found = heappop(queue)
            if isinstance(found, Candidate):
                yield found
                continue
            if written == MOST_WRITTEN:
                continue  # what is written is looked at still
            candidate = self._candidate(found.source, found.nodes, found.kind, found.amount)
            written += 1
            self.progress(written, min(MOST_WRITTEN, len(fitting)))
            heappush(queue, (max(candidate.cycles, found.cycles), number, candidate))

    def _ways(self, graph: Graph, limit: int) -> list[_Way]:
        live = live_bytes(graph, range(len(graph.nodes)), self.known)
        steps = [step for step, node in enumerate(graph.nodes) if live[step] > limit or self._is_too_large(graph, node)]
        inside = _bandable(graph)
        if inside and not set(steps) & set(inside):
            # What is live is too much at most where no bands can be; or it is not, but cannot be placed.
            steps = [max(inside, key=lambda step: int(live[step]))]
        found = []
        for nodes in _groups(graph, steps):
            for source in self._sources(graph, nodes, limit):
                estimate = Estimate(Group(source, nodes), self.known)
                cycles = graph_cycles(source, self.known)
                for kind in self.kinds:
                    for amount in amounts(kind):
                        more = cycles + estimate.more_cycles(kind, amount)
                        found.append(_Way(source, nodes, kind, amount, more, estimate.least_bytes(kind, amount)))
        return found

    def _is_too_large(self, graph: Graph, node: Node) -> bool:
        """A tensor of the layer fits no memory as a whole."""
        largest = self.space.largest if len(self.space.memories) > 1 and node.band is None else None
        names = [name for name in (*node.inputs, *node.outputs) if name is not None]
        return largest is not None and any(graph.tensors[name].bytes > largest and not graph.tensors[name].is_constant for name in names)

    def _sources(self, graph: Graph, nodes: tuple[int, ...], limit: int) -> Iterator[Graph]:
        """`graph`, and with kernels for `nodes` whose scratch memory is but a part of the limit."""
        yield graph
        seen = [graph.nodes]
        for share in SCRATCH_SHARES if not any(node.band for node in graph.nodes) else ():
            lean = with_less_scratch(graph, nodes, self.offers, limit // share)
            if lean.nodes not in seen:
                seen.append(lean.nodes)
                yield lean

    def _candidate(self, source: Graph, nodes: tuple[int, ...], kind: Kind, amount: int) -> Candidate:
        kernels = tuple(str(source.nodes[index].attributes.get("variant")) for index in nodes)
        before = tuple(node.output for node in source.nodes) if any(node.band for node in source.nodes) else ()
        key = (before, source.nodes[nodes[0]].output, source.nodes[nodes[-1]].output, kernels, kind, amount)
        if key not in self._candidates:
            self._candidates[key] = Candidate(source, nodes, kind, amount, self.known)
        return self._candidates[key]

    def _execution(self, current: Execution, candidate: Candidate, limit: int, thorough: bool = False) -> Execution:
        graph = candidate.graph
        group = BandedGroup(tuple(candidate.source.nodes[index].output for index in candidate.nodes), candidate.kind, candidate.amount)
        plain, memory = graph_cycles(self.graph, self.known), self.make_plan(graph, limit, thorough)
        moved, before = copied_rows(graph, memory), copied_rows(self.graph, self.plain)
        copying = copying_cycles(moved) - copying_cycles(before) - copying_cycles(kept_rows(graph))
        return Execution(
            graph=graph,
            plan=memory,
            groups=(*current.groups, group),
            extra_macs=macs(graph, self.known) - macs(self.graph, self.known),
            copied_bytes=max(sum(moved) - sum(before), 0),
            slowdown=(candidate.cycles + copying - plain) / plain if plain else 0.0,
            calls=calls(graph) - calls(self.graph),
            space=self.space,
        )


@dataclass(frozen=True, eq=False)
class _Way:
    """A candidate that is not written yet."""

    source: Graph
    nodes: tuple[int, ...]
    kind: Kind
    amount: int
    cycles: float
    """At least."""
    bytes: int
    """At least, about."""


def copied_rows(graph: Graph, memory: MemoryPlan) -> list[int]:
    """Bytes of the Slices and Concats of rows, of each that does not lie in place."""
    found, places = [], memory.placements

    def apart(part: str, whole: str, offset: int) -> bool:
        if part not in places or whole not in places:
            return True
        return (places[part].memory, places[part].offset) != (places[whole].memory, places[whole].offset + offset)

    for node in graph.nodes:
        if node.op == "Slice" and (start := slice_offset(graph, node)) is not None and apart(node.output, node.input, start):
            found.append(graph.tensors[node.output].bytes)
        if node.op == "Concat":
            offset = 0
            for name in node.inputs:
                size = graph.tensor(name).bytes
                if apart(str(name), node.output, offset):
                    found.append(size)
                offset += size
    return found


def _bandable(graph: Graph) -> list[int]:
    """Steps of layers that can be in bands, and are not yet."""
    return [step for stretch in stretches(graph, range(len(graph.nodes))) for step in stretch if graph.nodes[step].band is None]


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
