"""Graphs of some five hundred operators that branch as published networks do, with layers of a microcontroller's sizes.

Layers are real ones: the shapes, distances and scratch memory are those of convolutions and poolings as the kernels state them. Only
weights are absent. What is random comes from a seed, and is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from random import Random

import numpy as np
from arenite.graph import DType, Graph, Node, Quantization, Tensor

OPERATORS = 500
"""About; a family stops at the first whole module, cell or block beyond."""


class Network:
    """A graph of int8 images in the making."""

    def __init__(self, name: str, seed: int = 0, height: int = 32, channels: int = 16) -> None:
        self.graph = Graph(name, inputs=[])
        self.random = Random(seed)
        self.graph.inputs.append(self._value("x", (1, height, height, channels)))

    def __len__(self) -> int:
        return len(self.graph.nodes)

    @property
    def is_large(self) -> bool:
        return len(self) >= OPERATORS

    def _value(self, name: str, shape: tuple[int, ...]) -> str:
        self.graph.add(Tensor(name, shape, DType.INT8, quantization=Quantization.per_tensor(0.1, 0)))
        return name

    def _node(self, op: str, inputs: Sequence[str], shape: tuple[int, ...], **attributes: object) -> str:
        output = self._value(f"t{len(self)}", shape)
        self.graph.nodes.append(Node(op, f"n{len(self)}", tuple(inputs), (output,), attributes))
        return output

    def shape(self, x: str) -> tuple[int, ...]:
        return self.graph.tensors[x].shape

    def channels(self, x: str) -> int:
        return self.shape(x)[-1]

    def _weight(self, *shape: int) -> str:
        return self.graph.add_constant(f"w{len(self)}", np.broadcast_to(np.int8(1), shape)).name

    def conv(self, x: str, channels: int, kernel: int = 1, stride: int = 1) -> str:
        _, h, w, c = self.shape(x)
        weight = self._weight(channels, kernel, kernel, c)
        shape = (1, -(-h // stride), -(-w // stride), channels)
        return self._node("Conv", [x, weight], shape, variant="paired", group=1, **_window(kernel, stride))

    def depthwise(self, x: str, kernel: int = 3, stride: int = 1) -> str:
        _, h, w, c = self.shape(x)
        shape = (1, -(-h // stride), -(-w // stride), c)
        variant = "planes" if (kernel, stride) == (3, 1) else "planes_2" if (kernel, stride) == (3, 2) else "wide"
        return self._node("DepthwiseConv", [x, self._weight(kernel, kernel, c)], shape, variant=variant, **_window(kernel, stride))

    def separable(self, x: str, channels: int, kernel: int = 3, stride: int = 1) -> str:
        return self.conv(self.depthwise(x, kernel, stride), channels)

    def pool(self, x: str, stride: int = 1, op: str = "MaxPool") -> str:
        _, h, w, c = self.shape(x)
        kernel = 3 if stride == 1 else stride
        shape = (1, -(-h // stride), -(-w // stride), c)
        return self._node(op, [x], shape, kernel=(kernel, kernel), **_window(kernel, stride))

    def upsample(self, x: str) -> str:
        _, h, w, c = self.shape(x)
        for axis, shape in ((1, (1, 2 * h, w, c)), (2, (1, 2 * h, 2 * w, c))):
            first = self.graph.add_constant(f"first{len(self)}", np.arange(shape[axis], dtype=np.int32) // 2).name
            x = self._node("Resample", [x, first, self._weight(shape[axis], 1)], shape, axis=axis)
        return x

    def dense(self, x: str, features: int) -> str:
        """A row of features for each row of x."""
        rows, length = self.shape(x)
        weight = self._weight(features, length)
        return self._node("FullyConnected", [x, weight], (rows, features), variant="paired")

    def matmul(self, a: str, b: str) -> str:
        return self._node("MatMul", [a, b], (self.shape(a)[0], self.shape(b)[1]))

    def transpose(self, x: str) -> str:
        return self._node("Transpose", [x], self.shape(x)[::-1], perm=(1, 0))

    def softmax(self, x: str) -> str:
        return self._node("Softmax", [x, self._table()], self.shape(x))

    def function(self, x: str) -> str:
        """Any function of one element."""
        return self._node("Lookup", [x, self._table()], self.shape(x))

    def _table(self) -> str:
        return self.graph.add_constant(f"table{len(self)}", np.arange(256).astype(np.int8)).name

    def add(self, first: str, *others: str) -> str:
        for other in others:
            first = self._node("Add", [first, other], self.shape(first))
        return first

    def concat(self, *parts: str) -> str:
        *front, _ = self.shape(parts[0])
        return self._node("Concat", parts, (*front, sum(map(self.channels, parts))), axis=len(front)) if len(parts) > 1 else parts[0]

    def elements(self, x: str) -> int:
        return prod(self.shape(x))

    def finished(self, *outputs: str) -> Graph:
        self.graph.outputs = list(outputs)
        return self.graph


def _window(kernel: int, stride: int) -> Mapping[str, object]:
    before = (kernel - 1) // 2 if stride == 1 or kernel % 2 else 0
    return {"strides": (stride, stride), "dilations": (1, 1), "pads": (before, before, before, before)}


def inception() -> Graph:
    """Modules of four branches, joined by Concat (GoogLeNet)."""
    net = Network("inception")
    x = net.conv("x", 32, 3, 2)
    while not net.is_large:
        for channels in (64, 96, 64):
            branches = [net.conv(x, channels // 4)]
            branches.append(net.conv(net.conv(x, channels // 4), channels // 2, 3))
            branches.append(net.conv(net.conv(net.conv(x, 8), channels // 8, 3), channels // 8, 3))
            branches.append(net.conv(net.pool(x), channels // 8))
            x = net.concat(*branches)
    return net.finished(x)


def fan_out() -> Graph:
    """One image read by 60 branches of random lengths and channels, joined by one Concat."""
    net = Network("fan-out", 1)
    branches: list[str] = []
    while len(branches) < 60:
        x = "x"
        for _ in range(net.random.randint(4, 12)):
            x = net.conv(x, 4 * net.random.randint(2, 10), net.random.choice((1, 3)))
        branches.append(net.conv(x, 4))
    return net.finished(net.conv(net.concat(*branches), 16))


def fan_out_sum() -> Graph:
    """Blocks of 32 branches that are added (ResNeXt, written out)."""
    net = Network("fan-out-sum", 2)
    x = "x"
    while not net.is_large:
        branches = [net.conv(net.conv(net.conv(x, 4), 4, 3), 16) for _ in range(32)]
        x = net.add(x, *branches)
    return net.finished(x)


def nested() -> Graph:
    """Branches in branches, five deep, joined by Add or Concat."""
    net = Network("nested", 3)

    def block(x: str, depth: int) -> str:
        if depth == 0:
            for _ in range(net.random.randint(1, 3)):
                x = net.conv(x, 8 * net.random.randint(1, 4), net.random.choice((1, 3)))
            return x
        ends = [block(net.conv(x, 8 * net.random.randint(1, 4)), depth - 1) for _ in range(net.random.choice((2, 2, 3)))]
        if net.random.random() < 0.5:
            return net.conv(net.concat(*ends), 8 * net.random.randint(1, 4))
        return net.add(*(net.conv(end, 16) for end in ends))

    x = "x"
    while not net.is_large:
        x = block(x, 5)
    return net.finished(x)


def series_parallel(seed: int) -> Graph:
    """A random tree of series and parallel compositions as a whole: up to six branches a time, of sizes as different as they come."""
    net = Network(f"series-parallel-{seed}", seed)

    def part(x: str, operators: int) -> str:
        if operators <= 2:
            return net.conv(x, 4 * net.random.randint(1, 12), net.random.choice((1, 3)))
        if net.random.random() < 0.4:
            cut = net.random.randint(1, operators - 1)
            return part(part(x, cut), operators - cut)
        count = min(operators // 2, net.random.randint(2, 6))
        shares = [net.random.random() + 0.05 for _ in range(count)]
        ends = [part(x, max(1, int((operators - count) * share / sum(shares)))) for share in shares]
        if net.random.random() < 0.5:
            return net.conv(net.concat(*ends), 4 * net.random.randint(1, 12))
        channels = 4 * net.random.randint(1, 8)
        return net.add(*(net.conv(end, channels) for end in ends))

    x = "x"
    while not net.is_large:
        x = part(x, OPERATORS - len(net))
    return net.finished(x)


def densenet() -> Graph:
    """Blocks of twelve layers that read all before them: those of one block are concatenated again for each."""
    net = Network("densenet")
    x = net.conv("x", 16, 3)
    while not net.is_large:
        features = [x]
        for _ in range(12):
            whole = net.function(net.concat(*features))
            features.append(net.conv(net.conv(whole, 32), 8, 3))
        x = net.conv(net.concat(*features), 16)
    return net.finished(x)


def darts(seed: int) -> Graph:
    """Cells of four nodes, each the sum of two operations on nodes before it; a cell reads the two cells before it (DARTS)."""
    net = Network(f"darts-{seed}", seed)
    net_x = net.conv("x", 16, 3)
    before, last = net_x, net_x

    def operation(x: str) -> str:
        match net.random.randrange(4):
            case 0:
                return net.separable(net.separable(x, 16), 16)
            case 1:
                return net.conv(net.depthwise(x, 5), 16)
            case 2:
                return net.pool(x)
            case _:
                return x

    while not net.is_large:
        nodes = [net.conv(before, 16), net.conv(last, 16)]
        for _ in range(4):
            a, b = net.random.sample(nodes, 2)
            nodes.append(net.add(operation(a), operation(b)))
        before, last = last, net.concat(*nodes[2:])
    return net.finished(last)


def nasnet() -> Graph:
    """The normal cell of NASNet-A, which reads the two cells before it."""
    net = Network("nasnet", height=24)
    before = last = net.conv("x", 24, 3)
    while not net.is_large:
        p, h = net.conv(before, 16), net.conv(last, 16)

        def twice(x: str, kernel: int) -> str:
            return net.separable(net.separable(x, 16, kernel), 16, kernel)

        blocks = [
            net.add(twice(h, 3), h),
            net.add(twice(p, 3), twice(h, 5)),
            net.add(net.pool(h, op="AveragePool"), p),
            net.add(net.pool(p, op="AveragePool"), net.pool(p, op="AveragePool")),
            net.add(twice(p, 5), twice(p, 3)),
        ]
        before, last = last, net.concat(p, *blocks)
    return net.finished(last)


def randwire(seed: int) -> Graph:
    """Stages of 32 nodes wired as Watts and Strogatz's graphs of degree 4, rewired with probability 0.75 (RandWire); a node is the sum of
    what it reads and a separable convolution."""
    net = Network(f"randwire-{seed}", seed)
    x, count = net.conv("x", 16, 3), 32
    while not net.is_large:
        edges = set()
        for i in range(count):
            for step in (1, 2):
                other = (i + step) % count
                if net.random.random() < 0.75:
                    other = net.random.choice([j for j in range(count) if j != i and (min(i, j), max(i, j)) not in edges])
                edges.add((min(i, other), max(i, other)))
        values: list[str] = []
        for i in range(count):
            read = [values[a] for a, b in sorted(edges) if b == i] or [x]
            values.append(net.separable(net.function(net.add(*read)), 16))
        x = net.add(*(values[i] for i in range(count) if not any(a == i for a, _ in edges)))
    return net.finished(x)


def transformer() -> Graph:
    """Blocks of eight heads, each computed on its own, and two dense layers; residuals around both."""
    net = Network("transformer")
    net.graph.inputs[0] = net._value("tokens", (64, 64))
    del net.graph.tensors["x"]
    x = "tokens"
    while not net.is_large:
        heads = []
        for _ in range(8):
            q, k, v = (net.dense(x, 8) for _ in range(3))
            heads.append(net.matmul(net.softmax(net.matmul(q, net.transpose(k))), v))
        x = net.add(net.dense(net.concat(*heads), 64), x)
        x = net.add(net.dense(net.function(net.dense(x, 128)), 64), x)
    return net.finished(x)


def hourglass() -> Graph:
    """Stacked hourglasses: skips of residual blocks around four poolings, at each resolution one."""
    net = Network("hourglass")

    def residual(x: str) -> str:
        return net.add(net.conv(net.conv(net.conv(x, 8), 8, 3), 16), x)

    def level(x: str, depth: int) -> str:
        inner = residual(net.pool(x, 2))
        inner = level(inner, depth - 1) if depth else residual(inner)
        return net.add(residual(x), net.upsample(residual(inner)))

    x = net.conv("x", 16, 3)
    while not net.is_large:
        x = net.add(net.conv(residual(level(x, 3)), 16), x)
    return net.finished(x)


def unet() -> Graph:
    """U-Nets, one behind the other."""
    net = Network("unet")
    x = "x"
    while not net.is_large:
        skips = []
        for channels in (16, 24, 32, 48):
            x = net.conv(net.conv(x, channels, 3), channels, 3)
            skips.append(x)
            x = net.pool(x, 2)
        x = net.conv(x, 64, 3)
        for channels, skip in zip((48, 32, 24, 16), reversed(skips), strict=True):
            x = net.conv(net.conv(net.concat(net.upsample(x), skip), channels, 3), channels, 3)
    return net.finished(x)


def unet_plus_plus() -> Graph:
    """Every node of a U-Net++ reads all of its row before it and one of the row below."""
    net = Network("unet++")
    x = "x"
    while not net.is_large:
        rows: list[list[str]] = []
        for depth, channels in enumerate((8, 16, 24, 32, 48)):
            rows.append([net.conv(net.conv(net.pool(rows[-1][0], 2) if depth else x, channels, 3), channels, 3)])
        for column in range(1, 5):
            for depth in range(5 - column):
                whole = net.concat(*rows[depth], net.upsample(rows[depth + 1][column - 1]))
                rows[depth].append(net.conv(net.conv(whole, 8 + 8 * depth, 3), 8 + 8 * depth, 3))
        x = net.conv(net.concat(*rows[0][1:]), 16)
    return net.finished(x)


def hrnet() -> Graph:
    """Three resolutions side by side, each of which is sent to each other after two residual blocks."""
    net = Network("hrnet")
    widths = (16, 32, 64)
    images = [net.conv("x", 16, 3)]
    for channels in widths[1:]:
        images.append(net.conv(images[-1], channels, 3, 2))
    while not net.is_large:
        for _ in range(2):
            images = [net.add(net.conv(net.conv(x, net.channels(x), 3), net.channels(x), 3), x) for x in images]
        fused = []
        for i, channels in enumerate(widths):
            parts = []
            for j, image in enumerate(images):
                x = image
                if j > i:
                    x = net.conv(x, channels)
                for _ in range(j - i):
                    x = net.upsample(x)
                for step in range(i - j):
                    x = net.conv(x, channels if step == i - j - 1 else net.channels(x), 3, 2)
                parts.append(x)
            fused.append(net.function(net.add(*parts)))
        images = fused
    return net.finished(*images)


def bifpn() -> Graph:
    """Five resolutions, joined downwards and upwards again in every layer (EfficientDet); every resolution is an output."""
    net = Network("bifpn", height=32)
    images = [net.conv("x", 24, 3)]
    for _ in range(4):
        images.append(net.separable(images[-1], 24, stride=2))
    while not net.is_large:
        down = [images[-1]]
        for image in reversed(images[:-1]):
            down.insert(0, net.separable(net.add(net.upsample(down[0]), image), 24))
        up = [down[0]]
        for level in range(1, 5):
            joined = net.add(down[level], net.pool(up[-1], 2), *([images[level]] if level < 4 else []))
            up.append(net.separable(joined, 24))
        images = up
    return net.finished(*images)


def detector() -> Graph:
    """A backbone with a head of several layers for classes and one for boxes at each of its stages; all are outputs (SSD)."""
    net = Network("detector")
    x, outputs = net.conv("x", 16, 3), []
    for stage in range(4):
        for _ in range(9):
            y = net.separable(net.conv(x, 2 * net.channels(x)), net.channels(x))
            x = net.add(y, x)
        for features in (12, 8, 8, 8):
            y = x
            for _ in range(9):
                y = net.separable(y, 16)
            outputs.append(net.conv(y, features, 3))
        if stage < 3:
            x = net.conv(x, net.channels(x) + 8, 3, 2)
    return net.finished(*outputs)


def random_dag(seed: int, window: int) -> Graph:
    """Operators of degree two: each reads one or two of the `window` results before it. Where more than half as many have not been read,
    two of them are joined, so that nothing waits for the end."""
    net = Network(f"random-{window}-{seed}", seed, height=16)
    values, unread = ["x"], ["x"]
    while not net.is_large or len(unread) > 1:
        near = values[-window:]
        if net.is_large or len(unread) > window // 2:
            a, b = unread[0], unread[1]
            y = net.add(a, b) if net.channels(a) == net.channels(b) else net.conv(net.concat(a, b), 8 * net.random.randint(1, 4))
        else:
            a = b = net.random.choice(near)
            y = net.conv(a, 8 * net.random.randint(1, 4), net.random.choice((1, 3)))
            if net.random.random() < 0.3:
                b = net.random.choice(near)
                y = net.add(y, net.conv(b, net.channels(y)))
        unread = [value for value in unread if value not in (a, b)]
        values.append(y)
        unread.append(y)
    return net.finished(unread[0])


FAMILIES: Mapping[str, Callable[[], Graph]] = {
    "inception": inception,
    "fan-out": fan_out,
    "fan-out, added": fan_out_sum,
    "nested branches": nested,
    "series-parallel 1": lambda: series_parallel(1),
    "series-parallel 2": lambda: series_parallel(2),
    "series-parallel 3": lambda: series_parallel(3),
    "DenseNet": densenet,
    "DARTS 1": lambda: darts(1),
    "DARTS 2": lambda: darts(2),
    "NASNet": nasnet,
    "RandWire 1": lambda: randwire(1),
    "RandWire 2": lambda: randwire(2),
    "transformer": transformer,
    "hourglass": hourglass,
    "U-Net": unet,
    "U-Net++": unet_plus_plus,
    "HRNet": hrnet,
    "BiFPN": bifpn,
    "detector": detector,
    "random, near 8": lambda: random_dag(1, 8),
    "random, near 12": lambda: random_dag(2, 12),
    "random, near 16": lambda: random_dag(3, 16),
    "random, near 32": lambda: random_dag(4, 32),
}
