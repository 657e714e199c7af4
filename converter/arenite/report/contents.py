"""What a report says, as data: the layers, the memory, the totals of one converted model.

`build_report` makes it; the text, Markdown, HTML and JSON forms are views of it and compute nothing of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arenite.quantize.input_statistics import InputStatistics
from arenite.quantize.missing_pairs import MissingPair
from arenite.report.trade_off import TradeOff
from arenite.targets.flash_size import FlashSize


@dataclass(frozen=True)
class ReportPort:
    """An input or output of the model, as the target sees it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scale: float | None
    """Real value = scale · (q − zero_point); None where the port is float32."""
    zero_point: int | None
    source_shape: tuple[int, ...]
    """In the ONNX file, with dynamic dimensions bound."""
    source_dtype: str
    """In the ONNX file: float32, int8 or uint8."""
    permutation: tuple[int, ...]
    """Axis i of `shape` is axis permutation[i] of `source_shape`: not the identity where --io-layout nhwc dropped a transpose."""
    labels: tuple[str, ...] = ()
    source_scale: float | None = None
    """Of an int8 or uint8 port of the ONNX file: real value = scale · (q − zero_point), a uint8 value minus 128 being q."""
    source_zero_point: int | None = None
    expected: InputStatistics | None = None
    """Of an input: what calibration has seen, in the layout of `shape`; None where nothing is known."""


@dataclass(frozen=True)
class ReportState:
    """A value that persists between invocations: an output of the ONNX model that becomes an input of it."""

    output: str
    input: str
    shape: tuple[int, ...]
    """Of both, in the ONNX file."""
    dtype: str
    """As kept in the arena."""
    scale: float | None
    zero_point: int | None
    bytes: int


@dataclass(frozen=True)
class KernelOffer:
    """A kernel variant that a layer can take."""

    variant: str
    cycles: int
    """Of one inference, or instructions: Report.cost_unit."""
    bytes: int
    """Of constants."""
    scratch_bytes: int | None = 0
    """Of the arena while the layer runs; None in reports of versions that did not say."""


@dataclass(frozen=True)
class Layer:
    """One kernel call."""

    name: str
    """The ONNX node that it came from."""
    op: str
    """The kernel's operator."""
    form: str
    """The operator of the graph: differs from `op` where an operator only moves elements (Transpose, Concat, …)."""
    variant: str
    output: str
    """Name of the output tensor."""
    output_shape: tuple[int, ...]
    macs: int
    weight_bytes: int
    """Bytes of the constants that this call reads."""
    scale: float | None
    """Of the output; None where it is not quantized per tensor."""
    zero_point: int | None
    origins: tuple[str, ...] = ()
    """All ONNX nodes that became this one, in order (a convolution with its batch normalization and activation)."""
    sqnr_db: float | None = None
    """Signal to quantization noise of the output, measured on the calibration data; None where it was not measured or is infinite."""
    saturated: float | None = None
    """Share of the output's float values beyond the representable range; None where it was not measured."""
    offers: tuple[KernelOffer, ...] = ()
    """What it can take, `variant` among them; empty where there is no choice."""
    band: tuple[str, int, int] | None = None
    """Of a layer that is executed in bands: its whole result, and the rows of that, first and behind the last. layer_rows.py joins them."""

    @property
    def taken(self) -> KernelOffer | None:
        """The offer that it takes."""
        return next((offer for offer in self.offers if offer.variant == self.variant), None)


@dataclass(frozen=True)
class Buffer:
    """Bytes [offset, offset + bytes) of a memory, in use from step `first` to step `last` inclusive.

    Step −1 is before the first call (inputs), step `len(layers)` after the last (outputs).
    """

    name: str
    kind: str
    """One of "input", "output", "state", "activation", "scratch", "constant" (in RAM, where it is copied to at the start)."""
    memory: str
    offset: int
    bytes: int
    first: int
    last: int
    alias_of: str | None = None
    """The tensor whose bytes this one takes over (in place, or reshaped)."""


