"""The order of the passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from arenite.graph.graph import Graph
from arenite.graph.verifier import verify
from arenite.passes.absorb_permutations import absorb_permutations
from arenite.passes.absorb_qdq import absorb_qdq
from arenite.passes.annotate_int16 import annotate_int16
from arenite.passes.choose_layouts import choose_layouts
from arenite.passes.drop_edge_transposes import drop_edge_transposes
from arenite.passes.drop_state_transposes import drop_state_transposes
from arenite.passes.fold_affine import fold_affine
from arenite.passes.fold_constants import fold_constants
from arenite.passes.fuse_activation import fuse_activation
from arenite.passes.fuse_elementwise import fuse_elementwise
from arenite.passes.fuse_normalization import fuse_normalization
from arenite.passes.fuse_pad import fuse_pad
from arenite.passes.join_normalization import join_normalization
from arenite.passes.lower_affine import lower_affine
from arenite.passes.merge_common_subexpressions import merge_common_subexpressions
from arenite.passes.merge_views import merge_views
from arenite.passes.narrow_integers import narrow_integers
from arenite.passes.propagate_annotations import propagate_annotations
from arenite.passes.recognize_functions import recognize_functions
from arenite.passes.recognize_prelu import recognize_prelu
from arenite.passes.reduce_slopes import reduce_slopes
from arenite.passes.reductions import arrange_reductions, expand_reductions
from arenite.passes.remove_dead import remove_dead
from arenite.passes.remove_idle import remove_idle
from arenite.passes.select_masked import select_masked
from arenite.passes.separate_states import separate_states
from arenite.passes.settle_dynamic_quantization import settle_dynamic_quantization

Pass = Callable[[Graph], Graph]
OnPass = Callable[[str, Graph], None]

IO_LAYOUTS = ("onnx", "nhwc")


def optimize(graph: Graph, *, io_layout: str = "onnx", calibrates: bool = False, on_pass: OnPass | None = None) -> Graph:
    """A float graph as the frontend gives it, in the form that quantization takes. `graph` is not changed.

    Afterwards there is no BatchNormalization, Quantize, or Dequantize, and no Transpose or Reshape that does nothing; Transposes
    stand at the graph's edges unless the model needs them inside. Inputs and outputs keep their names and order, and with `io_layout`
    "onnx" their shapes; "nhwc" drops the Transposes at the edges. Where quantization `calibrates`, it also finds the ranges that the model
    would measure with every inference (settle_dynamic_quantization). `on_pass(name, graph)` is called after every pass; the graph is
    verified after every pass. Raises UnsupportedModelError where QDQ nodes or a BatchNormalization cannot be absorbed, and ValueError
    for another `io_layout`.
    """
    if io_layout not in IO_LAYOUTS:
        raise ValueError(f"io_layout is {io_layout!r}; it must be one of {', '.join(IO_LAYOUTS)}")

    def run(graph: Graph, passes: Sequence[Pass]) -> Graph:
        for one in passes:
            graph = one(graph)
            verify(graph)
            if on_pass is not None:
                on_pass(one.func.__name__ if isinstance(one, partial) else one.__name__, graph)
        return graph

    def fixpoint(graph: Graph, passes: Sequence[Pass]) -> Graph:
        while True:
            before = graph
            graph = run(graph, passes)
            if graph.nodes == before.nodes:
                return graph

    prepare: Sequence[Pass] = (
        remove_dead,
        fold_constants,
        *((settle_dynamic_quantization,) if calibrates else ()),
        annotate_int16,
        absorb_qdq,  # first: from here on every activation is float
        fold_constants,  # constants that stood behind a Quantize
        remove_idle,
        expand_reductions,
        merge_common_subexpressions,
        join_normalization,
        recognize_functions,
        recognize_prelu,
        select_masked,
    )
    # Each of these removes operators or lowers the layout cost. None adds operators but views, which the layout cost counts, and
    # requantizations, of which no more can arise than there are annotations. A round that changes anything thus lowers (operators
    # that are no views, layout cost), and the iteration ends.
    simplify: Sequence[Pass] = (
        merge_views,
        partial(choose_layouts, io_layout=io_layout),
        propagate_annotations,
        fold_affine,
        fuse_pad,
        fuse_activation,
        absorb_permutations,
        merge_common_subexpressions,
    )
    # What could not be folded takes the form that the target executes; that form may fold and fuse again.
    lower: Sequence[Pass] = (reduce_slopes, fuse_elementwise, fuse_normalization, lower_affine)
    finish: Sequence[Pass] = (arrange_reductions, narrow_integers, merge_views, fold_constants, merge_common_subexpressions)

    graph = _with_bodies(graph)
    graph = run(graph, prepare)
    graph = fixpoint(graph, simplify)
    graph = run(graph, lower)
    graph = fixpoint(graph, simplify)
    graph = run(graph, finish)
    if io_layout == "nhwc":
        graph = run(graph, (drop_edge_transposes, merge_views))
    return run(graph, (drop_state_transposes, merge_views, separate_states)) if graph.states else graph


def _with_bodies(graph: Graph) -> Graph:
    """The bodies of control flow are optimized each on its own: between them and the graph around them tensors keep their layouts."""
    if not any(node.bodies for node in graph.nodes):
        return graph
    graph = graph.copy()
    graph.nodes = [
        node.with_attributes(bodies=tuple(optimize(body) for body in node.bodies)) if node.bodies else node for node in graph.nodes
    ]
    return graph
