"""Figures of the report against where they come from."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.graph import DType, Graph, Node, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.graph.source_ports import SourcePort
from arenite.plan import plan
from arenite.quantize import quantize
from arenite.report import Circumstances, build_report
from arenite.report.build import MODEL_STRUCT_BYTES, REGION_STRUCT_BYTES, SESSION_STRUCT_BYTES
from arenite.targets.sources import native_root


def concat_graph() -> Graph:
    """Two slices of x, joined the other way round: movement operators, several calls a node, and a Reshape, which is none."""
    graph = Graph("g", inputs=["x"], outputs=["y"])
    for name, shape in (
        ("x", (1, 4, 6)),
        ("left", (1, 4, 2)),
        ("right", (1, 4, 4)),
        ("joined", (1, 4, 6)),
        ("flat", (1, 24)),
        ("y", (1, 3)),
    ):
        graph.add(Tensor(name, shape, DType.FLOAT32))
    graph.add_constant("w", np.random.default_rng(1).normal(0, 1, (3, 24)).astype(np.float32))
    graph.add_constant("b", np.zeros(3, np.float32))
    graph.nodes = [
        Node("Slice", "split", ("x",), ("left",), {"starts": (0, 0, 0), "steps": (1, 1, 1), "sizes": (1, 4, 2)}),
        Node("Slice", "split", ("x",), ("right",), {"starts": (0, 0, 2), "steps": (1, 1, 1), "sizes": (1, 4, 4)}),
        Node("Concat", "join", ("right", "left"), ("joined",), {"axis": 2}),
        Node("Reshape", "flatten", ("joined",), ("flat",), {"shape": (1, 24)}),
        Node("FullyConnected", "dense", ("flat", "w", "b"), ("y",), {"clip": UNBOUNDED}),
    ]
    return graph


def test_steps_count_calls():
    """Buffers are placed on the program's calls, of which a Concat has several and a Reshape none."""
    quantized = quantize(concat_graph())
    memory = plan(quantized.graph)
    program = build_program(quantized.graph, memory, name="g", calibrated=False)
    ports = {"x": SourcePort((1, 4, 6), DType.FLOAT32, (0, 1, 2)), "y": SourcePort((1, 3), DType.FLOAT32, (0, 1))}
    report = build_report(program, quantized.graph, memory, serialize(program), Circumstances("g.onnx", sources=ports))
    assert [layer.op for layer in report.layers] == ["StridedCopy"] * 4 + ["FullyConnected"]
    assert [layer.form for layer in report.layers] == ["Slice", "Slice", "Concat", "Concat", "FullyConnected"]
    buffers = {buffer.name: buffer for buffer in report.buffers}
    assert (buffers["x"].first, buffers["x"].last, buffers["x"].kind) == (-1, 1, "input")
    assert (buffers["joined"].first, buffers["flat"].last) == (2, 4)
    assert buffers["flat"].alias_of == "joined" and buffers["flat"].offset == buffers["joined"].offset
    assert (buffers["y"].last, buffers["y"].kind) == (5, "output")
    for buffer in report.buffers:
        assert -1 <= buffer.first <= buffer.last <= len(report.layers) and buffer.offset + buffer.bytes <= report.arena_bytes
    assert report.macs == 72 and report.layers[-1].weight_bytes == report.weight_bytes == sum(
        tensor.bytes for tensor in program.tensors if tensor.data is not None
    )


def test_session_bytes_are_the_compilers():
    """sizeof of the runtime's structures on a 32-bit core."""
    gcc = shutil.which("arm-none-eabi-gcc")
    if gcc is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    text = '#include "arenite.h"\n'
    for kind, size in (("model", MODEL_STRUCT_BYTES), ("session", SESSION_STRUCT_BYTES), ("region", REGION_STRUCT_BYTES)):
        text += f"typedef char arn_{kind}_size[sizeof(arn_{kind}) == {size} ? 1 : -1];\n"
    command = [gcc, "-mcpu=cortex-m4", "-mthumb", "-fsyntax-only", "-I", native_root() / "runtime_c" / "include", "-xc", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
