"""What can be wrong with an own operator, and what a user is told."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import arenite_runtime
import numpy as np
import onnx
import pytest
from arenite.emit.flat import serialize
from arenite.errors import ArtifactError, OperatorError, UnsupportedModelError
from arenite.graph import OPERATORS
from arenite.own_operators import OWN_OPERATORS, OwnOperator, loading, used_operators
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from arenite.targets.artifact import ArtifactModel
from arenite.targets.host import own_interpreter_library
from arenite_runtime import Field
from arenite_runtime.kernels import KERNELS

Change = Callable[[OwnOperator], OwnOperator]
Use = Callable[..., Any]


@pytest.fixture
def own(declaration: Path) -> OwnOperator:
    with used_operators([declaration]):
        return OWN_OPERATORS["com.example::MedianFilter"]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Use operators as if installed packages declared them."""

    @contextmanager
    def used(*operators: OwnOperator) -> Iterator[None]:
        monkeypatch.setattr(loading, "_installed", lambda path: tuple((operator, "a test") for operator in operators))
        with used_operators():
            yield

    return used


@pytest.fixture
def converted(use: Use, files: Path, tmp_path: Path) -> Callable[..., Path]:
    def run(operator: OwnOperator, precision: str = "int8") -> Path:
        with use(operator):
            options = ConvertOptions(precision=precision, calibration=files / "data.npz", output=tmp_path / "built", force=True)
            return convert(files / "model.onnx", options).folder

    return run


def with_kernels(own: OwnOperator, **changes: Any) -> OwnOperator:
    return replace(own, kernels=replace(own.kernels, **changes))


def with_c(own: OwnOperator, **changes: Any) -> OwnOperator:
    return replace(own, c=replace(own.c, **changes))


