"""optimize() on random graphs as the frontend writes them: the same outputs, and what its docstring promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph, Quantization
from arenite.graph.printer import format_graph
from arenite.passes import optimize
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

TO_NHWC = (0, 2, 3, 1)
INF = float("inf")
FUNCTIONS: tuple[tuple[str, dict[str, float]], ...] = (
    ("Clip", {"min": 0.0, "max": INF}),
    ("Clip", {"min": -0.5, "max": 1.5}),
    ("Sigmoid", {}),
    ("LeakyRelu", {"alpha": 0.125}),
    ("HardSwish", {}),
)


class RandomGraph:
    """Grows a graph operator by operator. With `rounded`, values and weights are short binary fractions, so that sums are exact in
    whatever order they are formed, and values get annotations at random: results must then be equal, not close."""

    def __init__(self, builder: Any, draw: Callable[[st.SearchStrategy[Any]], Any], rounded: bool) -> None:
        self.b, self.draw, self.rounded = builder, draw, rounded
        shape = draw(st.sampled_from([(1, 3, 6, 5), (1, 4, 4, 4), (1, 2, 7, 1), (1, 3, 8), (1, 12), (1, 2, 3, 4, 2)]))
        self.pool = [builder.input(*shape, q=self.annotation(always=True))]

    def annotation(self, always: bool = False) -> Quantization | None:
        if not self.rounded or not (always or self.draw(st.integers(0, 2)) == 0):
            return None
        return Quantization.per_tensor(2.0 ** -self.draw(st.integers(3, 5)), self.draw(st.sampled_from([-128, -3, 0, 5])))

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.b.graph.tensors[name].shape)

    def pick(self) -> str:
        return str(self.pool[-1 - min(self.draw(st.integers(0, 3)), self.draw(st.integers(0, len(self.pool) - 1)))])

    def grow(self) -> None:
        x = self.pick()
        rank = len(self.shape(x))
        kinds = [self.function, self.constant, self.other, self.transpose, self.reshape, self.concat, self.slice, self.pad, self.dense]
        kinds += [self.swish, self.prelu] if not self.rounded else [self.function]
        kinds += [self.mean, self.softmax] if not self.rounded else []
        kinds += [self.spatial] * 6 if rank == 4 else []
        kinds += [self.spatial1d] * 4 if rank == 3 else []
        y = self.draw(st.sampled_from(kinds))(x)
        if y is not None:
            self.pool.append(y)

    def function(self, x: str) -> str:
        op, attributes = self.draw(st.sampled_from(FUNCTIONS[: 2 if self.rounded else None]))
        return str(self.b.function(op, x, q=self.annotation(), **attributes))

    def swish(self, x: str) -> str:
        return str(self.b.node("Mul", x, self.b.function("Sigmoid", x)))

    def constant(self, x: str) -> str:
        shape = tuple(size if self.draw(st.booleans()) else 1 for size in self.shape(x))
        op = self.draw(st.sampled_from(("Add", "Sub", "Mul") if self.rounded else ("Add", "Sub", "Mul", "Div")))
        values = self.b.values(*shape)
        if self.rounded:
            values = np.rint(values * 2) / 2
        c = self.b.constant(np.abs(values) + 0.5 if op == "Div" else values)
        operands = (c, x) if op != "Div" and self.draw(st.booleans()) else (x, c)
        return str(self.b.node(op, *operands, q=self.annotation()))

    def other(self, x: str) -> str | None:
        fits = [y for y in self.pool if len(self.shape(y)) == len(self.shape(x)) and _broadcast(self.shape(x), self.shape(y))]
        return str(self.b.node(self.draw(st.sampled_from(("Add", "Sub"))), x, self.draw(st.sampled_from(fits)), q=self.annotation()))

    def transpose(self, x: str) -> str:
        return str(self.b.transpose(x, tuple(self.draw(st.permutations(range(len(self.shape(x))))))))

    def reshape(self, x: str) -> str:
        shape = self.shape(x)
        forms = [(1, int(np.prod(shape))), (*shape[:1], 1, *shape[1:]), tuple(size for size in shape if size > 1) or (1,)]
        forms += [(*shape[:-2], shape[-2] * shape[-1])] if len(shape) > 2 else []
        forms += [(1, 2, shape[1] // 2, *shape[2:])] if shape[0] == 1 and len(shape) > 1 and shape[1] % 2 == 0 else []
        form = self.draw(st.sampled_from(forms))
        return str(self.b.reshape(x, *form)) if len(form) <= 5 else x

    def concat(self, x: str) -> str:
        axis = self.draw(st.integers(0, len(self.shape(x)) - 1))
        rest = [size for i, size in enumerate(self.shape(x)) if i != axis]
        fits = [
            y
            for y in self.pool
            if len(self.shape(y)) == len(self.shape(x)) and [s for i, s in enumerate(self.shape(y)) if i != axis] == rest
        ]
        return str(self.b.node("Concat", x, self.draw(st.sampled_from(fits)), axis=axis))

    def slice(self, x: str) -> str:
        starts = tuple(self.draw(st.integers(0, size - 1)) for size in self.shape(x))
        sizes = tuple(self.draw(st.integers(1, size - start)) for size, start in zip(self.shape(x), starts, strict=True))
        return str(self.b.node("Slice", x, starts=starts, steps=(1,) * len(starts), sizes=sizes))

    def pad(self, x: str) -> str:
        pads = tuple(self.draw(st.sampled_from((0, 0, 1, 2))) for _ in range(2 * len(self.shape(x))))
        return str(self.b.node("Pad", x, pads=pads, value=self.draw(st.sampled_from((0.0, 0.0, 0.25)))))

    def mean(self, x: str) -> str:
        axes = tuple(sorted(self.draw(st.sets(st.integers(0, len(self.shape(x)) - 1), min_size=1, max_size=3))))
        keepdims = self.draw(st.booleans()) or len(axes) == len(self.shape(x))
        return str(self.b.node("ReduceMean", x, axes=axes, keepdims=keepdims))

    def softmax(self, x: str) -> str:
        return str(self.b.node("Softmax", x))

    def prelu(self, x: str) -> str:
        return str(self.b.node("PRelu", x, self.b.constant(self.b.values(*(1,) * (len(self.shape(x)) - 1), self.shape(x)[-1]))))

    def dense(self, x: str) -> str:
        return str(self.b.fully_connected(x, 4, bias=self.draw(st.booleans()), q=self.annotation()))

    def spatial(self, x: str) -> str | None:
        b, draw = self.b, self.draw
        kernel, group = draw(st.sampled_from((1, 2, 3))), draw(st.sampled_from((1, self.shape(x)[1])))
        pad = draw(st.integers(0, kernel - 1))
        if min(self.shape(x)[2:]) + 2 * pad < kernel:
            return None
        makers = [
            lambda t: b.conv(t, 4 if group == 1 else 2 * group, kernel=kernel, pad=pad, group=group, bias=draw(st.booleans())),
            lambda t: b.depthwise(t, multiplier=draw(st.sampled_from((1, 2))), kernel=kernel, pad=pad),
            lambda t: b.pool("MaxPool", t, kernel, draw(st.sampled_from((1, 2))), (pad,) * 4),
        ]
        if not self.rounded:
            makers += [lambda t: b.pool("AveragePool", t, kernel, 1, (pad,) * 4, count_include_pad=draw(st.booleans())), b.batch_norm]
        y = b.nchw(draw(st.sampled_from(makers)), x)
        return str(b.reshape(y, *self.shape(y), q=self.annotation())) if self.rounded else str(y)

    def spatial1d(self, x: str) -> str | None:
        b, kernel = self.b, self.draw(st.sampled_from((1, 3)))
        n, channels, length = self.shape(x)
        if length < kernel:
            return None
        image = b.reshape(b.transpose(x, (0, 2, 1)), n, length, 1, channels)
        operands = [b.constant(b.values(4, kernel, 1, channels)), b.constant(b.values(4))]
        y = b.node("Conv", image, *operands, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), group=1, q=self.annotation())
        return str(b.transpose(b.reshape(y, n, length - kernel + 1, 4), (0, 2, 1)))

    def finish(self) -> Graph:
        outputs = [self.pool[-1]]
        if self.draw(st.booleans()):
            outputs.append(self.draw(st.sampled_from(self.pool)))
        written = {node.output for node in self.b.graph.nodes}
        graph = self.b.graph
        graph.outputs = list(dict.fromkeys(name for name in outputs if name in written)) or [self.b.function("Tanh", self.pool[0])]
        graph.prune()
        return self.b.done(*graph.outputs)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(a, b, strict=True))


def _check(builder: Any, same: Callable[..., None], data: st.DataObject, rounded: bool) -> None:
    random = RandomGraph(builder(), data.draw, rounded)
    for _ in range(data.draw(st.integers(2, 12))):
        random.grow()
    graph = random.finish()
    note(format_graph(graph))
    optimized = optimize(graph)
    ops = {node.op for node in optimized.nodes}
    assert not ops & {"BatchNormalization", "Quantize", "Dequantize"}
    for node in optimized.nodes:
        if node.op in ("Transpose", "Reshape"):
            x, y = optimized.tensors[node.input], optimized.tensors[node.output]
            idle = x.shape == y.shape and (node.op == "Reshape" or node.attributes["perm"] == tuple(range(len(x.shape))))
            assert not idle or x.name in graph.inputs or {x.name, y.name} <= set(graph.outputs)
    same(graph, optimized, quantized=rounded, tolerance=0 if rounded else 2e-5)


SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "phases": (Phase.explicit, Phase.generate),  # shrinking draws this deep takes many minutes; the graph is printed instead
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


@settings(**SETTINGS, max_examples=120)
@given(st.data())
def test_float_graphs(builder: Any, same: Any, data: st.DataObject) -> None:
    _check(builder, same, data, rounded=False)


@settings(**SETTINGS, max_examples=120)
@given(st.data())
def test_graphs_with_annotations(builder: Any, same: Any, data: st.DataObject) -> None:
    _check(builder, same, data, rounded=True)


@pytest.mark.long
@pytest.mark.parametrize("rounded", [False, True])
def test_many_graphs(builder: Any, same: Any, rounded: bool) -> None:
    @settings(**SETTINGS, max_examples=2000)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        _check(builder, same, data, rounded)

    run()
