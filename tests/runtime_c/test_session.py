"""Sessions: memory, kernels, records, results, states, memory that the caller binds."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite_runtime import Interpreter, Model
from arenite_runtime.flat import arenite_generated as schema


def add_8(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The node of `small`: multipliers of 1, zero points of 3."""
    return np.clip(a.astype(int) + b.astype(int) - 3, -128, 127).astype(np.int8)


@pytest.mark.parametrize("name", ["channels", "spatial", "elementwise", "small"])
def test_results_are_those_of_numpy(name: str, arn: Any, start: Any, rng: np.random.Generator) -> None:
    file = arn(name)
    model = Model.load(file)
    session = start(file)
    assert session.statuses == ["OK", "OK"]
    for _ in range(3):
        inputs = []
        for i in range(session.runtime.library.arn_input_count(ctypes.byref(session.model))):
            tensor = session.tensor("input", i)
            shape = tuple(tensor.shape[: tensor.rank])
            random = rng.integers(-128, 128, shape, np.int8)
            inputs.append((random * 0.07).astype(np.float32) if tensor.dtype == schema.DType.float32 else random)
            session.write(i, inputs[-1].tobytes())
        assert session.invoke() == "OK"
        for i, expected in enumerate(Interpreter(model).run(inputs)):
            assert session.read(i) == expected.tobytes()


@pytest.mark.parametrize("name", ["typed_spatial", "typed_elementwise"])
def test_typed_results_are_close_to_numpy(name: str, arn: Any, start: Any, rng: np.random.Generator) -> None:
    """Floats as docs/numerics.md §11 says, integers exactly."""
    file = arn(name)
    model, session = Model.load(file), start(file)
    assert session.statuses == ["OK", "OK"]
    inputs = []
    for i, port in enumerate(model.inputs):
        values = rng.integers(-50, 50, port.shape)
        inputs.append((values * 0.07).astype(np.float32) if port.dtype == np.float32 else values.astype(port.dtype))
        session.write(i, inputs[-1].tobytes())
    assert session.invoke() == "OK"
    for i, wanted in enumerate(Interpreter(model).run(inputs)):
        got = np.frombuffer(session.read(i), wanted.dtype).reshape(wanted.shape)
        if wanted.dtype == np.float32:
            assert np.isfinite(wanted).mean() > 0.5
            scale = np.abs(wanted[np.isfinite(wanted)]).max()
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * scale + 1e-6)
        else:
            np.testing.assert_array_equal(got, wanted)


def test_ports(arn: Any, start: Any, runtime: Any) -> None:
    session = start(arn("spatial"))
    model = ctypes.byref(session.model)
    assert runtime.library.arn_input_count(model) == 1
    assert runtime.library.arn_output_count(model) == 2
    assert runtime.library.arn_input_name(model, 0) == b"in0"
    assert runtime.library.arn_output_name(model, 1) == b"out1"
    tensor = session.tensor("output", 1)
    assert (tensor.bytes, tensor.rank, tensor.shape[: tensor.rank], tensor.dtype) == (40, 4, [1, 2, 2, 10], schema.DType.int8)
    assert (tensor.scale, tensor.zero_point) == (np.float32(0.05), 3)
    for index in (-1, 2, 1 << 30):
        assert session.tensor("output", index).data is None
        assert runtime.library.arn_output_name(model, index) == b""
        assert runtime.library.arn_region_bytes(model, index) == 0
    assert runtime.library.arn_input_count(None) == 0


