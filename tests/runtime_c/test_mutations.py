"""Mutated flat models under the address and undefined-behaviour sanitizers: refused with a status, or run, never a fault."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.emit import Program
from arenite.emit.flat import serialize
from arenite.emit.program import Storage
from arenite.pipeline import ConvertOptions, convert
from onnx import helper, numpy_helper

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parents[1] / "models/digits_cnn/digits_cnn.onnx"
RUNTIME = HERE.parents[1] / "runtime_c"
TYPED_NODES = ("control", "typed_reductions", "typed_indexing", "typed_sampling", "typed_signals", "typed_recurrent", "integer_reductions")
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("mutations") / "fuzz_mutations"
    sources = [*sorted((RUNTIME / "src").glob("*.c")), *sorted((RUNTIME / "kernels/portable").glob("*.c")), HERE / "fuzz_mutations.c"]
    includes = [f"-I{RUNTIME / folder}" for folder in ("include", "kernels", "src")]
    for compiler in ("clang", "gcc"):
        if not shutil.which(compiler):
            continue
        done = subprocess.run(
            [compiler, "-std=c99", "-O1", "-g", *SANITIZE, *includes, *sources, "-lm", "-o", binary],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return binary
        if "sanitize" not in done.stderr and "san" not in done.stderr:
            pytest.fail(done.stderr)
    pytest.skip("no compiler here has the sanitizers")


@pytest.fixture
def fuzz(driver: Path, tmp_path: Path, arn: Callable[[str], bytes], rich_models: dict[str, bytes]) -> Callable[..., dict[str, int]]:
    paths = []
    names = ("forest", "four_bits", "four_bit_lanes", "channels", "spatial", "elementwise", "small", "typed_spatial", "typed_elementwise")
    for name, file in ({name: arn(name) for name in (*names, *TYPED_NODES)} | rich_models).items():
        paths.append(tmp_path / f"{name}.arn")
        paths[-1].write_bytes(file)

    def run(seed: int, count: int, sweep: bool) -> dict[str, int]:
        environment = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"}
        command = [driver, str(seed), str(count), str(int(sweep)), *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr[-4000:]
        return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", done.stdout)}

    return run


def test_some_mutations(fuzz: Callable[..., dict[str, int]]) -> None:
    counts = fuzz(1, 20_000, False)
    assert counts["files"] > 20_000
    # Many must get past the structure, and many into the kernels, or this proves little.
    assert counts["opened"] > counts["files"] / 10
    assert counts["accepted"] > counts["files"] / 20


def test_every_word_at_its_edges(fuzz: Callable[..., dict[str, int]]) -> None:
    assert fuzz(2, 0, True)["files"] > 20_000


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_mutations(fuzz: Callable[..., dict[str, int]], seed: int) -> None:
    assert fuzz(seed, 250_000, False)["files"] >= 250_000


def recurrent(folder: Path, operator: str, gates: int) -> Path:
    rng = np.random.default_rng(3)
    shapes = {"w": (1, 8 * gates, 6), "r": (1, 8 * gates, 8)}
    weights = [numpy_helper.from_array(rng.normal(0, 0.3, shape).astype(np.float32), name) for name, shape in shapes.items()]
    node = helper.make_node(operator, ["x", "w", "r"], ["y", "h"], name="layer", hidden_size=8)
    ports = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [5, 1, 6]), ("y", [5, 1, 1, 8]), ("h", [1, 1, 8]))]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx")
    return folder / "model.onnx"


def with_scratch_over(program: Program, apart: int, *, results: bool) -> bytes:
    """The file of `program`, damaged: scratch memory lies `apart` bytes from the first operand of its kernel, or from the last result."""
    tensors = list(program.tensors)
    calls = [call for call in program.calls if call.scratch is not None]
    assert calls
    for call in calls:
        over = tensors[call.outputs[-1] if results else call.inputs[0]]
        scratch = tensors[call.scratch or 0]
        tensors[call.scratch or 0] = replace(scratch, offset=max(0, over.offset // 16 * 16 + apart))
    sizes = tuple(max([t.offset + t.bytes for t in tensors if t.storage is Storage.REGION], default=0) for _ in program.memory_bytes)
    return serialize(replace(program, tensors=tuple(tensors), memory_bytes=sizes))


@pytest.mark.parametrize(
    ("operator", "options"),
    [
        ("", {"optimize": "balanced"}),
        ("", {"optimize": "speed"}),
        *((operator, {"precision": precision}) for operator in ("LSTM", "GRU", "RNN") for precision in ("int8", "int16", "float32")),
    ],
)
def test_scratch_memory_over_operands_and_results(driver: Path, tmp_path: Path, operator: str, options: dict[str, str]) -> None:
    """A damaged file may say so of any kernel: what is copied from and to scratch memory is defined all the same."""
    model = recurrent(tmp_path, operator, {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]) if operator else DIGITS
    program = convert(model, ConvertOptions(output=tmp_path / "out", **options)).program
    files = []
    for apart in range(-64, 80, 16):
        for results in (False, True):
            files.append(tmp_path / f"{len(files)}.arn")
            files[-1].write_bytes(with_scratch_over(program, apart, results=results))
    for file in files:
        done = subprocess.run([driver, "1", "0", "0", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "accepted 1" in done.stdout, done.stderr[-4000:]


def test_programs_use_every_operator(program: Program) -> None:
    assert serialize(program)  # the builders above are valid records
