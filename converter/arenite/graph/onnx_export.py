"""The float IR as an ONNX model, and its evaluation with onnxruntime: the reference that passes, calibration and tests use.

Every IR tensor keeps its name, so that any intermediate can be asked for. The export avoids what runtimes get wrong: padding
of pools, ceil_mode and BatchNormalization are written out as Pad, unpadded pools and plain arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from arenite.graph.expression import Expression
from arenite.graph.graph import Graph
from arenite.graph.node import Node
from arenite.graph.onnx_classical_export import EXPORTERS as CLASSICAL
from arenite.graph.onnx_classical_export import ML, ML_VERSION
from arenite.graph.onnx_control_export import EXPORTERS as CONTROL
from arenite.graph.onnx_control_export import read_within
from arenite.graph.onnx_integer_export import EXPORTERS as INTEGER
from arenite.graph.onnx_logic_export import EXPORTERS as LOGIC
from arenite.graph.onnx_signal_export import EXPORTERS as SIGNAL
from arenite.graph.onnx_spatial_export import EXPORTERS as SPATIAL
from arenite.graph.onnx_typed_export import EXPORTERS as TYPED
from arenite.graph.onnx_window_export import EXPORTERS as WINDOW
from arenite.graph.operators.declaration import UNBOUNDED
from arenite.graph.tensor import Quantization, Tensor

OPSET = 21
IR_VERSION = 10

Array = NDArray[np.generic]


def to_onnx(graph: Graph, outputs: Sequence[str] | None = None, *, fake_quantize: bool = False) -> onnx.ModelProto:
    """Export a float graph (opset 21, onnx IR version 10).

    `outputs`: tensors to give instead of the graph's own outputs; intermediates and constants too. With `fake_quantize` every
    annotated activation passes a QuantizeLinear/DequantizeLinear pair, otherwise annotations are ignored. Constants are written as
    they are: an annotated one already holds scale · (q − zero_point). Raises ValueError for an operator of the int8 form.
    """
    wanted = list(graph.outputs if outputs is None else outputs)
    graph = graph.copy()
    graph.outputs = list(dict.fromkeys(wanted))
    graph.prune()
    export = _Export(graph, fake_quantize)
    for name in graph.inputs:
        export.quantize(name, graph.tensors[name])
    for node in graph.nodes:
        export.node(node)
    needed = {name for node in export.nodes for name in node.input} | read_within(export.nodes) | set(wanted)
    constants = [
        numpy_helper.from_array(np.asarray(tensor.data, order="C"), name)
        for name, tensor in graph.tensors.items()
        if tensor.data is not None and name in needed and name not in export.constants
    ]
    own = [numpy_helper.from_array(np.asarray(data, order="C"), name) for name, data in export.constants.items()]
    model = helper.make_model(
        helper.make_graph(
            export.nodes,
            graph.name or "graph",
            [_value(export.raw.get(name, name), graph.tensors[name]) for name in graph.inputs],
            [_value(name, graph.tensors[name]) for name in wanted],
            constants + own,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_VERSION)],
        producer_name="arenite",
        ir_version=IR_VERSION,
    )
    return onnx.ModelProto.FromString(model.SerializeToString())


class Evaluator:
    """A float graph, ready to be run many times with onnxruntime on one CPU thread, without its graph optimizations.

    States persist from call to call, from 0 on; `reset()` sets them to 0 again.
    """

    def __init__(self, graph: Graph, outputs: Sequence[str] | None = None, *, fake_quantize: bool = False) -> None:
        self.graph = graph
        self.outputs = list(dict.fromkeys(graph.outputs if outputs is None else outputs))
        fixed = {name for name in self.outputs if graph.tensors[name].is_constant}
        self._constants = {name: graph.tensors[name].data for name in fixed}
        self._computed = [name for name in self.outputs if name not in fixed]
        self._computed += [state.output for state in graph.states if state.output not in self.outputs]
        self.reset()
        self._session: onnxruntime.InferenceSession | None = None
        if self._computed:
            model = to_onnx(graph, self._computed, fake_quantize=fake_quantize)
            self._feed_names = dict(zip(graph.inputs, (i.name for i in model.graph.input), strict=True))
            self._session = onnxruntime.InferenceSession(model.SerializeToString(), _options(), providers=["CPUExecutionProvider"])

    def reset(self) -> None:
        tensors = self.graph.tensors
        self._states: dict[str, Array] = {
            state.input: np.zeros(tensors[state.input].shape, tensors[state.input].dtype.numpy) for state in self.graph.states
        }

    def __call__(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs, by name, in the order asked for. `feeds` has an array of the tensor's shape for every graph input that is no
        state; raises ValueError where one is missing or does not fit."""
        feeds = {**self._states, **feeds}
        values: dict[str, Array] = {name: data for name, data in self._constants.items() if data is not None}
        if self._session is not None:
            arrays = {}
            for name in self.graph.inputs:
                tensor = self.graph.tensors[name]
                if name not in feeds:
                    raise ValueError(f"{self.graph.name}: no value for the input {name}")
                array = np.asarray(feeds[name])
                if array.shape != tensor.shape:
                    raise ValueError(f"{self.graph.name}: input {name} has the shape {tensor.shape}, the value {array.shape}")
                arrays[self._feed_names[name]] = np.asarray(array, tensor.dtype.numpy, order="C")
            values.update(zip(self._computed, self._session.run(self._computed, arrays), strict=True))
            self._states = {state.input: values[state.output] for state in self.graph.states}
        return {name: values[name] for name in self.outputs}


