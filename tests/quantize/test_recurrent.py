"""LSTM, GRU and RNN in int8: whole models through every engine, near to float; what is int16, with which scale, and what stays float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from arenite.frontend import load
from arenite.graph import OPERATORS, DType, Graph, Node, Tensor
from arenite.graph.onnx_export import evaluate
from arenite.passes import optimize
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.quantize import QuantizeOptions, input_specs, load_data, quantize
from arenite.quantize.cell_ranges import largest_cells
from arenite.quantize.lower_recurrent import integer_matrix, row_multipliers, tanh_table
from arenite.verify import verify
from arenite_runtime.kernels.recurrent_int8 import Functions
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[Any]
HIDDEN, FEATURES, STEPS, BATCH = 6, 4, 8, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "reverse": {"direction": "reverse"},
    "bidirectional": {"direction": "bidirectional"},
    "clip": {"clip": 0.7},
    "lengths": {"lengths": True, "direction": "bidirectional"},
    "initial": {"initial": True},
    "last": {"last": True},
    "before": {"linear_before_reset": 1},
}


def recurrent_model(path: Path, op: str, seed: int = 0, **options: Any) -> Path:
    """One recurrent layer of random weights; all of its results are results of the model, unless only the `last` are."""
    rng = np.random.default_rng(seed)
    hidden, features = options.pop("hidden", HIDDEN), options.pop("features", FEATURES)
    lengths, initial, last = (options.pop(name, False) for name in ("lengths", "initial", "last"))
    directions, rows = 2 if options.get("direction") == "bidirectional" else 1, GATES[op] * hidden
    constants = {
        "W": rng.normal(0, 0.7, (directions, rows, features)),
        "R": rng.normal(0, 0.5, (directions, rows, hidden)),
        "B": rng.normal(0, 0.3, (directions, 2 * rows)),
    }
    initializers = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()]
    x, state, y = (STEPS, BATCH, features), (directions, BATCH, hidden), (STEPS, directions, BATCH, hidden)
    if lengths:
        initializers.append(numpy_helper.from_array(np.asarray([STEPS - 3, STEPS], np.int32), "lengths"))
    names = ["h", "c"] if op == "LSTM" else ["h"]
    inputs = ["x", "W", "R", "B", "lengths" if lengths else "", *(names if initial else [])]
    outputs = ["" if last else "y", *(f"last_{name}" for name in names)]
    node = helper.make_node(op, inputs, outputs, name="layer", hidden_size=hidden, **options)
    graph = helper.make_graph(
        [node],
        "recurrent",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)]
        + [helper.make_tensor_value_info(name, TensorProto.FLOAT, state) for name in (names if initial else [])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, y if name == "y" else state) for name in outputs if name],
        initializers,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def samples(path: Path, folder: Path, count: int = 12, spread: float = 1.0) -> Path:
    rng = np.random.default_rng(7)
    shapes = {value.name: [size.dim_value for size in value.type.tensor_type.shape.dim] for value in onnx.load(path).graph.input}
    data = {name: np.asarray(rng.normal(0, spread, (count, *shape)), np.float32) for name, shape in shapes.items()}
    np.savez(folder / "data.npz", **data)
    return folder / "data.npz"


def converted(path: Path, folder: Path, **options: Any) -> Conversion:
    return convert(path, ConvertOptions(calibration=samples(path, folder), output=folder / "out", **options))


def operators(graph: Graph) -> list[tuple[str, str]]:
    return [(node.op, str(node.attributes.get("variant"))) for node in graph.nodes]


CASES = [(op, name) for op in GATES for name in OPTIONS if name != "before" or op == "GRU"]


@pytest.mark.parametrize(("op", "name"), CASES)
def test_every_option(op: str, name: str, tmp_path: Path) -> None:
    """Equal bytes from the engines, and near to onnxruntime: 30 dB where every step's state is given to 8 bits."""
    path = recurrent_model(tmp_path / "model.onnx", op, **OPTIONS[name])
    conversion = converted(path, tmp_path, io="float32")
    assert (op.title() + ("Last" if name == "last" else ""), "int8") in operators(conversion.quantized.graph)
    assert conversion.quantized.precision == "int8"
    found = verify(path, tmp_path / "out", tmp_path / "data.npz", engines=("numpy", "c", "compiled"))
    assert found.agree
    assert all(result.sqnr_db is None or result.sqnr_db > 30 for result in found.engines.values()), name