CONTRADICTIONS: dict[str, tuple[Change, str]] = {
    "no C function": (lambda o: with_c(o, functions={"int8": "median_filter_s8"}), "no C function for float32"),
    "no C kernel": (lambda o: with_c(o, kernels={"float32": "arn_kernel_median_filter_float32"}), "no C kernel for int8"),
    "C of no kernel": (lambda o: with_c(o, kernels={**o.c.kernels, "int32": "arn_kernel_x"}), "C kernel for int32, but no NumPy kernel"),
    "a C file is missing": (lambda o: with_c(o, sources=("other.c",)), "other.c cannot be read"),
    "no C file": (lambda o: with_c(o, sources=()), "has no C source"),
    "the header lacks it": (
        lambda o: with_c(o, functions={**o.c.functions, "int8": "median_s8"}),
        r"median_s8, .*, is not in its C header",
    ),
    "headers alone": (lambda o: with_c(o, sources=("median_filter.h",)), "has no C source"),
    "nine operands": (lambda o: replace(o, inputs=o.inputs * 9), "has 9 operands and 1 outputs, a kernel at most 8 and 4"),
    "no shape rule": (lambda o: replace(o, shape=None), "either a shape rule or `results`"),
    "no int8 rule": (lambda o: replace(o, keeps_scale=False), "say keeps_scale=True, or give `lower`"),
    "a rule for no kernel": (lambda o: with_kernels(o, kernels={"float32": np.sort}), "no int8 kernel, but keeps_scale"),
    "int8 alone": (lambda o: with_kernels(o, kernels={"int8": np.sort}), "float32 kernel is needed too"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions(own: OwnOperator, use: Use, case: str) -> None:
    change, message = CONTRADICTIONS[case]
    with pytest.raises(OperatorError, match=rf"own operator com\.example::MedianFilter.*{message}"), use(change(own)):
        pass
    assert not OWN_OPERATORS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "MedianFilter"}, "not of the form domain::OpType"),
        ({"kernels": {}}, "has no NumPy kernel"),
        ({"kernels": {"float64": np.sort}}, "no variant 'float64'"),
        ({"fields": (Field("window"), Field("window"))}, "each once"),
        ({"fields": (Field("Window"),)}, "lower-case"),
        ({"fields": (Field("window", 0),)}, "1 word or more"),
    ],
)
def test_what_the_runtime_refuses(own: OwnOperator, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(arenite_runtime.OperatorError, match=message):
        replace(own.kernels, **changes)


def test_two_of_a_name(own: OwnOperator, use: Use) -> None:
    with pytest.raises(OperatorError, match=r"com\.example::MedianFilter: a test has one, and another is in use"), use(own, replace(own)):
        pass
    other = with_kernels(own, name="org.example::MedianFilter")
    with pytest.raises(OperatorError, match=r"have the same C name median_filter"), use(own, other):
        pass


def test_onnxs_own_domain(own: OwnOperator, use: Use) -> None:
    with pytest.raises(OperatorError, match=r"ai\.onnx is ONNX's own domain"), use(with_kernels(own, name="ai.onnx::MedianFilter")):
        pass


def test_two_files_of_a_name(own: OwnOperator, use: Use, files: Path, tmp_path: Path) -> None:
    """C files of all operators of a model come to lie in one folder."""
    model = onnx.load(files / "model.onnx")
    model.graph.node[2].op_type = "Median"
    onnx.save(model, tmp_path / "model.onnx")
    text = (own.c.folder / "median_filter.c").read_text()
    for name in ("median_filter.c", "median_filter.h"):
        (tmp_path / name).write_text((own.c.folder / name).read_text())
    other = with_c(with_kernels(own, name="com.example::Median"), folder=tmp_path)
    options = ConvertOptions(precision="float32", output=tmp_path / "built")
    renamed = replace(other, importer=lambda node: [node.emit("com.example::Median", [node.activation(0)], window=3)])
    with use(own, renamed):
        convert(tmp_path / "model.onnx", options)  # the same files: there once
    (tmp_path / "median_filter.c").write_text(text + "/* another */")
    with (
        use(own, renamed),
        pytest.raises(OperatorError, match=r"Median and com\.example::MedianFilter both have a C file"),
    ):
        convert(tmp_path / "model.onnx", options)


def test_two_of_a_code(own: OwnOperator) -> None:
    """15 bits of a CRC: names that clash are found by trying."""
    codes: dict[int, str] = {}
    for i in range(1 << 15 | 1):  # more names than codes
        name = f"com.example::Operator{i}"
        code = replace(own.kernels, name=name).code
        if code in codes:
            break
        codes[code] = name
    pair = [replace(own.kernels, name=each) for each in (codes[code], name)]
    assert code >= 0x8000
    with pytest.raises(arenite_runtime.OperatorError, match=rf"{codes[code]} and {name}: both names give the code {code:#x}"):
        arenite_runtime.own_operators.add(pair)
    assert not arenite_runtime.own_operators.OWN_OPERATORS


def test_nothing_stays_behind(declaration: Path, use: Use, own: OwnOperator) -> None:
    before = set(OPERATORS), set(KERNELS)
    with used_operators([declaration]):
        assert own.name in OPERATORS
        assert (own.name, "int8") in KERNELS
        with used_operators([declaration]):
            pass
        assert own.name in OPERATORS
    assert (set(OPERATORS), set(KERNELS)) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "declares no operator"),
        ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere'"),
        ("x = (\n", "SyntaxError"),
    ],
)
def test_files_that_declare_nothing(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(OperatorError, match=rf"--operators .*mine\.py.*{message}"), used_operators([file]):
        pass
    for name, reason in (("absent.py", "no such file"), ("mine.txt", "not a Python file")):
        (tmp_path / "mine.txt").write_text("")
        with pytest.raises(OperatorError, match=reason), used_operators([tmp_path / name]):
            pass


def fails(*arguments: Any) -> Any:
    return 1 // 0


RULES: dict[str, tuple[Change, str]] = {
    "shape": (lambda o: replace(o, shape=fails), "its shape rule failed: ZeroDivisionError"),
    "no shape": (lambda o: replace(o, shape=lambda inputs, attributes: 7), "shape rule gives 7, not a tuple"),
    "importer": (lambda o: replace(o, importer=fails), r"node first: the importer of .* failed: ZeroDivisionError"),
    "record": (lambda o: replace(o, record=fails), "its record of node first failed: ZeroDivisionError"),
    "fields": (lambda o: replace(o, record=lambda node, inputs, outputs: {"rows": 1}), "record rule gives .'rows'., its fields are"),
    "a negative size": (
        lambda o: replace(o, shape=lambda inputs, attributes: (1, -2, 33)),
        r"shape rule gives \(1, -2, 33\), and no size is negative",
    ),
    "no values": (lambda o: replace(o, importer=lambda node: None), "node first: the importer of .* returned None, not a list"),
    "a bare name": (
        lambda o: replace(o, importer=lambda node: node.emit(o.name, [node.activation(0)], window=3)),
        "returned .*, not a list of what",
    ),
    "two values": (lambda o: replace(o, importer=lambda node: 2 * [node.activation(0)]), "returned 2 values, the node has 1 outputs"),
    "an attribute": (
        lambda o: replace(o, importer=lambda node: [node.emit(o.name, [node.activation(0)], windw=3)]),
        "without the attribute window, which the operator declares; it gave windw",
    ),
    "no record": (lambda o: replace(o, record=lambda node, inputs, outputs: None), "record rule gives None, not a mapping"),
    "a text": (
        lambda o: replace(o, record=lambda node, inputs, outputs: {"rows": 2, "length": 33, "window": "3"}),
        "gives window = '3' for node first: no number",
    ),
    "a fraction": (
        lambda o: replace(o, record=lambda node, inputs, outputs: {"rows": 2, "length": 33, "window": 2.5}),
        "window = 2.5 for node first: the field is an integer",
    ),
    "64 bits": (
        lambda o: replace(o, record=lambda node, inputs, outputs: {"rows": 2, "length": 33, "window": 2**40}),
        "window = 1099511627776 for node first: the field is an integer of 32 bits",
    ),
    "an array": (
        lambda o: replace(o, record=lambda node, inputs, outputs: {"rows": 2, "length": 33, "window": (3, 3)}),
        "2 numbers, the field holds 1",
    ),
    "scratch": (lambda o: replace(o, scratch=fails), "its scratch rule for node first failed"),
    "lower": (lambda o: replace(o, keeps_scale=False, lower=fails), "node first: `lower` of .* failed: ZeroDivisionError"),
    "kernel": (
        lambda o: with_kernels(o, kernels=dict.fromkeys(o.kernels.kernels, fails)),
        "NumPy kernel for float32 failed: ZeroDivisionError",
    ),
    "dtype": (
        lambda o: with_kernels(o, kernels={"int8": np.sort, "float32": lambda p, x: x.astype(np.float64)}),
        r"NumPy kernel for float32 returned float64\[1, 2, 33\], but the output is float32\[1, 2, 33\]",
    ),
    "size": (lambda o: with_kernels(o, kernels={"int8": np.sort, "float32": lambda p, x: x[0]}), r"returned float32\[2, 33\]"),
    "count": (lambda o: with_kernels(o, kernels={"int8": np.sort, "float32": lambda p, x: (x, x)}), "returned 2 arrays, not 1"),
    "none": (lambda o: with_kernels(o, kernels={"int8": np.sort, "float32": lambda p, x: None}), "returned NoneType, not an array"),
}


@pytest.mark.parametrize("case", RULES)
def test_rules_that_fail(own: OwnOperator, converted: Callable[..., Path], case: str) -> None:
    change, message = RULES[case]
    with pytest.raises(OperatorError, match=message):
        converted(change(own))


def test_inputs_that_do_not_fit(own: OwnOperator, converted: Callable[..., Path]) -> None:
    def shape(inputs: Any, attributes: Any) -> Any:
        raise ValueError("x has 3 dimensions, not 2")

    with pytest.raises(Exception, match=r"node first \(com\.example\.MedianFilter\): x has 3 dimensions, not 2"):
        converted(replace(own, shape=shape))


def test_attributes_and_versions(make_model: Callable[..., onnx.ModelProto], own: OwnOperator, use: Use, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(make_model(window=4), path)
    with use(own), pytest.raises(UnsupportedModelError, match="window = 4"):
        convert(path, ConvertOptions(precision="float32", output=tmp_path / "built"))
    onnx.save(make_model(version=3), path)
    with (
        use(replace(own, opsets=(1, 2))),
        pytest.raises(UnsupportedModelError, match=r"version 3 of the domain com\.example.* follows 1 to 2"),
    ):
        convert(path, ConvertOptions(precision="float32", output=tmp_path / "built"))


def test_without_it_the_refusal_says_how(files: Path, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError, match=r"declare com\.example::MedianFilter as an operator of your own .*--operators"):
        convert(files / "model.onnx", ConvertOptions(output=tmp_path / "built"))


def test_another_record_is_refused(own: OwnOperator, use: Use, converted: Callable[..., Path]) -> None:
    """The code is the name's, the variant the record's."""
    folder = converted(own)
    swapped = with_kernels(own, fields=(Field("length"), Field("rows"), Field("window")))
    assert swapped.kernels.code == own.kernels.code
    assert all(number != own.kernels.variants[name] for name, number in swapped.kernels.variants.items())
    with use(swapped), pytest.raises(ArtifactError, match="with a record that the one known here does not have"):
        open_engine("numpy", folder)


def test_a_firmware_that_lacks_it_refuses(own: OwnOperator, use: Use, converted: Callable[..., Path]) -> None:
    folder = converted(own)
    for file in (folder / "operators").glob("*.c"):
        file.unlink()  # the interpreter is then built with the runtime's own kernels only
    with use(own), pytest.raises(ArtifactError, match="ARN_ERROR_OPERATOR"):
        open_engine("c", folder).run([[np.zeros((1, 2, 33), np.int8)]])


HOSTILE = [
    {"rows": 3},
    {"rows": -2},
    {"rows": 0},
    {"length": 2**31 - 1},
    {"rows": 2**16, "length": 2**16},
    {"window": 0},
    {"window": 4},
    {"window": 23},
    {"window": 2**31 - 1},
    {"window": -1},
]


def test_the_c_kernel_refuses_what_it_cannot_do(own: OwnOperator, use: Use, files: Path, tmp_path: Path) -> None:
    options = ConvertOptions(calibration=files / "data.npz", output=tmp_path / "built")
    with use(own):
        conversion = convert(files / "model.onnx", options)
        library = own_interpreter_library(ArtifactModel.read(conversion.folder))
        program = conversion.program
        first, *others = program.calls
        assert status(library, serialize(program)) == "ARN_OK"
        for changes in HOSTILE:
            record = {**first.record, **changes}
            damaged = replace(program, calls=(replace(first, record=record), *others))
            assert status(library, serialize(damaged)) == "ARN_ERROR_CORRUPT", changes
        assert program.tensors[first.scratch or 0].bytes == 4 * first.record["window"]
        without = replace(program, calls=(replace(first, scratch=None), *others))
        assert status(library, serialize(without)) == "ARN_ERROR_CORRUPT"


def status(path: Path, arn: bytes) -> str:
    """With which the C runtime opens a model."""
    library = ctypes.CDLL(str(path))
    library.arn_host_open.restype = ctypes.c_void_p
    library.arn_status_name.restype = ctypes.c_char_p
    code = ctypes.c_int(0)
    handle = library.arn_host_open(arn, ctypes.c_size_t(len(arn)), ctypes.byref(code))
    if handle:
        library.arn_host_close(ctypes.c_void_p(handle))
    return str(library.arn_status_name(code.value).decode())
