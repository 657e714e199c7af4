"""The discrete Fourier transform, of a whole signal and of its frames, on float32."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import Tensor

TRANSFORMS = {"full": 0, "onesided": 1, "to_real": 2}
"""Numbers in the record, fixed for ever."""

LONGEST_TRANSFORM = 1 << 20
"""Points."""


def root_count(length: int) -> int:
    """Roots of unity that the kernel reads: half a turn where the other half has opposite signs."""
    return length // 2 if length % 2 == 0 else length


def result_count(transform: str, length: int) -> int:
    """Values that a frame gives: complex ones, real ones of `to_real`."""
    return length // 2 + 1 if transform == "onesided" else length


def _shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, roots = given(inputs, 0).shape, given(inputs, 1).shape
    a = attributes
    transform, length, size, frames = a["transform"], a["length"], a["size"], a["frames"]
    if len(x) != 3 or x[2] not in (1, 2):
        raise ValueError(f"a signal of shape {x} is not [batch, values, 1 or 2]")
    if not 1 <= length <= LONGEST_TRANSFORM:
        raise ValueError(f"a transform of {length} points: 1 to {LONGEST_TRANSFORM} are possible")
    if (transform == "onesided" and x[2] != 1) or (transform == "to_real" and x[2] != 2):
        raise ValueError(f"a transform that is {transform} of {x[2]} components")
    if transform != "full" and a["inverse"] != (transform == "to_real"):
        raise ValueError(f"a transform that is {transform}, {'' if a['inverse'] else 'not '}inverse")
    if size < 1 or size > (length // 2 + 1 if transform == "to_real" else length):
        raise ValueError(f"{size} values for a transform of {length} points")
    if frames < 1 or a["step"] < 0 or (frames - 1) * a["step"] + size > x[1]:
        raise ValueError(f"{frames} frames of {size} values, {a['step']} apart, leave a signal of {x[1]}")
    if roots != (root_count(length), 2):
        raise ValueError(f"{roots} roots of unity for {length} points")
    if len(inputs) > 2 and inputs[2] is not None and inputs[2].shape != (size,):
        raise ValueError(f"a window of shape {inputs[2].shape} for frames of {size}")
    return (x[0], frames, result_count(transform, length), 1 if transform == "to_real" else 2)


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a, x = node.attributes, given(inputs, 0).shape
    return {
        "batch": x[0],
        "frames": a["frames"],
        "signal": x[1],
        "step": a["step"],
        "size": a["size"],
        "length": a["length"],
        "components": x[2],
        "transform": TRANSFORMS[a["transform"]],
        "inverse": int(a["inverse"]),
    }


def _scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    """A complex array of the length that is transformed; two where the result has no room for one."""
    length, transform = int(node.attributes["length"]), node.attributes["transform"]
    halved = length % 2 == 0 and (transform == "to_real" or given(inputs, 0).shape[2] == 1)
    arrays = 2 if length % 2 == 1 and transform != "full" else 1
    return 8 * arrays * (length // 2 if halved else length)


_OPERANDS = (
    Operand("x", "[batch, values, 1 or 2]: real, or real and imaginary parts"),
    Operand("roots", "[length, or half of it where even, 2]: e^(−2πi k / length)", constant=True),
    Operand("window", "[size]: factors of a frame's values", optional=True),
)

DFT = Operator(
    name="Dft",
    summary="Fourier transform of the frames of a signal, zeros behind them up to its length",
    onnx=("DFT", "STFT"),
    inputs=_OPERANDS,
    attributes=(
        Attribute("length", "points of the transform"),
        Attribute("transform", "full, onesided (of real values: the first length/2 + 1), to_real (back from onesided)"),
        Attribute("inverse", "bool: e^(+2πi…), over the length; true where to_real"),
        Attribute("size", "values of a frame"),
        Attribute("frames", "of a signal"),
        Attribute("step", "values from frame to frame"),
    ),
    shape=_shape,
    code=230,
    variants=("float32",),
    stored=_OPERANDS,
    params=(
        Param("batch", "signals"),
        Param("frames", "of a signal"),
        Param("signal", "values of a signal"),
        Param("step", "values from frame to frame"),
        Param("size", "values of a frame; zeros follow up to the length"),
        Param("length", "points"),
        Param("components", "of a value: 1 real, 2 complex"),
        Param("transform", "0 full, 1 onesided (of real values), 2 back from onesided to real values"),
        Param("inverse", "0 or 1; 1 where the transform is 2"),
    ),
    record=_record,
    scratch=_scratch,
)

SIGNAL = (DFT,)
