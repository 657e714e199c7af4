"""merge_views: chains of Transpose and Reshape become the least that does the same; inverse pairs vanish.

Each value that something other than a view reads is emitted anew, directly from the root of its chain, as at most one Transpose with
a Reshape; values of the same root in the same order share the Transpose. A view between tensors of different annotations (which
absorb_qdq does not leave) is no pure movement, and is kept as it stands.
"""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import Tensor
from arenite.passes.uses import same_quantization
from arenite.passes.view import View

VIEWS = ("Reshape", "Transpose")


def find_views(graph: Graph) -> dict[str, tuple[str, View]]:
    """The root and the view of every tensor that a chain of views ends in. A root is written by no view, or starts anew where
    two views do not compose."""
    views: dict[str, tuple[str, View]] = {}
    for node in graph.nodes:
        if node.op not in VIEWS or graph.tensors[node.input].is_constant or not same_quantization(graph, node.input, node.output):
            continue
        own = step(View.identity(graph.tensors[node.input].shape), node)
        assert own is not None  # an identity has every border
        root, before = views.get(node.input, (node.input, None))
        whole = None if before is None else step(before, node)
        views[node.output] = (node.input, own) if whole is None else (root, whole)
    return views


def step(view: View, node: Node) -> View | None:
    """`view` and then a Reshape or Transpose node."""
    if node.op == "Reshape":
        return view.reshape(tuple(node.attributes["shape"]))
    return view.transpose(node.attributes["perm"])


def emit_view(graph: Graph, view: View, source: str, target: Tensor, like: Node) -> list[Node]:
    """Nodes, named as `like`, that read `source` through `view` into `target`, which is added where the graph lacks it.

    Intermediate tensors get fresh names and the annotation of the target. An identity gives one Reshape.
    """
    steps = view.steps() or [("Reshape", view.target)]
    graph.tensors.setdefault(target.name, target)
    nodes, shape, at = [], view.source, source
    for index, (op, value) in enumerate(steps):
        shape = value if op == "Reshape" else tuple(shape[axis] for axis in value)
        name = target.name
        if index < len(steps) - 1:
            name = graph.add(Tensor(f"{source}_{op.lower()}", shape, graph.tensors[source].dtype, quantization=target.quantization)).name
        nodes.append(Node(op, like.name, (at,), (name,), {"shape" if op == "Reshape" else "perm": value}, like.origins))
        at = name
    return nodes


def merge_views(graph: Graph) -> Graph:
    graph = graph.copy()
    views = find_views(graph)
    graph = _take_output_names(graph, views)
    views = find_views(graph)
    makers = {node.output: node for node in graph.nodes if node.output in views}
    nodes: list[Node] = []
    ready: dict[str, str] = {}
    outputs = {views[name]: name for name in reversed(graph.outputs) if name in views}  # others of the same value read the output
    ordered: dict[tuple[str, tuple[tuple[int, int], ...]], tuple[str, View]] = {}  # root and order → where it lies already

    def materialize(name: str) -> str:
        """The tensor that holds the value of `name` in the new graph."""
        if name not in views:
            return name
        if name in ready:
            return ready[name]
        root, view = views[name]
        if name not in graph.outputs and (root, view) in outputs:
            ready[name] = materialize(outputs[root, view])
            return ready[name]
        source = materialize(root)
        if view.is_identity and name not in graph.outputs:
            ready[name] = source
            return source
        at, seen = ordered.get((source, view.factors), (source, None)) if view.moves else (source, None)
        rest = View.identity(seen.target).reshape(view.target) if seen is not None else view
        if rest.is_identity and name not in graph.outputs:
            ready[name] = at
            return at
        nodes.extend(emit_view(graph, rest, at, graph.tensors[name], makers[name]))
        if view.moves:
            ordered.setdefault((source, view.factors), (name, view))
        ready[name] = name
        return name

    for node in graph.nodes:
        if node.output not in views:
            operands = tuple(None if name is None else materialize(name) for name in node.inputs)  # emits views
            nodes.append(replace(node, inputs=operands))
    for name in graph.outputs:
        materialize(name)
    graph.nodes = nodes
    graph.prune()
    return graph


def _take_output_names(graph: Graph, views: dict[str, tuple[str, View]]) -> Graph:
    """Where a graph output only repeats its root, the root's writer writes the output itself."""
    for name in graph.outputs:
        root, view = views.get(name, (name, None))
        if view is None or not view.is_identity or root in graph.inputs or root in graph.outputs:
            continue
        writer = graph.producer(root)
        if writer is None or writer.output in views:
            continue
        new = {root: name}
        graph.nodes = [
            replace(node, inputs=tuple(new.get(i, i) if i is not None else None for i in node.inputs))
            if node is not writer
            else replace(node, outputs=(name,))
            for node in graph.nodes
            if node.output != name
        ]
        return _take_output_names(graph, find_views(graph))
    return graph
