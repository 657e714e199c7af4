"""Measures layers of many shapes on an emulated Cortex-M4: what a multiply-accumulate or an element takes, and which kernel was chosen.

    python models/benchmark/kernels.py [--optimize speed|balanced|size] [--output FILE]

One model holds every layer between an input and an output of its own. `--output` replaces the tables in docs/kernels.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from arenite.pipeline import ConvertOptions, convert
from arenite.profile import measure_profile
from arenite.targets.emulated import Form
from onnx import TensorProto, helper, numpy_helper

BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"


@dataclass(frozen=True)
class Shape:
    """A convolution of a square image, `same` padding where nothing else is said."""

    size: int
    depth: int
    filters: int
    kernel: tuple[int, int] = (3, 3)
    stride: int = 1
    dilation: int = 1
    group: int = 1
    pads: tuple[int, int, int, int] | None = None

    @property
    def name(self) -> str:
        text = f"{self.kernel[0]}×{self.kernel[1]}, {self.depth} → {self.filters}, {self.size}×{self.size}"
        for word, value in (("stride", self.stride), ("dilation", self.dilation), ("groups", self.group)):
            text += f", {word} {value}" if value > 1 else ""
        return text + (", pads " + " ".join(map(str, self.pads)) if self.pads is not None else "")

    @property
    def all_pads(self) -> tuple[int, int, int, int]:
        if self.pads is not None:
            return self.pads
        first = [(k - 1) * self.dilation // 2 for k in self.kernel]
        return first[0], first[1], (self.kernel[0] - 1) * self.dilation - first[0], (self.kernel[1] - 1) * self.dilation - first[1]


SHAPES = (
    Shape(32, 1, 8),
    Shape(32, 1, 16, (5, 5), 2),
    Shape(32, 3, 8),
    Shape(48, 3, 8, stride=2),
    Shape(48, 3, 16, stride=2),
    Shape(32, 3, 16, (5, 5)),
    Shape(32, 3, 32, (7, 7), 2),
    Shape(24, 4, 16),
    Shape(16, 5, 7),
    Shape(16, 6, 12),
    Shape(24, 8, 8),
    Shape(16, 16, 16),
    Shape(16, 16, 32, stride=2),
    Shape(16, 16, 16, dilation=2),
    Shape(16, 15, 15, dilation=2),
    Shape(16, 16, 16, pads=(0, 1, 2, 0)),
    Shape(12, 17, 19),
    Shape(12, 24, 24, (1, 5)),
    Shape(12, 24, 24, (5, 1)),
    Shape(8, 32, 32),
    Shape(8, 64, 64),
    Shape(24, 3, 8, (1, 1)),
    Shape(32, 8, 16, (1, 1)),
    Shape(24, 16, 8, (1, 1)),
    Shape(24, 16, 16, (1, 1)),
    Shape(16, 12, 36, (1, 1)),
    Shape(16, 17, 30, (1, 1)),
    Shape(16, 32, 32, (1, 1)),
    Shape(16, 32, 64, (1, 1), 2),
    Shape(8, 64, 64, (1, 1)),
    Shape(16, 12, 12, group=3),
    Shape(16, 16, 16, group=4),
    Shape(16, 32, 32, group=2),
    Shape(16, 32, 32, (1, 1), group=4),
    Shape(16, 18, 18, group=3),
)


@dataclass(frozen=True)
class Layer:
    """An operator without weights; `second`: the other operand of a binary one, which may be constant."""

    name: str
    op: str
    input: tuple[int, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    second: tuple[int, ...] | None = None
    constant: bool = False
    counted: str = "output"
    """What the cycles are divided by: elements of the output or of the input."""


PRECISIONS: Mapping[str, Mapping[str, Any]] = {
    "int8": {},
    "int4 weights": {"int4_layers": None},
    "int16x8": {"precision": "int16x8"},
    "int16": {"precision": "int16"},
    "float32": {"precision": "float32"},
}
"""Options of the conversion."""
IN_PRECISIONS = (
    Shape(32, 3, 8),
    Shape(16, 16, 16),
    Shape(16, 16, 32, stride=2),
    Shape(24, 16, 16, (1, 1)),
    Shape(16, 32, 32, (1, 1)),
    Shape(8, 64, 64, (1, 1)),
    Shape(16, 16, 16, group=16),
    Shape(16, 64, 64, (5, 5), group=64),
)
"""In every one of them; the last two are depthwise."""


KERNELS = {"GlobalAveragePool": "ReduceMean", "Sigmoid": "Lookup", "Transpose": "StridedCopy"}
"""What ONNX's operators become, where the name is another."""
IMAGE = (1, 16, 16, 16)
LAYERS = (
    Layer("Add, same shape", "Add", IMAGE, second=IMAGE),
    Layer("Add, one value a channel", "Add", IMAGE, second=(16, 1, 1), constant=True),
    Layer("Mul, same shape", "Mul", IMAGE, second=IMAGE),
    Layer("Mul, one value a channel", "Mul", IMAGE, second=(1, 16, 1, 1)),
    Layer("Mul, one value a pixel", "Mul", IMAGE, second=(1, 1, 16, 16)),
    Layer("MaxPool 2×2, 16 channels", "MaxPool", IMAGE, {"kernel_shape": [2, 2], "strides": [2, 2]}, counted="input"),
    Layer("MaxPool 3×3, 8 channels, stride 2", "MaxPool", (1, 8, 33, 33), {"kernel_shape": [3, 3], "strides": [2, 2]}, counted="input"),
    Layer("AveragePool 2×2, 16 channels", "AveragePool", IMAGE, {"kernel_shape": [2, 2], "strides": [2, 2]}, counted="input"),
    Layer("GlobalAveragePool, 64 channels", "GlobalAveragePool", (1, 64, 8, 8), counted="input"),
    Layer("Sigmoid", "Sigmoid", IMAGE),
    Layer("Softmax of 12", "Softmax", (1, 12), {"axis": -1}),
    Layer("Softmax of 64", "Softmax", (64, 64), {"axis": -1}),
    Layer("Transpose of a matrix", "Transpose", (64, 64), {"perm": [1, 0]}),
)


