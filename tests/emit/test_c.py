"""The C sources: they compile without a warning anywhere, whatever layers are called, and read as promised."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arenite.emit import Program, ProgramTensor
from arenite.emit.c import write_sources
from arenite.emit.c_control import CONTROL
from arenite.emit.c_text import comment, integer, needs_math, real
from arenite.emit.flat import serialize
from arenite.emit.kernels import kernel_function, params_type
from arenite.emit.program import Storage
from arenite.graph import OPERATORS, DType, Graph, Node, Quantization, Tensor
from arenite.plan import Memory
from arenite.targets.sources import native_root

Make = Callable[..., Program]
MakeGraph = Callable[..., Graph]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Wcast-align", "-Werror"]
HOSTILE = [
    "with space",
    "Größe/日本",
    "int",
    "return",
    "1st",
    "",
    "*/ int x; /*",
    "/*/",
    "what??/",
    "back\\",
    "new\nline",
    '"quote"',
    "a//b",
    "\u202e",
    "x" * 300,
    "example_invoke",
    "NULL",
    "conv",
    "conv",
    "conv_params",
    "conv_weight",
]


def sources(program: Program) -> dict[str, str]:
    return write_sources(program, serialize(program))


def compile_all(files: dict[str, str], folder: Path, *flags: str) -> None:
    """Every .c as C99, every .h alone as C99 and as C++11, with gcc and clang where they are."""
    for name, text in files.items():
        (folder / name).write_text(text)
    runtime = native_root() / "runtime_c"
    include = [f"-I{folder}", f"-I{runtime / 'include'}", f"-I{runtime / 'kernels'}"]
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    if not compilers:
        pytest.skip("neither gcc nor clang is installed")
    for compiler in compilers:
        for name in files:
            languages = [["-x", "c", "-std=c99"]] if name.endswith(".c") else [["-x", "c", "-std=c99"], ["-x", "c++", "-std=c++11"]]
            for language in languages:
                strict = STRICT if name.endswith(".c") else [*STRICT, "-Wno-pragma-once-outside-header"]
                command = [compiler, *language, *strict, *include, *flags, "-fsyntax-only", str(folder / name)]
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                assert run.returncode == 0, f"{' '.join(command)}\n{run.stderr}"


def renamed(graph: Graph, names: list[str]) -> Graph:
    graph.nodes = [replace(node, name=names[i % len(names)]) for i, node in enumerate(graph.nodes)]
    return graph


def test_files(make_program: Make) -> None:
    assert list(sources(make_program())) == ["example_model.h", "example_model.c", "example.h", "example.c"]


def test_compiles(make_program: Make, tmp_path: Path) -> None:
    compile_all(sources(make_program()), tmp_path)


@pytest.mark.parametrize("start", range(0, len(HOSTILE), 7))
def test_hostile_names(make_program: Make, make_graph: MakeGraph, tmp_path: Path, start: int) -> None:
    graph = renamed(make_graph(), HOSTILE[start : start + 7] + HOSTILE[-4:-2])
    for old, new in (("x", 'in "*/put'), ("y", "out\\??/\n")):
        graph.tensors[new] = replace(graph.tensors.pop(old), name=new)
        graph.nodes = [
            replace(n, inputs=tuple(new if i == old else i for i in n.inputs), outputs=tuple(new if o == old else o for o in n.outputs))
            for n in graph.nodes
        ]
        graph.inputs, graph.outputs = ([new if n == old else n for n in names] for names in (graph.inputs, graph.outputs))
        graph.labels = {graph.outputs[0]: ("*/", "/*", "ü" * 200)}
    files = sources(make_program(graph))
    assert all(text.isascii() for text in files.values())
    compile_all(files, tmp_path)
    definitions = re.findall(r"^static const \w+ (\w+)", files["example.c"], re.M)
    assert len(definitions) == len(set(definitions))


def float_edges() -> Graph:
    """float32 in, Quantize, MaxPool, Dequantize, float32 out."""
    graph = Graph("float", inputs=["x"], outputs=["y"])
    for name, shape, dtype in (
        ("x", (1, 4, 4, 1), DType.FLOAT32),
        ("q", (1, 4, 4, 1), DType.INT8),
        ("m", (1, 2, 2, 1), DType.INT8),
        ("y", (1, 2, 2, 1), DType.FLOAT32),
    ):
        graph.add(Tensor(name, shape, dtype, quantization=Quantization.per_tensor(1e-5, 4) if dtype is DType.INT8 else None))
    window = {"kernel": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "overhang": (0, 0)}
    graph.nodes = [
        Node("Quantize", "in", ("x",), ("q",)),
        Node("MaxPool", "pool", ("q",), ("m",), {**window, "activation_min": -128, "activation_max": 127}),
        Node("Dequantize", "out", ("m",), ("y",)),
    ]
    return graph


def test_float_ports(make_program: Make, tmp_path: Path) -> None:
    files = sources(make_program(float_edges()))
    compile_all(files, tmp_path)
    assert "memcpy((int8_t *)arena + 0, values, EXAMPLE_INPUT_0_BYTES);" in files["example.c"]
    assert "arn_quantize_f32_s8(&in_params, (float *)(void *)(arena + 0), arena + 0);" in files["example.c"]
    assert ".scale = 1e-05f," in files["example.c"]
    assert "#define EXAMPLE_INPUT_0_SCALE 0.0f" in files["example.h"]


def test_model_that_computes_nothing(make_program: Make, tmp_path: Path) -> None:
    graph = Graph("nothing", inputs=["x"], outputs=["x"])
    graph.add(Tensor("x", (1, 3), DType.INT8, quantization=Quantization.per_tensor(0.5, 0)))
    compile_all(sources(make_program(graph)), tmp_path)


def test_calibration_macro(make_program: Make, tmp_path: Path) -> None:
    yes, no = sources(make_program()), sources(make_program(calibrated=False))
    assert "#define EXAMPLE_CALIBRATED 1" in yes["example.h"] and "#define EXAMPLE_MODEL_CALIBRATED 1" in yes["example_model.h"]
    assert "#define EXAMPLE_CALIBRATED 0" in no["example.h"] and "#define EXAMPLE_MODEL_CALIBRATED 0" in no["example_model.h"]
    compile_all(yes, tmp_path, "-DARN_REQUIRE_CALIBRATION")
    compile_all(no, tmp_path)
    for header in ("example.h", "example_model.h"):
        with pytest.raises(AssertionError, match="example is not calibrated: convert with --calibration FILE"):
            compile_all({header: no[header]}, tmp_path, "-DARN_REQUIRE_CALIBRATION")


def test_header_states_the_interface(make_program: Make) -> None:
    program = make_program()
    header = sources(program)["example.h"]
    for line in (
        f"#define EXAMPLE_ARENA_BYTES {program.arena_bytes}",
        "#define EXAMPLE_INPUT_COUNT 1",
        "#define EXAMPLE_OUTPUT_COUNT 1",
        "#define EXAMPLE_INPUT_0_BYTES 32",
        "#define EXAMPLE_INPUT_0_ELEMENTS 32",
        "#define EXAMPLE_INPUT_0_SCALE 0.125f",
        "#define EXAMPLE_INPUT_0_ZERO_POINT (-3)",
        "#define EXAMPLE_OUTPUT_0_SCALE 0.00390625f",
        "void example_invoke(void *arena);",
        "void *example_input(void *arena, int index);",
        "void *example_output(void *arena, int index);",
        "void example_reset(void *arena);",
        "void example_quantize_input(void *arena, int index, const float *values);",
        "void example_dequantize_output(const void *arena, int index, float *values);",
        ' * input 0 "x": int8 [1, 4, 4, 2], real value = 0.125 * (q + 3); consumed: its memory is used again',
        ' * output 0 "y": int8 [1, 3], real value = 0.00390625 * (q + 128); labels: cat, dog, fish',
    ):
        assert line in header.splitlines(), line
    kept = sources(make_program(keep_inputs=True))["example.h"]
    assert ' * input 0 "x": int8 [1, 4, 4, 2], real value = 0.125 * (q + 3); kept' in kept.splitlines()


def test_compiled_form_reads_well(make_program: Make) -> None:
    program = make_program()
    text = sources(program)["example.c"]
    body = text[text.index("void example_invoke(void *memory)") : text.index("void *example_input")]
    statements = re.findall(r"^    (arn_\w+)\(", body, re.M)
    assert statements == [kernel_function(call.op, call.variant) for call in program.calls]
    x, c = (next(t.offset for t in program.tensors if t.name == name) for name in ("x", "c"))
    assert f"    /* block/conv: Conv 1x4x4x2 -> 1x4x4x2, 576 MACs; arena [{x}, {x + 32}) -> [{c}, {c + 32}) */\n" in body
    call = f"arn_conv_s8(&block_conv_params, arena + {x}, block_conv_weight, block_conv_bias, block_conv_multiplier, arena + {c});"
    assert f"    {call}\n" in body
    assert "block_conv_2_weight" not in text, "equal weights are defined once"
    assert "static const int32_t block_conv_bias[2] = {(-2147483647 - 1), 5};" in text
    assert "static const int64_t block_conv_2_bias[2] = {274877906944LL, -274877906944LL};" in text
    assert max(map(len, text.splitlines())) <= 140
    assert not re.search(r"[ \t]$", text, re.M) and "\n\n\n" not in text
    assert text.endswith("}\n") and text.count("static const") > 15
    assert not re.search(r"^(?!static|void|const|#|/\*| |\{|\}|$)", text, re.M), "nothing but constants and functions"


def test_weights_are_what_the_program_holds(make_program: Make) -> None:
    program = make_program()
    text = sources(program)["example.c"]
    block = re.search(r"block_conv_weight\[36\] ARN_ALIGNED\(4\) = \{(.*?)\}", text, re.S)
    weight = next(t for t in program.tensors if t.name == "c.weight")
    assert block and weight.data is not None
    assert [int(v) for v in block.group(1).split(",")] == weight.data.reshape(-1).tolist()


def test_model_array_is_the_file(make_program: Make) -> None:
    program = make_program()
    arn = serialize(program)
    files = write_sources(program, arn)
    array = files["example_model.c"].split("ARN_ALIGNED(16) = {")[1]
    assert bytes(int(v, 16) for v in re.findall(r"0x([0-9a-f]{2})", array)) == arn
    assert f"#define EXAMPLE_MODEL_BYTES {len(arn)}" in files["example_model.h"]


def test_resolver_names_what_is_used(make_program: Make) -> None:
    text = sources(make_program())["example_model.c"]
    assert re.findall(r"&(\w+),", text) == [
        f"arn_kernel_{name}" for name in ("conv", "conv_wide", "fully_connected", "add", "softmax", "lookup", "strided_copy", "fill")
    ]
    assert "const arn_resolver example_resolver = {kernels, 8, 0};" in text


def test_every_operator_has_its_kernel_in_the_headers() -> None:
    kernels = (native_root() / "runtime_c/kernels/arn_kernels.h").read_text()
    operators = (native_root() / "runtime_c/include/arenite_operators.h").read_text()
    for operator in (o for o in OPERATORS.values() if o.code is not None and o.name not in CONTROL):
        for variant in operator.all_variants:
            record = params_type(operator.name, variant)
            assert f"void {kernel_function(operator.name, variant)}(const {record} *p" in kernels
            assert f"}} {record};" in operators


def test_deterministic(make_program: Make) -> None:
    assert sources(make_program()) == sources(make_program())


def test_further_memories(make_program: Make) -> None:
    """Each that holds something is one more pointer behind the arena, of every function; its name is no other in the file."""
    program = make_program(memories=(Memory("dtcm", 64), Memory("int", 16), Memory("Values"), Memory("unused")))
    assert program.memory_bytes[0] <= 64 and program.memory_bytes[1] <= 16 and program.memory_bytes[2] and not program.memory_bytes[3]
    files = sources(program)
    names = ["int_"] * (program.memory_bytes[1] > 0) + ["Values"]
    pointers = "".join(f", void *{name}" for name in names)
    constant = "".join(f", const void *{name}" for name in names)
    for declaration in (
        f"void example_invoke(void *arena{pointers});",
        f"void *example_input(void *arena{pointers}, int index);",
        f"void *example_output(void *arena{pointers}, int index);",
        f"void example_reset(void *arena{pointers});",
        f"void example_quantize_input(void *arena{pointers}, int index, const float *values);",
        f"void example_dequantize_output(const void *arena{constant}, int index, float *values);",
        f"#define EXAMPLE_ARENA_BYTES {program.memory_bytes[0]}",
        f"#define EXAMPLE_MEMORY_VALUES_BYTES {program.memory_bytes[2]}",
    ):
        assert declaration in files["example.h"], declaration
    assert "#define EXAMPLE_MODEL_REGIONS 4" in files["example_model.h"]
    assert f"#define EXAMPLE_MODEL_MEMORY_VALUES_BYTES {program.memory_bytes[2]} /* region 2 */" in files["example_model.h"]
    assert "UNUSED" not in files["example.h"]
    for tensor in program.tensors:
        if tensor.storage is Storage.REGION and tensor.memory == 2:
            assert f"Values + {tensor.offset}" in files["example.c"]


@pytest.mark.parametrize("capacity", [0, 16, 64])
def test_further_memories_compile(make_program: Make, tmp_path: Path, capacity: int) -> None:
    nothing = Graph("nothing", inputs=["x"], outputs=["x"])
    nothing.add(Tensor("x", (1, 3), DType.INT8, quantization=Quantization.per_tensor(0.5, 0)))
    for graph in (None, float_edges(), nothing):
        compile_all(sources(make_program(graph, memories=(Memory("dtcm", capacity), Memory("index")))), tmp_path)


NAMES = ("int8_t", "INT8_MIN", "NULL", "memcpy", "memory_1", "input_0", "output_0", "arn_model", "ARN_OK", "EXAMPLE_H", "example_invoke")


@pytest.mark.parametrize("name", NAMES)
def test_memories_with_names_of_something_else(make_program: Make, tmp_path: Path, name: str) -> None:
    """The command line takes any letters and digits."""
    for folder, graph in (("int8", None), ("float32", float_edges())):
        (tmp_path / folder).mkdir()
        compile_all(sources(make_program(graph, memories=(Memory("dtcm", 16), Memory(name)))), tmp_path / folder)


def test_scratch_is_the_last_argument(make_program: Make) -> None:
    program = make_program()
    tensors = (*program.tensors, ProgramTensor("s", (16,), DType.INT8, program.tensors[0].storage, 0, 4096))
    calls = (replace(program.calls[0], scratch=len(tensors) - 1), *program.calls[1:])
    assert re.search(r"arn_conv_s8\([^;]*, arena \+ 4096\);", sources(replace(program, tensors=tensors, calls=calls))["example.c"])


def test_literals() -> None:
    assert [integer(v) for v in (0, -128, 2**31 - 1, -(2**31), 2**31, -(2**63))] == [
        "0",
        "-128",
        "2147483647",
        "(-2147483647 - 1)",
        "2147483648LL",
        "(-9223372036854775807LL - 1)",
    ]
    for value in (0.1, 1.0, 1e-10, 3.4e38, -2.5, 16777216.0, 1 / 3):
        assert np.float32(real(value).removesuffix("f")) == np.float32(value)
    assert [real(v) for v in (float("inf"), float("-inf"), float("nan"), -0.0)] == ["INFINITY", "-INFINITY", "NAN", "-0.0f"]
    assert needs_math("{-INFINITY, 1.0f}") and needs_math("NAN") and not needs_math("CHANNEL_NAN_1")
    assert comment("*/*/ /** ??/") == "* / * / / ** ? ?/"
