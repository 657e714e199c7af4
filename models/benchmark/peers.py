"""What other engines take for the same int8 networks: arm-none-eabi-gcc 12.2.1, QEMU 7.2, exact instruction counts.

Measured for this comparison, versions as named; cycles are those of the model that `arenite profile` has. What is published
was measured on hardware by its vendors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NETWORKS = ("kws01", "ic01", "vww01", "ad01", "sww01")
"""The networks of MLPerf Tiny, in the order of the figures below."""

Figures = tuple[int | None, ...]


def _millions(*values: float | None) -> Figures:
    return tuple(None if value is None else round(value * 1_000_000) for value in values)


@dataclass(frozen=True)
class Peer:
    name: str
    instructions: Figures
    cycles: Figures = (None,) * len(NETWORKS)


TFLM = "TFLM + CMSIS-NN"
CORTEX_M4: Sequence[Peer] = (
    Peer("TFLM 90b983c2 + CMSIS-NN, -O2", _millions(7.70, 29.9, 24.1, 0.583, 2.23), _millions(8.88, 35.9, 28.1, 0.718, 2.64)),
    Peer("TFLM 90b983c2 + CMSIS-NN, -Os", _millions(9.23, 41.1, 28.6, 0.843, 2.56)),
    Peer("TFLM, reference kernels", _millions(43.0, 107, 100, 1.95, 8.28)),
    Peer("TinyEngine 47bb283c, -O3", _millions(None, None, 19.7, 0.772, None)),
    Peer("bakeNN 1.0.0 + CMSIS-NN, -O3", _millions(22.8, 50.6, 38.5, 0.576, 2.22)),
    Peer("bakeNN 1.0.0, portable, -O3", _millions(48.1, 127, 112, 1.73, 9.87)),
    Peer("onnx2c ea045cc1, QLinear, -O3", _millions(20.3, 110, 56.6, 2.02, 5.32)),
    Peer("onnx2c ea045cc1, float32, -O3", _millions(19.9, 116, 54.1, 1.34, 5.71)),
    Peer("Deeploy, generic, -O3", _millions(59.8, 150, 222, 1.92, None)),
)

TFLM_OTHER_CORES = {
    "cortex-m0": _millions(29.0, 97.6, 86.9, 1.76, 9.55),
    "cortex-m3": _millions(10.5, 41.8, 32.0, 0.956, 4.73),
    "cortex-m7": _millions(7.62, 29.6, 24.0, 0.583, 2.19),
    "cortex-m55": _millions(1.79, 4.81, 6.43, 0.150, 0.407),
}
"""Instructions of TFLM + CMSIS-NN at its best on other cores."""


@dataclass(frozen=True)
class Closed:
    """Published, MLPerf Tiny's closed division: milliseconds of ad01, ic01, kws01, vww01."""

    name: str
    board: str
    ad01: float
    ic01: float
    kws01: float
    vww01: float


CLOSED = (
    Closed("X-CUBE-AI 9.0", "STM32L4R5, Cortex-M4, 120 MHz", 5.26, 165, 43.2, 88.9),
    Closed("Plumerai 2023.05", "STM32L4R5, Cortex-M4, 120 MHz", 4.05, 168, 47.8, 98.8),
    Closed("Bosch HALE", "STM32L4R5, Cortex-M4, 120 MHz", 5.84, 181, 60.2, 181),
    Closed("microTVM + CMSIS-NN", "STM32L4R5, Cortex-M4, 120 MHz", 8.60, 390, 99.8, 301),
    Closed("X-CUBE-AI 9.0", "STM32H7A3, Cortex-M7, 280 MHz", 1.23, 40.8, 11.3, 23.8),
    Closed("X-CUBE-AI 10.2", "STM32U575, Cortex-M33, 160 MHz", 3.21, 109, 29.0, 59.3),
    Closed("Bosch HALE", "STM32G0B1, Cortex-M0+, 64 MHz", 40.9, 1522, 475, 1414),
)
BEST_CLOSED_CYCLES = _millions(3.9, 14.9, 8.0, 0.365, None)
"""The best of them on the STM32L4R5, as cycles of the model: hardware takes 1.29 to 1.43 times the modelled cycles of one and the same
engine (TFLM + CMSIS-NN against microTVM + CMSIS-NN)."""

RAM: dict[str, Figures] = {
    TFLM: (22_820 + 1_500, 54_996 + 1_500, 100_708 + 1_500, 2_580 + 1_400, 16_596 + 1_500),
    "bakeNN": (16_512, 52_240, 101_392, 1_552, 8_992),
    "TinyEngine": (None, None, 60_728, 3_328, None),
    "onnx2c, QLinear": (16_504, 52_240, 82_952, 1_536, 7_864),
}
"""Bytes, without the stack; of TFLM the arena in use and what lies outside of it."""
TFLM_CODE: dict[str, Figures] = {"-Os": (46_035, 43_199, 46_035, 21_831, 43_971), "-O2": (53_299, 51_103, 53_299, 27_015, 50_755)}
"""Flash of TFLM + CMSIS-NN on a Cortex-M4 without the model, bytes, int8-only registrations."""
TFLM_START: Figures = (790_000, 540_000, 3_520_000, 83_000, 1_090_000)
"""Instructions of AllocateTensors on a Cortex-M4."""
TFLM_STACK = (748, 1_244)
"""Bytes of stack of an inference on a Cortex-M4: the least and the most of the five networks."""
TFLM_HELLO_INSTRUCTIONS = 3_523
"""Of tflm_hello_world_int8 on a Cortex-M4."""
