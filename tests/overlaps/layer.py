"""A layer whose result may overlap an operand, and how its operands are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from arenite.emit.arrange import ARRANGEMENTS
from arenite.emit.lower_movement import MOVEMENT_OPERATORS, lower_movement
from arenite.graph import OPERATORS, DType, Node, Quantization, Tensor
from arenite.graph.operators.declaration import Overlap
from kernels.cases import Array, Case

Rng = np.random.Generator
CONVERSIONS = ("Quantize", "Dequantize")
STEPS = Quantization.per_tensor(0.05, 3)
"""Of their quantized side."""


@dataclass(frozen=True)
class Layer:
    """A node and its operands. Slice and Transpose are the StridedCopy that they become."""

    node: Node
    arrays: tuple[Array, ...]
    """Operands as the graph has them: constants not arranged."""

    @cached_property
    def operands(self) -> list[Tensor]:
        if self.node.op in MOVEMENT_OPERATORS:
            return [Tensor("x0", self.arrays[0].shape, DType.of(self.arrays[0]))]
        if self.node.op in CONVERSIONS:
            return [Tensor("x0", self.arrays[0].shape, DType.of(self.arrays[0]), quantization=STEPS)]
        constant = OPERATORS[self.node.op].form(self.variant).stored
        return [
            Tensor(name or "", array.shape, DType.of(array), array if operand.constant or operand.name == "bias" else None)
            for name, array, operand in zip(self.node.inputs, self.arrays, constant, strict=True)
        ]

    @cached_property
    def result(self) -> Tensor:
        (shape, dtype), *_ = OPERATORS[self.node.op].outputs(self.operands, self.node.attributes)
        return Tensor("y", tuple(shape), self.node.attributes.get("result", dtype), quantization=STEPS)

    @property
    def variant(self) -> str:
        return str(self.node.attributes["variant"])

    @property
    def overlaps(self) -> Mapping[int, Overlap]:
        return OPERATORS[self.node.op].overlaps(self.node, self.operands, [self.result])

    @cached_property
    def case(self) -> Case:
        """The call of the kernel."""
        if self.node.op in MOVEMENT_OPERATORS:
            (move,) = lower_movement("", self.node, self.operands, self.result)
            y = np.full(self.result.elements, 0x33, self.result.dtype.numpy)
            return Case(move.op, self.variant, dict(move.record), list(self.arrays), y)
        operator = OPERATORS[self.node.op]
        record = operator.form(self.variant).record
        assert record is not None
        arrays: list[Array] = list(self.arrays)
        if (self.node.op, self.variant) in ARRANGEMENTS:
            x, *constants = self.operands
            arrays = [self.arrays[0], ARRANGEMENTS[self.node.op, self.variant](self.node, constants, x)]
        y = np.full(self.result.elements, 0x33, self.result.dtype.numpy)
        scratch = operator.scratch(self.node, self.operands, [self.result])
        return Case(self.node.op, self.variant, dict(record(self.node, self.operands, [self.result])), arrays, y, scratch)

    def __str__(self) -> str:
        shapes = ", ".join(str(array.shape) for array in self.arrays)
        return f"{self.node.op} {self.variant} of {shapes} to {self.result.shape} {dict(self.node.attributes)}"


def layer(op: str, arrays: list[Array], **attributes: Any) -> Layer:
    names = tuple(f"x{i}" for i in range(len(arrays)))
    return Layer(Node(op, "layer", names, ("y",), attributes), tuple(arrays))


def int8(rng: Rng, *shape: int) -> Array:
    return rng.integers(-128, 128, shape).astype(np.int8)


def real(rng: Rng, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def pixels(rng: Rng, variant: str, *shape: int) -> Array:
    if variant.startswith("int16"):
        return rng.integers(-(1 << 15), 1 << 15, shape).astype(np.int16)
    return real(rng, *shape) if variant == "float32" else int8(rng, *shape)


def points(rng: Rng, variant: str) -> dict[str, int]:
    if variant.startswith("int16"):
        return {"input_zero_point": 0, "output_zero_point": 0, "shift": 0, **clamp(variant)}
    points = {"input_zero_point": int(rng.integers(-128, 128)), "output_zero_point": int(rng.integers(-10, 10))}
    return {**points, "shift": 0, **clamp(variant)}


def clamp(variant: str) -> dict[str, int]:
    """None that the type has not."""
    most = 1 << 15 if variant.startswith("int16") else 1 << 7
    return {"activation_min": -most, "activation_max": most - 1}
