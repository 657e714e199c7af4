"""How an operator is declared: once, here, for the converter, the C headers, the NumPy engine and the documentation.

An operator has a *float form*, the nodes that the importers make and the passes rewrite, and, if it has a code, an *int8 form*,
which is what the flat model and the kernels know: `stored` operands and a record of parameters. Quantization turns the
first into the second on the same Node class: it replaces the inputs by the stored operands and adds the `quantized` attributes.
Many have a *typed form* besides, on elements that are not quantized (float32, integers, bool), with a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arenite.graph.node import Node
from arenite.graph.tensor import DType, Tensor

Shape = tuple[int, ...]
Attributes = Mapping[str, Any]
Inputs = Sequence[Tensor | None]
Record = dict[str, int | float | tuple[int, ...] | tuple[float, ...]]

VARIANTS = {
    "int8": 0,
    "bytes": 0,
    "wide": 1,
    "int16_steps": 2,
    "int16_weights": 3,
    "int4": 4,
    "int32_steps": 5,
    "int4_lanes": 6,
    "paired": 8,
    "planes": 9,
    "planes_2": 14,
    "tap_pairs": 12,
    "paired_row": 13,
    "winograd_2": 10,
    "winograd_4": 11,
    "float32": 16,
    "int32": 17,
    "int64": 18,
    "uint8": 19,
    "bool": 20,
    "int16": 21,
    "uint16": 22,
    "uint32": 23,
    "plain_int8": 24,
}
"""Kernel variants and their numbers in the flat model, fixed for ever. int4, int4_lanes, and from 8 on: int8 from constants that are laid
out for a kernel. From 16 on: elements that are not quantized, by type. int16_steps is int16 with a scale,
int16_weights the same with weights of int16 as well, int16 a plain number. int32_steps is int32 with a scale, of 24 bits."""

UNBOUNDED = (float("-inf"), float("inf"))
"""The `clip` attribute of a node without a fused activation."""


@dataclass(frozen=True)
class Operand:
    name: str
    doc: str
    constant: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Attribute:
    """An attribute of the float form."""

    name: str
    doc: str


@dataclass(frozen=True)
class Param:
    """A field of the record: int32 (or float32), or an array of them. In C a member of arn_<operator>_params."""

    name: str
    doc: str
    length: int = 1
    is_float: bool = False


def _no_macs(inputs: Inputs, output: Shape) -> int:
    return 0


def _no_scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    return 0


@dataclass(frozen=True)
class Overlap:
    """The first result may share bytes with an operand where `delta`, the operand's offset minus the result's, allows it.

    That is where `delta` ≥ `distance` and `delta` is a multiple of `step`, both in bytes, and the operand dies at the node: the kernel
    writes from the lower end up, and never a byte that it has yet to read. `distance` is the maximum over the kernels of the variant, at
    least 0, which is in place.
    """

    distance: int
    step: int = 1


def _no_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    return {}


@dataclass(frozen=True)
class Form:
    """What the flat model and the kernels know of an operator for some of its variants."""

    variants: tuple[str, ...]
    """Kernel variants, of VARIANTS."""
    stored: tuple[Operand, ...]
    """Operands, in order."""
    params: tuple[Param, ...]
    """The record, in C arn_<operator>_params, of the typed form arn_<operator>_typed_params."""
    record: Callable[[Node, Inputs, Sequence[Tensor]], Record] | None
    """The values of `params` for a node."""


@dataclass(frozen=True)
class Operator:
    name: str
    summary: str
    inputs: tuple[Operand, ...]
    shape: Callable[[Inputs, Attributes], Shape]
    """Float form: shape of the output. Raises ValueError, naming the numbers, where the inputs do not fit."""
    attributes: tuple[Attribute, ...] = ()
    onnx: tuple[str, ...] = ()
    """The ONNX operators that become this one."""
    code: int | None = None
    """Its number in the flat model (arn_op), fixed for ever. None: rewritten into others before emission."""
    variants: tuple[str, ...] = ("int8",)
    """Kernel variants, of VARIANTS."""
    stored: tuple[Operand, ...] = ()
    """Operands of the int8 form, in order."""
    streams: tuple[str, ...] = ()
    """Variants of the int8 form whose constants become one stream on emission (emit/arrange.py): the flat model has the first operand and
    the stream. In the graph they have the operands `stored`, as all others."""
    params: tuple[Param, ...] = ()
    record: Callable[[Node, Inputs, Sequence[Tensor]], Record] | None = None
    """Int8 form: the values of `params` for a node."""
    typed: Form | None = None
    """The typed form, for operators that have an int8 form as well. (One that has no other gives its typed variants as `variants`.)
    Its operands are those of the float form unless `stored` says otherwise."""
    results: Callable[[Inputs, Attributes], tuple[tuple[Shape, DType], ...]] | None = None
    """Shape and element type of every output, for operators with several, or with one that is not of the first operand's type."""
    typed_by: int = 0
    """The operand whose element type names the typed variant."""
    macs: Callable[[Inputs, Shape], int] = _no_macs
    """Multiply-accumulates (float or stored operands alike: x first, weight second)."""
    in_place: tuple[int, ...] = ()
    """Inputs whose memory the output may take where it has as many elements and the input dies here: the kernel reads
    element i before it writes element i, and never reads it again."""
    scratch: Callable[[Node, Inputs, Sequence[Tensor]], int] = _no_scratch
    """Bytes of scratch memory: the maximum over all kernel variants."""
    overlaps: Callable[[Node, Inputs, Sequence[Tensor]], Mapping[int, Overlap]] = _no_overlaps
    """By operand position, how the first result may overlap that operand. An operand that is absent must be disjoint from it, unless
    `in_place` allows the two at one offset. Other results are disjoint from every operand."""

    def outputs(self, inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
        """Shape and element type of every output. Raises ValueError, as `shape` does."""
        if self.results is not None:
            return self.results(inputs, attributes)
        first = next((tensor.dtype for tensor in inputs if tensor is not None), DType.FLOAT32)
        return ((self.shape(inputs, attributes), first),)

    @property
    def forms(self) -> tuple[Form, ...]:
        first = Form(self.variants, self.stored, self.params, self.record)
        return (first,) if self.typed is None else (first, self.typed)

    @property
    def all_variants(self) -> tuple[str, ...]:
        return tuple(variant for form in self.forms for variant in form.variants)

    def form(self, variant: str) -> Form:
        """The form that has this variant. Raises ValueError where there is none."""
        for form in self.forms:
            if variant in form.variants:
                return form
        raise ValueError(f"{self.name} has no variant {variant}: {', '.join(self.all_variants)}")


def given(inputs: Inputs, index: int) -> Tensor:
    """The input at `index`. Raises ValueError where it is absent."""
    tensor = inputs[index] if index < len(inputs) else None
    if tensor is None:
        raise ValueError(f"input {index} is absent")
    return tensor


CLIP = Attribute("clip", "(lo, hi): bounds of a fused activation, −inf and inf where there are none")
CLAMP = (
    Param("activation_min", "clamp of the output, in −128…127"),
    Param("activation_max", ""),
)


REAL_CLIP = (
    Param("clip_min", "bounds of a fused activation; not finite where there is none", is_float=True),
    Param("clip_max", "", is_float=True),
)
"""Of the typed forms that fuse an activation."""


def clip_record(node: Node) -> Record:
    low, high = node.attributes.get("clip", UNBOUNDED)
    return {"clip_min": float(low), "clip_max": float(high)}


def clamp_record(node: Node) -> Record:
    return {"activation_min": node.attributes["activation_min"], "activation_max": node.attributes["activation_max"]}
