"""Graphs of random networks with kernels chosen, and random executions of them in bands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.emit.program import Program
from arenite.frontend import load
from arenite.graph import Graph
from arenite.graph.verifier import verify
from arenite.partial.groups import Group, stretches
from arenite.partial.line_buffers import with_line_buffers
from arenite.partial.patches import with_patches
from arenite.passes import optimize
from arenite.plan import plan
from arenite.quantize import keep_float, quantize
from arenite.variants import offers
from arenite_runtime import Interpreter, Model
from numpy.typing import NDArray
from partial.random_images import random_network


def quantized_network(seed: int, folder: Path, *, real: bool = False) -> Graph:
    """With a random kernel for every layer that has a choice, in the order of its plan. `real`: float32."""
    onnx.save(random_network(seed), folder / "random.onnx")
    graph = optimize(load(folder / "random.onnx"))
    result = (keep_float(graph) if real else quantize(graph)).graph.copy()
    rng = np.random.default_rng(seed)
    for index, offered in ({} if real else offers(result, frozenset({"dsp"}))).items():
        chosen = offered[int(rng.integers(len(offered)))]
        result.nodes[index] = result.nodes[index].with_attributes(variant=chosen.variant)
    result.nodes = [result.nodes[index] for index in plan(result).order]
    return result


def random_group(graph: Graph, rng: np.random.Generator) -> Group | None:
    """Some neighbouring layers, two at least; None where no two can be cut."""
    found = [stretch for stretch in stretches(graph, range(len(graph.nodes))) if len(stretch) > 1]
    if not found:
        return None
    stretch = found[int(rng.integers(len(found)))]
    first = int(rng.integers(len(stretch) - 1))
    last = int(rng.integers(first + 2, len(stretch) + 1))
    return Group(graph, stretch[first:last])


def random_bands(group: Group, rng: np.random.Generator) -> Graph:
    banded = with_line_buffers(group, int(rng.integers(1, 7))) if rng.random() < 0.7 else with_patches(group, int(rng.integers(2, 6)))
    verify(banded)
    return banded


def built(graph: Graph, in_order: bool = False) -> Program:
    """The checker runs on its plan."""
    memory = plan(graph, order=range(len(graph.nodes)) if in_order else None)
    return build_program(graph, memory, name="random", calibrated=False)


def outputs(program: Program, samples: list[list[NDArray[np.generic]]]) -> list[list[NDArray[np.generic]]]:
    """Of the NumPy engine."""
    interpreter = Interpreter(Model.load(serialize(program)))
    return [interpreter.run(sample) for sample in samples]


def random_samples(program: Program, count: int) -> list[list[NDArray[np.generic]]]:
    rng = np.random.default_rng(5)
    tensors = [program.tensors[port.tensor] for port in program.inputs]
    if all(tensor.dtype.value == "float32" for tensor in tensors):
        return [[rng.standard_normal(tensor.shape).astype(np.float32) for tensor in tensors] for _ in range(count)]
    return [[rng.integers(-128, 128, tensor.shape).astype(np.int8) for tensor in tensors] for _ in range(count)]


def without_band(graph: Graph) -> Graph:
    """The same nodes as if no partial execution had made them."""
    result = graph.copy()
    result.nodes = [replace(node, band=None) for node in graph.nodes]
    return result
