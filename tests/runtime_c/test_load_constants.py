"""arn_load_constants: what external regions hold at first comes from the file."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite_runtime import Interpreter, Model
from arenite_runtime.errors import ModelError
from arenite_runtime.flat import arenite_generated as schema

HELD = bytes(range(40, 72))


def described(model: schema.ModelT, size: int = 32, kind: int = schema.RegionKind.external, region: int = 1) -> None:
    """in1 of `small` lies in an external region, whose contents are a constant of the file."""
    model.regions.append(schema.RegionT(size=32, alignment=16, kind=kind))
    place = schema.Storage.external if kind == schema.RegionKind.external else schema.Storage.region
    model.tensors[1].storage, model.tensors[1].region, model.tensors[1].offset = place, 1, 16
    model.inputs = model.inputs[:1]
    first = len(model.data) if model.data is not None else 0
    model.data = np.frombuffer(bytes(model.data if first else b"") + HELD, np.uint8)
    shape, constant = [size], schema.Storage.constant
    model.tensors.append(schema.TensorT(shape=shape, dtype=schema.DType.int8, storage=constant, region=region, offset=first))


@pytest.fixture
def load(start: Any, runtime: Any, c_types: Any) -> Callable[..., str]:
    def call(session: Any, regions: Any = None, count: int | None = None) -> str:
        given = session.regions if regions is None else regions
        function = runtime.library.arn_load_constants
        return str(runtime.name(function(ctypes.byref(session.model), given, len(given) if count is None else count)))

    return call


def test_contents(edited: Any, start: Any, load: Callable[..., str], runtime: Any) -> None:
    file = edited("small", described)
    session = start(file)
    assert session.memories[1].read() == bytes(32)
    assert load(session) == "OK"
    assert session.memories[1].read() == HELD
    assert runtime.init(session.handle, session.model, session.regions) == "OK"
    x = np.arange(8, dtype=np.int8).reshape(1, 8)
    session.write(0, x.tobytes())
    assert session.invoke() == "OK"
    expected = Interpreter(Model.load(file)).run([x])[0]
    assert session.read(0) == expected.tobytes()
    given = Interpreter(Model.load(file), {1: bytes(32)}).run([x])[0]
    assert given.tobytes() != expected.tobytes(), "the caller's contents are not those of the file"


@pytest.mark.parametrize("at", [0, 13, 31])
def test_a_session_does_not_begin_without_them(edited: Any, start: Any, load: Callable[..., str], runtime: Any, at: int) -> None:
    """Whatever the memory holds: nothing, or all but a byte. Nor does such a session run."""
    session = start(edited("small", described))
    assert session.statuses == ["OK", "NOT_LOADED"] and session.invoke() == "ARGUMENT"
    held = (ctypes.c_uint8 * 32).from_address(session.memories[1].address)
    held[:] = HELD
    held[at] ^= 1
    assert runtime.init(session.handle, session.model, session.regions) == "NOT_LOADED"
    assert load(session) == "OK"
    assert runtime.init(session.handle, session.model, session.regions) == "OK" and session.invoke() == "OK"
    assert runtime.library.arn_constants_loaded(None, session.regions, 2) == 1


def test_regions_too_small(edited: Any, start: Any, load: Callable[..., str], runtime: Any, c_types: Any) -> None:
    session = start(edited("small", described))
    whole = session.regions[1].data
    assert load(session, count=1) == "MEMORY"
    for data, size in ((None, 32), (whole, 31)):
        regions = (c_types["region"] * 2)((session.regions[0].data, session.regions[0].size), (data, size))
        assert load(session, regions) == "MEMORY"
    assert session.memories[1].read() == bytes(32)


@pytest.mark.parametrize("changes", [{"size": 31}, {"size": 1}])
def test_contents_of_another_size(edited: Any, start: Any, load: Callable[..., str], changes: dict[str, int]) -> None:
    file = edited("small", lambda model: described(model, **changes))
    assert load(start(file)) == "CORRUPT"
    with pytest.raises(ModelError, match=rf"region 1 has 32 bytes, {changes['size']} are to be in it"):
        Interpreter(Model.load(file))


@pytest.mark.parametrize("region", [0, 2, 200])
def test_constants_of_no_region(edited: Any, start: Any, load: Callable[..., str], region: int) -> None:
    """A constant that names no external region is one like others; the region is then the caller's."""
    file = edited("small", lambda model: described(model, region=region))
    session = start(file)
    assert load(session) == "OK"
    assert session.memories[1].read() == bytes(32)
    with pytest.raises(ModelError, match="region 1 needs 32 bytes of constants, 0 are given"):
        Interpreter(Model.load(file))


def test_an_arena_is_not_filled(edited: Any, start: Any, load: Callable[..., str]) -> None:
    session = start(edited("small", lambda model: described(model, kind=schema.RegionKind.arena)))
    assert load(session) == "OK"
    assert session.memories[1].read() == bytes(32)


def test_other_models_and_null(arn: Any, start: Any, load: Callable[..., str], runtime: Any, c_types: Any) -> None:
    session = start(arn("small"))
    assert load(session) == "OK"
    function = runtime.library.arn_load_constants
    assert runtime.name(function(None, session.regions, 1)) == "ARGUMENT"
    assert runtime.name(function(ctypes.byref(session.model), None, 1)) == "ARGUMENT"
    assert runtime.name(function(ctypes.byref(c_types["model"]()), session.regions, 1)) == "ARGUMENT"
