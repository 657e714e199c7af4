"""The sizes of the layout `tap_pairs`, the twin of runtime_c/kernels/tap_pairs.h."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

CHUNK = 64
"""Outputs that are computed at a time along the axis."""
PART = 8
"""Pairs of taps, at most, that a part of a sequence has."""


@dataclass(frozen=True)
class TapAxis:
    """The axis along which the window slides: taps dealt out to `residues` sequences, each in `parts` of `part_pairs` pairs."""

    stride: int
    """Of the windows of a phase, in taps."""
    phases: int
    residues: int
    parts: int
    part_pairs: int

    @staticmethod
    def of(kernel: int, stride: int, dilation: int) -> TapAxis:
        divisor = gcd(stride, dilation)
        reduced = stride // divisor
        taps = (kernel - 1) // reduced + 1
        parts = -(-taps // (2 * PART))
        return TapAxis(reduced, dilation // divisor, min(reduced, kernel), parts, -(-taps // (2 * parts)))

    @property
    def pairs(self) -> int:
        """Of a sequence."""
        return self.parts * self.part_pairs

    def sequence_words(self, outputs: int) -> int:
        """Words of a sequence of pixels that serves up to CHUNK of `outputs` outputs."""
        of_phase = (outputs - 1) // self.phases + 1
        return min(CHUNK, (of_phase + 3) & ~3) // 2 + self.pairs


def along_rows(kernel: tuple[int, ...]) -> bool:
    return kernel[0] > kernel[1]


def scratch_bytes(kernel: tuple[int, int], strides: tuple[int, int], dilations: tuple[int, int], outputs: tuple[int, int]) -> int:
    """arn_depthwise_conv_tap_pairs_scratch. All are (h, w)."""
    at, across = (0, 1) if along_rows(kernel) else (1, 0)
    axis = TapAxis.of(kernel[at], strides[at], dilations[at])
    sequences = kernel[across] * axis.residues
    return 16 * sequences * axis.sequence_words(outputs[at]) + 4 * (sequences * axis.parts + 1)
