"""tune(): how fast every variant of every layer is, measured under the emulator.

A layer runs alone, compiled, on the target's emulated board. Its weights do not matter to its time, so that layers of one shape are
measured once. What was measured is kept in the build cache, by the contents of the image.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from arenite.emit import build_program
from arenite.emit.c import write_sources
from arenite.emit.flat import serialize
from arenite.graph import Graph, Node
from arenite.plan import plan
from arenite.targets import cortex_m4_timing, timing
from arenite.targets.build_cache import cached, content_key
from arenite.targets.emulated import EmulatedEngine, Form
from arenite.variants import Offer

TUNED_TARGET = "cortex-m4"
"""Where a model is converted for none."""
_NAME, _RESULT = "layer", "measured.json"


@dataclass(frozen=True)
class Tuned:
    offers: dict[int, tuple[Offer, ...]]
    """With measured cycles."""
    unit: str
    """What was measured: "cycles", or "instructions" where the target has no model of its cycles."""


def tune(graph: Graph, offers: Mapping[int, tuple[Offer, ...]], target: str, progress: Callable[[int, int], None]) -> Tuned:
    """`offers` of the nodes of `graph` (int8 form), measured. `progress` gets images measured and images in all.

    Raises ToolError where there is no compiler or emulator for `target`.
    """
    jobs: dict[tuple[object, ...], tuple[Node, str]] = {}
    keys: dict[int, list[tuple[object, ...]]] = {}
    for index, offered in offers.items():
        node = graph.nodes[index]
        keys[index] = [_shape_key(graph, node, offer.variant) for offer in offered]
        for key, offer in zip(keys[index], offered, strict=True):
            jobs.setdefault(key, (node, offer.variant))
    measured: dict[tuple[object, ...], tuple[int, int | None]] = {}
    for done, (key, (node, variant)) in enumerate(jobs.items()):
        progress(done, len(jobs))
        measured[key] = _measure(graph, node, variant, target)
    progress(len(jobs), len(jobs))
    in_cycles = all(cycles is not None for _, cycles in measured.values())
    price = {key: float(cycles if in_cycles and cycles is not None else instructions) for key, (instructions, cycles) in measured.items()}
    return Tuned(
        {
            index: tuple(replace(offer, cycles=price[key]) for key, offer in zip(keys[index], offered, strict=True))
            for index, offered in offers.items()
        },
        "cycles" if in_cycles else "instructions",
    )


def layer_alone(graph: Graph, node: Node, variant: str) -> Graph:
    """A graph of nothing but `node`, with a variant."""
    alone = Graph(f"{_NAME}.onnx", inputs=[node.inputs[0] or ""], outputs=[node.output])
    for name in dict.fromkeys((*node.inputs, *node.outputs)):
        if name is not None:
            alone.add(graph.tensor(name))
    alone.nodes.append(replace(node.with_attributes(variant=variant), name=_NAME, origins=()))
    return alone


def _shape_key(graph: Graph, node: Node, variant: str) -> tuple[object, ...]:
    """Equal for layers that take equally long."""
    shapes = tuple(graph.tensor(name).shape for name in (*node.inputs, *node.outputs) if name is not None)
    return (node.op, variant, shapes, *sorted((name, str(value)) for name, value in node.attributes.items() if name != "variant"))


def _measure(graph: Graph, node: Node, variant: str, target: str) -> tuple[int, int | None]:
    """Instructions and modelled cycles of an inference of the layer alone."""
    alone = layer_alone(graph, node, variant)
    program = build_program(alone, plan(alone), name=_NAME, calibrated=True)
    arn = serialize(program, strip_names=True)
    with tempfile.TemporaryDirectory(prefix="arenite-tune-") as scratch:
        folder = Path(scratch)
        (folder / f"{_NAME}.arn").write_bytes(arn)
        for name, text in write_sources(program, arn).items():
            (folder / name).write_text(text, encoding="utf-8")
        engine = EmulatedEngine(folder, Form.COMPILED, target)

        def run(entry: Path) -> None:
            x = program.tensors[program.inputs[0].tensor]
            engine.run([[np.random.default_rng(5).integers(-128, 128, x.shape).astype(x.dtype.numpy)]])
            assert engine.info is not None
            figures = {"instructions": engine.info.instructions, "cycles": engine.info.cycles}
            (entry / _RESULT).write_text(json.dumps(figures), encoding="utf-8")

        model_of_time = [Path(module.__file__) for module in (timing, cortex_m4_timing) if module.__file__]
        entry = cached("tuned", content_key([target], [engine.image.path, *model_of_time]), run)
    figures = json.loads((entry / _RESULT).read_text(encoding="utf-8"))
    return figures["instructions"], figures["cycles"]