@pytest.mark.parametrize("op", GATES)
def test_emulated(op: str, tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", op, direction="bidirectional", initial=True)
    converted(path, tmp_path)
    found = verify(path, tmp_path / "out", tmp_path / "data.npz", engines=("numpy", "emulated", "emulated-compiled"), emulated_samples=2)
    assert found.agree


def test_ports_of_states_are_float32(tmp_path: Path) -> None:
    """A caller that carries the states itself gets them as they are, not as 8 bits, whatever the type of other ports."""
    path = recurrent_model(tmp_path / "model.onnx", "LSTM", initial=True, last=True)
    program = converted(path, tmp_path, io="int8").program
    types = {port.name: program.tensors[port.tensor].dtype for port in (*program.inputs, *program.outputs)}
    assert types == {"x": DType.INT8, **dict.fromkeys(("h", "c", "last_h", "last_c"), DType.FLOAT32)}


def test_states_are_int16(tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", "LSTM", initial=True, last=True)
    states = {"last_h": "h", "last_c": "c"}
    onnx_model = onnx.load(path)
    onnx_model.graph.node.append(helper.make_node("Identity", ["last_h"], ["seen"]))
    onnx_model.graph.output.append(helper.make_tensor_value_info("seen", TensorProto.FLOAT, (1, BATCH, HIDDEN)))
    onnx.save(onnx_model, path)
    (tmp_path / "x").mkdir()
    rng = np.random.default_rng(1)
    np.savez(tmp_path / "x" / "data.npz", x=np.asarray(rng.normal(0, 1, (30, STEPS, BATCH, FEATURES)), np.float32))
    conversion = convert(path, ConvertOptions(calibration=tmp_path / "x" / "data.npz", output=tmp_path / "out", states=states, io="int8"))
    tensors = conversion.program.tensors
    scales = {tensors[s.input].name: tensors[s.input].quantization for s in conversion.program.states}
    assert {tensors[s.input].dtype for s in conversion.program.states} == {DType.INT16}
    assert float(scales["h"].scale) == 2.0**-15 and float(scales["c"].scale) > 2.0**-15
    found = verify(path, tmp_path / "out", tmp_path / "x" / "data.npz", engines=("numpy", "c", "compiled"))
    assert found.agree and all(result.sqnr_db > 30 for result in found.engines.values())


def packed_states(path: Path, growth: float) -> Path:
    """An LSTM of one step whose h and c are one tensor, the cell growing by about `growth` a step."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]> packed
    (float[1, 1, {FEATURES}] x, float[2, 1, {HIDDEN}] state) => (float[1, {HIDDEN}] y, float[2, 1, {HIDDEN}] next) {{
        h, c = Split<axis = 0>(state)
        every, last_h, last_c = LSTM<hidden_size = {HIDDEN}>(x, W, R, B, , h, c)
        next = Concat<axis = 0>(last_h, last_c)
        axes = Constant<value_ints = [0]>()
        y = Squeeze(last_h, axes)
    }}"""
    model = onnx.parser.parse_model(text)
    rng = np.random.default_rng(2)
    bias = np.zeros((1, 8 * HIDDEN), np.float32)
    bias[0, 2 * HIDDEN : 3 * HIDDEN] = growth  # the forget gate
    for name, value in (
        ("W", rng.normal(0, 0.8, (1, 4 * HIDDEN, FEATURES))),
        ("R", rng.normal(0, 0.3, (1, 4 * HIDDEN, HIDDEN))),
        ("B", bias),
    ):
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("carried", [True, False])
def test_states_in_one_tensor(carried: bool, tmp_path: Path) -> None:
    """A state that holds h and c keeps each with its own scale, though the cells are many times larger; a port of both has one."""
    path = packed_states(tmp_path / "packed.onnx", 8.0)
    rng = np.random.default_rng(3)
    data: dict[str, Array] = {"x": np.asarray(rng.normal(0.8, 1, (60, 1, 1, FEATURES)), np.float32)}
    if not carried:
        data["state"] = np.asarray(rng.normal(0, 5, (60, 2, 1, HIDDEN)).clip(-20, 20), np.float32)
        data["state"][:, 0] = np.tanh(data["state"][:, 0])
    np.savez(tmp_path / "data.npz", **data)
    states = {"next": "state"} if carried else {}
    conversion = convert(path, ConvertOptions(calibration=tmp_path / "data.npz", output=tmp_path / "out", states=states, io="float32"))
    (node,) = (node for node in conversion.quantized.graph.nodes if node.op.startswith("Lstm"))
    bits = (node.attributes["state_bits"], node.attributes["cell_bits"])
    assert bits[1] < 13 and bits[0] == (15 if carried else bits[1])
    if carried:
        (state,) = conversion.program.states
        assert conversion.program.tensors[state.input].quantization is None
    found = verify(path, tmp_path / "out", tmp_path / "data.npz", engines=("numpy", "c", "compiled"))
    assert found.agree and all(result.sqnr_db is None or result.sqnr_db > 28 for result in found.engines.values())


def test_cells_of_every_step_count(tmp_path: Path) -> None:
    """The largest cell is in the middle of the sequence: the last one alone would let it saturate."""
    path = recurrent_model(tmp_path / "model.onnx", "LSTM")
    graph = optimize(load(path))
    (node,) = (node for node in graph.nodes if node.op == "Lstm")
    x = np.zeros((1, STEPS, BATCH, FEATURES), np.float32)
    x[:, : STEPS // 2] = np.random.default_rng(5).normal(0, 4, (STEPS // 2, BATCH, FEATURES))
    np.savez(tmp_path / "data.npz", x=x)
    largest = largest_cells(graph, load_data(tmp_path / "data.npz", input_specs(graph)), [node])[node.outputs[-1]].max()
    steps = [_cells(graph, node, x[0, : i + 1]) for i in range(STEPS)]
    assert np.isclose(largest, max(np.abs(cells).max() for cells in steps), rtol=1e-5) and largest > np.abs(steps[-1]).max() * 1.01


def _cells(graph: Graph, node: Node, x: Array) -> Array:
    """The last cells after these steps, by onnxruntime."""
    part = graph.copy()
    part.tensors = {name: tensor for name, tensor in part.tensors.items() if tensor.is_constant}
    part.add(Tensor("x", x.shape, DType.FLOAT32))
    shapes = OPERATORS[node.op].outputs([None if n is None else part.tensors[n] for n in node.inputs], node.attributes)
    for name, (shape, dtype) in zip(node.outputs, shapes, strict=True):
        part.add(Tensor(name, tuple(shape), dtype))
    part.inputs, part.outputs, part.nodes = ["x"], [node.outputs[-1]], [node]
    return np.asarray(evaluate(part, {"x": x})[node.outputs[-1]])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"activations": ["Sigmoid", "Relu", "Tanh"]}, "other activations"),
        ({"input_forget": 1}, "coupled gates"),
        ({"weights": True}, "weights that are computed"),
    ],
)
def test_what_stays_float32(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    computed = change.pop("weights", False)
    path = recurrent_model(tmp_path / "model.onnx", "LSTM", **change)
    if computed:
        model = onnx.load(path)
        model.graph.input.append(helper.make_tensor_value_info("W", TensorProto.FLOAT, (1, 4 * HIDDEN, FEATURES)))
        del model.graph.initializer[0]
        onnx.save(model, path)
    conversion = converted(path, tmp_path)
    assert ("Lstm", "float32") in operators(conversion.quantized.graph), problem


def test_proof(tmp_path: Path) -> None:
    """Rows whose sums would leave 32 bits get coarser weights; multipliers stay below 2^30."""
    weights = np.full((1, 2, 2000), 1.0)
    weights[0, 1] = 1e-3
    bias = np.asarray([[0.0, 1e6]])
    matrix = integer_matrix(weights, bias, 2.0**-15, 1 << 15, 0)
    assert (np.abs(matrix.bias) + (1 << 15) * np.abs(matrix.weights).sum(-1) < 1 << 31).all() and matrix.doubled == 2
    assert np.abs(matrix.weights).max() > 10
    for largest in (1e-9, 1.0, 1e9):
        m, shift, exact = row_multipliers(np.asarray([largest, largest / 3]))
        assert 0 < m.max() < 1 << 30 and 9 <= shift <= 46 and exact == (largest < 2**20)


def test_table() -> None:
    """The stated bounds of tanh and sigmoid, over all arguments."""
    functions, a = Functions(tanh_table().astype(np.int64)), np.arange(-(1 << 19), (1 << 19) + 1)
    real = a / 2.0**15
    assert np.abs(functions.tanh(a) - 2.0**15 * np.tanh(real)).max() <= 1.8
    assert np.abs(functions.sigmoid(a) - 2.0**15 / (1 + np.exp(-real))).max() <= 1.2


def loud_and_quiet(count: int, shape: Sequence[int]) -> Array:
    """Samples between which the level varies by a factor of 10,000."""
    rng = np.random.default_rng(4)
    levels = 10.0 ** rng.uniform(-4, 0, count)
    return np.asarray(rng.normal(0, 1, (count, *shape)) * levels.reshape(-1, *([1] * len(shape))), np.float32)


@pytest.mark.parametrize("op", GATES)
def test_recurrent_layers_read_coarse_tensors_as_int16(op: str, tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", op)
    np.savez(tmp_path / "data.npz", x=loud_and_quiet(40, (STEPS, BATCH, FEATURES)))
    conversion = convert(path, ConvertOptions(calibration=tmp_path / "data.npz", output=tmp_path / "out", io="int8"))
    graph = conversion.quantized.graph
    (node,) = (node for node in graph.nodes if node.op == op.title())
    assert graph.tensors[node.input].dtype is DType.INT16 and graph.tensors["x"].dtype is DType.FLOAT32
    assert any("input x" in note and "20 dB" in note for note in conversion.report.notes)
    found = verify(path, tmp_path / "out", tmp_path / "data.npz", engines=("numpy", "c", "compiled"))
    assert found.agree and all(result.sqnr_db is None or result.sqnr_db > 30 for result in found.engines.values())


@pytest.fixture
def spectrum(tmp_path: Path) -> Callable[[], Path]:
    """A power spectrum in front of a layer."""

    def build() -> Path:
        text = """<ir_version: 8, opset_import: ["" : 17]> spectrum (float[1, 40] x) => (float[1, 3] y)
        { a = MatMul(x, basis)  b = Mul(a, a)  c = Sqrt(b)  d = MatMul(c, w)  e = Tanh(d)
          f = MatMul(e, v)  g = Relu(f)  y = MatMul(g, v) }"""
        model = onnx.parser.parse_model(text)
        rng = np.random.default_rng(6)
        for name, shape in (("basis", (40, 36)), ("w", (36, 3)), ("v", (3, 3))):
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(rng.normal(0, 1, shape), np.float32), name))
        onnx.save(model, tmp_path / "spectrum.onnx")
        return tmp_path / "spectrum.onnx"

    return build


