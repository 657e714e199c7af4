"""The walk over the nodes of an ONNX graph, in order.

A node whose operands are all constant is evaluated; every other goes to its importer. What is not supported is collected. Behind a refused
node the walk goes on with the shapes that ONNX's shape inference knows, so that later nodes are checked in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import onnx
import onnx.defs
from onnx import TensorProto, numpy_helper

from arenite.errors import ModelFileError, Unsupported
from arenite.frontend.folding import NOT_FOLDED, FoldingError, fold, keep_annotation
from arenite.frontend.importers import IMPORTERS
from arenite.frontend.importers.feature import keep_text_labels, text_labels
from arenite.frontend.model_file import OF_ANY_OPSET
from arenite.frontend.node_import import ContradictionError, NodeImport, Refused
from arenite.frontend.onnx_graph import attribute_value, element_type, live_nodes, normal_domain, reads, static_shape
from arenite.frontend.own_importers import importer_of, wrong_version
from arenite.frontend.quantized_movement import is_quantized, move_floats
from arenite.frontend.remedies import remedy
from arenite.frontend.values import UNKNOWN, Constant, Operand, TensorList, Unknown, Value
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.own_operators import own_operator


class Walk:
    """Over the nodes of a graph, in order; a child walks over a body that becomes a graph of its own."""

    def __init__(self, model: onnx.ModelProto, file: str, graph: Graph, control_flow: Mapping[str, ControlFlow]) -> None:
        self.model, self.file, self.graph, self.control_flow = model, file, graph, control_flow
        self.opsets = {normal_domain(entry.domain): entry.version for entry in model.opset_import}
        self.values: MutableMapping[str, Operand] = {}
        self.suffix = ""
        """Behind the names of nodes and tensors: which iteration of a loop they belong to."""
        self.parent: Walk | None = None
        self.captures: dict[str, str] = {}
        """Of a body: tensors of the parent's graph, and the inputs of this one that they are."""
        self.problems: list[Unsupported] = []
        self.used: frozenset[str] = frozenset()
        known = (*model.graph.value_info, *model.graph.input, *model.graph.output)
        self.inferred = {info.name: shape for info in known if (shape := static_shape(info)) is not None}
        self.types = {info.name: info.type.tensor_type.elem_type for info in known}
        self.constants(model.graph.initializer)
        for sparse in model.graph.sparse_initializer:
            self.values[sparse.values.name] = UNKNOWN
            self.problems.append(Unsupported(sparse.values.name, "sparse initializer", "weights in a sparse format", "store them densely"))

    # Bodies of control flow

    def child(self, name: str) -> Walk:
        """For a body that becomes a graph of its own. It shares the list of problems."""
        child = copy(self)
        child.graph, child.values, child.captures, child.parent = Graph(name), {}, {}, self
        return child

    def lookup(self, name: str) -> Operand:
        """A value of this graph, or of one around it. Raises KeyError where there is none."""
        if name in self.values or self.parent is None:
            return self.values[name]
        value = self.parent.lookup(name)
        self.values[name] = self.captured_value(value) if isinstance(value, str) else value
        return self.values[name]

    def captured_value(self, outer: str) -> str:
        """A tensor of the parent's graph as one of this graph. What is quantized comes in as float, and is quantized again."""
        assert self.parent is not None
        tensor = self.parent.graph.tensors[outer]
        if tensor.data is not None:
            return self.graph.add_constant(tensor.name, tensor.data, tensor.quantization).name
        if not is_quantized(tensor):
            return self.captured(outer)
        plain = self.parent.graph.add(Tensor(f"{outer}/float", tensor.shape, DType.FLOAT32)).name
        self.parent.graph.nodes.append(Node("Dequantize", outer, (outer,), (plain,)))
        inside = self.captured(plain)
        again = self.graph.add(Tensor(outer, tensor.shape, DType.INT8, None, tensor.quantization)).name
        self.graph.nodes.append(Node("Quantize", outer, (inside,), (again,)))
        return again

    def captured(self, outer: str) -> str:
        """The input of this graph that a tensor of the parent's is."""
        assert self.parent is not None
        if outer not in self.captures:
            self.captures[outer] = self.graph.add(self.parent.graph.tensors[outer]).name
            self.graph.inputs.append(self.captures[outer])
        return self.captures[outer]

    # Constants

    def constants(self, initializers: Iterable[onnx.TensorProto]) -> None:
        for tensor in initializers:
            try:
                array = numpy_helper.to_array(tensor)
            except Exception as error:  # protobuf, numpy and onnx raise all kinds here
                raise ModelFileError(f"{self.file}: initializer {tensor.name} {list(tensor.dims)} cannot be read: {error}") from None
            self.values[tensor.name] = Constant(tensor.name, array)

    # Nodes

    def nodes(self, nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]) -> None:
        """Import those nodes, in order, that the outputs depend on."""
        live = live_nodes(nodes, outputs)
        before, self.used = self.used, frozenset(outputs) | {name for node in live for name in reads(node)}
        for node in live:
            self.node(node)
        self.used = before

    def node(self, node: onnx.NodeProto) -> None:
        domain = normal_domain(node.domain)
        operator = f"{domain}.{node.op_type}" if domain else node.op_type
        name = node.name or next((o for o in node.output if o), operator)
        operands = tuple(self.operand(name, operator, i) if i else None for i in node.input)
        try:
            results = self.results(node, name, operator, domain, operands)
        except Refused:
            self.unknown(node, operands)
            return
        for output, value in zip(node.output, results, strict=False):
            if output:
                self.values[output] = value

    def operand(self, node: str, operator: str, name: str) -> Operand:
        try:
            return self.lookup(name)
        except KeyError:
            raise ModelFileError(
                f"{self.file}: node {node} ({operator}) reads {name}, which no node, input or initializer defines"
            ) from None

    def results(
        self, node: onnx.NodeProto, name: str, operator: str, domain: str, operands: tuple[Operand | None, ...]
    ) -> Sequence[Operand]:
        refusal = self.known_operator(node, domain)
        if refusal:
            self.problems.append(Unsupported(name, operator, *refusal))
            raise Refused
        known = [value for value in operands if isinstance(value, Constant | None)]
        constant = len(known) == len(operands)
        first = operands[0] if operands else None
        if not domain and node.op_type in self.control_flow:
            values = [value for value in operands if not isinstance(value, Unknown | TensorList)]
            if any(isinstance(value, TensorList) for value in operands):
                self.problems.append(Unsupported(name, operator, "it reads a sequence", "use tensors, one for each element"))
            if len(values) < len(operands):
                raise Refused
            return self.control_flow[node.op_type](self, node, name, values)
        if node.op_type in ("Shape", "Size") and isinstance(first, str):
            return [self.measure(node, first)]
        if node.op_type in ("Shape", "Size") and isinstance(first, Unknown):
            raise Refused  # of a refused node's result
        own = own_operator(domain, node.op_type) is not None
        if constant and not own and node.op_type not in (*NOT_FOLDED, "Constant", "QuantizeLinear", "DequantizeLinear"):
            return self.folded(node, name, operator, known)
        if importer_of(node.op_type, domain) is None:
            self.problems.append(Unsupported(name, operator, "the operator is not supported", remedy(node.op_type, domain)))
            raise Refused
        if any(isinstance(value, Unknown) for value in operands):
            raise Refused
        return self.imported(node, name, operator, operands)

    def known_operator(self, node: onnx.NodeProto, domain: str) -> tuple[str, str] | None:
        """Problem and remedy of an operator that the standard, as the file uses it, does not have."""
        own = own_operator(domain, node.op_type)
        if own is not None:
            return wrong_version(own, self.opsets.get(domain, 1))
        if domain and f"{domain}.{node.op_type}" in IMPORTERS:
            return None
        if domain:
            return "operators of this domain are not supported", remedy(node.op_type, domain)
        opset = self.opsets.get("", 1)
        if node.op_type in OF_ANY_OPSET:
            return None
        if not onnx.defs.has(node.op_type):
            return "ONNX has no such operator", remedy(node.op_type, domain)
        try:
            onnx.defs.get_schema(node.op_type, opset)
        except onnx.defs.SchemaError:
            if node.op_type not in IMPORTERS:  # a newer opset would not help
                return "the operator is not supported", remedy(node.op_type, domain)
            first = min(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == node.op_type and s.domain == "")
            return f"opset {opset} does not have it (it came with opset {first})", f"export with opset {first} or later"
        return None

    def measure(self, node: onnx.NodeProto, x: str) -> Constant:
        """Shape or Size of an activation: known, because every shape is."""
        shape = self.graph.tensors[x].shape
        if node.op_type == "Size":
            return Constant(node.output[0], np.asarray(int(np.prod(shape)), np.int64))
        attributes = {a.name: a.i for a in node.attribute}
        return Constant(node.output[0], np.asarray(shape[attributes.get("start", 0) : attributes.get("end", len(shape))], np.int64))

    def folded(self, node: onnx.NodeProto, name: str, operator: str, operands: Sequence[Constant | None]) -> Sequence[Value]:
        try:
            results = fold(node, operands, self.opsets, min(self.model.ir_version, onnx.IR_VERSION))
        except FoldingError as error:
            raise ContradictionError(
                f"{self.file}: node {name} ({operator}) has constant operands but cannot be evaluated: {error}"
            ) from None
        named = iter(results)
        source = operands[0] if operands else None
        return [keep_annotation(node, source, next(named)) if output else Constant("", np.zeros(0)) for output in node.output]

    def imported(self, node: onnx.NodeProto, name: str, operator: str, operands: tuple[Operand | None, ...]) -> Sequence[Operand]:
        at = len(self.graph.nodes)
        domain = normal_domain(node.domain)
        importer = importer_of(node.op_type, domain)
        assert importer is not None
        try:
            attributes = {a.name: attribute_value(a) for a in node.attribute}
        except Exception as error:  # tensors in attributes fail in as many ways as initializers
            raise ModelFileError(f"{self.file}: an attribute of node {name} ({operator}) cannot be read: {error}") from None
        call = NodeImport(
            self.file,
            self.graph,
            name + self.suffix,
            operator,
            self.opsets.get("" if own_operator(domain, node.op_type) is None else domain, 1),
            operands,
            attributes,
            tuple(output + self.suffix if output else "" for output in node.output),
            self.used,
            tuple(self.types.get(i, TensorProto.UNDEFINED) for i in node.input),
        )
        try:
            quantization = move_floats(call)
            texts = text_labels(call)
            values = importer.convert(call)
            if call.problems:
                raise Refused
            if texts:
                keep_text_labels(call, values, texts)
        except Refused:
            del self.graph.nodes[at:]
            self.problems += call.problems
            raise
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise ContradictionError(f"{self.file}: node {name} ({operator}) is inconsistent: {type(error).__name__}: {error}") from error
        if quantization is not None:
            values = [self.quantized(call, value, quantization) for value in values]
        return [
            value if isinstance(value, TensorList) else self.named(at, value, output)
            for value, output in zip(values, call.outputs, strict=False)
        ]

    def quantized(self, call: NodeImport, value: Value | TensorList, quantization: Quantization) -> Value:
        """A result of what moves floats for int8 elements; indices stay as they are."""
        assert isinstance(value, str)
        if self.graph.tensors[value].dtype is not DType.FLOAT32:
            return value
        return call.emit("Quantize", [value], dtype=DType.INT8, quantization=quantization)

    def named(self, at: int, value: Value, output: str) -> Value:
        """Give the tensor that a node just wrote the name of the ONNX output."""
        if not isinstance(value, str) or not output or output in self.graph.tensors:
            return value
        if any(value in node.outputs for node in self.graph.nodes[at:]):
            rename(self.graph, value, output, at)
            return output
        return value

    def unknown(self, node: onnx.NodeProto, operands: Iterable[Operand | None]) -> None:
        """Stand-ins for the outputs of a refused node, of the shape that ONNX infers.

        Only for what is computed at run time: taken for that, a constant would be refused as weights of the next node.
        """
        computed = any(isinstance(value, str) for value in operands)
        for output in node.output:
            if not output:
                continue
            self.values[output] = UNKNOWN
            shape = self.inferred.get(output)
            if (
                computed
                and shape is not None
                and 0 not in shape
                and (dtype := element_type(self.types.get(output, TensorProto.UNDEFINED))) is not None
                and output not in self.graph.tensors
            ):
                self.graph.tensors[output] = Tensor(output, shape, dtype)
                self.values[output] = output


ControlFlow = Callable[[Walk, onnx.NodeProto, str, Sequence[Value | None]], Sequence[Value]]
"""walk, node, its name, operands → outputs: how a node that holds graphs is imported."""


def rename(graph: Graph, old: str, new: str, at: int) -> None:
    """Rename a tensor in the nodes from index `at` on."""
    graph.tensors[new] = replace(graph.tensors.pop(old), name=new)
    if old in graph.labels:
        graph.labels[new] = graph.labels.pop(old)
    for i in range(at, len(graph.nodes)):
        node = graph.nodes[i]
        if old in node.inputs or old in node.outputs:
            graph.nodes[i] = replace(
                node,
                inputs=tuple(new if name == old else name for name in node.inputs),
                outputs=tuple(new if name == old else name for name in node.outputs),
            )
    graph.outputs = [new if name == old else name for name in graph.outputs]
