"""Figures of the advice, against what becomes of the model where it is followed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.plan import check, plan
from arenite.report import Limits, Report
from arenite.report.bands_advice import bands_bytes
from arenite.report.memory_advice import advice
from arenite.report.memory_use import MemoryUse, memory_use
from onnx import helper, numpy_helper, save


def number(text: str) -> int:
    return int(text.replace(",", ""))


def network(folder: Path, channels: int = 16, size: int = 14) -> Path:
    """3×3 convolutions of one size, which have a choice of kernels with more and with less scratch memory, and a 1×1 one in front."""
    rng = np.random.default_rng(4)
    shapes = [(channels, 3, 1, 1), (channels, channels, 3, 3), (channels, channels, 3, 3)]
    weights = [numpy_helper.from_array(rng.normal(0, 0.2, shape).astype(np.float32), f"w{i}") for i, shape in enumerate(shapes)]
    nodes = []
    for i, shape in enumerate(shapes):
        pads = [shape[-1] // 2] * 4
        nodes.append(helper.make_node("Conv", ["x" if i == 0 else f"r{i - 1}", f"w{i}"], [f"c{i}"], name=f"conv{i}", pads=pads))
        nodes.append(helper.make_node("Relu", [f"c{i}"], ["y" if i == len(shapes) - 1 else f"r{i}"], name=f"relu{i}"))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", 1, [1, 3, size, size])], [value("y", 1, [1, channels, size, size])], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "net.onnx")
    return folder / "net.onnx"


def converted(folder: Path, output: str = "out", **options: Any) -> Conversion:
    model = folder / "net.onnx"
    return convert(model if model.exists() else network(folder), ConvertOptions(output=folder / output, io_layout="nhwc", **options))


def arena(report: Report) -> MemoryUse:
    return memory_use(report)[0]


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_every_kernel_needs_the_scratch_memory_that_is_said(tmp_path: Path, optimize: str) -> None:
    """Of all kernels that layers could take: a plan with that one in place gives it so much, and the step what is said."""
    conversion = converted(tmp_path, optimize=optimize)
    report, program = conversion.report, conversion.program
    graph = conversion.quantized.graph
    taken = {node.output: layer.variant for layer in report.layers for node in graph.nodes if node.output == layer.output and layer.offers}
    assert len(taken) >= 2
    chosen = [node.with_attributes(variant=taken[node.output]) if node.output in taken else node for node in graph.nodes]
    tried = 0
    for step, layer in enumerate(report.layers):
        for offer in layer.offers:
            at = program.calls[step].node
            varied = graph.copy()
            varied.nodes = [node.with_attributes(variant=offer.variant) if i == at else node for i, node in enumerate(chosen)]
            made = plan(varied)
            check(varied, made)
            assert (made.scratch[at].bytes if at in made.scratch else 0) == offer.scratch_bytes
            tried += 1
    assert tried >= 4


def test_a_leaner_kernel(tmp_path: Path) -> None:
    """The step at the peak falls by what the kernel needs less, but for what other distances between image and result change; the arena
    is no smaller than the next step allows."""
    conversion = converted(tmp_path, optimize="speed")
    report = conversion.report
    said = " ".join(advice(report))
    match = re.search(r"([\d,]+) bytes at the peak are scratch memory of ([\w ]+) \((\w+)\); (\w+) needs ([\d,]+) ", said)
    assert match is not None, said
    peak = arena(report).peak
    at = conversion.program.calls[peak.step].node
    graph = conversion.quantized.graph.copy()
    for index, node in enumerate(graph.nodes):
        layer = next((layer for layer in report.layers if layer.output == node.output and layer.offers), None)
        if layer is not None:
            graph.nodes[index] = node.with_attributes(variant=match[4] if index == at else layer.variant)
    made = plan(graph)
    scratch = made.scratch[at].bytes if at in made.scratch else 0
    assert scratch == number(match[5]) < number(match[1]) == conversion.plan.scratch[at].bytes
    floor = max(step.bytes for step in arena(report).steps if step.step != peak.step)
    assert made.arena_bytes <= report.arena_bytes
    assert made.arena_bytes >= min(floor, peak.bytes - number(match[1]) + scratch) - number(match[1])


def test_inputs_that_are_kept(tmp_path: Path) -> None:
    kept = converted(tmp_path, "kept", keep_inputs=True).report
    match = re.search(r"--keep-inputs holds ([\d,]+) bytes of inputs at the peak", " ".join(advice(kept)))
    peak = arena(kept).peak
    assert match is not None and number(match[1]) == 14 * 14 * 3
    freed = converted(tmp_path, "freed").report
    assert not re.search("--keep-inputs", " ".join(advice(freed)))
    # The input was read long before: the step needs just so much less, and so does the arena.
    assert arena(freed).steps[peak.step + 1].bytes == peak.bytes - number(match[1])
    assert freed.arena_bytes <= kept.arena_bytes - number(match[1]) + 16


def test_narrow_ports(tmp_path: Path) -> None:
    wide = converted(tmp_path, "wide", io="float32").report
    assert any(sentence.startswith("--io int8: inputs and outputs at the peak take a quarter") for sentence in advice(wide))
    narrow = converted(tmp_path, "narrow", io="int8").report
    sizes = [{buffer.kind: buffer.bytes for buffer in report.buffers} for report in (wide, narrow)]
    assert sizes[0]["input"] == 4 * sizes[1]["input"] and sizes[0]["output"] == 4 * sizes[1]["output"]
    assert narrow.arena_bytes < wide.arena_bytes and not any("--io int8" in sentence for sentence in advice(narrow))


def test_float32(tmp_path: Path) -> None:
    wide = converted(tmp_path, "wide", precision="float32").report
    assert "--precision int8: activations take a quarter of their bytes." in advice(wide)
    narrow = converted(tmp_path, "narrow").report
    results = [{layer.name: b.bytes for layer in r.layers for b in r.buffers if b.name == layer.output} for r in (wide, narrow)]
    assert results[0] and all(results[0][name] == 4 * results[1][name] for name in results[0])


def test_bands(tmp_path: Path) -> None:
    """--max-ram is advice only where it does something: it needs less, and does not go with several memories."""
    plain = converted(tmp_path).report
    assert any(sentence.startswith("--max-ram SIZE: layers around the peak") for sentence in advice(plain))
    several = replace(plain, memories=(*plain.memories, ("sram", 100)))
    assert not any("--max-ram" in sentence for sentence in advice(several))


def test_the_next_step(tmp_path: Path) -> None:
    report = converted(tmp_path, optimize="speed").report
    use = arena(report)
    said = " ".join(advice(report))
    match = re.search(r"Up to ([\d,]+) bytes can be gained at the peak alone; then step (-?\d+) .* is the highest with ([\d,]+)\.", said)
    others = [step for step in use.steps if step.step != use.peak.step]
    if match is None:
        named = re.search(r"Steps close to the peak, .*?: (\d+) \(", said)
        assert named is not None and any(step.bytes >= 0.95 * use.peak.bytes for step in others)
    else:
        highest = max(step.bytes for step in others)
        assert (number(match[1]), number(match[3])) == (use.peak.bytes - highest, highest)
        assert next(step for step in use.steps if step.step == int(match[2])).bytes == highest


def test_bytes_that_bands_may_do_with(tmp_path: Path) -> None:
    """The search comes near: an eighth more is enough. The image in the middle is six times as large as the others."""
    rng = np.random.default_rng(4)
    shapes = {"a": (8, 3, 3, 3), "b": (48, 8, 1, 1), "c": (8, 48, 3, 3)}
    weights = [numpy_helper.from_array(rng.normal(0, 0.2, shape).astype(np.float32), name) for name, shape in shapes.items()]
    nodes = [
        helper.make_node("Conv", [x, w], [y], name=y, pads=[shapes[w][-1] // 2] * 4)
        for x, w, y in (("x", "a", "s"), ("s", "b", "t"), ("t", "c", "y"))
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", 1, [1, 3, 24, 20])], [value("y", 1, [1, 8, 24, 20])], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "net.onnx")
    plain = converted(tmp_path).report
    said = next(sentence for sentence in advice(plain) if sentence.startswith("--max-ram SIZE"))
    match = re.search(r"About ([\d,]+) bytes may do", said)
    assert match is not None and number(match[1]) < arena(plain).peak.bytes // 2
    limit = number(match[1]) * 9 // 8 + plain.session_bytes
    assert converted(tmp_path, "bands", limits=Limits(ram_bytes=limit)).report.ram_bytes <= limit


@pytest.mark.parametrize("change", [{"form": "Transpose"}, {"form": "FullyConnected"}, {"output_shape": (3, 14, 14, 16)}])
def test_bands_are_no_advice_for_what_cannot_be_in_bands(tmp_path: Path, change: dict[str, Any]) -> None:
    """A Transpose makes an image, but a row of it needs all of its operand; images of a batch are not one stretch of rows."""
    report = converted(tmp_path).report
    assert any("--max-ram" in sentence for sentence in advice(report))
    peak = arena(report).peak.step
    layers = tuple(replace(layer, **change) if step == peak else layer for step, layer in enumerate(report.layers))
    assert not any("--max-ram" in sentence for sentence in advice(replace(report, layers=layers)))


def test_the_ram_that_bands_may_do_with_counts_the_session(tmp_path: Path) -> None:
    plain = converted(tmp_path).report
    said = next(sentence for sentence in advice(plain) if sentence.startswith("--max-ram SIZE"))
    match = re.search(r"About ([\d,]+) bytes may do", said)
    least = bands_bytes(plain, arena(plain))
    assert match is not None and least is not None and number(match[1]) == least + plain.session_bytes
