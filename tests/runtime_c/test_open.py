"""arn_model_open and arn_model_check: what is refused, and with which status."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite_runtime.flat import arenite_generated as schema

Edit = Callable[[schema.ModelT], None]


def patched(file: bytes, slot: int, value: int) -> bytes:
    """A field of the root table of 32 bits set."""
    table = schema.Model.GetRootAs(file, 0)._tab
    at = table.Pos + table.Offset(4 + 2 * slot)
    return file[:at] + struct.pack("<I", value) + file[at + 4 :]


@pytest.mark.parametrize("name", ["channels", "spatial", "elementwise", "small"])
def test_valid_files_open_and_check(name: str, arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    model, file = c_types["model"](), aligned(arn(name))
    assert runtime.open(model, file) == "OK"
    assert runtime.check(model) == "OK"


def test_arguments(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    file = aligned(arn("small"))
    assert runtime.open(None, file) == "ARGUMENT"
    assert runtime.open(c_types["model"](), None) == "ARGUMENT"
    assert runtime.check(c_types["model"]()) == "ARGUMENT"  # not opened


@pytest.mark.parametrize("skew", [1, 2, 4, 8, 15])
def test_misaligned(skew: int, arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    assert runtime.open(c_types["model"](), aligned(arn("small"), skew)) == "ALIGNMENT"


def test_every_truncation(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    file = arn("spatial")
    root = struct.unpack_from("<I", file)[0]
    statuses = [runtime.open(c_types["model"](), aligned(file[:size])) for size in range(len(file))]
    assert set(statuses[:8]) == {"TRUNCATED"}
    assert "OK" not in statuses
    # As soon as the root table is there, the file says what is missing.
    assert set(statuses[root + 64 :]) == {"TRUNCATED"}


def test_bytes_behind_the_file_do_not_matter(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    model, file = c_types["model"](), aligned(arn("small") + b"\xff" * 100)
    assert runtime.open(model, file) == "OK"
    assert runtime.check(model) == "OK"


def test_identifier_and_version(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    file = arn("small")
    assert runtime.open(c_types["model"](), aligned(b"\0" * 64)) == "FORMAT"
    assert runtime.open(c_types["model"](), aligned(file[:4] + b"ARN2" + file[8:])) == "FORMAT"
    for version in (0, 2, 0xFFFFFFFF):
        assert runtime.open(c_types["model"](), aligned(patched(file, 0, version))) == "VERSION"


def test_checksum_covers_every_byte(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    file = arn("small")
    noticed = 0
    for at in range(len(file)):
        model, broken = c_types["model"](), aligned(file[:at] + bytes([file[at] ^ 0x10]) + file[at + 1 :])
        if runtime.open(model, broken) == "OK":
            assert runtime.check(model) == "CHECKSUM"
            noticed += 1
    assert noticed > len(file) / 4


def edits() -> dict[str, tuple[str, Edit]]:
    def of(status: str, **fields: object) -> tuple[str, Edit]:
        def edit(model: schema.ModelT) -> None:
            for path, value in fields.items():
                *parents, name = path.split("__")
                target: Any = model
                for parent in parents:
                    target = target[int(parent)] if parent.isdigit() else getattr(target, parent)
                setattr(target, name, value)

        return status, edit

    region = schema.RegionT
    return {
        "no tensors": of("CORRUPT", tensors=None),
        "no subgraphs": of("CORRUPT", subgraphs=None),
        "no nodes": of("CORRUPT", subgraphs__0__nodes=None),
        "no regions": of("CORRUPT", regions=None),
        "call depth 0": of("CORRUPT", callDepth=0),
        "call depth 2": of("UNSUPPORTED", callDepth=2),
        "region of an odd alignment": of("CORRUPT", regions=[region(96, 3, 0)]),
        "region of 2 GB": of("CORRUPT", regions=[region(1 << 31, 16, 0)]),
        "region of an unknown kind": of("UNSUPPORTED", regions=[region(96, 16, 9)]),
        "region too small for a tensor": of("CORRUPT", regions=[region(39, 16, 0)]),
        "region aligned less than a tensor": of("CORRUPT", regions=[region(96, 1, 0)], tensors__0__dtype=5, tensors__0__shape=[1]),
        "tensor of a missing region": of("CORRUPT", tensors__1__region=1),
        "tensor outside its region": of("CORRUPT", tensors__1__offset=41),
        "offset that wraps": of("CORRUPT", tensors__1__offset=0xFFFFFFFC),
        "external tensor in an arena": of("CORRUPT", tensors__1__storage=2),
        "constant without data": of("CORRUPT", tensors__1__storage=1),
        "unknown storage": of("UNSUPPORTED", tensors__1__storage=3),
        "unknown layout": of("UNSUPPORTED", tensors__1__layout=1),
        "no element type": of("CORRUPT", tensors__1__dtype=0),
        "element type of a later version": of("UNSUPPORTED", tensors__1__dtype=40),
        "dimension 0": of("CORRUPT", tensors__1__shape=[1, 0, 8]),
        "negative dimension": of("CORRUPT", tensors__1__shape=[-1, -8]),
        "product of dimensions that overflows": of("CORRUPT", tensors__1__shape=[1 << 30, 1 << 30, 1 << 30, 1 << 30]),
        "nine dimensions": of("CORRUPT", tensors__1__shape=[1] * 9),
        "misaligned tensor": of("CORRUPT", tensors__0__dtype=6, tensors__0__shape=[1], tensors__0__offset=2),
        "input index beyond": of("CORRUPT", subgraphs__0__nodes__0__inputs=[0, 3]),
        "input index below -1": of("CORRUPT", subgraphs__0__nodes__0__inputs=[0, -2]),
        "output index absent": of("CORRUPT", subgraphs__0__nodes__0__outputs=[-1]),
        "scratch index beyond": of("CORRUPT", subgraphs__0__nodes__0__scratch=3),
        "subgraph index beyond": of("CORRUPT", subgraphs__0__nodes__0__subgraphs=[1]),
        "port of a missing tensor": of("CORRUPT", outputs__0__tensor=3),
        "negative port": of("CORRUPT", outputs__0__tensor=-1),
        "state of a missing tensor": of("CORRUPT", states=[schema.StateT(output=2, input=7)]),
        "initial value of a missing tensor": of("CORRUPT", states=[schema.StateT(output=2, input=1, initial=3)]),
    }


@pytest.mark.parametrize("case", list(edits()))
def test_refused(case: str, edited: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    status, edit = edits()[case]
    assert runtime.open(c_types["model"](), aligned(edited("small", edit))) == status


def test_constant_as_input_is_refused(edited: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    def edit(model: schema.ModelT) -> None:
        model.data = np.zeros(16, np.uint8)
        model.tensors[0].storage, model.tensors[0].offset = schema.Storage.constant, 0

    assert runtime.open(c_types["model"](), aligned(edited("small", edit))) == "CORRUPT"


def test_unknown_fields_are_tolerated(edited: Any, runtime: Any, start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a later version adds at the end of tables."""
    for table, fields in (("Model", 13), ("Tensor", 8), ("Node", 8), ("Subgraph", 4), ("Port", 3)):
        end = getattr(schema, f"{table}End")

        def longer_end(builder: Any, end: Any = end, fields: int = fields) -> int:
            builder.PrependInt32Slot(fields + 2, 77, 0)
            return int(end(builder))

        monkeypatch.setattr(schema, f"{table}Start", lambda builder, fields=fields: builder.StartObject(fields + 3))
        monkeypatch.setattr(schema, f"{table}End", longer_end)
    file = edited("small")
    session = start(file)
    assert session.statuses == ["OK", "OK"]
    assert runtime.check(session.model) == "OK"
    assert session.invoke() == "OK"


def test_shared_tables_cannot_stall(runtime: Any, edited: Any, c_types: Any, aligned: Any) -> None:
    """Labels shared by all ports, ports shared by the vector: quadratic work in a file of linear size is refused."""

    def edit(model: schema.ModelT) -> None:
        model.inputs[0].labels = ["x"] * 1000

    file = bytearray(edited("small", edit))
    assert runtime.open(c_types["model"](), aligned(bytes(file))) == "OK"

    def many(model: schema.ModelT) -> None:
        edit(model)
        model.outputs = [model.outputs[0]] * 1000

    file = bytearray(edited("small", many))
    root = schema.Model.GetRootAs(file, 0)
    rich = root._tab.Vector(root._tab.Offset(4 + 2 * 7))
    target = rich + struct.unpack_from("<I", file, rich)[0]
    outputs = root._tab.Vector(root._tab.Offset(4 + 2 * 8))
    for i in range(1000):
        at = outputs + 4 * i
        if target > at:
            struct.pack_into("<I", file, at, target - at)
    assert runtime.open(c_types["model"](), aligned(bytes(file))) == "CORRUPT"
