"""choose_layouts: moves operators that work in any layout into the layout of their neighbours, so that Transposes cancel.

The frontend wraps every spatial operator in Transposes. Between them stand operators that do not care about the order of axes:
elementwise functions, sums, Concat, Pad, … A connected set of them is turned to another layout (its constants and
axis attributes with it) where that makes the graph's views cheaper. Which of them to turn is a minimum cut: an
operator has one of two layouts, and an edge between different ones costs a Transpose.

The cut prices shared Transposes only approximately, so every proposal is carried out and measured on the whole graph; it stays only if
LayoutCost, a non-negative integer, falls. That is also why this terminates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from arenite.graph.graph import Graph, Node
from arenite.passes.layout_cost import ELEMENT, LayoutCost
from arenite.passes.merge_views import emit_view, find_views, merge_views
from arenite.passes.min_cut import cheapest_labels
from arenite.passes.relayout import AnyView, AxisMap, Relayout, axis_map_to, flexible, relaid_constants
from arenite.passes.view import View

CHANNELS_LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def choose_layouts(graph: Graph, io_layout: str = "onnx") -> Graph:
    """`io_layout` "nhwc": Transposes at the graph's inputs and outputs cost nothing."""
    graph = merge_views(graph)
    while (better := _improved(graph, io_layout)) is not None:
        graph = better
    return graph


def _improved(graph: Graph, io_layout: str) -> Graph | None:
    cost = LayoutCost(graph, io_layout)
    best = cost.total()
    tried: set[tuple[frozenset[str], Relayout]] = set()
    for node in graph.nodes:
        if not flexible(node):
            continue
        for relayout in _candidates(cost, node):
            chosen = _cheapest_set(cost, _region(cost, node, relayout), relayout)
            if not chosen or (chosen, relayout) in tried:
                continue
            tried.add((chosen, relayout))
            changed = merge_views(_relaid(graph, chosen, relayout))
            if LayoutCost(changed, io_layout).total() < best:
                return changed
    return None


def _activations(graph: Graph, node: Node) -> list[str]:
    return [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant]


def _candidates(cost: LayoutCost, node: Node) -> Iterator[Relayout]:
    """Layouts in which some view at the node's operands or result would vanish; none where no views are."""
    shape = cost.graph.tensors[node.output].shape
    inward = [cost.views[name][1] for name in _activations(cost.graph, node) if name in cost.views]
    outward = [cost.views[name][1].inverse() for name in cost.ends[node.output]]
    views = [view for view in (*inward, *outward) if not view.is_identity]
    if not views:
        return
    if len(shape) in CHANNELS_LAST:
        yield AxisMap(CHANNELS_LAST[len(shape)], len(shape))
    for view in views:
        axes = axis_map_to(view)
        if axes is not None:
            yield axes
        if node.op == "Elementwise" and view.target == shape:
            yield AnyView(view.inverse())


def _region(cost: LayoutCost, start: Node, relayout: Relayout) -> dict[str, Node]:
    """The operators, by output, that can take the new layout and hang together with `start` by activations."""
    region: dict[str, Node] = {}
    pending = [start]
    while pending:
        node = pending.pop()
        if node.output in region or not flexible(node) or relayout.attributes(cost.graph, node) is None:
            continue
        region[node.output] = node
        for name in (*_activations(cost.graph, node), node.output):
            pending += [reader for reader in cost.uses[name] if reader is not None]
            if name in cost.writers:
                pending.append(cost.writers[name])
    return region


