"""DFT and STFT: one operator of the IR, on frames of a signal."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph.operators.signal import LONGEST_TRANSFORM, root_count


def _roots(node: NodeImport, length: int) -> str:
    """e^(−2πi k / length), formed in float64."""
    if not 1 <= length <= LONGEST_TRANSFORM:
        node.refuse(f"its transform has {length} points", f"use a length of 1 to {LONGEST_TRANSFORM}")
    angle = -2 * np.pi * np.arange(root_count(length)) / length
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=-1).astype(np.float32)
    return node.add_constant(Constant(f"roots_of_unity_{length}", pairs))


def _length(node: NodeImport, index: int, what: str) -> int | None:
    given = node.integers(index, what)
    if given is not None and (len(given) != 1 or given[0] < 1):
        node.malformed(f"{what} {list(given)} is not one positive number")
    return None if given is None else given[0]


def dft(node: NodeImport) -> Sequence[Value]:
    """The axis is moved to the place in front of the components."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) < 2 or shape[-1] not in (1, 2):
        node.malformed(f"the input {list(shape)} does not end in a dimension of 1 (real) or 2 (real and imaginary part)")
    if node.opset >= 20:
        given = node.integers(2, "the axis")
        axis = -2 if given is None else given[0]
    else:
        axis = int(node.attribute("axis", 1))
    axis = node.axis(axis, len(shape))
    if axis == len(shape) - 1:
        node.malformed(f"axis {axis} is that of real and imaginary parts")
    onesided, inverse = bool(node.attribute("onesided", 0)), bool(node.attribute("inverse", 0))
    to_real = onesided and inverse
    if onesided and shape[-1] != (2 if inverse else 1):
        node.refuse(
            f"onesided={int(onesided)}, inverse={int(inverse)} of a {'real' if inverse else 'complex'} input",
            "use onesided for the transform of real values, and for the inverse of such a spectrum",
        )
    usual = 2 * (shape[axis] - 1) if to_real else shape[axis]
    length = _length(node, 1, "dft_length") or usual
    order = [*(d for d in range(len(shape)) if d != axis and d != len(shape) - 1), axis, len(shape) - 1]
    moved = [shape[d] for d in order]
    rows = node.reshape(node.transpose(x, order), (prod(moved[:-2]), *moved[-2:]))
    transform = "to_real" if to_real else "onesided" if onesided else "full"
    y = node.emit(
        "Dft",
        [rows, _roots(node, length), None],
        length=length,
        transform=transform,
        inverse=inverse,
        size=min(moved[-2], length // 2 + 1 if to_real else length),
        frames=1,
        step=0,
    )
    results = node.graph.tensors[y].shape[2:]
    return [node.transpose(node.reshape(y, (*moved[:-2], *results)), [order.index(d) for d in range(len(shape))])]


def stft(node: NodeImport) -> Sequence[Value]:
    """Frames are read where they lie in the signal: those that overlap take no memory of their own."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) == 2:  # a real signal as exporters write it and onnxruntime takes it, though the specification asks for the 1
        shape = (*shape, 1)
        x = node.reshape(x, shape)
    if len(shape) != 3 or shape[2] not in (1, 2):
        node.malformed(f"the signal {list(shape)} is not [batch, length, 1 (real) or 2 (real and imaginary part)]")
    step = _length(node, 1, "frame_step")
    if step is None:
        node.malformed("frame_step (input 1) is missing")
    window = node.activation(2) if node.has(2) else None
    taps = None if window is None else node.graph.tensors[window].elements
    length = _length(node, 3, "frame_length") or taps or shape[1]
    if taps not in (None, length):
        node.malformed(f"a window of {taps} values for frames of {length}")
    if length > shape[1]:
        node.malformed(f"frames of {length} values are longer than the signal of {shape[1]}")
    onesided = bool(node.attribute("onesided", 1))
    if onesided and shape[2] != 1:
        node.refuse("onesided=1 (the default) of a complex signal", "give the node onesided=0")
    operands = [x, _roots(node, length), None if window is None else node.reshape(window, (length,))]
    y = node.emit(
        "Dft",
        operands,
        length=length,
        transform="onesided" if onesided else "full",
        inverse=False,
        size=length,
        frames=1 + (shape[1] - length) // step,
        step=step,
    )
    return [y]


SIGNAL = {
    "DFT": Importer(dft, "any axis and constant dft_length; real, complex, onesided, inverse; fast for lengths of small factors"),
    "STFT": Importer(stft, "constant frame_step and frame_length; window constant or computed"),
}
