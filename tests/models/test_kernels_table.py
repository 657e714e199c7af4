"""models/benchmark/kernels.py: its model is one that ONNX accepts, its figures are measured, and docs/kernels.md has all of its layers."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from arenite.targets.qemu import counting_plugin

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/kernels.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_kernels", ROOT / "models/benchmark/kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_document_has_every_layer_once(kernels: ModuleType) -> None:
    names = re.findall(r"^\| (.*?) \|.* [\d.,]+ \|$", DOCUMENT, re.MULTILINE)
    assert names == [item.name for item in (*kernels.SHAPES, *kernels.LAYERS, *kernels.IN_PRECISIONS)]


def test_the_model_has_a_node_for_each(kernels: ModuleType) -> None:
    made = kernels.model(kernels.SHAPES, kernels.LAYERS)
    assert len(made.graph.node) == len(made.graph.output) == len(kernels.SHAPES) + len(kernels.LAYERS)


@pytest.mark.emulated
@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed")
@pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="qemu-system-arm is not installed")
def test_layers_are_measured(kernels: ModuleType, tmp_path: Path) -> None:
    if counting_plugin() is None:
        pytest.skip("this QEMU has no plugin interface")
    shapes, layers = [kernels.Shape(6, 4, 8)], [kernels.Layer("pool", "GlobalAveragePool", (1, 8, 4, 4), counted="input")]
    lines = kernels.measure(shapes, layers, "speed", tmp_path).splitlines()
    rows = [line.strip("| ").split(" | ") for line in (lines[2], lines[6])]
    macs, cycles = (int(text.replace(",", "")) for text in rows[0][2:4])
    assert macs == 6 * 6 * 8 * 4 * 9
    assert float(rows[0][4]) == pytest.approx(cycles / macs, abs=0.005)
    assert rows[1][1] == "128 input"
    assert int(rows[1][2].replace(",", "")) > 128
