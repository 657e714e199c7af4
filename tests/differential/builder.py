"""A random ONNX model under construction: what its nodes may read, and where their numbers come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray
from onnx import helper, numpy_helper

MAX_ELEMENTS = 2048


@dataclass
class Builder:
    """A model under construction. `shapes` holds every value that a further node may read."""

    draw: DrawFn
    rng: np.random.Generator
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def constant(self, data: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(data), name))
        return name

    def weights(self, *shape: int, spread: bool = True) -> str:
        """Normal values; channels (the first axis) may differ by decades, and some may be dead."""
        data = self.rng.normal(0, 0.5, shape)
        if spread and shape:
            decades = self.draw(st.sampled_from([0.0, 0.5, 3.0]))
            data = data * 10.0 ** self.rng.uniform(-decades, decades, (shape[0],) + (1,) * (len(shape) - 1))
            if self.integer(0, 7) == 0:
                data[self.integer(0, shape[0] - 1)] = 0
        return self.constant(data.astype(np.float32))

    def emit(self, op: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> str:
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{op.lower()}_{len(self.nodes)}", **attributes))
        self.shapes[output] = shape
        return output


Grow = Callable[[Builder, str], bool]
"""Adds a node that reads a value; False where it does not fit."""