def test_coarse_layers_are_float32(spectrum: Callable[[], Path], tmp_path: Path) -> None:
    """What comes of them is nearer to float; samples of one level change nothing; and it can be forbidden."""
    path = spectrum()
    graph = optimize(load(path))

    def quantized(data: Array, least_db: float) -> Any:
        np.savez(tmp_path / "data.npz", x=data)
        return quantize(graph, load_data(tmp_path / "data.npz", input_specs(graph)), QuantizeOptions(least_db=least_db))

    varied = loud_and_quiet(60, (1, 40))
    chosen, forbidden = quantized(varied, 20.0), quantized(varied, -np.inf)
    assert chosen.precision == "mixed" and forbidden.precision == "int8" and not forbidden.notes
    assert chosen.sqnr_db["y"] > forbidden.sqnr_db["y"] + 3
    assert any(note.startswith("not int8") for note in chosen.notes)
    even = np.asarray(np.random.default_rng(4).normal(0, 1, (60, 1, 40)), np.float32)
    assert quantized(even, 20.0).precision == "int8"


def test_a_logarithm_of_a_spectrum_is_float32(tmp_path: Path) -> None:
    """256 steps do for the power itself, but not for its logarithm: that makes as much of the small values as of the large."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[1, 40] x) => (float[1, 3] y)
    { e = Add(x, eps)  l = Log(e)  y = MatMul(l, w) }"""
    model = onnx.parser.parse_model(text)
    rng = np.random.default_rng(6)
    for name, value in (("w", rng.normal(0, 1, (40, 3))), ("eps", 1e-3)):
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
    onnx.save(model, tmp_path / "g.onnx")
    graph = optimize(load(tmp_path / "g.onnx"))
    np.savez(tmp_path / "data.npz", x=np.asarray(rng.chisquare(1, (60, 1, 40)), np.float32))
    data = load_data(tmp_path / "data.npz", input_specs(graph))
    options = QuantizeOptions(methods=frozenset())
    chosen, forbidden = (quantize(graph, data, replace(options, least_db=least)) for least in (20.0, -np.inf))
    assert chosen.precision == "mixed" and forbidden.precision == "int8"
    assert chosen.sqnr_db["y"] > forbidden.sqnr_db["y"] + 10


