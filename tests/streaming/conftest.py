"""Small models that work on streams: what they remember is an input and an output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[Any]

MODELS = {
    "sum": ("(float[1, 4] x, float[1, 4] h) => (float[1, 4] y, float[1, 4] h_next)", "h_next = Add(x, h)  y = Relu(h_next)"),
    "delay": (  # y is x of two invocations ago: the beginning of one state is the end of another
        "(float[1, 4] x, float[1, 4] a, float[1, 4] b) => (float[1, 4] y, float[1, 4] a_next, float[1, 4] b_next)",
        "a_next = Identity(x)  b_next = Identity(a)  y = Add(b, x)",
    ),
    "swap": (  # a cycle of states; c, which nothing changes
        "(float[1, 4] x, float[1, 4] a, float[1, 4] b, float[1, 4] c)"
        " => (float[1, 4] y, float[1, 4] a_next, float[1, 4] b_next, float[1, 4] c_next)",
        "b_x = Add(b, x)  a_next = Identity(b_x)  b_next = Identity(a)  c_next = Identity(c)  s = Sub(a, b)  y = Add(s, c)",
    ),
    "window": (  # a convolution over the last five frames
        "(float[1, 3, 2, 6] x, float[1, 3, 4, 6] cache) => (float[1, 2, 2, 6] y, float[1, 3, 4, 6] cache_next)",
        """frames = Concat<axis = 2>(cache, x)
           y = Conv<kernel_shape = [5, 3], pads = [0, 1, 0, 1]>(frames, w, bias)
           from = Constant<value_ints = [2]>()  to = Constant<value_ints = [6]>()  axis = Constant<value_ints = [2]>()
           cache_next = Slice(frames, from, to, axis)""",
    ),
    "gru": (
        "(float[1, 1, 3] x, float[1, 1, 5] h) => (float[1, 2] y, float[1, 1, 5] h_next)",
        """every, h_next = GRU<hidden_size = 5>(x, gw, gr, , , h)
           flat = Flatten(h_next)  y = MatMul(flat, gy)""",
    ),
    "rounded": (  # the end of the state has another scale than its beginning
        "(float[1, 4] x, float[1, 4] h) => (float[1, 4] y, float[1, 4] h_next)",
        """fine = Constant<value_float = 0.03125>()  coarse = Constant<value_float = 0.0625>()  zero = Constant<value = int8 {3}>()
           hq = QuantizeLinear(h, coarse, zero)  hd = DequantizeLinear(hq, coarse, zero)
           xq = QuantizeLinear(x, fine, zero)  xd = DequantizeLinear(xq, fine, zero)
           half = Constant<value_float = 0.5>()
           less = Mul(hd, half)  lq = QuantizeLinear(less, coarse, zero)  ld = DequantizeLinear(lq, coarse, zero)
           s = Add(xd, ld)
           sq = QuantizeLinear(s, fine, zero)  h_next = DequantizeLinear(sq, fine, zero)
           y = Relu(h_next)""",
    ),
}
STATES = {
    "sum": {"h_next": "h"},
    "delay": {"a_next": "a", "b_next": "b"},
    "swap": {"a_next": "a", "b_next": "b", "c_next": "c"},
    "window": {"cache_next": "cache"},
    "gru": {"h_next": "h"},
    "rounded": {"h_next": "h"},
}
FRAMES = 12


def parse(ports: str, nodes: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> stream {ports} {{ {nodes} }}')
    random = np.random.default_rng(3)
    weights = {"w": (2, 3, 5, 3), "bias": (2,), "gw": (1, 15, 3), "gr": (1, 15, 5), "gy": (5, 2)}
    read = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(
        numpy_helper.from_array(random.normal(0, 0.4, shape).astype(np.float32), name) for name, shape in weights.items() if name in read
    )
    return model


class Stream:
    """A model, its states, and what it computes over frames of noise."""

    def __init__(self, name: str, folder: Path) -> None:
        self.path, self.states = folder / f"{name}.onnx", STATES[name]
        model = parse(*MODELS[name])
        onnx.save(model, self.path)
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        self.frames = np.random.default_rng(5).normal(0, 1, (FRAMES, *shape)).astype(np.float32)

    def data(self, folder: Path) -> Path:
        np.savez(folder / "frames.npz", x=self.frames)
        return folder / "frames.npz"

    def expected(self) -> Array:
        """The first output of onnxruntime, states carried by hand."""
        session = onnxruntime.InferenceSession(str(self.path), providers=["CPUExecutionProvider"])
        names = [port.name for port in session.get_outputs()]
        kept: Mapping[str, Array] = {p.name: np.zeros(p.shape, np.float32) for p in session.get_inputs() if p.name in self.states.values()}
        results = []
        for frame in self.frames:
            values = dict(zip(names, session.run(None, {"x": frame, **kept}), strict=True))
            kept = {name: values[output] for output, name in self.states.items()}
            results.append(values[names[0]])
        return np.stack(results)


@pytest.fixture
def stream(tmp_path: Path) -> Callable[[str], Stream]:
    return lambda name: Stream(name, tmp_path)
