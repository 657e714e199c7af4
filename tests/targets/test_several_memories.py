"""Tensors in several memories: every engine computes the bytes that it does with one arena."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.errors import PlanError
from arenite.pipeline import ConvertOptions, convert
from arenite.plan import Memory
from arenite.targets import open_engine
from arenite.targets.emulated import EmulatedEngine, Form
from numpy.typing import NDArray
from onnx import parser, save
from partial.random_images import random_network

Samples = list[list[NDArray[Any]]]


def converted(folder: Path, seed: int, *shares: float) -> tuple[Path, Path, Samples, tuple[int, ...]]:
    """A random network with one arena, and with memories that hold these parts of that arena, and one without a limit."""
    save(random_network(seed), folder / "net.onnx")
    alone = convert(folder / "net.onnx", ConvertOptions(output=folder / "alone"))
    sizes = [int(alone.report.arena_bytes * share) for share in shares]
    memories = (*(Memory(f"ram{i}", size) for i, size in enumerate(sizes)), Memory("sdram"))
    apart = convert(folder / "net.onnx", ConvertOptions(output=folder / "apart", memories=memories))
    assert all(used <= size for used, size in zip(apart.plan.memory_bytes, sizes, strict=False))
    rng = np.random.default_rng(seed)
    ports = [alone.program.tensors[port.tensor] for port in alone.program.inputs]
    samples: Samples = [[rng.integers(-128, 128, port.shape).astype(np.int8) for port in ports] for _ in range(3)]
    return alone.folder, apart.folder, samples, apart.plan.memory_bytes


@pytest.mark.parametrize("seed", range(4))
def test_on_the_host(seed: int, tmp_path: Path) -> None:
    alone, apart, samples, used = converted(tmp_path, seed, *((0.6,) if seed % 2 else (0.4, 0.3)))
    assert sum(size > 0 for size in used) > 1
    expected = open_engine("numpy", alone).run(samples)
    for engine in ("numpy", "c", "compiled"):
        for found, wanted in zip(open_engine(engine, apart).run(samples), expected, strict=True):
            for array, reference in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(array, reference, engine)


@pytest.mark.parametrize("capacity", [64, 128])
def test_states_in_either_memory(tmp_path: Path, capacity: int) -> None:
    """What persists is copied from where it is computed to where it is kept, in the same memory or not."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[1,64] x, float[1,64] h) => (float[1,64] out, float[1,64] next) {
        sum = Add(x, h)  next = Tanh(sum)  gate = Sigmoid(x)  gated = Mul(gate, next)  out = Add(gated, x)
    }"""
    save(parser.parse_model(text), tmp_path / "net.onnx")
    outputs = []
    for name, memories in (("alone", ()), ("apart", (Memory("dtcm", capacity), Memory("sdram")))):
        options = ConvertOptions(output=tmp_path / name, states={"next": "h"}, memories=memories)
        conversion = convert(tmp_path / "net.onnx", options)
        samples: Samples = [[np.random.default_rng(i).integers(-128, 128, (1, 64)).astype(np.int8)] for i in range(4)]
        outputs += [np.stack([o[0] for o in open_engine(engine, tmp_path / name).run(samples)]) for engine in ("numpy", "c", "compiled")]
    program = conversion.program
    assert {program.tensors[state.input].memory for state in program.states} == {1}
    assert {program.tensors[state.output].memory for state in program.states} == {1 if capacity == 64 else 0}
    for output in outputs:
        np.testing.assert_array_equal(output, outputs[0])


@pytest.mark.emulated
@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed")
@pytest.mark.parametrize("emulator", ["qemu", "unicorn"])
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m3"])
def test_on_a_board(target: str, emulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Cortex-M4's board has a second RAM; on the other, further memories lie behind the arena."""
    if not (shutil.which("qemu-system-arm") if emulator == "qemu" else find_spec("unicorn")):
        pytest.skip(f"the emulator {emulator} is not installed")
    monkeypatch.setenv("ARENITE_EMULATOR", emulator)
    alone, apart, samples, used = converted(tmp_path, 1, 0.6)
    expected = open_engine("numpy", alone).run(samples)
    for form in Form:
        engine = EmulatedEngine(apart, form, target)
        for found, wanted in zip(engine.run(samples), expected, strict=True):
            for array, reference in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(array, reference)
        assert engine.info is not None and sum(used) <= engine.info.arena_bytes <= sum(used) + 16
        sections = engine.image.sections
        if target == "cortex-m4":
            assert (sections[".arena"], sections[".memories"]) == used
            assert engine.image.address("memory_1") >= 0x21000000 > engine.image.address("arena")


def test_too_little_of_all(tmp_path: Path) -> None:
    save(random_network(1), tmp_path / "net.onnx")
    memories = (Memory("dtcm", 64), Memory("sram", 128))
    with pytest.raises(PlanError, match=r"dtcm 64 bytes, sram 128 bytes"):
        convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out", memories=memories))