H, F = HIDDEN, FEATURES
SURROUNDINGS: dict[str, tuple[str, str, dict[str, str], bool]] = {
    "starts from what a layer computes": (
        f"(float[4, 1, {F}] x, float[1, {F}] z) => (float[4, 1, 1, {H}] y)",
        "d = MatMul(z, m)  axes = Constant<value_ints = [0]>()  h = Unsqueeze(d, axes)  y, e = GRU<hidden_size = 6>(x, gw, gr, , , h)",
        {},
        False,
    ),
    "starts from what a float layer computes": (
        f"(float[4, 1, {F}] x, float[1, 1, {H}] z) => (float[4, 1, 1, {H}] y)",
        "n = Neg(z)  h = Cos(n)  y, e = GRU<hidden_size = 6>(x, gw, gr, , , h)",
        {},
        True,
    ),
    "starts where another ends": (
        f"(float[4, 1, {F}] x) => (float[1, 1, {H}] y)",
        "a, b, c = LSTM<hidden_size = 6>(x, lw, lr)  d, y, f = LSTM<hidden_size = 6>(x, lw, lr, , , b, c)",
        {},
        False,
    ),
    "an end that others read": (
        f"(float[4, 1, {F}] x) => (float[1, 1, {H}] h, float[1, 1, {H}] y, float[1, 1, {H}] w)",
        "a, h = GRU<hidden_size = 6>(x, gw, gr)  r = Relu(h)  y = Add(r, h)  w = Cos(h)",
        {},
        True,
    ),
    "a port that others read": (
        f"(float[4, 1, {F}] x, float[1, 1, {H}] z) => (float[4, 1, 1, {H}] y, float[1, 1, {H}] w)",
        "y, e = GRU<hidden_size = 6>(x, gw, gr, , , z)  w = Add(z, e)",
        {},
        False,
    ),
    "a state that others read": (
        f"(float[1, 1, {F}] x, float[1, 1, {H}] z) => (float[1, 1, {H}] w, float[1, 1, {H}] e)",
        "y, e = GRU<hidden_size = 6>(x, gw, gr, , , z)  w = Add(z, e)",
        {"e": "z"},
        False,
    ),
    "a state of the invocation before": (
        f"(float[1, 1, {F}] x, float[2, 1, 1, {H}] z) => (float[1, 1, 1, {H}] y, float[2, 1, 1, {H}] s)",
        """p, q = Split<axis = 0>(z)  axes = Constant<value_ints = [0]>()  h = Squeeze(p, axes)
           y, e = GRU<hidden_size = 6>(x, gw, gr, , , h)  t = Unsqueeze(e, axes)  s = Concat<axis = 0>(q, t)""",
        {"s": "z"},
        False,
    ),
    "a state that is turned": (
        f"(float[1, 2, {F}] x, float[2, 1, {H}] z) => (float[1, 1, 2, {H}] y, float[2, 1, {H}] s)",
        "h = Transpose<perm = [1, 0, 2]>(z)  y, e = GRU<hidden_size = 6>(x, gw, gr, , , h)  s = Transpose<perm = [1, 0, 2]>(e)",
        {"s": "z"},
        False,
    ),
    "a state that another layer makes": (
        f"(float[1, 1, {F}] x, float[1, 1, {H}] z) => (float[1, 1, 1, {H}] y, float[1, 1, {H}] s)",
        "y, e = GRU<hidden_size = 6>(x, gw, gr, , , z)  half = Constant<value_float = 0.5>()  s = Mul(e, half)",
        {"s": "z"},
        False,
    ),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings(name: str, tmp_path: Path) -> None:
    """Whatever is in front of a recurrent layer, behind it, and between it and itself: int8 to float and back, equal in the engines."""
    ports, nodes, states, mixed = SURROUNDINGS[name]
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> around {ports} {{ {nodes} }}')
    rng = np.random.default_rng(8)
    shapes = {"gw": (1, 3 * H, F), "gr": (1, 3 * H, H), "lw": (1, 4 * H, F), "lr": (1, 4 * H, H), "m": (F, H)}
    read = {operand for node in model.graph.node for operand in node.input}
    for weight, shape in shapes.items():
        if weight in read:
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(rng.normal(0, 0.6, shape), np.float32), weight))
    for node in (node for node in model.graph.node if node.op_type == "Cos"):
        node.name = "cosine"
    path = tmp_path / "around.onnx"
    onnx.save(model, path)
    inputs = {v.name: [size.dim_value for size in v.type.tensor_type.shape.dim] for v in model.graph.input if v.name not in states.values()}
    np.savez(tmp_path / "data.npz", **{n: np.asarray(rng.normal(0, 1, (20, *shape)), np.float32) for n, shape in inputs.items()})
    floats = ("cosine",) if mixed else ()
    options = ConvertOptions(calibration=tmp_path / "data.npz", output=tmp_path / "out", states=states, float_layers=floats, io="float32")
    conversion = convert(path, options)
    assert conversion.quantized.precision == ("mixed" if mixed else "int8")
    assert all(variant == "int8" for op, variant in operators(conversion.quantized.graph) if op.startswith(("Gru", "Lstm")))
    found = verify(path, tmp_path / "out", tmp_path / "data.npz", engines=("numpy", "c"))
    assert found.agree and all(result.sqnr_db is None or result.sqnr_db > 25 for result in found.engines.values())