@dataclass(frozen=True)
class EdgeTranspose:
    """A transpose at an input or output, which exists only to keep the ONNX layout there."""

    layer: str
    port: str
    elements: int


@dataclass(frozen=True)
class Limits:
    """What the target offers, in bytes; None: not known."""

    ram_bytes: int | None = None
    flash_bytes: int | None = None


@dataclass(frozen=True)
class Report:
    model: str
    """Name of the converted model, a C identifier."""
    source: str
    """File name of the ONNX model."""
    producer: str
    """The converter and its version."""
    target: str | None
    calibrated: bool
    calibration: str
    """Where the ranges come from, in words."""
    calibrate_command: str | None
    """What to type to calibrate; None for a calibrated model."""
    io_layout: str
    keeps_inputs: bool
    inputs: tuple[ReportPort, ...]
    outputs: tuple[ReportPort, ...]
    layers: tuple[Layer, ...]
    buffers: tuple[Buffer, ...]
    edge_transposes: tuple[EdgeTranspose, ...]
    memories: tuple[tuple[str, int], ...]
    """Name and bytes needed of every memory; the first is the arena."""
    arena_lower_bound_bytes: int
    arena_proven_optimal: bool
    peak_step: int
    session_bytes: int
    """RAM of the interpreter outside arena and stack, on a 32-bit core: model, session and region table."""
    weight_bytes: int
    """All constants."""
    macs: int
    model_bytes: int
    """Size of the .arn file."""
    interpreted: FlashSize | None = None
    """Measured on an image for the target; None where none was built."""
    compiled: FlashSize | None = None
    checksum: int = 0
    """CRC-32 of the .arn file as written: the file that this report is about."""
    limits: Limits = field(default_factory=Limits)
    sqnr_db: float | None = None
    """End to end on the calibration data (the least of the outputs); None where it was not measured or is infinite."""
    notes: tuple[str, ...] = ()
    """What the converter did that the user should know."""
    precision: str = "int8"
    """int8, float32, or mixed."""
    calibration_warnings: tuple[str, ...] = ()
    """Why the calibration data cannot be what was meant."""
    states: tuple[ReportState, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    """Inputs of the ONNX model that became constants, every element of them this number."""
    optimize: str = "balanced"
    """What kernels were chosen for: speed, balanced or size."""
    cost_unit: str = ""
    """What the cycles of offers are, in words: estimated cycles, or what was measured."""
    trade_off: TradeOff | None = None
    """What --precision auto has measured."""
    missing_pairs: tuple[MissingPair, ...] = ()
    """Of a model that came quantized: the tensors that it leaves without quantization, and what they were given."""

    @property
    def accuracy_known(self) -> bool:
        """Whether ranges were measured on data, and on data that can be right."""
        return self.calibrated and not self.calibration_warnings

    @property
    def arena_bytes(self) -> int:
        return self.memories[0][1]

    @property
    def ram_bytes(self) -> int:
        """All memories and the session; the stack is not known here."""
        return sum(size for _, size in self.memories) + self.session_bytes

    @property
    def flash_bytes(self) -> int:
        """Of the interpreted form; of the model alone where the size of the code is not known."""
        return self.interpreted.total if self.interpreted is not None else self.model_bytes

    @property
    def fits(self) -> bool | None:
        """Whether the model keeps within the limits; None where there are none."""
        limits = self.limits
        if limits.ram_bytes is None and limits.flash_bytes is None:
            return None
        return not self.excess

    @property
    def excess(self) -> tuple[str, ...]:
        """Every limit that is exceeded, in words."""
        limits, over = self.limits, []
        if limits.ram_bytes is not None and self.ram_bytes > limits.ram_bytes:
            over.append(f"RAM: {self.ram_bytes:,} of {limits.ram_bytes:,} bytes, {self.ram_bytes - limits.ram_bytes:,} too many")
        if limits.flash_bytes is not None and self.flash_bytes > limits.flash_bytes:
            over.append(f"flash: {self.flash_bytes:,} of {limits.flash_bytes:,} bytes, {self.flash_bytes - limits.flash_bytes:,} too many")
        return tuple(over)