def _cheapest_set(cost: LayoutCost, region: dict[str, Node], relayout: Relayout) -> frozenset[str]:
    """The operators of the region, by output, that are best turned; empty where nothing is gained."""
    costs: dict[str, tuple[int, int]] = {}
    edges: list[tuple[str, str, int]] = []
    for name, node in region.items():
        change = relayout.view(cost.graph.tensors[name].shape)
        if change is None:
            return frozenset()
        back = change.inverse()
        keep = turn = 0
        for end in cost.ends[name]:
            view, readers = cost.views[end][1], cost.uses[end]
            keep += cost.price(name, view, readers)
            turned = back.then(view)
            turn += cost.price(name, turned, readers) if turned is not None else _both(cost, name, back, view)
        outside = [reader for reader in cost.uses[name] if reader is None or reader.output not in region]
        if outside:
            turn += cost.price(name, back, outside)
        costs[name] = (keep, turn)
        for source in dict.fromkeys(_activations(cost.graph, node)):
            forth = relayout.view(cost.graph.tensors[source].shape)
            if forth is None:
                return frozenset()
            edge = cost.price(source, forth, [node])
            if source in region:
                edges.append((source, name, edge))
                continue
            costs.setdefault(_border(source), _border_costs(cost, source, forth, region))
            edges.append((_border(source), name, edge))
    chosen, total = cheapest_labels(costs, edges)
    if total >= sum(keep for keep, _ in costs.values()):
        return frozenset()
    return frozenset(name for name in chosen if name in region)


def _border(source: str) -> str:
    return f"{source} (border)"


def _border_costs(cost: LayoutCost, source: str, change: View, region: dict[str, Node]) -> tuple[int, int]:
    """Of having the tensor, which no operator of the region writes, in the old and in the new layout."""
    root, view = cost.views.get(source, (source, View.identity(change.source)))
    readers = cost.uses[source]
    keep = cost.price(root, view, readers)
    outside = [reader for reader in readers if reader is None or reader.output not in region]
    turned = view.then(change)
    turn = cost.price(root, turned, readers) if turned is not None else _both(cost, root, view, change)
    return keep, turn + (keep if outside else 0)


def _both(cost: LayoutCost, root: str, first: View, second: View) -> int:
    """Of two views that do not compose."""
    return cost.price(root, first, []) + cost.price(root, second, []) + ELEMENT


def _relaid(graph: Graph, chosen: frozenset[str], relayout: Relayout) -> Graph:
    """The graph with the operators of `chosen` in the new layout, and views around them where neighbours keep the old one.

    A turned tensor keeps its name, and the old layout gets a fresh one, unless it is an output of the graph.
    """
    before, graph = graph, graph.copy()
    roots = {name: root for name, (root, _) in find_views(before).items()}
    nodes: list[Node] = []
    turned: dict[str, str] = {}
    kept: dict[str, str] = {}
    for node in before.nodes:
        if node.output not in chosen:
            nodes.append(replace(node, inputs=tuple(None if name is None else kept.get(name, name) for name in node.inputs)))
            continue
        attributes = relayout.attributes(before, node)
        assert attributes is not None
        for source in _activations(before, node):
            if source not in turned:
                tensor = before.tensors[source]
                view = relayout.view(tensor.shape)
                assert view is not None
                target = graph.add(replace(tensor, name=f"{roots.get(source, source)}_turned", shape=view.target))
                nodes += emit_view(graph, view, source, target, node)
                turned[source] = target.name
        names = {**turned, **relaid_constants(graph, node, relayout)}
        old = before.tensors[node.output]
        view = relayout.view(old.shape)
        assert view is not None
        new = replace(old, shape=view.target)
        if node.output in before.outputs:
            new = graph.add(replace(new, name=f"{node.output}_turned"))
        else:
            old = graph.add(replace(old, name=f"{node.output}_original"))
            graph.tensors[new.name] = new
            kept[node.output] = old.name
        turned[node.output] = new.name
        inputs = tuple(None if name is None else names.get(name, name) for name in node.inputs)
        nodes.append(replace(node.with_attributes(**attributes), inputs=inputs, outputs=(new.name,)))
        nodes += emit_view(graph, view.inverse(), new.name, old, node)
    graph.nodes = nodes
    return graph
