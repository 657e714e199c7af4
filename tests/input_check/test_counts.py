"""A build with ARN_CHECK_INPUTS counts what inputs hold: interpreter, compiled form and NumPy the same; other builds pay nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from arenite.emit import Program, build_program
from arenite.emit.c import write_sources
from arenite.emit.flat import serialize
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.plan import plan
from arenite_runtime import InputCounts, Interpreter, Model
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime_c"
INCLUDES = [f"-I{RUNTIME / folder}" for folder in ("include", "kernels", "src")]
INTERPRETER = ("session", "model_open", "flat", "ports", "tensor_place", "ranges", "input_check", "kernel_movement")
KERNELS = ("strided_copy", "broadcast", "count_input", "quantize", "dequantize")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
SHAPE = (2, 5)
PORTS = {
    "int8": (DType.INT8, Quantization.per_tensor(0.05, -7), (-3.0, 4.5)),
    "uint8": (DType.UINT8, Quantization.per_tensor(1 / 255, 0), (0.125, 0.75)),
    "int16": (DType.INT16, Quantization.per_tensor(1e-4, 0), (-2.5, 2.5)),
    "float32": (DType.FLOAT32, None, (-1.0, 1.0)),
    "unknown": (DType.INT8, Quantization.per_tensor(0.05, -7), None),
    "unknown_float": (DType.FLOAT32, None, None),
    "plain": (DType.INT32, None, None),
}


def program(ports: dict[str, tuple[DType, Quantization | None, tuple[float, float] | None]], name: str = "inputs") -> Program:
    """Every input transposed to an output."""
    graph = Graph("inputs.onnx", inputs=list(ports), outputs=[f"{port}_out" for port in ports])
    for port, (dtype, quantization, _) in ports.items():
        graph.add(Tensor(port, SHAPE, dtype, quantization=quantization))
        graph.add(Tensor(f"{port}_out", SHAPE[::-1], dtype, quantization=quantization))
        graph.nodes.append(Node("Transpose", f"turn {port}", (port,), (f"{port}_out",), {"perm": (1, 0)}))
    expected = {port: interval for port, (_, _, interval) in ports.items() if interval is not None}
    return build_program(graph, plan(graph), name=name, calibrated=True, expected=expected)


def samples(count: int) -> list[list[NDArray[np.generic]]]:
    """Values everywhere in each type, with NaN and infinities among the floats."""
    rng = np.random.default_rng(3)
    made = []
    for _ in range(count):
        sample: list[NDArray[np.generic]] = []
        for dtype, quantization, _ in PORTS.values():
            if quantization is not None or dtype is DType.INT32:
                limits = np.iinfo(dtype.numpy)
                values = rng.integers(limits.min, limits.max, SHAPE, dtype.numpy, endpoint=True)
                values[0, :2] = limits.min, limits.max
            else:
                values = rng.normal(0, 1, SHAPE).astype(np.float32)
                values[1, :3] = rng.choice([np.nan, np.inf, -np.inf, 0.5], 3)
            sample.append(values)
        made.append(sample)
    return made


def compile_c(folder: Path, *flags: str, optimization: str = "-O1") -> Path:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("neither gcc nor clang is installed")
    sources = [*(RUNTIME / "src" / f"{name}.c" for name in INTERPRETER), *(RUNTIME / "kernels/portable" / f"{name}.c" for name in KERNELS)]
    sources += [folder / "inputs.c", folder / "inputs_model.c", Path(__file__).with_name("driver.c")]
    sections = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-ffp-contract=off"]
    command = [compiler, "-std=c99", optimization, *WARNINGS, *sections, *INCLUDES, f"-I{folder}", *flags, *map(str, sources), "-o"]
    done = subprocess.run([*command, str(folder / "driver")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "driver"


def write(folder: Path, made: Program) -> Model:
    arn = serialize(made)
    for name, text in write_sources(made, arn).items():
        (folder / name).write_text(text)
    return Model.load(arn)


def test_both_forms_count_what_numpy_counts(tmp_path: Path) -> None:
    model = write(tmp_path, program(PORTS))
    driver = compile_c(tmp_path, "-DARN_CHECK_INPUTS")
    given_samples = samples(7)
    (tmp_path / "samples").write_bytes(b"".join(value.tobytes() for sample in given_samples for value in sample))
    interpreter = Interpreter(model, check_inputs=True)
    for sample in given_samples:
        interpreter.run(sample)
    expected = [interpreter.check_input(index) for index in range(len(PORTS))]
    done = subprocess.run([driver, tmp_path / "samples"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    found: dict[str, list[InputCounts]] = {"interpreted": [], "compiled": []}
    for line in done.stdout.splitlines():
        form, index, *numbers, low, high = line.split()
        assert int(index) == len(found[form])
        found[form].append(InputCounts(*map(int, numbers), float.fromhex(low), float.fromhex(high)))
    assert found == {"interpreted": expected, "compiled": expected}
    assert all(counts.elements == 70 for counts in expected)
    assert all(counts.outside and counts.least and counts.greatest for counts in expected[:4])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.data())
def test_what_is_counted(data: st.DataObject) -> None:
    """By the definitions, element by element in Python's own numbers."""
    name = data.draw(st.sampled_from(["int8", "uint8", "int16", "float32"]))
    dtype, quantization, interval = PORTS[name]
    floats = st.floats(-4, 4, width=32) | st.sampled_from([np.nan, np.inf, -np.inf])
    limits = None if dtype is DType.FLOAT32 else np.iinfo(dtype.numpy)
    elements = floats if limits is None else st.integers(limits.min, limits.max)
    values = data.draw(arrays(dtype.numpy, SHAPE, elements=elements))
    interpreter = Interpreter(Model.load(serialize(program({name: PORTS[name]}))), check_inputs=True)
    interpreter.run([values])
    counts = interpreter.check_input(0)
    assert interval is not None
    step = 0.0 if quantization is None else float(quantization.scale)
    zero = 0 if quantization is None else int(quantization.zero_point)
    real = [float(v) if quantization is None else step * (int(v) - zero) for v in values.flat]
    slack = 1e-6 * step
    sure = sum(not interval[0] - step - slack <= v <= interval[1] + step + slack for v in real)
    possible = sum(not interval[0] - step + slack <= v <= interval[1] + step - slack for v in real)
    assert sure <= counts.outside <= possible and counts.elements == 10
    least, greatest = (-np.inf, np.inf) if limits is None else (limits.min, limits.max)
    assert (counts.least, counts.greatest) == (int(np.sum(values == least)), int(np.sum(values == greatest)))
    numbers = [v for v in real if not np.isnan(v)]
    if numbers:
        assert (counts.low, counts.high) == pytest.approx((min(numbers), max(numbers)), rel=1e-5)


