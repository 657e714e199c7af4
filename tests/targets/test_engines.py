"""Every engine computes the same bytes, and the emulated ones the same measurements."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.errors import ArtifactError, ToolError
from arenite.targets import ENGINES, Engine, open_engine
from arenite.targets import qemu as qemu_module
from arenite.targets.artifact import ArtifactModel
from arenite.targets.catalogue import TARGETS, Target
from arenite.targets.compiler import SourceSet
from arenite.targets.emulated import EmulatedEngine, Form, app_model_header
from arenite.targets.sources import native_root, runtime_includes, runtime_root
from arenite.targets.toolchain import FLAGS, toolchain_for
from numpy.typing import NDArray

Samples = list[list[NDArray[Any]]]

EMULATED = {"emulated", "emulated-compiled"}


def require(toolchain: str, emulator: str) -> None:
    if not (shutil.which("arm-none-eabi-gcc") if toolchain == "gcc" else find_spec("ziglang")):
        pytest.skip(f"the toolchain {toolchain} is not installed")
    if not (shutil.which("qemu-system-arm") if emulator == "qemu" else find_spec("unicorn")):
        pytest.skip(f"the emulator {emulator} is not installed")


@pytest.fixture(scope="module")
def expected(artifact: Path, samples: Samples) -> Samples:
    return open_engine("numpy", artifact).run(samples)


def assert_same(found: Samples, expected: Samples) -> None:
    assert len(found) == len(expected)
    for sample, reference in zip(found, expected, strict=True):
        for array, wanted in zip(sample, reference, strict=True):
            assert array.dtype == wanted.dtype
            assert array.shape == wanted.shape
            np.testing.assert_array_equal(array, wanted)


def test_the_samples_tell_outputs_apart(expected: Samples) -> None:
    """Else agreement would say little."""
    assert len({b"".join(array.tobytes() for array in sample) for sample in expected}) == len(expected)
    assert all(len(np.unique(sample[0])) > 20 for sample in expected)
    assert any(len(np.unique(sample[1])) > 2 for sample in expected)


@pytest.mark.parametrize("name", ["c", "compiled"])
def test_host_engines(artifact: Path, samples: Samples, expected: Samples, name: str) -> None:
    engine = open_engine(name, artifact)
    assert_same(engine.run(samples), expected)
    assert_same(engine.run(samples[:2]), expected[:2])
    assert engine.run([]) == []
    assert (engine.name, engine.info) == (name, None)


@pytest.mark.emulated
@pytest.mark.parametrize("toolchain", ["gcc", "zig"])
@pytest.mark.parametrize("name", sorted(EMULATED))
@pytest.mark.parametrize("target", TARGETS)
def test_emulated_engines(
    artifact: Path, samples: Samples, expected: Samples, monkeypatch: pytest.MonkeyPatch, target: str, name: str, toolchain: str
) -> None:
    monkeypatch.setenv("ARENITE_TOOLCHAIN", toolchain)
    infos = {}
    emulators = ("qemu", "unicorn") if TARGETS[target].unicorn_cpu else ("qemu",)
    for emulator in emulators:
        require(toolchain, emulator)
        monkeypatch.setenv("ARENITE_EMULATOR", emulator)
        engine = open_engine(name, artifact, target=target)
        assert engine.info is None
        assert_same(engine.run(samples), expected)
        assert engine.name == name
        assert engine.info is not None
        infos[emulator] = engine.info
        assert emulator in engine.info.emulator.lower()
    qemu, unicorn = infos["qemu"], infos[emulators[-1]]
    assert qemu.resolution == unicorn.resolution == 1
    assert qemu.instructions_of_samples == unicorn.instructions_of_samples
    assert len(qemu.instructions_of_samples) == len(samples)
    assert qemu.instructions == max(qemu.instructions_of_samples)
    assert qemu.open_instructions == unicorn.open_instructions
    assert (qemu.stack_bytes, qemu.open_stack_bytes) == (unicorn.stack_bytes, unicorn.open_stack_bytes)
    assert 64 < qemu.stack_bytes < 2000


@pytest.mark.emulated
def test_sizes(artifact: Path, samples: Samples) -> None:
    interpreted, compiled = EmulatedEngine(artifact, Form.INTERPRETED, "cortex-m4"), EmulatedEngine(artifact, Form.COMPILED, "cortex-m4")
    for engine in (interpreted, compiled):
        engine.run(samples[:1])
        assert engine.info is not None
        assert engine.info.model_bytes + engine.info.code_bytes == engine.image.sections[".text"]
        assert engine.info.arena_bytes == interpreted.image.arena_bytes
    assert interpreted.info is not None
    assert compiled.info is not None
    assert interpreted.info.model_bytes == (artifact / "two_headed.arn").stat().st_size
    constants = 54 + 4 * 6 + 300 + 4 * 8 + 4 * 256  # weights, biases and multipliers of conv and fc, the table of softmax
    assert compiled.info.model_bytes == constants
    assert (interpreted.info.session_bytes, compiled.info.session_bytes) == (52, 0)
    assert compiled.info.code_bytes < interpreted.info.code_bytes < 14_000


@pytest.mark.emulated
def test_without_a_plugin_the_timer_counts(artifact: Path, samples: Samples, expected: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    require("gcc", "qemu")
    monkeypatch.setenv("ARENITE_EMULATOR", "qemu")
    exact = open_engine("emulated", artifact)
    exact.run(samples)
    monkeypatch.setattr(qemu_module, "counting_plugin", lambda: None)
    timed = open_engine("emulated", artifact)
    assert_same(timed.run(samples), expected)
    assert exact.info is not None
    assert timed.info is not None
    assert timed.info.resolution == 40
    mean = sum(exact.info.instructions_of_samples) / len(samples)
    assert abs(timed.info.instructions - mean) < 100  # a tick, and the call itself
    assert abs(timed.info.open_instructions - exact.info.open_instructions) < 100


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_samples_that_do_not_fit(artifact: Path, samples: Samples, name: str) -> None:
    if name in EMULATED:
        require("gcc", "qemu")
    engine = open_engine(name, artifact)
    with pytest.raises(ValueError, match="two_headed has 2 inputs, a sample 1"):
        engine.run([samples[0][:1]])
    with pytest.raises(ValueError, match=r"input b is int8\(1, 5, 5, 2\), the array float32"):
        engine.run([[samples[0][0], samples[0][1].astype(np.float32)]])
    with pytest.raises(ValueError, match=r"input a is int8\(1, 5, 5, 2\), the array int8\(3,\)"):
        engine.run([[samples[0][0].ravel()[:3], samples[0][1]]])


def test_inputs_of_another_shape_of_the_same_size(artifact: Path, samples: Samples, expected: Samples) -> None:
    flat = [[array.ravel() for array in sample] for sample in samples]
    assert_same(open_engine("c", artifact).run(flat), expected)
    assert_same(open_engine("numpy", artifact).run(flat), expected)


def test_unknown_engine(artifact: Path) -> None:
    with pytest.raises(ToolError, match="no engine abacus: choose one of numpy, c, compiled"):
        open_engine("abacus", artifact)


def test_unknown_target(artifact: Path) -> None:
    with pytest.raises(ToolError, match="no target z80: choose one of cortex-m4, cortex-m3"):
        open_engine("numpy", artifact, target="z80")


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_folder_without_a_model(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArtifactError, match=r"should hold one \.arn file, but holds none"):
        open_engine(name, tmp_path)


def test_damaged_model(artifact: Path, tmp_path: Path) -> None:
    (tmp_path / "two_headed.arn").write_bytes((artifact / "two_headed.arn").read_bytes()[:200])
    with pytest.raises(ArtifactError, match=r"two_headed.arn: "):
        open_engine("c", tmp_path)


@pytest.mark.parametrize("name", ["compiled", "emulated", "emulated-compiled"])
def test_folder_without_sources(artifact: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "two_headed.arn").write_bytes((artifact / "two_headed.arn").read_bytes())
    with pytest.raises(ArtifactError, match=r"holds no two_headed(_model)?\.c: convert the model again"):
        open_engine(name, tmp_path)


def test_engines_satisfy_the_protocol(artifact: Path) -> None:
    engine: Engine = open_engine("numpy", artifact)
    assert engine.name == "numpy"


@pytest.mark.emulated
def test_a_model_that_the_target_refuses(artifact: Path, samples: Samples, tmp_path: Path) -> None:
    """The array in the C file is not what the .arn is: arn_model_open says so, and its status reaches the user."""
    require("gcc", "qemu")
    folder = tmp_path / "damaged"
    shutil.copytree(artifact, folder)
    source = folder / "two_headed_model.c"
    head, array = source.read_text().split("[TWO_HEADED_MODEL_BYTES] ARN_ALIGNED(16) = {")
    first_line, rest = array.lstrip("\n").split("\n", 1)
    numbers = first_line.split(",")
    numbers[4] = " 0"  # the identifier
    source.write_text(f"{head}[TWO_HEADED_MODEL_BYTES] ARN_ALIGNED(16) = {{\n{','.join(numbers)}\n{rest}")
    with pytest.raises(ToolError, match=r"two_headed_interpreted.elf ended with status 3 on QEMU"):
        open_engine("emulated", folder).run(samples)


@pytest.mark.emulated
@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
@pytest.mark.parametrize("form", Form)
def test_app_and_generated_code_compile_without_a_warning(artifact: Path, form: Form, target: Target) -> None:
    require("gcc", "qemu")
    model = ArtifactModel.read(artifact)
    app = native_root() / "firmware" / "apps" / "run_model"
    generated = model.interpreted_source if form is Form.INTERPRETED else model.compiled_source
    includes = (app, app_model_header(model, form).parent, artifact, *runtime_includes(runtime_root()))
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    compiler = toolchain_for(target).compiler
    assert compiler.compile(SourceSet((app / f"{form.value}.c", generated), includes), (*FLAGS, *strict, "-Os"))


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["model", "board", "measure", "app_model", "arena"])
def test_names_that_firmware_uses_too(
    write_artifact: Callable[[Path, str], None], samples: Samples, expected: Samples, tmp_path: Path, name: str
) -> None:
    """A model may be called what a file, function or variable of the firmware is called."""
    require("gcc", "qemu")
    write_artifact(tmp_path, name)
    for engine in sorted(EMULATED):
        assert_same(open_engine(engine, tmp_path).run(samples[:2]), expected[:2])
