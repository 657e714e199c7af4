"""Reading: what is in a file, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite_runtime import InputError, Model, ModelError
from arenite_runtime.structure import RegionKind, Storage
from hypothesis import given, settings
from hypothesis import strategies as st

Patch = Callable[..., bytes]


def refusal(file: bytes) -> ModelError:
    with pytest.raises(ModelError) as caught:
        Model.load(file)
    return caught.value


def test_contents(tmp_path: Path, arn: bytes) -> None:
    path = tmp_path / "small.arn"
    path.write_bytes(arn)
    for source in (path, str(path), arn, bytearray(arn), arn + b"whatever follows in flash"):
        model = Model.load(source)
        assert (model.name, model.version, model.arena_bytes) == ("small", 1, 32)
        assert model.producer.startswith("arenite ")
    assert model.regions[0].kind is RegionKind.ARENA
    assert [tensor.name for tensor in model.tensors] == ["x", "#1", "negated", "#3", "y", "seen", "z"]  # constants have no names
    assert model.tensors[1].storage is Storage.CONSTANT
    assert model.constant(model.tensors[3]).tolist() == [[5, 5, 5], [5, 5, 5]]
    assert [(node.op, node.variant, node.name) for node in model.nodes] == [
        ("Lookup", "int8", "layer/negate"),
        ("Add", "int8", "layer/add"),
        ("StridedCopy", "bytes", "layer/copy"),
    ]
    assert model.nodes[1].record.dims == (1, 1, 1, 1, 1, 6)
    assert model.nodes[1].record.b_zero_point == 3


def test_ports(arn: bytes) -> None:
    model = Model.load(arn)
    (x,), (z, y) = model.inputs, model.outputs
    assert (x.name, x.shape, x.dtype.name, x.scale, x.zero_point, x.labels) == ("x", (2, 3), "int8", 0.5, 3, ())
    assert (z.name, z.shape, z.labels, y.name) == ("z", (3, 2), ("cat", "dog"), "y")


def test_stripped_names(stripped_arn: bytes) -> None:
    model = Model.load(stripped_arn)
    assert [tensor.name for tensor in model.tensors] == [f"#{i}" for i in range(7)]
    assert (model.name, model.inputs[0].name, model.nodes[2].name) == ("", "", "#2")


def test_port_values(arn: bytes) -> None:
    model = Model.load(arn)
    values = np.array([0.0, 0.25, 0.75, -1.0, 1e30, -np.inf, np.nan], np.float32)
    quantized = model.quantize_input(0, values)
    assert quantized.dtype == np.int8
    assert quantized.tolist() == [3, 3, 5, 1, 127, -128, 3]  # ties to even, saturation, NaN to the zero point
    floats = model.dequantize_output(0, np.array([-128, 3, 127], np.int8))
    assert floats.dtype == np.float32
    assert floats.tolist() == [-65.5, 0.0, 62.0]


def test_uint8_port(arn: bytes, patched: Patch, patched_vector: Patch) -> None:
    """The same values with the top bit inverted (numerics §1)."""
    file = patched(arn, lambda m: m.Tensors(0), 1, "<B", 2)
    file = patched_vector(file, lambda m: m.Tensors(0).Quantization(), 1, 0, 131)
    model = Model.load(file)
    assert model.inputs[0].dtype == np.uint8
    assert model.quantize_input(0, np.array([0.0, 0.75, -1e9, np.nan])).tolist() == [131, 133, 0, 131]


def test_port_without_scale(arn: bytes, patched: Patch) -> None:
    integers = Model.load(patched(arn, lambda m: m.Outputs(0), 0, "<i", 1))  # the table: a constant without quantization
    assert integers.outputs[0].scale == 0.0
    with pytest.raises(InputError, match="without a scale"):
        integers.dequantize_output(0, np.zeros(3, np.int8))


def test_not_a_model() -> None:
    assert refusal(b"").status == "ARN_ERROR_TRUNCATED"
    assert refusal(b"\x08\x03\x12\x07pytorch and more").status == "ARN_ERROR_FORMAT"


def test_every_truncation(arn: bytes) -> None:
    for size in range(len(arn)):
        error = refusal(arn[:size])
        assert error.status in {"ARN_ERROR_TRUNCATED", "ARN_ERROR_CORRUPT", "ARN_ERROR_VERSION"}, size
        assert str(error).startswith("the file is truncated") and f"{size:,} bytes" in str(error), error
    assert str(error) == f"the file is truncated: {len(arn) - 1:,} bytes, and it says that it has {len(arn):,}"


@settings(deadline=None, derandomize=True, max_examples=300)
@given(data=st.data())
def test_every_flipped_bit_is_noticed(arn: bytes, data: st.DataObject) -> None:
    file = bytearray(arn)
    file[data.draw(st.integers(0, len(arn) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ModelError):
        Model.load(file)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(data=st.data())
def test_damage_under_a_right_checksum_raises_nothing_else(arn: bytes, sealed: Callable[[bytearray], bytes], data: st.DataObject) -> None:
    """Hostile files: a model or a ModelError, and no other exception."""
    file = bytearray(arn)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(8, len(arn) - 4))
        file[at : at + 4] = data.draw(
            st.sampled_from([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\x01\0\0\x80", b"\x07\0\0\0"])
        )
    try:
        changed = sealed(file)
    except Exception:  # the checksum's place cannot be found any more: damage that the envelope's test covers
        changed = bytes(file)
    try:
        Model.load(changed)
    except ModelError as error:
        assert error.status.startswith("ARN_ERROR_")


def first_tensor(model: Any) -> Any:
    return model.Tensors(0)


def add_node(model: Any) -> Any:
    return model.Subgraphs(0).Nodes(1)


@pytest.mark.parametrize(
    ("find", "number", "layout", "value", "status", "message"),
    [
        (lambda m: m, 0, "<I", 2, "VERSION", "schema version 2"),
        (lambda m: m, 6, "<B", 2, "UNSUPPORTED", "depth of 2"),
        (first_tensor, 1, "<B", 8, "UNSUPPORTED", "element type 8"),
        (lambda m: m.Tensors(4), 5, "<I", 27, "CORRUPT", "ends at 33"),
        (lambda m: m.Tensors(3), 5, "<I", 257, "CORRUPT", "the constants at 262"),
        (add_node, 0, "<H", 999, "OPERATOR", "operator 999"),
        (lambda m: m.Outputs(1), 0, "<i", 7, "CORRUPT", "tensor 7 of 7"),
    ],
)
def test_refused(arn: bytes, patched: Patch, find: Any, number: int, layout: str, value: int, status: str, message: str) -> None:
    error = refusal(patched(arn, find, number, layout, value))
    assert error.status == f"ARN_ERROR_{status}"
    assert message in str(error)


@pytest.mark.parametrize(
    ("find", "number", "index", "value", "message"),
    [
        (first_tensor, 0, 0, 0, "shape (0, 3)"),
        (first_tensor, 0, 1, -3, "shape (2, -3)"),
        (lambda m: m.Subgraphs(0).Nodes(2), 2, 0, 7, "input 0 of node layer/copy is tensor 7 of 7"),
        (add_node, 3, 0, 3, "writes the constant #3"),
    ],
)
def test_refused_vector(arn: bytes, patched_vector: Patch, find: Any, number: int, index: int, value: int, message: str) -> None:
    error = refusal(patched_vector(arn, find, number, index, value))
    assert error.status == "ARN_ERROR_CORRUPT"
    assert message in str(error)