def test_counting_begins_anew() -> None:
    interpreter = Interpreter(Model.load(serialize(program({"float32": PORTS["float32"]}))), check_inputs=True)
    for value in (0.5, 2.0):
        interpreter.run([np.full(SHAPE, value, np.float32)])
    assert interpreter.check_input(0) == InputCounts(20, 10, 0, 0, 0.5, 2.0)
    assert interpreter.check_input(0) == InputCounts()
    with pytest.raises(ValueError, match="check_inputs=True"):
        Interpreter(interpreter.model).check_input(0)


def test_files_without_the_range_still_open() -> None:
    """As every file that was written before there was such a field; a range is 0 to 40 bytes more of a file."""
    with_range, without = program(PORTS), program({name: (*port[:2], None) for name, port in PORTS.items()})
    model = Model.load(serialize(without))
    assert [port.expected for port in model.inputs] == [None] * len(PORTS)
    ranges = [None if interval is None else tuple(map(np.float32, interval)) for _, _, interval in PORTS.values()]
    assert [port.expected for port in Model.load(serialize(with_range)).inputs] == ranges
    assert [port.expected for port in Model.load(serialize(with_range, strip_names=True)).inputs] == ranges
    assert all(port.expected is None for port in Model.load(serialize(with_range)).outputs)
    assert 0 <= len(serialize(with_range)) - len(serialize(without)) <= 8 * len(PORTS) + 32


