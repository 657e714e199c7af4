"""One node of the typed form, run three ways: the NumPy kernel, the portable C kernel, and onnxruntime.

Records, shapes and scratch come from the operator's declaration, as in the converter.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arenite.emit.kernels import kernel_function
from arenite.graph import OPERATORS, DType, Graph, Node, Tensor
from arenite.graph.onnx_export import evaluate
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import OPERATOR_BY_NAME, Record, encode
from kernels.cases import Array
from kernels.portable_library import GUARD, PortableLibrary


@dataclass
class NodeCall:
    op: str
    variant: str
    inputs: list[Any]
    """Arrays; None where an optional one is absent."""
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def tensors(self) -> list[Tensor | None]:
        return [None if x is None else Tensor(f"x{i}", x.shape, DType.of(x)) for i, x in enumerate(self.inputs)]

    @property
    def results(self) -> list[Tensor]:
        outputs = OPERATORS[self.op].outputs(self.tensors, self.attributes)
        return [Tensor(f"y{i}", tuple(shape), dtype) for i, (shape, dtype) in enumerate(outputs)]

    @property
    def node(self) -> Node:
        names = tuple(None if tensor is None else tensor.name for tensor in self.tensors)
        return Node(self.op, "node", names, tuple(t.name for t in self.results), {**self.attributes, "variant": self.variant})

    @property
    def record(self) -> dict[str, Any]:
        form = OPERATORS[self.op].form(self.variant)
        assert form.record is not None
        return dict(form.record(self.node, self.tensors, self.results))


def run_numpy(call: NodeCall) -> list[Array]:
    outputs = [np.full(t.shape, 0x33, t.dtype.numpy) for t in call.results]
    record = {name: tuple(v) if isinstance(v, tuple) else v for name, v in call.record.items()}
    KERNELS[call.op, call.variant](Record(**record), *[None if x is None else x.copy() for x in call.inputs], *outputs)
    return outputs


def run_c(portable: PortableLibrary, call: NodeCall, in_place: bool = False) -> list[Array]:
    """Outputs and scratch memory in buffers of their own, with guards; the first output in the first input's bytes if `in_place`."""
    buffers = [np.full(t.bytes + 2 * GUARD, 0x5A, np.uint8) for t in call.results]
    outputs = [b[GUARD:-GUARD].view(t.dtype.numpy).reshape(t.shape) for b, t in zip(buffers, call.results, strict=True)]
    inputs = [None if x is None else np.ascontiguousarray(x).copy() for x in call.inputs]
    if in_place:
        outputs[0].reshape(-1).view(np.uint8)[: inputs[0].nbytes] = inputs[0].reshape(-1).view(np.uint8)
        inputs[0] = outputs[0]
    needed = OPERATORS[call.op].scratch(call.node, call.tensors, call.results)
    scratch = np.full(needed + 2 * GUARD, 0x5A, np.uint8)
    arrays = [*inputs, *outputs, *([scratch[GUARD:]] if needed else [])]
    words = encode(OPERATOR_BY_NAME[call.op], call.variant, call.record)
    function = portable.function(kernel_function(call.op, call.variant))
    function(*(ctypes.c_void_p(None if a is None else a.ctypes.data) for a in (words, *arrays)))
    for buffer in (*buffers, scratch):
        assert (buffer[:GUARD] == 0x5A).all() and (buffer[-GUARD:] == 0x5A).all(), f"{call.op} wrote outside its output: {call}"
    return outputs


def run_onnxruntime(call: NodeCall) -> list[Array]:
    graph = Graph("node")
    for tensor in (*call.tensors, *call.results):
        if tensor is not None:
            graph.add(tensor)
    graph.inputs = [tensor.name for tensor in call.tensors if tensor is not None]
    graph.outputs = [tensor.name for tensor in call.results]
    graph.nodes = [call.node]
    feeds = {tensor.name: x for tensor, x in zip(call.tensors, call.inputs, strict=True) if tensor is not None}
    return list(evaluate(graph, feeds).values())


def assert_close(got: list[Array], want: list[Array], call: NodeCall) -> None:
    """Integers equal, floats within docs/numerics.md §11."""
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype, call
        if a.dtype != np.float32:
            np.testing.assert_array_equal(a, b, err_msg=str(call))
            continue
        finite = np.isfinite(b)
        np.testing.assert_array_equal(np.where(finite, 0, a), np.where(finite, 0, b), err_msg=str(call))
        atol = 1e-5 * np.abs(b[finite]).max(initial=0) + 1e-6
        np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=atol, err_msg=str(call))
