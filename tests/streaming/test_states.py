"""What persists between invocations: in every engine, both precisions, against onnxruntime with the states carried by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from arenite.errors import PortError
from arenite.frontend import likely_states, load
from arenite.passes import optimize
from arenite.pipeline import ConvertOptions, convert
from arenite.plan import check, plan
from arenite.quantize import keep_float
from arenite.targets import open_engine
from arenite.verify import verify

NAMES = ("sum", "delay", "swap", "window", "gru", "rounded")
ENGINES = ("numpy", "c", "compiled")


def converted(stream, folder: Path, **options):
    return convert(stream.path, ConvertOptions(output=folder, states=stream.states, **options))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "rounded"])
def test_float32(name, stream, tmp_path):
    stream = stream(name)
    program = converted(stream, tmp_path / "out", precision="float32").program
    assert [port.name for port in program.inputs] == ["x"] and [port.name for port in program.outputs] == ["y"]
    expected = stream.expected()
    for engine in ENGINES:
        results = np.stack([outputs[0] for outputs in open_engine(engine, tmp_path / "out").run([[frame] for frame in stream.frames])])
        np.testing.assert_allclose(results, expected, rtol=0, atol=1e-5 * np.abs(expected).max() + 1e-6, err_msg=engine)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("io", ["int8", "float32"])
def test_int8(name, io, stream, tmp_path):
    """Equal bytes from every engine; near to float, of which a state that only moves or adds is made of."""
    stream = stream(name)
    data = stream.data(tmp_path)
    conversion = converted(stream, tmp_path / "out", calibration=data, io=io)
    assert conversion.report.calibrated and [port.name for port in conversion.program.inputs] == ["x"]
    found = verify(stream.path, tmp_path / "out", data, engines=ENGINES)
    assert found.agree and found.samples == len(stream.frames)
    assert all(result.sqnr_db is None or result.sqnr_db > 25 for result in found.engines.values())


def test_one_quantization(stream, tmp_path):
    """Both ends of a state; where the model itself gives them two, a table stands between."""
    for name, requantized in (("sum", False), ("window", False), ("rounded", True)):
        one = stream(name)
        conversion = converted(one, tmp_path / name, calibration=one.data(tmp_path))
        (state,) = conversion.program.states
        ends = [conversion.program.tensors[index] for index in (state.output, state.input)]
        assert ends[0].quantization.same_as(ends[1].quantization)
        assert requantized == any(node.attributes.get("function") == "requantize" for node in conversion.quantized.graph.nodes)


def test_what_float_layers_carry_on_is_float(stream, tmp_path):
    """The state of a GRU that is left in float32 is so, too, though an int8 layer reads its value; that of one in int8 is int16, and a
    cache of int8 layers int8."""
    for name, layers, dtype in (("gru", ("the_gru",), "float32"), ("gru", (), "int16"), ("window", (), "int8")):
        one = stream(name)
        model = onnx.load(one.path)
        model.graph.node[0].name = "the_gru"
        onnx.save(model, one.path)
        report = converted(one, tmp_path / f"{name}{dtype}", calibration=one.data(tmp_path), float_layers=layers).report
        assert [state.dtype for state in report.states] == [dtype]
        assert {port.dtype for port in (*report.inputs, *report.outputs)} == {"int8"}
        assert [buffer.name for buffer in report.buffers if buffer.kind == "state"] == list(one.states.values())


def test_calibration_in_order(stream, tmp_path):
    """Ranges are those of the sequence: a sum of ones grows to the number of samples."""
    stream = stream("sum")
    np.savez(tmp_path / "ones.npz", x=np.ones((20, 1, 4), np.float32))
    conversion = converted(stream, tmp_path / "out", calibration=tmp_path / "ones.npz")
    kept = conversion.program.tensors[conversion.program.states[0].input]
    assert np.isclose(float(kept.quantization.scale) * 255, 20)


def test_reset(stream, tmp_path):
    """A run begins with the real number 0, int8 with the zero point: the same frames give the same results again."""
    stream = stream("rounded")
    conversion = converted(stream, tmp_path / "out", calibration=stream.data(tmp_path))
    (state,) = conversion.program.states
    kept, y = conversion.program.tensors[state.input], conversion.program.tensors[conversion.program.outputs[0].tensor]
    source = (tmp_path / "out" / "rounded.c").read_text()
    assert f"memset((int8_t *)arena + {kept.offset}, 3, 4);" in source
    assert "rounded_reset before the first invocation" in (tmp_path / "out" / "rounded.h").read_text()
    frame = [np.full((1, 4), 3, np.int8)]
    for name in ENGINES:
        engine = open_engine(name, tmp_path / "out")
        first, second = engine.run([frame] * 3), engine.run([frame] * 3)
        np.testing.assert_array_equal(first, second, err_msg=name)
        assert np.all(np.asarray(first) == int(y.quantization.zero_point)), name  # 0 + 0


def test_bytes_of_their_own(stream):
    """Whatever the order of execution: nothing is written where a state lies, and its next value is elsewhere."""
    for name in NAMES:
        one = stream(name)
        graph = keep_float(optimize(load(one.path, states=one.states))).graph
        assert graph.states
        for keep in (False, True):
            check(graph, plan(graph, keep_inputs=keep))
    with pytest.raises(ValueError, match="overwritten"):
        lying = graph.copy()
        lying.states = []
        check(graph, plan(lying))


def test_transposes_at_states(stream, tmp_path):
    """A cache in ONNX's layout that only channel-last operators touch is kept channel-last."""
    stream = stream("window")
    graph = optimize(load(stream.path, states=stream.states))
    assert graph.tensors["cache"].shape == (1, 4, 6, 3) == graph.tensors["cache_next"].shape
    assert sum(node.op == "Transpose" for node in graph.nodes) == 2  # at x and y
    conversion = converted(stream, tmp_path / "nhwc", precision="float32", io_layout="nhwc")
    assert not any(node.op == "Transpose" for node in conversion.quantized.graph.nodes)
    data = stream.data(tmp_path)
    found = verify(stream.path, tmp_path / "nhwc", data, engines=ENGINES)
    assert found.agree and all(result.sqnr_db is None or result.sqnr_db > 90 for result in found.engines.values())


