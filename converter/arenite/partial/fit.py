"""fit(): a graph and its plan, executed in bands as far as a limit on memory asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from arenite.graph import Graph
from arenite.partial.candidates import Kind
from arenite.partial.search import Execution, Search
from arenite.partial.space import ONE_ARENA, Space
from arenite.plan import Enough, MemoryPlan
from arenite.variants import Offer

BOTH = (Kind.LINE_BUFFERS, Kind.PATCHES)


def search(
    graph: Graph,
    plain: MemoryPlan,
    *,
    features: frozenset[str],
    offers: Mapping[int, tuple[Offer, ...]],
    keep_inputs: bool = False,
    kinds: tuple[Kind, ...] = BOTH,
    space: Space = ONE_ARENA,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Search:
    """A search for executions of `graph`, whose `plain` plan is given. `features` of the core are for the estimate of cycles, `offers` are
    the kernels that nodes can take, by index. `space`: the memories, which the plain plan is made for. `progress`: as Search has it."""
    positions = {index: step for step, index in enumerate(plain.order)}
    ordered = graph.copy()
    ordered.nodes = [graph.nodes[index] for index in plain.order]

    def planned(banded: Graph, most: int, thorough: bool) -> MemoryPlan:
        memory = space.planned(banded, keep_inputs=keep_inputs, order=range(len(banded.nodes)), enough=Enough(most, quick=not thorough))
        return replace(memory, notes=memory.notes[1:])  # the first says that the order was given: not by the user

    return Search(
        graph=ordered,
        plain=plain,
        make_plan=planned,
        features=features,
        offers={positions[index]: offered for index, offered in offers.items()},
        kinds=kinds,
        space=space,
        progress=progress,
    )


def fit(graph: Graph, plain: MemoryPlan, looking: Search, most: int | None) -> Execution:
    """The cheapest execution found with `most` bytes of the memories of the search, or the one that needs least.

    Where the plain plan will do (None: there is no limit), or nothing is better, graph and plan are as given.
    """
    as_given = Execution(graph, plain, space=looking.space)
    if most is None or as_given.bytes <= most:
        return as_given
    found = looking.within(most)
    return found if found.groups else as_given


def moved_offers(graph: Graph, offers: Mapping[int, tuple[Offer, ...]], found: Execution) -> dict[int, tuple[Offer, ...]]:
    """`offers` by index into the nodes of `found.graph`: the first band of a layer in `graph` has those of the layer."""
    by_result = {graph.nodes[index].output: offered for index, offered in offers.items()}
    moved = {}
    for index, node in enumerate(found.graph.nodes):
        result = node.output if node.band is None else node.band.tensor
        if result in by_result and node.op not in ("Slice", "Concat", "Leading"):
            moved[index] = by_result.pop(result)
    return moved
