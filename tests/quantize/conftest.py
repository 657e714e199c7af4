"""A builder for small float graphs, and execution of their int8 form by the NumPy engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.graph import OPERATORS, DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.plan import plan
from arenite_runtime import Interpreter, Model


class Net:
    """Appends nodes to a float graph; every method returns the name of the result."""

    def __init__(self, **inputs: tuple[int, ...]) -> None:
        self.graph = Graph("net")
        for name, shape in inputs.items():
            self.graph.tensors[name] = Tensor(name, shape, DType.FLOAT32)
            self.graph.inputs.append(name)

    def constant(self, data: Any, name: str = "constant", quantization: Quantization | None = None) -> str:
        return self.graph.add_constant(name, np.asarray(data, np.float32), quantization).name

    def annotate(self, name: str, scale: float, zero_point: int) -> str:
        tensor = self.graph.tensors[name]
        self.graph.tensors[name] = Tensor(name, tensor.shape, tensor.dtype, tensor.data, Quantization.per_tensor(scale, zero_point))
        return name

    def node(self, op: str, *inputs: str | None, output: str | None = None, **attributes: Any) -> str:
        tensors = [None if name is None else self.graph.tensors[name] for name in inputs]
        shape = OPERATORS[op].shape(tensors, attributes)
        output = self.graph.add(Tensor(output or op.lower(), shape, DType.FLOAT32)).name
        self.graph.nodes.append(Node(op, f"layer_{output}", inputs, (output,), attributes))
        return output

    def conv(self, x: str, weight: Any, bias: Any = None, **attributes: Any) -> str:
        defaults = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1, "clip": UNBOUNDED}
        operands = [x, self._weight(weight), None if bias is None else self.constant(bias, "bias")]
        return self.node("Conv", *operands, **{**defaults, **attributes})

    def depthwise(self, x: str, weight: Any, bias: Any = None, **attributes: Any) -> str:
        defaults = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "clip": UNBOUNDED}
        operands = [x, self._weight(weight), None if bias is None else self.constant(bias, "bias")]
        return self.node("DepthwiseConv", *operands, **{**defaults, **attributes})

    def dense(self, x: str, weight: Any, bias: Any = None, clip: tuple[float, float] = UNBOUNDED) -> str:
        operands = [x, self._weight(weight), None if bias is None else self.constant(bias, "bias")]
        return self.node("FullyConnected", *operands, clip=clip)

    def function(self, x: str, op: str, **attributes: Any) -> str:
        return self.node("Elementwise", x, expression=Expression.single(op, **attributes), output=op.lower())

    def pool(self, op: str, x: str, kernel: tuple[int, int], **attributes: Any) -> str:
        defaults: dict[str, Any] = {
            "kernel": kernel,
            "strides": kernel,
            "dilations": (1, 1),
            "pads": (0, 0, 0, 0),
            "overhang": (0, 0),
            "clip": UNBOUNDED,
        }
        if op == "AveragePool":
            defaults["count_include_pad"] = False
        return self.node(op, x, **{**defaults, **attributes})

    def done(self, *outputs: str) -> Graph:
        self.graph.outputs = list(outputs)
        return self.graph

    def _weight(self, weight: Any) -> str:
        """The name of a weight that is there already, or a new constant."""
        return weight if isinstance(weight, str) else self.constant(weight, "weight")


def _engine(graph: Graph) -> Interpreter:
    program = build_program(graph, plan(graph), name="net", calibrated=True)
    return Interpreter(Model.load(serialize(program)))


def _execute(graph: Graph, *inputs: np.ndarray) -> list[np.ndarray]:
    return _engine(graph).run(list(inputs))


@pytest.fixture
def net() -> type[Net]:
    return Net


@pytest.fixture
def execute() -> Any:
    """execute(int8 graph, *inputs) → outputs, through the planner, the flat model and the NumPy engine."""
    return _execute


@pytest.fixture
def engine() -> Any:
    """engine(int8 graph) → the NumPy engine with that model, for many runs."""
    return _engine


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real models and test data; tests that need it are skipped where it is absent."""
    root = Path(os.environ.get("ARENITE_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
    if not (root / "models.json").exists():
        pytest.skip(f"no real models in {root} (set ARENITE_DATA)")
    return root
