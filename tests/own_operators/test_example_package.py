"""The example, installed: converted and run by every engine, and by the runtime without the converter."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import arenite_runtime
import numpy as np
import pytest

CONVERT_AND_RUN = """
import json, sys
from pathlib import Path
import numpy as np
from arenite.errors import ToolError
from arenite.own_operators import used_operators
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import ENGINES, open_engine
from arenite_runtime import Model

folder = Path(sys.argv[1])
data = np.load(folder / "data.npz")["x"]
found = {}
for precision in ("int8", "float32"):
    built = folder / precision
    convert(folder / "model.onnx", ConvertOptions(precision=precision, calibration=folder / "data.npz", output=built, force=True))
    with used_operators():
        model = Model.load(built / "model.arn")
        inputs = [[model.quantize_input(0, sample)] for sample in data]
        for engine in ENGINES:
            try:
                outputs = open_engine(engine, built).run(inputs)
            except ToolError as error:
                found[f"{precision} {engine}"] = str(error)
                continue
            found[f"{precision} {engine}"] = [array.ravel().tolist() for sample in outputs for array in sample]
print(json.dumps(found))
"""


def python(script: str, *arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def built(site: Path, files: Path) -> tuple[Path, dict[str, list[list[float]] | str]]:
    done = python(CONVERT_AND_RUN, str(files), path=site)
    assert done.returncode == 0, done.stderr
    return files, json.loads(done.stdout)


@pytest.mark.parametrize("engine", ["c", "compiled", pytest.param("emulated", marks=pytest.mark.emulated), "emulated-compiled"])
@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_engines_agree(built: tuple[Path, dict[str, list[list[float]] | str]], precision: str, engine: str) -> None:
    _, found = built
    got, expected = found[f"{precision} {engine}"], found[f"{precision} numpy"]
    if isinstance(got, str):
        pytest.skip(got)
    if precision == "int8":
        assert got == expected
    else:
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max() + 1e-6)


def test_what_it_computes(built: tuple[Path, dict[str, list[list[float]] | str]], samples: np.ndarray) -> None:
    """Against medians taken one by one, around a convolution taken one product at a time."""
    weights = np.random.default_rng(3).normal(0, 0.4, (4, 2, 5)).astype(np.float32)

    def medians(rows: np.ndarray, window: int) -> np.ndarray:
        last = rows.shape[1] - 1
        picks = [[min(max(i + j - window // 2, 0), last) for j in range(window)] for i in range(last + 1)]
        return np.array([[sorted(row[pick])[window // 2] for pick in picks] for row in rows])

    expected = []
    for sample in samples:
        padded = np.pad(medians(sample[0], 5), ((0, 0), (2, 2)))
        convolved = np.array([[np.sum(padded[:, i : i + 5] * kernel) for i in range(33)] for kernel in weights])
        expected.append(medians(convolved, 3).ravel())
    np.testing.assert_allclose(built[1]["float32 numpy"], expected, rtol=0, atol=1e-5)


def test_the_folder_builds_without_the_package(built: tuple[Path, dict[str, list[list[float]] | str]]) -> None:
    folder = built[0] / "int8"
    listed = json.loads((folder / "report.json").read_text())["files"]
    own = ["operators/median_filter.c", "operators/median_filter.h", "operators/median_filter_operator.h"]
    assert [name for name in listed if name.startswith("operators/")] == own
    assert all((folder / name).is_file() for name in own)
    assert "&arn_kernel_median_filter," in (folder / "model_model.c").read_text()
    assert "median_filter_s8(&" in (folder / "model.c").read_text()
    cmake = (folder / "CMakeLists.txt").read_text()
    assert "${CMAKE_CURRENT_LIST_DIR}/operators/median_filter.c" in cmake
    assert cmake.count("model_operators") == 5


ALONE = """
import importlib.abc, sys
ALLOWED = {"arenite_runtime", "numpy", "flatbuffers", "median_filter"}

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"blocked: {name}")

sys.meta_path.insert(0, Blocker())
sys.path.append(sys.argv[2])
import json
import numpy as np
from arenite_runtime import Interpreter, Model
model = Model.load(sys.argv[1])
interpreter = Interpreter(model)
print(json.dumps([interpreter.run([model.quantize_input(0, x)])[0].ravel().tolist() for x in np.load(sys.argv[3])["x"]]))
"""


def test_the_runtime_alone(built: tuple[Path, dict[str, list[list[float]] | str]], site: Path) -> None:
    """It finds the NumPy kernel through its own entry point; nothing imports the converter."""
    folder, found = built
    root = Path(arenite_runtime.__file__).parents[1]
    done = python(ALONE, str(folder / "int8" / "model.arn"), str(root), str(folder / "data.npz"), path=site)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == found["int8 numpy"]


def test_a_runtime_that_lacks_it_says_so(built: tuple[Path, dict[str, list[list[float]] | str]]) -> None:
    with pytest.raises(arenite_runtime.ModelError, match=r"com\.example::MedianFilter of somebody's own") as caught:
        arenite_runtime.Model.load(built[0] / "int8" / "model.arn")
    assert caught.value.status == "ARN_ERROR_OPERATOR"


PROGRAMS = {
    "compiled": """
#include <stdio.h>
#include "model.h"
static uint8_t arena[MODEL_ARENA_BYTES] __attribute__((aligned(16)));
int main(void) {
    fread(model_input(arena, 0), 1, MODEL_INPUT_0_BYTES, stdin);
    model_invoke(arena);
    return fwrite(model_output(arena, 0), 1, MODEL_OUTPUT_0_BYTES, stdout) != MODEL_OUTPUT_0_BYTES;
}
""",
    "interpreted": """
#include <stdio.h>
#include "model_model.h"
static uint8_t arena[MODEL_MODEL_ARENA_BYTES] ARN_ALIGNED(16);
int main(void) {
    arn_region regions[1] = {{arena, sizeof arena}};
    arn_model model;
    arn_session session;
    if (arn_model_open(&model, model_model, sizeof model_model) || arn_session_init(&session, &model, &model_resolver, regions, 1)) {
        return 2;
    }
    arn_tensor in = arn_input(&session, 0), out = arn_output(&session, 0);
    fread(in.data, 1, in.bytes, stdin);
    arn_invoke(&session);
    return fwrite(out.data, 1, out.bytes, stdout) != out.bytes;
}
""",
}
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(filtering C)
add_subdirectory({folder} model)
add_executable(compiled compiled.c)
target_link_libraries(compiled PRIVATE model)
add_executable(interpreted interpreted.c)
target_link_libraries(interpreted PRIVATE model_interpreted)
"""


@pytest.mark.long
def test_cmake_builds_it(built: tuple[Path, dict[str, list[list[float]] | str]], samples: np.ndarray, tmp_path: Path) -> None:
    """A firmware project of its own, in which nothing knows of Python."""
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("cmake or a C compiler is not installed")
    folder, found = built
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.c").write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(folder=folder / "int8"))
    for step in (["-S", tmp_path, "-B", tmp_path / "build"], ["--build", tmp_path / "build", "-j2"]):
        done = subprocess.run(["cmake", *step], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (port,) = json.loads((folder / "int8" / "report.json").read_text())["inputs"]
    stored = np.clip(np.rint(samples[0] / np.float32(port["scale"])) + port["zero_point"], -128, 127).astype(np.int8)
    for name in PROGRAMS:
        done = subprocess.run([tmp_path / "build" / name], input=stored.tobytes(), capture_output=True, check=True)
        assert np.frombuffer(done.stdout, np.int8).tolist() == found["int8 numpy"][0], name