def test_memory(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    model, session, region = c_types["model"](), c_types["model"](), c_types["region"]
    file = aligned(arn("spatial"))
    assert runtime.open(model, file) == "OK"
    size = runtime.library.arn_region_bytes(ctypes.byref(model), 0)
    arena = aligned(bytes(size + 16))
    assert runtime.init(session, model, (region * 1)((arena.address, size))) == "OK"
    assert runtime.init(session, model, (region * 1)((arena.address, size - 1))) == "MEMORY"
    assert runtime.call("arn_invoke", session) == "ARGUMENT"  # refused: not a session
    assert runtime.init(session, model, (region * 1)((None, size))) == "MEMORY"
    assert runtime.init(session, model, (region * 0)()) == "MEMORY"
    for skew in (1, 4, 8):
        assert runtime.init(session, model, (region * 1)((arena.address + skew, size))) == "ALIGNMENT"
    assert runtime.init(session, c_types["model"](), (region * 1)((arena.address, size))) == "ARGUMENT"  # a model that is not open


def test_missing_kernel(arn: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    class Resolver(ctypes.Structure):
        _fields_ = (("kernels", ctypes.c_void_p), ("count", ctypes.c_int32))

    model, session = c_types["model"](), c_types["model"]()
    file, arena = aligned(arn("spatial")), aligned(bytes(4096))
    assert runtime.open(model, file) == "OK"
    regions = (c_types["region"] * 1)((arena.address, arena.size))
    every = Resolver.from_address(runtime.every_kernel)
    statuses = []
    for count in range(every.count + 1):
        fewer = Resolver(every.kernels, count)
        statuses.append(runtime.init(session, model, regions, ctypes.addressof(fewer)))
    missing = statuses.count("OPERATOR")  # until the last that `spatial` needs is there
    assert 0 < missing < every.count and statuses == ["OPERATOR"] * missing + ["OK"] * (every.count + 1 - missing)


def change_param(position: int, value: int) -> Callable[[schema.ModelT], None]:
    def edit(model: schema.ModelT) -> None:
        params = list(model.subgraphs[0].nodes[0].params)
        params[position] = value
        model.subgraphs[0].nodes[0].params = params

    return edit


ADD_FIELDS = {"dims": 5, "a_stride": 11, "b_stride": 17, "zero_point": 19, "multiplier": 21, "shift": 23, "min": 24, "max": 25}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("dims", v) for v in (7, 9, 0, -8, 1 << 30, -(1 << 31))],
        *[("a_stride", v) for v in (2, -1, 1 << 28, -(1 << 31), (1 << 31) - 1)],
        *[("b_stride", v) for v in (2, -1, 1 << 28)],
        *[("zero_point", v) for v in (128, -129, 1 << 30)],
        *[("multiplier", v) for v in (1 << 22, -(1 << 22), -(1 << 31))],
        *[("shift", v) for v in (0, 25, -1, 32)],
        *[("min", v) for v in (-129, 127 + 1)],
        *[("max", v) for v in (128, -129)],
    ],
)
def test_record_out_of_range(field: str, value: int, edited: Any, start: Any) -> None:
    assert start(edited("small", change_param(ADD_FIELDS[field], value))).statuses == ["OK", "CORRUPT"]


@pytest.mark.parametrize("field", ["a_stride", "b_stride"])
def test_broadcast_is_in_range(field: str, edited: Any, start: Any) -> None:
    assert start(edited("small", change_param(ADD_FIELDS[field], 0))).statuses == ["OK", "OK"]


def test_records_of_other_versions(edited: Any, start: Any) -> None:
    def longer(model: schema.ModelT) -> None:
        model.subgraphs[0].nodes[0].params = [*model.subgraphs[0].nodes[0].params, 1, 2, 3]

    def shorter(model: schema.ModelT) -> None:
        model.subgraphs[0].nodes[0].params = model.subgraphs[0].nodes[0].params[:-1]

    assert start(edited("small", longer)).statuses == ["OK", "OK"]
    assert start(edited("small", shorter)).statuses == ["OK", "CORRUPT"]


def node_edits() -> dict[str, tuple[str, Callable[[schema.ModelT], None]]]:
    def of(status: str, **fields: object) -> tuple[str, Callable[[schema.ModelT], None]]:
        def edit(model: schema.ModelT) -> None:
            for name, value in fields.items():
                setattr(model.subgraphs[0].nodes[0], name, value)

        return status, edit

    return {
        "unknown operator": of("OPERATOR", op=200),
        "custom operator": of("OPERATOR", op=0x8000),
        "unknown variant": of("OPERATOR", variant=1),
        "an operand too few": of("CORRUPT", inputs=[0]),
        "an operand too many": of("CORRUPT", inputs=[0, 1, 1]),
        "absent operand": of("CORRUPT", inputs=[0, -1]),
        "no output": of("CORRUPT", outputs=[]),
        "two outputs": of("CORRUPT", outputs=[2, 2]),
    }


@pytest.mark.parametrize("case", list(node_edits()))
def test_node_refused(case: str, edited: Any, start: Any) -> None:
    status, edit = node_edits()[case]
    assert start(edited("small", edit)).statuses == ["OK", status]


def test_constants_are_never_written(edited: Any, start: Any) -> None:
    def edit(model: schema.ModelT) -> None:
        model.tensors.append(schema.TensorT(shape=[1, 8], dtype=schema.DType.int8, storage=schema.Storage.constant))
        model.data = np.zeros(16, np.uint8)
        model.subgraphs[0].nodes[0].outputs = [3]

    assert start(edited("small", edit)).statuses == ["OK", "CORRUPT"]


@pytest.mark.parametrize(
    ("bias", "status"), [(1 << 28, "OK"), ((1 << 29) + 1, "CORRUPT"), (-(1 << 29) - 1, "CORRUPT"), (-(1 << 31), "CORRUPT")]
)
def test_accumulators_of_damaged_biases(bias: int, status: str, edited: Any, start: Any) -> None:
    """The first convolution of `spatial` shifts its accumulator by 2."""

    def edit(model: schema.ModelT) -> None:
        tensor = model.tensors[model.subgraphs[0].nodes[0].inputs[2]]
        data = np.array(model.data, np.uint8)
        data[tensor.offset : tensor.offset + 4] = np.frombuffer(np.int32(bias).tobytes(), np.uint8)
        model.data = data

    assert start(edited("spatial", edit)).statuses == ["OK", status]


