"""Evaluation of ONNX nodes whose operands are all known at conversion: shape arithmetic, weights that an exporter left unfolded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator

from arenite.frontend.values import Constant

NOT_FOLDED = frozenset(
    {
        "SequenceEmpty",
        "SequenceConstruct",
        "SplitToSequence",
        "Optional",
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "If",
        "Loop",
        "Scan",
        "Dropout",
    }
)
"""Operators whose result is not a function of their operands alone, or no tensor, or that hold graphs."""


class FoldingError(Exception):
    """Neither evaluator can compute the node."""


def fold(node: onnx.NodeProto, operands: Sequence[Constant | None], opsets: Mapping[str, int], ir_version: int) -> list[Constant]:
    """The outputs of a node of the default domain, by ONNX's reference implementation, or by onnxruntime where that has none.

    The annotation of a dequantized constant survives what only moves its elements. Raises FoldingError.
    """
    arrays = {name: np.asarray(value.array) for name, value in zip(node.input, operands, strict=False) if value is not None}
    moved = _moved(node, operands)
    if moved is not None:
        return [moved]
    model = helper.make_model(
        helper.make_graph(
            [node],
            "fold",
            [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in arrays.items()],
            [helper.make_empty_tensor_value_info(name) for name in node.output if name],
        ),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in opsets.items()],
        ir_version=ir_version,
    )
    return [Constant(name, value) for name, value in zip((n for n in node.output if n), _run(model, arrays), strict=True)]


def _run(model: onnx.ModelProto, arrays: Mapping[str, NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    try:
        return [np.asarray(value) for value in ReferenceEvaluator(model).run(None, dict(arrays))]
    except Exception as first:  # the reference implementation has no common base of errors
        try:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            return [np.asarray(value) for value in session.run(None, dict(arrays))]
        except Exception:
            raise FoldingError(f"{type(first).__name__}: {first}") from first


def _moved(node: onnx.NodeProto, operands: Sequence[Constant | None]) -> Constant | None:
    """Transpose, Identity and the like of an annotated constant; None for everything else."""
    value = operands[0] if operands else None
    if value is None or value.quantization is None or node.domain not in ("", "ai.onnx"):
        return None
    if node.op_type == "Identity":
        return value
    if node.op_type == "Transpose":
        given = next((list(a.ints) for a in node.attribute if a.name == "perm"), None)
        return value.transposed(given if given is not None else range(value.array.ndim)[::-1])
    return None


def keep_annotation(node: onnx.NodeProto, source: Constant | None, result: Constant) -> Constant:
    """Reshape and its kin of an annotated constant."""
    if source is None or source.quantization is None or node.op_type not in ("Reshape", "Flatten", "Squeeze", "Unsqueeze"):
        return result
    return Constant(result.name, result.array, source.reshaped(result.array.shape).quantization)
