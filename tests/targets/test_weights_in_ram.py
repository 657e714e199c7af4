"""Weights that are copied to RAM: every engine computes the same bytes, and on a board they are where they should be."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.emit.constants_in_ram import Room
from arenite.errors import PlanError
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.plan import Memory
from arenite.report import memory_to_html
from arenite.report.memory_use import memory_use
from arenite.targets import open_engine
from arenite.targets.emulated import EmulatedEngine, Form
from numpy.typing import NDArray
from onnx import save
from partial.random_images import random_network

Samples = list[list[NDArray[Any]]]
BOTH = (Room("dtcm", None), Room("itcm", 300))
RAM = 0x20000000


def converted(folder: Path, seed: int, **options: Any) -> tuple[Conversion, Conversion, Samples]:
    """A random network with all constants in flash, and with those in RAM that `options` ask for."""
    save(random_network(seed), folder / "net.onnx")
    plain = convert(folder / "net.onnx", ConvertOptions(output=folder / "plain"))
    moved = convert(folder / "net.onnx", ConvertOptions(output=folder / "moved", **options))
    rng = np.random.default_rng(seed)
    ports = [plain.program.tensors[port.tensor] for port in plain.program.inputs]
    return plain, moved, [[rng.integers(-128, 128, port.shape).astype(np.int8) for port in ports] for _ in range(3)]


def same(found: Samples, expected: Samples, what: str) -> None:
    for one, other in zip(found, expected, strict=True):
        for array, reference in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, reference, what)


def test_on_the_host(tmp_path: Path) -> None:
    """With an arena in the same RAM and another beside it, so that the compiled form has a pointer, too."""
    save(random_network(1), tmp_path / "net.onnx")
    arena = convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "alone")).report.arena_bytes
    memories = (Memory("dtcm", arena * 3 // 5), Memory("sram", arena), Memory("sdram"))
    plain, moved, samples = converted(tmp_path, 1, memories=memories, weights_in=(Room("dtcm", None), Room("sram", None)))
    sizes = dict(moved.report.memories)
    assert sizes["sram"] and sizes["sram_weights"] and not sizes["sdram"]
    for name, size in (("dtcm", arena * 3 // 5), ("sram", arena)):
        assert -(-sizes[name] // 16) * 16 + sizes.get(f"{name}_weights", 0) <= size
    expected = open_engine("numpy", plain.folder).run(samples)
    for engine in ("numpy", "c", "compiled"):
        same(open_engine(engine, moved.folder).run(samples), expected, engine)


@pytest.mark.emulated
@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed")
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m7"])
def test_on_a_board(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (shutil.which("qemu-system-arm") or find_spec("unicorn")):
        pytest.skip("there is no emulator")
    plain, moved, samples = converted(tmp_path, 2, memories=(Memory("dtcm", 40_000),), weights_in=BOTH)
    sizes = dict(moved.report.memories)
    in_ram = sizes.get("dtcm_weights", 0) + sizes.get("itcm_weights", 0)
    assert in_ram
    expected = open_engine("numpy", plain.folder).run(samples)
    for form in Form:
        engine, before = EmulatedEngine(moved.folder, form, target), EmulatedEngine(plain.folder, form, target)
        same(engine.run(samples), expected, form.value)
        before.run(samples)
        assert engine.info is not None and before.info is not None
        # Flash has them once, as before, besides what describes the memories and copies them; RAM has them now.
        grown = engine.image.flash_bytes - before.image.flash_bytes
        assert 0 <= grown <= (400 if form is Form.INTERPRETED else 64)
        ram = engine.info.arena_bytes + engine.info.session_bytes - before.info.arena_bytes - before.info.session_bytes
        assert in_ram <= ram <= in_ram + 64
        arrays = [symbol for symbol in engine.image.symbols if symbol.kind == "OBJECT" and symbol.file == "net.c"]
        if form is Form.COMPILED:
            copied = [symbol for symbol in arrays if symbol.address >= RAM]
            marks = [symbol for symbol in copied if symbol.name.endswith("_weights_loaded")]
            assert len(marks) == len(sizes.keys() & {"dtcm_weights", "itcm_weights"}) and all(mark.size == 4 for mark in marks)
            assert in_ram - 16 <= sum(symbol.size for symbol in copied if symbol not in marks) <= in_ram
            assert all(symbol.address < RAM for symbol in arrays if symbol not in copied), "others stay in flash"


def test_all_of_them(tmp_path: Path) -> None:
    """A RAM without a size takes all constants; the flat model is as long as before but for a region and a tensor."""
    plain, moved, samples = converted(tmp_path, 3, memories=(Memory("sdram"),), weights_in=(Room("sdram", None),))
    constants = dict(moved.report.memories)["sdram_weights"]
    assert constants >= plain.report.weight_bytes
    assert abs(moved.report.weight_bytes - plain.report.weight_bytes) <= 16
    assert moved.report.model_bytes <= plain.report.model_bytes + 128
    same(open_engine("c", moved.folder).run(samples), open_engine("numpy", plain.folder).run(samples), "c")


def test_the_report(tmp_path: Path) -> None:
    _, moved, _ = converted(tmp_path, 2, weights_in=(Room("dtcm", 500),))
    report = moved.report
    size = dict(report.memories)["dtcm_weights"]
    assert report.ram_bytes == report.arena_bytes + size + report.session_bytes
    use = memory_use(report)[1]
    assert (use.name, use.bytes, use.between) == ("dtcm_weights", size, size)
    assert {step.end for step in use.steps} == {size}
    assert {buffer.kind for buffer in use.peak.buffers} == {"constant"}
    assert all(buffer.name.removeprefix("constant of ") in {layer.name for layer in report.layers} for buffer in use.peak.buffers)
    assert any(note.startswith(f"dtcm_weights: {size:,} bytes of constants are copied to RAM at the start") for note in report.notes)
    assert "constant of" in memory_to_html(report)
    assert "--weights-in dtcm=500" in (report.calibrate_command or "")
    assert json.loads((moved.folder / "report.json").read_text())["memories"][1] == {"name": "dtcm_weights", "bytes": size}


def test_a_memory_that_is_not_known(tmp_path: Path) -> None:
    save(random_network(1), tmp_path / "net.onnx")
    with pytest.raises(PlanError, match=r"--weights-in dtcm: .*there is no --memory; write dtcm=SIZE"):
        convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out", weights_in=(Room("dtcm", None),)))
    options = ConvertOptions(output=tmp_path / "out", memories=(Memory("sram", 99_999),), weights_in=(Room("dtcm", None),))
    with pytest.raises(PlanError, match=r"--memory names sram; write dtcm=SIZE"):
        convert(tmp_path / "net.onnx", options)