def layer_name(kind: str, index: int) -> str:
    return f"{kind}_{index}"


def model(shapes: Sequence[Shape], layers: Sequence[Layer]) -> onnx.ModelProto:
    rng = np.random.default_rng(11)
    nodes: list[onnx.NodeProto] = []
    inputs: list[onnx.ValueInfoProto] = []
    constants: list[onnx.TensorProto] = []

    def constant(name: str, *dims: int) -> str:
        constants.append(numpy_helper.from_array(rng.standard_normal(dims).astype(np.float32), name))
        return name

    def operand(name: str, *dims: int) -> str:
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        return name

    for index, shape in enumerate(shapes):
        name = layer_name("conv", index)
        x = operand(f"{name}_x", 1, shape.depth, shape.size, shape.size)
        weight = constant(f"{name}_w", shape.filters, shape.depth // shape.group, *shape.kernel)
        window = {"kernel_shape": shape.kernel, "strides": [shape.stride] * 2, "dilations": [shape.dilation] * 2}
        names = [x, weight, constant(f"{name}_b", shape.filters)]
        nodes.append(helper.make_node("Conv", names, [f"{name}_y"], name, group=shape.group, pads=shape.all_pads, **window))
    for index, layer in enumerate(layers):
        name = layer_name("layer", index)
        names = [operand(f"{name}_x", *layer.input)]
        if layer.second is not None:
            names.append((constant if layer.constant else operand)(f"{name}_z", *layer.second))
        nodes.append(helper.make_node(layer.op, names, [f"{name}_y"], name, **layer.attributes))
    outputs = [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None) for node in nodes]
    graph = helper.make_graph(nodes, "kernels", inputs, outputs, constants)
    made = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    onnx.checker.check_model(made)
    return made


def measure(shapes: Sequence[Shape], layers: Sequence[Layer], goal: str, folder: Path) -> str:
    """The tables of int8."""
    source = folder / "kernels.onnx"
    made = model(shapes, layers)
    onnx.save(made, source)
    convert(source, ConvertOptions(target="cortex-m4", optimize=goal, output=folder / "out", name="kernels"))
    profile = measure_profile(folder / "out", target="cortex-m4", form=Form.COMPILED, optimize="-O2")
    elements = {port.name: prod(d.dim_value for d in port.type.tensor_type.shape.dim) for port in (*made.graph.input, *made.graph.output)}
    measured = {(layer.name, layer.op): layer for layer in profile.layers}  # they are run in another order, and some have a copy beside
    lines = ["| kernel, channels, image | form | MACs | cycles | cycles/MAC |", "|---|---|---:|---:|---:|"]
    for index, shape in enumerate(shapes):
        found = measured[layer_name("conv", index), "Conv"]
        taken = found.cost.cycles or 0
        lines.append(f"| {shape.name} | {found.variant} | {found.macs:,} | {taken:,} | {taken / found.macs:.2f} |")
    lines += ["", "| layer | elements | cycles | cycles/element |", "|---|---:|---:|---:|"]
    for index, layer in enumerate(layers):
        name = layer_name("layer", index)
        count = elements[f"{name}_{'x' if layer.counted == 'input' else 'y'}"]
        taken = measured[name, KERNELS.get(layer.op, layer.op)].cost.cycles or 0
        lines.append(f"| {layer.name} | {count:,} {layer.counted} | {taken:,} | {taken / count:.2f} |")
    return "\n".join(lines) + "\n"


def in_precisions(shapes: Sequence[Shape], goal: str, folder: Path) -> str:
    """The table of cycles a multiply-accumulate in every precision."""
    source = folder / "precisions.onnx"
    onnx.save(model(shapes, ()), source)
    columns = []
    for number, options in enumerate(PRECISIONS.values()):
        output = folder / f"precision_{number}"
        convert(source, ConvertOptions(target="cortex-m4", optimize=goal, output=output, name="kernels", **options))
        profile = measure_profile(output, target="cortex-m4", form=Form.COMPILED, optimize="-O2")
        columns.append({layer.name: layer for layer in profile.layers if layer.macs})
    lines = ["| kernel, channels, image | MACs | " + " | ".join(PRECISIONS) + " |", "|---|---:|" + "---:|" * len(PRECISIONS)]
    for index, shape in enumerate(shapes):
        found = [column[layer_name("conv", index)] for column in columns]
        taken = " | ".join(f"{(layer.cost.cycles or 0) / layer.macs:.2f}" for layer in found)
        lines.append(f"| {shape.name} | {found[0].macs:,} | {taken} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure layers of many shapes.")
    parser.add_argument("--optimize", default="speed", choices=["speed", "balanced", "size"])
    parser.add_argument("--output", type=Path, help="replace the tables in this document (default: print them)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arenite-bench-") as scratch:
        text = measure(SHAPES, LAYERS, arguments.optimize, Path(scratch))
        text += "\nCycles a multiply-accumulate:\n\n" + in_precisions(IN_PRECISIONS, arguments.optimize, Path(scratch))
    if arguments.output is None:
        print(text)
        return
    before, _, rest = arguments.output.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    arguments.output.write_text(before + BEGIN + text + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
