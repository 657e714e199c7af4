"""What is gathered of one layer over the samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arenite_runtime import Model
from arenite_runtime.structure import Tensor
from numpy.typing import NDArray

from arenite.attribution.figures import INPUT, Values
from arenite.attribution.float_model import Alone, Continuation
from arenite.attribution.parts import Held, Part, real_values, run, stored
from arenite.graph import Graph, Node
from arenite.quantize.fidelity import decibels
from arenite.verify.metrics import top1

Array = NDArray[Any]

BINS = 4096
"""Of a histogram: some a step."""


@dataclass
class Noise:
    """Sums over the values that two executions have given: of squares, of squared differences, of products."""

    signal: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    other: float = 0.0

    def add(self, exact: Array, found: Array, *, centred: bool = False) -> None:
        """`centred`: without the mean of each."""
        a, b = np.asarray(exact, np.float64).ravel(), np.asarray(found, np.float64).ravel()
        if centred:
            a, b = a - a.mean(), b - b.mean()
        self.signal += float(a @ a)
        self.noise += float((a - b) @ (a - b))
        self.product += float(a @ b)
        self.other += float(b @ b)

    @classmethod
    def together(cls, noises: Sequence[Noise]) -> Noise:
        return cls(*(sum(getattr(each, name) for each in noises) for name in ("signal", "noise", "product", "other")))

    @property
    def db(self) -> float:
        return decibels(self.signal, self.noise)

    @property
    def cosine(self) -> float:
        size = float(np.sqrt(self.signal * self.other))
        return self.product / size if size > 0 else float(self.signal == self.other)


@dataclass
class Decisions:
    """Top-1 of the network's first output, with float and with an execution that is compared with it."""

    samples: int = 0
    changed: int = 0
    right: int = 0
    """Those that float has right, less those that the other has."""
    labelled: bool = False

    def add(self, exact: Array, found: Array, label: int | None) -> None:
        a, b = top1(exact), top1(found)
        self.samples += 1
        self.changed += a != b
        if label is not None:
            self.labelled = True
            self.right += (a == label) - (b == label)

    @property
    def share(self) -> float:
        return self.changed / max(self.samples, 1)

    @property
    def lost(self) -> float | None:
        return self.right / max(self.samples, 1) if self.labelled else None


@dataclass
class Study:
    """A layer: a node of the float graph, the tensor of the artifact that holds its result, and the nodes that compute it."""

    node: Node
    graph: Graph
    model: Model
    tensor: Tensor
    part: Part | None
    holding: Held
    float_layer: Alone | None
    continuation: Continuation | None
    judged: Mapping[str, bool]
    """Activations at which the error of the network's outputs is measured; True: without what all elements have in common."""
    along: Noise = field(default_factory=Noise)
    itself: Noise = field(default_factory=Noise)
    """At the layer's output, the layer alone."""
    rounding: Noise = field(default_factory=Noise)
    """At the layer's output, of rounding it to its steps and nothing else."""
    outputs: list[Noise] = field(default_factory=list)
    """At `judged`, the layer alone."""
    decisions: Decisions = field(default_factory=Decisions)
    seen: bool = False
    """The quantized network has had a value here."""
    low: float = float("inf")
    high: float = float("-inf")
    outside: int = 0
    total: int = 0
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BINS, np.int64))

    def follow(self, exact: Mapping[str, Array], quantized: Mapping[str, Array]) -> None:
        """A sample's values in the float and in the quantized network."""
        real = np.asarray(exact[self.node.output], np.float64)
        if self.tensor.name in quantized:
            self.seen = True
            self.along.add(real, real_values(self.tensor, quantized[self.tensor.name]))
        limits = self._limits()
        if limits is None or real.size == 0:
            return
        least, greatest, step = limits
        self.rounding.add(real, real_values(self.tensor, stored(self.tensor, real)))
        self.low, self.high = min(self.low, float(real.min())), max(self.high, float(real.max()))
        self.outside += int(np.count_nonzero((real < least - step) | (real > greatest + step)))
        self.total += real.size
        low, high = _edges(least, greatest)
        bins = np.clip(((real.ravel() - low) * (BINS / (high - low))).astype(np.int64), 0, BINS - 1)
        self.counts += np.bincount(bins, minlength=BINS)

    def isolate(self, exact: Mapping[str, Array], label: int | None) -> None:
        """The error that the layer's own kernels add on a sample, and what the float network from there on makes of it.

        The layer reads operands that are rounded; that is the error of those who have written them. What is its own is the difference to
        the float layer on the same rounded operands, which is added to its float result.
        """
        if self.node.op == INPUT:
            real = np.asarray(exact[self.node.output])
            self._carry_on(
                exact, {self.node.output: self._declared(self.tensor, real_values(self.tensor, stored(self.tensor, real)))}, label
            )
            return
        if self.part is None or self.float_layer is None:
            return
        tensors, names = self.model.tensors, self.holding.names
        values = {index: stored(tensors[index], np.asarray(exact[names[index]])) for index in self.part.operands}
        operands = {names[index]: self._declared(tensors[index], real_values(tensors[index], values[index])) for index in values}
        run(self.model, self.part, values)
        expected = self.float_layer({**exact, **operands})
        found = {name: exact[name] for name in self.node.outputs}
        for index in self.part.results:
            name = names[index]
            added = real_values(tensors[index], values[index]).reshape(expected[name].shape) - expected[name].astype(np.float64)
            found[name] = (exact[name].astype(np.float64) + added).astype(exact[name].dtype)
        self._carry_on(exact, found, label)

    def _carry_on(self, exact: Mapping[str, Array], found: Mapping[str, Array], label: int | None) -> None:
        """What the float network makes of the layer's results."""
        if self.continuation is None:
            return
        self.itself.add(exact[self.node.output], found[self.node.output])
        results = self.continuation(exact, found)
        self.outputs = self.outputs or [Noise() for _ in self.judged]
        for noise, (name, centred) in zip(self.outputs, self.judged.items(), strict=True):
            noise.add(exact[name], results[name], centred=centred)
        first = self.graph.output_ports[0]
        self.decisions.add(exact[first], results[first], label)

    def _declared(self, tensor: Tensor, values: Array) -> Array:
        """`values` of the artifact's tensor in the shape and type that the float graph gives it."""
        declared = self.graph.tensors[self.holding.names[tensor.index]]
        return values.reshape(declared.shape).astype(declared.dtype.numpy)

    @property
    def values(self) -> Values | None:
        limits = self._limits()
        if limits is None or self.total == 0:
            return None
        least, greatest, _ = limits
        return Values(self.low, self.high, least, greatest, self.outside / self.total, self.counts, _edges(least, greatest))

    def _limits(self) -> tuple[float, float, float] | None:
        """Real values of the least and the greatest integer, and a step; None where the tensor does not have one scale."""
        chosen = self.tensor.quantization
        if chosen is None or chosen.scale.size != 1:
            return None
        limits = np.iinfo(np.dtype(self.tensor.dtype).name)
        scale, zero_point = float(chosen.scale[0]), int(chosen.zero_point[0])
        return scale * (limits.min - zero_point), scale * (limits.max - zero_point), scale


def _edges(least: float, greatest: float) -> tuple[float, float]:
    """Of the histogram: what can be represented, and half as much again on either side."""
    beyond = (greatest - least) / 2
    return least - beyond, greatest + beyond
