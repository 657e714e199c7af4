"""ONNX's backend tests as this project counts them: which cases, and which of their inputs are bound at conversion."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")

TYPES = frozenset(
    {
        TensorProto.FLOAT,
        TensorProto.INT8,
        TensorProto.INT16,
        TensorProto.INT32,
        TensorProto.INT64,
        TensorProto.UINT8,
        TensorProto.UINT16,
        TensorProto.UINT32,
        TensorProto.BOOL,
    }
)
"""Element types of a case's inputs and outputs."""

_AXES = {1: "axes"}
_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

BOUND: dict[str, dict[int, str]] = {
    "AffineGrid": {1: "size: the shape of the grid"},
    "BlackmanWindow": {0: "size: the length of the window"},
    "CenterCropPad": {1: "shape of the result"},
    "Col2Im": {1: "image_shape", 2: "block_shape"},
    "Compress": {1: "condition: how many elements are left"},
    "ConstantOfShape": {0: "shape of the result"},
    "CumProd": {1: "axis"},
    "CumSum": {1: "axis"},
    "DFT": {1: "dft_length", 2: "axis"},
    "Dropout": {1: "ratio, where there is a training_mode", 2: "training_mode"},
    "Expand": {1: "shape of the result"},
    "HammingWindow": {0: "size: the length of the window"},
    "HannWindow": {0: "size: the length of the window"},
    "Loop": {0: "trip count: the length of the scan outputs", 1: "condition: whether they have any entry"},
    "MaxUnpool": {2: "output_shape"},
    "MelWeightMatrix": {0: "num_mel_bins", 1: "dft_length", 2: "sample_rate", 3: "lower_edge_hertz", 4: "upper_edge_hertz"},
    "NonMaxSuppression": {2: "max_output_boxes_per_class"},
    "OneHot": {1: "depth: a dimension of the result"},
    "Pad": {1: "pads", 3: "axes"},
    "Range": {0: "start", 1: "limit", 2: "delta: with the others the length of the result"},
    **{f"Reduce{name}": _AXES for name in _REDUCTIONS},
    "Reshape": {1: "shape of the result"},
    "Resize": {1: "roi", 2: "scales", 3: "sizes"},
    "STFT": {1: "frame_step", 3: "frame_length"},
    "Slice": {1: "starts", 2: "ends", 3: "axes", 4: "steps"},
    "Split": {1: "sizes of the parts"},
    "Squeeze": _AXES,
    "Tile": {1: "repeats"},
    "TopK": {1: "k: a dimension of the result"},
    "Unsqueeze": _AXES,
    "Upsample": {1: "scales"},
}
"""Inputs that determine a shape or an attribute, by operator: bound to the test's value at conversion. All others reach the runtime."""


FILLED = {"NonMaxSuppression": 0, "NonZero": 1}
"""Operators whose number of results depends on data, and along which axis: the runtime's output has room for the greatest number, and −1
behind the results. That is taken off before an output is compared; no result is −1."""


@dataclass(frozen=True)
class Case:
    """One case, its bound inputs turned into initializers."""

    name: str
    kind: str
    operator: str
    """Of the model's first node; of a function's expansion the function's."""
    model: onnx.ModelProto = field(repr=False)
    bound: tuple[str, ...]
    data: tuple[tuple[dict[str, NDArray[np.generic]], list[NDArray[np.generic]]], ...] = field(repr=False)
    """Inputs and wanted outputs of each data set."""
    rtol: float
    atol: float


@cache
def cases() -> tuple[Case, ...]:
    """Every case of KINDS whose inputs and outputs are tensors of TYPES, by name. Making them takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        found = [case for kind in KINDS for case in load_model_tests(kind=kind)]
    made = {}
    operators = {case.name: case.model.graph.node[0].op_type for case in found if case.model is not None}
    bound: dict[str, tuple[str, ...]] = {}
    for case in sorted(found, key=lambda case: case.name):  # an expansion stands behind its function
        model = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
        if not _has_types(model):
            continue
        base = re.sub(r"_expanded.*", "", case.name)
        bound[case.name] = bound.get(base, ()) if base != case.name else bound_inputs(model)
        operator = operators.get(base) or model.graph.node[0].op_type
        made[case.name] = _case(case, model, operator, bound[case.name])
    return tuple(made.values())


def bound_inputs(model: onnx.ModelProto) -> tuple[str, ...]:
    """The graph inputs that BOUND names."""
    graph_inputs = {info.name for info in model.graph.input}
    found = [
        name
        for node in model.graph.node
        for i, name in enumerate(node.input)
        if name in graph_inputs and i in BOUND.get(node.op_type, {}) and not (node.op_type == "Dropout" and len(node.input) < 3)
    ]
    return tuple(dict.fromkeys(found))


def _has_types(model: onnx.ModelProto) -> bool:
    ports = (*model.graph.input, *model.graph.output)
    return all(port.type.HasField("tensor_type") and port.type.tensor_type.elem_type in TYPES for port in ports)


def _case(case, model: onnx.ModelProto, operator: str, bound: Sequence[str]) -> Case:
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    initializers = {tensor.name for tensor in fixed.graph.initializer}
    names = [info.name for info in fixed.graph.input if info.name not in initializers]
    sets = case.data_sets if case.model is not None else _stored_sets(Path(case.model_dir), fixed)
    for name in bound:
        fixed.graph.initializer.append(numpy_helper.from_array(np.asarray(sets[0][0][names.index(name)]), name))
    for info in [info for info in fixed.graph.input if info.name in bound]:
        fixed.graph.input.remove(info)
    data = tuple(
        (
            {name: np.asarray(value) for name, value in zip(names, inputs, strict=False) if name not in bound},
            [np.asarray(numpy_helper.to_array(value) if isinstance(value, TensorProto) else value) for value in outputs],
        )
        for inputs, outputs in sets
    )
    return Case(case.name, case.kind, operator, fixed, tuple(bound), data, case.rtol, case.atol)


def _stored_sets(folder: Path, model: onnx.ModelProto) -> list[tuple[list[NDArray[np.generic]], list[NDArray[np.generic]]]]:
    def read(path: Path) -> NDArray[np.generic]:
        tensor = TensorProto()
        tensor.ParseFromString(path.read_bytes())
        return numpy_helper.to_array(tensor)

    def series(directory: Path, kind: str) -> list[NDArray[np.generic]]:
        return [read(directory / f"{kind}_{i}.pb") for i in range(len(list(directory.glob(f"{kind}_*.pb"))))]

    return [(series(each, "input"), series(each, "output")) for each in sorted(folder.glob("test_data_set_*"))]
