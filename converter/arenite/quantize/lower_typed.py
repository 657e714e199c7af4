"""Nodes that are not quantized inside an int8 model: their typed form, with Dequantize and Quantize at the borders.

A float32 activation then has up to two versions: int8 under its own name, float32 as NAME/float. Tensors of other types have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from arenite.graph import DType, Graph, Node, Tensor
from arenite.graph.operators.recurrent import cell_of
from arenite.quantize.int16_choice import Int16Choice
from arenite.quantize.lower_recurrent import int16_obstacle
from arenite.quantize.lowering import Lowering
from arenite.quantize.multipliers import quantize_steps, scale_of, step_multiplier, zero_point_of
from arenite.quantize.ranges import Range
from arenite.quantize.to_int16 import Int16Layers
from arenite.quantize.to_typed import Typed


@dataclass
class TypedPart:
    """Appends typed nodes to the int8 graph that `lowering` builds."""

    lowering: Lowering
    typed: Typed
    int16: Int16Layers
    _names: dict[str, str] = field(default_factory=dict)
    """Of the versions that are not int8, by the name in the float graph."""

    @classmethod
    def of(cls, lowering: Lowering, int16: Int16Choice, ranges: Mapping[str, Range]) -> TypedPart:
        """`int16`: those of the layers that have 16-bit activations where they can; `ranges` as Int16Layers has them."""
        known = {name: name for name, scale in lowering.steps.items() if scale is not None and scale.is_per_tensor}
        part = cls(lowering, Typed.of(lowering.source), Int16Layers(lowering.source, lowering.target, int16, ranges, known))
        for name in lowering.source.inputs:
            if name not in lowering.quantization and name not in lowering.steps:
                part._result(name)
        return part

    def lower(self, node: Node) -> None:
        """Raises QuantizationError where `node` has no typed form."""
        target = self.lowering.target
        version = self.int16.lower(node, self._operand)
        if version is not None:
            real = self._result(node.output)
            target.nodes.append(Node("Dequantize", node.name, (version,), (real,), {"variant": "int16_steps"}, node.origins))
            self._quantize_results(node)
            return
        if node.output in self.int16.choice.layers and cell_of(node.op) is not None:
            self.lowering.note(node, f"float32, not 16 bits: {int16_obstacle(self.lowering.source, node)}")
        start = len(self.typed.target.nodes)
        self.typed.lower(node)
        for new in self.typed.target.nodes[start:]:
            inputs = tuple(None if name is None else self._operand(name) for name in new.inputs)
            target.nodes.append(replace(new, inputs=inputs, outputs=tuple(self._result(name) for name in new.outputs)))
        self._quantize_results(node)

    def _quantize_results(self, node: Node) -> None:
        for name in node.outputs:
            if name in self.lowering.quantization:
                quantize = Node("Quantize", node.name, (self._names[name],), (name,), {"variant": "int8"}, node.origins)
                self.lowering.target.nodes.append(quantize)

    def _operand(self, name: str) -> str:
        tensor = self.typed.target.tensors[name]
        if tensor.data is not None:
            return self.lowering.constant(name, tensor.data)
        if name not in self._names and name not in self.lowering.quantization and name not in self.lowering.steps:
            self._names[name] = name  # integers that an int8 node computed
        if name not in self._names:
            inner = self._result(name)
            variant = "int16_steps" if name in self.lowering.steps else "int8"
            self.lowering.target.nodes.append(Node("Dequantize", name, (name,), (inner,), {"variant": variant}))
        return self._names[name]

    def move_steps(self, node: Node) -> None:
        """Movement of int16 tensors, which all have one scale; or, where only one side is int16, the conversion of the other."""
        lowering = self.lowering
        steps, target = lowering.steps, lowering.target
        if node.output not in steps:
            y = lowering.quantization[node.output]
            multiplier, shift = step_multiplier(scale_of(lowering.scale_of_steps(node.input)) / scale_of(y))
            numbers = {"multiplier": multiplier, "shift": shift, "zero_point": zero_point_of(y)}
            target.nodes.append(
                Node("Requantize", node.name, (node.input,), (node.output,), {**numbers, "variant": "int16_steps"}, node.origins)
            )
            return
        if node.input not in steps and node.input in self.int16.versions and self._is_multiplied(node):
            self._alias(node)
            return
        if len(node.inputs) == 1 and node.input not in steps and not lowering.is_constant(node.input):
            variant = {"variant": "int32_steps" if target.tensors[node.output].dtype is DType.INT32 else "int16_steps"}
            target.nodes.append(Node("Quantize", node.name, (self._operand(node.input),), (node.output,), variant, node.origins))
            return
        inputs = tuple(self._steps_operand(name, node.output) for name in node.inputs)
        target.nodes.append(replace(node, inputs=inputs))

    def _is_multiplied(self, node: Node) -> bool:
        """Whether the result is what recurrent layers multiply with weights, for which any scale will do, and no state."""
        return all(reader.input == node.output for reader in self.lowering.source.consumers()[node.output])

    def _alias(self, node: Node) -> None:
        """What an int16 layer has made is int16 already: whoever reads the copy takes its scale."""
        version = self.int16.versions[node.input]
        chosen, target = self.lowering.target.tensors[version].quantization, self.lowering.target
        self.lowering.steps[node.output] = chosen
        target.tensors[node.output] = replace(target.tensors[node.output], dtype=DType.INT16, quantization=chosen)
        target.nodes.append(replace(node, inputs=(version,)))

    def _steps_operand(self, name: str | None, output: str) -> str | None:
        data = None if name is None else self.lowering.source.tensors[name].data
        if data is None:
            return name
        chosen = self.lowering.scale_of_steps(output)
        return self.lowering.constant(str(name), quantize_steps(data, chosen), chosen)

    def _result(self, name: str) -> str:
        tensor, target = self.typed.target.tensors[name], self.lowering.target
        if name in self.lowering.quantization or name in self.lowering.steps:
            self._names[name] = target.add(Tensor(f"{name}/float", tensor.shape, DType.FLOAT32)).name
        elif name in self.lowering.source.tensors:
            target.tensors[name] = tensor
            self._names[name] = name
        else:
            self._names[name] = target.add(tensor).name
        return self._names[name]


def without_detours(graph: Graph) -> Graph:
    """Where a tensor is quantized only to be dequantized again, as at float32 ports of float layers, the float values go straight on."""
    graph = graph.copy()
    for name in [node.output for node in graph.nodes if node.op == "Dequantize"]:
        producers = graph.producers()  # renaming makes other nodes
        node = producers[name]
        before = producers.get(node.input)
        if before is None or before.op != "Quantize" or before.attributes.get("variant") != node.attributes.get("variant"):
            continue
        if node.output not in graph.outputs:
            graph.nodes.remove(node)
            graph.replace_uses(node.output, before.input)
        elif before.input in producers and before.input not in graph.outputs:
            _rename_result(graph, before.input, node.output, node)
    graph.prune()
    return graph


def _rename_result(graph: Graph, old: str, new: str, writer: Node) -> None:
    """The tensor `old` takes the name `new`, which `writer`, that goes, had."""
    graph.nodes = [node for node in graph.nodes if node is not writer]
    graph.rename_value(old, new)