def test_proposals(stream, tmp_path):
    """Pairs that look like states, and nothing else: a sum is no state for all that is known."""
    proposed = {"sum": [], "gru": [("h_next", "h")], "window": [("cache_next", "cache")], "rounded": []}
    for name, pairs in proposed.items():
        one = stream(name)
        found = likely_states(optimize(load(one.path)))
        assert [(state.output, state.input) for state in found] == pairs, name
        assert not likely_states(optimize(load(one.path, states=one.states)))
    notes = convert(stream("gru").path, ConvertOptions(precision="float32", output=tmp_path / "out")).report.notes
    assert any(note.startswith("h_next → h: ") and note.endswith("--state h_next=h") for note in notes)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"h_nxt": "h"}, "the model has no output h_nxt; its outputs: y, h_next"),
        ({"h_next": "g"}, "the model has no input g; its inputs: x, h"),
        ({"y": "h"}, "the output is float32[1, 2], the input float32[1, 1, 5]; a state has one shape"),
    ],
)
def test_refusals(states, message, stream):
    with pytest.raises(PortError, match=re.escape(message)):
        load(stream("gru").path, states=states)


def test_an_input_is_one_state(stream):
    with pytest.raises(PortError, match="the input h is the state of y already"):
        load(stream("sum").path, states={"y": "h", "h_next": "h"})


BYTES = """<ir_version: 8, opset_import: ["" : 17]>
bytes (uint8[1, 4] x, uint8[1, 4] h) => (uint8[1, 4] y, uint8[1, 4] h_next) {
    scale = Constant<value_float = 0.125>()  zero = Constant<value = uint8 {100}>()  half = Constant<value_float = 0.5>()
    xd = DequantizeLinear(x, scale, zero)  hd = DequantizeLinear(h, scale, zero)
    less = Mul(hd, half)  lq = QuantizeLinear(less, scale, zero)  ld = DequantizeLinear(lq, scale, zero)
    s = Add(xd, ld)  h_next = QuantizeLinear(s, scale, zero)
    d = DequantizeLinear(h_next, scale, zero)  r = Relu(d)  y = QuantizeLinear(r, scale, zero)
}"""


def test_ports_of_bytes(tmp_path):
    """The file's own states are uint8 and begin, for onnxruntime too, with the zero point."""
    onnx.save(onnx.parser.parse_model(BYTES), tmp_path / "bytes.onnx")
    convert(tmp_path / "bytes.onnx", ConvertOptions(output=tmp_path / "out", states={"h_next": "h"}))
    np.save(tmp_path / "x.npy", np.random.default_rng(0).integers(60, 140, (20, 1, 4)).astype(np.uint8))
    found = verify(tmp_path / "bytes.onnx", tmp_path / "out", tmp_path / "x.npy", engines=ENGINES)
    assert found.agree and all(result.sqnr_db is None or result.sqnr_db > 30 for result in found.engines.values())