def evaluate(
    graph: Graph, feeds: Mapping[str, Array], outputs: Sequence[str] | None = None, *, fake_quantize: bool = False
) -> dict[str, Array]:
    """Run a float graph once: see Evaluator, which saves building the session again for further inputs."""
    return Evaluator(graph, outputs, fake_quantize=fake_quantize)(feeds)


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return options


def _value(name: str, tensor: Tensor) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype.numpy), tensor.shape)


def can_evaluate(node: Node) -> bool:
    """Whether `evaluate` knows the operator."""
    return node.op in _EXPORTERS


@dataclass
class _Export:
    graph: Graph
    fake_quantize: bool
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    """The name under which an annotated tensor is computed before it is quantized."""

    prefix: str = ""
    """Of names that are made up here; a body has another than the graph around it."""

    def fresh(self, stem: str) -> str:
        return f"{self.prefix}{stem}/{len(self.nodes)}.{len(self.constants)}"

    def nested(self, body: Graph) -> _Export:
        """For a body, which becomes a graph inside the node that is exported now."""
        return _Export(body, self.fake_quantize, prefix=f"{self.fresh('body')}/")

    def value(self, name: str, tensor: Tensor) -> onnx.ValueInfoProto:
        return _value(self.raw.get(name, name), tensor)

    def constant(self, data: Any, dtype: Any = np.float32) -> str:
        name = self.fresh("constant")
        self.constants[name] = np.asarray(data, dtype)
        return name

    def emit(self, op: str, inputs: Sequence[str], output: str | None = None, **attributes: Any) -> str:
        """Append an ONNX node; its output is `output`, or a fresh name. Returns the name."""
        name = output or self.fresh(op)
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def emit_all(self, op: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """The same for a node of `count` outputs."""
        name = self.fresh(op)
        names = [f"{name}.{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        return names

    def operand(self, node: Node, index: int) -> Tensor:
        return self.graph.tensor(node.inputs[index])

    def quantize(self, name: str, tensor: Tensor) -> None:
        """Quantize and dequantize a float activation that carries an annotation."""
        if not self.fake_quantize or tensor.quantization is None or tensor.dtype.value != "float32" or tensor.is_constant:
            return
        raw = self.raw[name] = f"{name}/float"
        q = tensor.quantization
        attributes = _axis(q)
        scale, zero_point = self.constant(q.scale), self.constant(q.zero_point, np.int8)
        stored = self.emit("QuantizeLinear", [raw, scale, zero_point], **attributes)
        self.emit("DequantizeLinear", [stored, scale, zero_point], name, **attributes)

    def data(self, node: Node, index: int) -> Array:
        tensor = self.graph.tensor(node.inputs[index])
        if tensor.data is None:
            raise ValueError(f"{node.name} ({node.op}): input {index}, {tensor.name}, must be constant")
        return tensor.data

    def node(self, node: Node) -> None:
        if node.op not in _EXPORTERS:
            raise ValueError(f"{node.name}: {node.op} is not an operator of the float form")
        result = _EXPORTERS[node.op](self, node)
        if not isinstance(result, str):
            for name, of in zip(result, node.outputs, strict=True):
                self.emit("Identity", [name], of)
            return
        low, high = node.attributes.get("clip", UNBOUNDED)
        if (low, high) != UNBOUNDED:
            result = self.emit("Clip", [result, self.constant(low), self.constant(high)])
        tensor = self.graph.tensors[node.output]
        at = len(self.nodes)
        self.quantize(node.output, tensor)
        pair = self.nodes[at:]
        del self.nodes[at:]
        self.emit("Identity", [result], self.raw.get(node.output, node.output))
        self.nodes += pair


def _names(node: Node) -> list[str]:
    return [name for name in node.inputs if name is not None]


def _fully_connected(export: _Export, node: Node) -> str:
    weight = export.constant(np.ascontiguousarray(export.data(node, 1).T))
    product = export.emit("MatMul", [node.input, weight])
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        return export.emit("Add", [product, node.inputs[2]])
    return product


def _batch_normalization(export: _Export, node: Node) -> str:
    scale, bias, mean, variance = (export.data(node, i).astype(np.float64) for i in range(1, 5))
    factor = scale / np.sqrt(variance + node.attributes["epsilon"])
    return export.emit("Add", [export.emit("Mul", [node.input, export.constant(factor)]), export.constant(bias - mean * factor)])


def _reduce_mean(export: _Export, node: Node) -> str:
    a = node.attributes
    if not a["axes"]:
        return export.emit("Identity", [node.input])
    return export.emit("ReduceMean", [node.input, export.constant(a["axes"], np.int64)], keepdims=int(a["keepdims"]))


def _pad(export: _Export, node: Node) -> str:
    a = node.attributes
    value = export.constant(a["value"], export.graph.tensors[node.input].dtype.numpy) if len(node.inputs) == 1 else _names(node)[1]
    return export.emit("Pad", [node.input, export.constant(a["pads"], np.int64), value])


def _slice(export: _Export, node: Node) -> str:
    a = node.attributes
    starts, steps = np.asarray(a["starts"], np.int64), np.asarray(a["steps"], np.int64)
    ends = starts + steps * np.asarray(a["sizes"], np.int64)
    # A negative end counts from the back; walking down through index 0 needs one that is clamped instead.
    ends = np.where((steps < 0) & (ends < 0), -(2**31), ends)
    axes = np.arange(len(starts), dtype=np.int64)
    return export.emit("Slice", [node.input, *(export.constant(v, np.int64) for v in (starts, ends, axes, steps))])


def _reshape(export: _Export, node: Node) -> str:
    return export.emit("Reshape", [node.input, export.constant(list(node.attributes["shape"]), np.int64)])


def _expand(export: _Export, node: Node) -> str:
    return export.emit("Expand", [node.input, export.constant(list(node.attributes["shape"]), np.int64)])


def _axis(q: Quantization) -> dict[str, Any]:
    return {} if q.axis is None else {"axis": q.axis}


def _quantize(export: _Export, node: Node) -> str:
    q = export.graph.tensors[node.output].quantization
    if q is None:
        raise ValueError(f"{node.name} (Quantize): {node.output} has no quantization")
    return export.emit("QuantizeLinear", [node.input, export.constant(q.scale), export.constant(q.zero_point, np.int8)], **_axis(q))


def _dequantize(export: _Export, node: Node) -> str:
    x = export.graph.tensors[node.input]
    q = x.quantization
    if q is None:
        raise ValueError(f"{node.name} (Dequantize): {node.input} has no quantization")
    scale, zero_point = export.constant(q.scale), export.constant(q.zero_point, x.dtype.numpy)
    return export.emit("DequantizeLinear", [node.input, scale, zero_point], **_axis(q))


def _elementwise(export: _Export, node: Node) -> str:
    return expression_nodes(export, node.attributes["expression"], node.input)


def expression_nodes(export: _Export, expression: Expression, x: str) -> str:
    """ONNX nodes for every step; Swish (opset 24) and Clip's bounds are written out."""
    values, depends = [x], [True]
    for step in expression.steps:
        operands = [values[o] if isinstance(o, int) else export.constant(o) for o in step.operands]
        depends.append(any(isinstance(o, int) and depends[o] for o in step.operands))
        if step.op == "Swish":
            gate = export.emit("Mul", [operands[0], export.constant(step.attributes.get("alpha", 1.0))])
            values.append(export.emit("Mul", [operands[0], export.emit("Sigmoid", [gate])]))
        elif step.op == "Clip":
            bounds = [export.constant(step.attributes[name]) for name in ("min", "max")]
            values.append(export.emit("Clip", [operands[0], *bounds]))
        else:
            values.append(export.emit(step.op, operands, **step.attributes))
    if depends[-1]:
        return values[-1]
    return export.emit("Expand", [values[-1], export.constant(export.graph.tensors[x].shape, np.int64)])


def _plain(op: str, **fixed: Any) -> Callable[[_Export, Node], str]:
    return lambda export, node: export.emit(op, _names(node), **fixed)


_EXPORTERS: dict[str, Callable[[_Export, Node], str | list[str]]] = {
    "FullyConnected": _fully_connected,
    "MatMul": _plain("MatMul"),
    "Add": _plain("Add"),
    "Sub": _plain("Sub"),
    "Mul": _plain("Mul"),
    "Div": _plain("Div"),
    "PRelu": _plain("PRelu"),
    "Softmax": _plain("Softmax", axis=-1),
    "Elementwise": _elementwise,
    "ReduceMean": _reduce_mean,
    "Pad": _pad,
    "Concat": lambda export, node: export.emit("Concat", _names(node), axis=node.attributes["axis"]),
    "Slice": _slice,
    "Transpose": lambda export, node: export.emit("Transpose", [node.input], perm=list(node.attributes["perm"])),
    "Reshape": _reshape,
    "Expand": _expand,
    "Quantize": _quantize,
    "Dequantize": _dequantize,
    "BatchNormalization": _batch_normalization,
    **LOGIC,
    **TYPED,
    **CONTROL,
    **SPATIAL,
    **WINDOW,
    **SIGNAL,
    **INTEGER,
    **CLASSICAL,
}
