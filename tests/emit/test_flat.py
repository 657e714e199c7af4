"""The flat model, read back through the schema's generated accessors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from arenite.emit import Program, Storage
from arenite.emit.flat import constant_data, record_words, serialize
from arenite.emit.program import ProgramTensor
from arenite.graph import OPERATORS, DType
from arenite_runtime.flat import arenite_generated as schema

Make = Callable[..., Program]


def read(file: bytes) -> schema.ModelT:
    return schema.ModelT.InitFromPackedBuf(file)


def test_round_trip(make_program: Make) -> None:
    program = make_program()
    file = serialize(program)
    model = read(file)
    assert file[4:8] == b"ARN1" and model.version == 1 and model.callDepth == 1
    assert model.name == b"example" and model.producer.startswith(b"arenite ")
    assert [(r.size, r.alignment, r.kind) for r in model.regions] == [(program.arena_bytes, 16, 0)]
    assert len(model.tensors) == len(program.tensors)
    for tensor, stored in zip(program.tensors, model.tensors, strict=True):
        assert tuple(stored.shape) == tensor.shape and stored.offset == tensor.offset
        assert stored.name == (tensor.name.encode() if tensor.storage is Storage.REGION else None)
        assert stored.dtype == getattr(schema.DType, tensor.dtype.value)
        if tensor.storage is Storage.CONSTANT:
            assert stored.storage == schema.Storage.constant and stored.quantization is None
            bytes_ = model.data[stored.offset : stored.offset + tensor.bytes].tobytes()
            assert np.array_equal(np.frombuffer(bytes_, tensor.dtype.numpy).reshape(tensor.shape), tensor.data)
        elif tensor.quantization is not None:
            assert stored.quantization.axis == -1 and stored.quantization.scale == tensor.quantization.scale.reshape(1)
            assert stored.quantization.zeroPoint == tensor.quantization.zero_point.reshape(1)
    (main,) = model.subgraphs
    assert len(main.nodes) == len(program.calls)
    for call, node in zip(program.calls, main.nodes, strict=True):
        operator = OPERATORS[call.op]
        assert (node.op, operator.variants[node.variant], node.name.decode()) == (operator.code, call.variant, call.name)
        assert tuple(node.inputs if node.inputs is not None else ()) == call.inputs and tuple(node.outputs) == call.outputs
        assert tuple(node.params) == record_words(operator, call.record) and node.scratch == -1
    assert [port.name for port in model.inputs] == [b"x"] and model.inputs[0].labels is None
    assert model.outputs[0].labels == [b"cat", b"dog", b"fish"]
    assert program.tensors[model.outputs[0].tensor].name == "y"
    assert list(main.inputs) == [model.inputs[0].tensor] and list(main.outputs) == [model.outputs[0].tensor]


def test_file_size_and_checksum(make_program: Make) -> None:
    file = serialize(make_program())
    model = read(file)
    assert model.fileSize == len(file) and len(file) % 16 == 0
    at = file.index(struct.pack("<I", model.checksum))
    assert crc32(file[:at] + bytes(4) + file[at + 4 :]) == model.checksum


@pytest.mark.parametrize("name", ["e", "ex", "exa", "exam", "examples_of_many"])
def test_constants_are_aligned_in_the_file(make_program: Make, name: str) -> None:
    program = make_program(name=name)
    file = serialize(program)
    accessor = schema.Model.GetRootAs(file, 0)
    start = accessor._tab.Vector(accessor._tab.Offset(4 + 2 * 10))
    assert start % 16 == 0
    assert file[start : start + accessor.DataLength()] == constant_data(program)
    for tensor in program.tensors:
        if tensor.storage is Storage.CONSTANT:
            assert (start + tensor.offset) % max(4, tensor.dtype.itemsize) == 0


def test_deterministic(make_program: Make) -> None:
    assert serialize(make_program()) == serialize(make_program())


def test_strip_names(make_program: Make) -> None:
    program = make_program()
    file = serialize(program, strip_names=True)
    model = read(file)
    assert len(file) < len(serialize(program))
    assert all(tensor.name is None for tensor in model.tensors) and model.name is None
    assert all(node.name is None for node in model.subgraphs[0].nodes)
    assert model.outputs[0].labels == [b"cat", b"dog", b"fish"]
    assert b"block/conv" not in file


def test_no_name_for_what_a_node_alone_uses(make_program: Make) -> None:
    """A hundred characters each, of networks that went through TensorFlow."""
    program = make_program()
    long = tuple(replace(t, name=100 * "n" + t.name) if t.storage is Storage.CONSTANT else t for t in program.tensors)
    assert serialize(replace(program, tensors=long)) == serialize(program)
    scratch = len(program.tensors)
    memory = ProgramTensor("call.scratch", (4,), DType.FLOAT32, Storage.REGION, 0, 0)
    first = replace(program.calls[0], scratch=scratch)
    file = serialize(replace(program, tensors=(*program.tensors, memory), calls=(first, *program.calls[1:])))
    model = read(file)
    assert model.subgraphs[0].nodes[0].scratch == scratch and model.tensors[scratch].name is None and b".scratch" not in file


def test_equal_constants_are_stored_once(make_program: Make) -> None:
    program = make_program()
    names = [tensor.name for tensor in program.tensors]
    assert "c.weight" in names and "w.weight" not in names
    assert program.calls[0].inputs[1] == program.calls[1].inputs[1]
    spans = sorted({(t.offset, t.offset + t.bytes) for t in program.tensors if t.storage is Storage.CONSTANT})
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