def test_headers_say_it(tmp_path: Path) -> None:
    write(tmp_path, program(PORTS))
    for header, prefix in (("inputs.h", "INPUTS"), ("inputs_model.h", "INPUTS_MODEL")):
        text = (tmp_path / header).read_text()
        macros = dict(re.findall(rf"#define {prefix}_INPUT_(\d+_(?:SCALE|ZERO_POINT|EXPECTED_M\w+)) +(\S+)", text))
        assert (macros["0_SCALE"], macros["0_ZERO_POINT"]) == ("0.05f", "(-7)")
        assert (macros["0_EXPECTED_MIN"], macros["0_EXPECTED_MAX"]) == ("(-3.0f)", "4.5f")
        assert (macros["3_EXPECTED_MIN"], macros["3_EXPECTED_MAX"]) == ("(-1.0f)", "1.0f")
        assert not any(name.startswith(("4_EXPECTED", "5_EXPECTED", "6_EXPECTED")) for name in macros)
        assert "values from -3.0 to 4.5 expected" in text
    nothing = write_sources(made := program({"unknown": PORTS["unknown"]}), serialize(made))["inputs.h"]
    assert "There is no EXPECTED_MIN" in nothing and "_EXPECTED_MIN " not in nothing.replace("no EXPECTED_MIN ", "")


def code(folder: Path, *flags: str) -> tuple[dict[str, int], int]:
    """Symbols of an image for a Cortex-M4, and its bytes of code and constants and of variables."""
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    sources = [*(RUNTIME / "src" / f"{name}.c" for name in INTERPRETER), *(RUNTIME / "kernels/portable" / f"{name}.c" for name in KERNELS)]
    main = folder / "main.c"
    main.write_text(
        '#include "arenite.h"\n#include "inputs.h"\n#include "inputs_model.h"\nstatic uint8_t arena[INPUTS_ARENA_BYTES] ARN_ALIGNED(16);\n'
        "static arn_region regions[1] = {{arena, sizeof arena}};\nstatic arn_model model;\nstatic arn_session session;\n"
        "int main(void) {\n    arn_model_open(&model, inputs_model, sizeof inputs_model);\n"
        "    arn_session_init(&session, &model, &inputs_resolver, regions, 1);\n    arn_invoke(&session);\n    inputs_invoke(arena);\n"
        "    return 0;\n}\n"
    )
    command = [compiler, "-mcpu=cortex-m4", "-mthumb", "-std=c99", "-Os", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off"]
    command += ["-Wl,--gc-sections", "--specs=nosys.specs", "--specs=nano.specs", *INCLUDES, f"-I{folder}", *flags]
    image = folder / f"image{len(flags)}.elf"
    command += [*map(str, sources), str(folder / "inputs.c"), str(folder / "inputs_model.c"), str(main), "-o", str(image)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listing = subprocess.run(["arm-none-eabi-nm", "-S", image], capture_output=True, text=True, check=True).stdout
    symbols = {name: int(size, 16) for size, name in re.findall(r"^\w+ (\w+) \w (\w+)$", listing, re.M)}
    sizes = subprocess.run(["arm-none-eabi-size", image], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()
    return symbols, sum(map(int, sizes[:3]))


def test_other_builds_pay_nothing(tmp_path: Path) -> None:
    """Nothing of it is linked, and a session is as small as ever; with the macro the same image has both."""
    write(tmp_path, program(PORTS))
    symbols, size = code(tmp_path)
    counting = {name for name in symbols if "count_input" in name or "input_counts" in name or "input_forms" in name}
    assert not counting and symbols["session"] == 16
    checked, larger = code(tmp_path, "-DARN_CHECK_INPUTS")
    assert {"arn_count_input", "arn_count_inputs", "input_counts", "input_forms"} <= set(checked)
    assert checked["session"] == 16 + 8 * 24 and larger > size + 500
    assert checked["arn_invoke"] > symbols["arn_invoke"] and checked["inputs_invoke"] > symbols["inputs_invoke"]