def test_states(rich_models: dict[str, bytes], start: Any, runtime: Any) -> None:
    session = start(rich_models["state"])
    assert session.statuses == ["OK", "OK"]
    state, x = np.arange(1, 9, dtype=np.int8), np.full(8, 10, np.int8)
    for step in range(30):  # long enough to saturate
        session.write(0, x.tobytes())
        assert session.invoke() == "OK"
        state = add_8(x, state)
        assert session.read(0) == state.tobytes()
        if step == 25:
            assert runtime.call("arn_session_reset", session.handle) == "OK"
            state = np.arange(1, 9, dtype=np.int8)


def test_state_without_initial_value_begins_at_zero(edited: Any, start: Any) -> None:
    def edit(model: schema.ModelT) -> None:
        model.states = [schema.StateT(output=2, input=1)]

    session = start(edited("small", edit))
    x = np.arange(8, dtype=np.int8)
    session.write(0, x.tobytes())
    assert session.invoke() == "OK"
    assert session.read(0) == x.tobytes()  # zero is the zero point, which adds nothing


@pytest.mark.parametrize(
    "state",
    [
        schema.StateT(output=2, input=2),  # onto itself
        schema.StateT(output=2, input=3),  # a constant
        schema.StateT(output=2, input=1, initial=0),  # not a constant
        schema.StateT(output=2, input=4),  # of another size
    ],
)
def test_state_refused(state: schema.StateT, edited: Any, start: Any) -> None:
    def edit(model: schema.ModelT) -> None:
        model.tensors.append(schema.TensorT(shape=[1, 8], dtype=schema.DType.int8, storage=schema.Storage.constant))
        model.tensors.append(schema.TensorT(shape=[7], dtype=schema.DType.int8))
        model.data = np.zeros(16, np.uint8)
        model.states = [state]

    assert start(edited("small", edit)).statuses == ["OK", "CORRUPT"]


def test_bound_memory(rich_models: dict[str, bytes], start: Any, runtime: Any, aligned: Any) -> None:
    session = start(rich_models["bound"])
    assert session.statuses == ["OK", "OK"]
    assert session.tensor("input", 0).data is None
    assert session.invoke() == "MEMORY"
    a, b, y = aligned(bytes(range(8))), aligned(bytes([3] * 8)), aligned(bytes(8))
    assert runtime.call("arn_bind_input", session.handle, 0, ctypes.c_void_p(a.address)) == "OK"
    assert runtime.call("arn_bind_input", session.handle, 1, ctypes.c_void_p(b.address)) == "OK"
    assert session.invoke() == "MEMORY"
    assert runtime.call("arn_bind_output", session.handle, 0, ctypes.c_void_p(y.address + 2)) == "ALIGNMENT"
    assert runtime.call("arn_bind_output", session.handle, 0, None) == "ARGUMENT"
    assert runtime.call("arn_bind_output", session.handle, 1, ctypes.c_void_p(y.address)) == "ARGUMENT"
    assert runtime.call("arn_bind_output", session.handle, 0, ctypes.c_void_p(y.address)) == "OK"
    assert session.invoke() == "OK"
    assert y.read() == bytes(range(8))


def test_arena_tensors_cannot_be_bound(arn: Any, start: Any, runtime: Any, aligned: Any) -> None:
    session = start(arn("small"))
    assert runtime.call("arn_bind_input", session.handle, 0, ctypes.c_void_p(aligned(bytes(8)).address)) == "ARGUMENT"


def test_external_constants(rich_models: dict[str, bytes], start: Any) -> None:
    session = start(rich_models["external"])
    assert session.statuses == ["OK", "OK"]
    constant = np.arange(-4, 4, dtype=np.int8)
    ctypes.memmove(session.memories[1].address + 16, constant.tobytes(), 8)
    x = np.arange(8, dtype=np.int8)
    session.write(0, x.tobytes())
    assert session.invoke() == "OK"
    assert session.read(0) == add_8(x, constant).tobytes()


def test_sessions_share_a_model(arn: Any, start: Any, runtime: Any, c_types: Any, aligned: Any) -> None:
    first = start(arn("small"))
    arena = aligned(bytes(first.memories[0].size))
    regions = (c_types["region"] * 1)((arena.address, arena.size))
    second = c_types["model"]()
    assert runtime.init(second, first.model, regions) == "OK"
    first.write(0, bytes(range(8)))
    first.write(1, bytes(range(8, 16)))
    assert runtime.call("arn_invoke", second) == "OK"
    assert first.invoke() == "OK"
    assert first.read(0) == bytes(i + 5 + i for i in range(8))


def test_status_names(runtime: Any) -> None:
    names = [runtime.library.arn_status_name(i).decode() for i in range(11)]
    assert len(set(names)) == 11
    assert names[0] == "ARN_OK"
    assert all(name.startswith("ARN_ERROR_") for name in names[1:])
    assert runtime.library.arn_status_name(99) == b"unknown arn_status"
