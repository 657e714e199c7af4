"""A report of a small model with every kind of line in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from arenite.report import KernelOffer, Layer, Limits, Report, ReportPort, ReportState
from arenite.report.contents import Buffer, EdgeTranspose
from arenite.targets.flash_size import FlashSize

OFFERS = (KernelOffer("wide", 4321, 56), KernelOffer("paired", 1765, 84))


@pytest.fixture(scope="session")
def report_of(report: Report) -> Callable[[int, tuple[Buffer, ...]], Report]:
    """A report of so many layers with these buffers in its arena."""

    def make(steps: int, buffers: tuple[Buffer, ...]) -> Report:
        size = max([buffer.offset + buffer.bytes for buffer in buffers], default=0)
        return replace(report, layers=report.layers[:1] * steps, buffers=buffers, memories=(("arena", size),))

    return make


@pytest.fixture(scope="session")
def report() -> Report:
    port = ReportPort("x", (1, 2, 3, 4), "int8", 0.5, -3, (1, 2, 3, 4), "float32", (0, 1, 2, 3), ())
    scores = ReportPort("a|b`c<script>", (1, 2), "float32", None, None, (1, 2), "float32", (0, 1), ("yes", "no"))
    layers = (
        Layer("edge", "StridedCopy", "Transpose", "bytes", "t", (1, 3, 4, 2), 0, 0, 0.5, -3, ("edge",)),
        Layer("conv <1> & co", "Conv", "Conv", "wide", "c", (1, 1, 1, 2), 1234, 56, 0.25, 7, ("conv <1> & co", "relu"), 31.25, 0.0, OFFERS),
        Layer("last", "Dequantize", "Dequantize", "int8", "a|b`c<script>", (1, 2), 0, 0, None, None, ("last",)),
    )
    buffers = (
        Buffer("x", "input", "arena", 0, 24, -1, 0),
        Buffer("t", "activation", "arena", 32, 24, 0, 1),
        Buffer("c", "activation", "arena", 0, 2, 1, 2, None),
        Buffer("a|b`c<script>", "output", "arena", 16, 8, 2, 3, "c"),
        Buffer("scratch of conv <1> & co", "scratch", "arena", 64, 16, 1, 1),
    )
    return Report(
        model="net",
        source="net.onnx",
        producer="Arenite 9.9.9",
        target="cortex-m4",
        calibrated=False,
        calibration="ranges were measured on synthetic inputs",
        calibrate_command="convert net.onnx --calibration DATA.npz",
        io_layout="onnx",
        keeps_inputs=False,
        inputs=(port,),
        outputs=(scores,),
        layers=layers,
        buffers=buffers,
        edge_transposes=(EdgeTranspose("edge", "x", 24),),
        memories=(("arena", 80),),
        arena_lower_bound_bytes=72,
        arena_proven_optimal=False,
        peak_step=1,
        session_bytes=52,
        weight_bytes=56,
        macs=1234,
        model_bytes=1000,
        interpreted=FlashSize(1000, 500),
        compiled=FlashSize(56, 300),
        checksum=12345,
        limits=Limits(ram_bytes=100, flash_bytes=2000),
        notes=("conv <1> & co: bias clamped",),
        states=(ReportState("h_out", "h_in", (1, 8), "int8", 0.25, -3, 8),),
        values={"rate": 16000.0},
    )
