"""Two models share an arena, never at once, with an application that overwrites what `inspect --memory --json` says is free."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.report import memory_to_json
from arenite.targets import open_engine
from arenite.targets.sources import interpreter_sources, kernel_sources, runtime_includes, runtime_root
from numpy.typing import NDArray
from onnx import save
from partial.random_images import random_network

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
SAMPLES = 3
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Conversion]]:
    """Two converted models, and beside them objects of the runtime and of both forms, with models.h."""
    folder = tmp_path_factory.mktemp("shared_arena")
    models, lines = [], [f"#define SAMPLES {SAMPLES}"]
    for name, seed in (("first", 1), ("second", 2)):
        save(random_network(seed), folder / f"{name}.onnx")
        conversion = convert(folder / f"{name}.onnx", ConvertOptions(name=name, output=folder / name))
        memory = memory_to_json(conversion.report)["memories"][0]
        lines.append(f"static const unsigned int {name}_ends[] = {{{', '.join(str(step['end']) for step in memory['steps'])}}};")
        lines.append(f"#define {name.upper()}_BETWEEN {memory['between_bytes']}")
        models.append(conversion)
    (folder / "models.h").write_text("\n".join(lines) + "\n")
    generated = [model.folder / f"{model.report.model}{form}.c" for model in models for form in ("", "_model")]
    runtime = runtime_root()
    sources = [*generated, *interpreter_sources(runtime), *kernel_sources(runtime)]
    for number, place in enumerate(sorted({source.parent for source in sources})):  # files of different folders have the same name
        objects = folder / f"objects{number}"
        objects.mkdir()
        files = [str(source) for source in sources if source.parent == place]
        subprocess.run(["gcc", "-std=c99", "-O0", "-DARN_PROFILE", *includes(folder), "-c", *files], check=True, cwd=objects)
    return folder, models


def includes(folder: Path) -> list[str]:
    return [f"-I{path}" for path in (folder, folder / "first", folder / "second", *runtime_includes(runtime_root()))]


def link(folder: Path, spoil: int = 0) -> Path:
    """The program. `spoil`: bytes by which the parts that are called free begin too early."""
    objects = [str(file) for file in folder.glob("objects*/*.o")]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = ["gcc", "-std=c99", *strict, f"-DSPOIL={spoil}", *includes(folder), HERE / "shared_arena.c", *objects, "-lm", "-o"]
    subprocess.run([*command, folder / "shared_arena"], check=True)
    return folder / "shared_arena"


def run(program: Path, samples: list[list[NDArray[Any]]]) -> bytes:
    """The outputs; `samples`: those of each model. Each is run in both forms."""
    folder = program.parent
    both = [sample.tobytes() for pair in zip(*samples, strict=True) for _ in ("interpreted", "compiled") for sample in pair]
    (folder / "samples.bin").write_bytes(b"".join(both))
    assert subprocess.run([program, folder / "samples.bin", folder / "outputs.bin"], check=False).returncode == 0
    return (folder / "outputs.bin").read_bytes()


def inputs_and_outputs(models: list[Conversion]) -> tuple[list[list[NDArray[Any]]], bytes]:
    """Random samples of each model, and the bytes that both forms give where each model has an arena of its own."""
    rng, samples, outputs = np.random.default_rng(8), [], []
    for conversion in models:
        (port,) = [conversion.program.tensors[port.tensor] for port in conversion.program.inputs]
        samples.append([rng.integers(-128, 128, port.shape).astype(np.int8) for _ in range(SAMPLES)])
        outputs.append(open_engine("numpy", conversion.folder).run([[sample] for sample in samples[-1]]))
    expected = [output[0].tobytes() for pair in zip(*outputs, strict=True) for _ in ("interpreted", "compiled") for output in pair]
    return samples, b"".join(expected)


def test_two_models_in_one_arena(built: tuple[Path, list[Conversion]]) -> None:
    folder, models = built
    samples, expected = inputs_and_outputs(models)
    assert run(link(folder), samples) == expected
    assert len({sample.tobytes() for sample in samples[0]}) == SAMPLES


def test_what_is_called_free_is_exact(built: tuple[Path, list[Conversion]]) -> None:
    """One word more, and something that is needed is overwritten."""
    folder, models = built
    samples, expected = inputs_and_outputs(models)
    assert run(link(folder, spoil=4), samples) != expected
