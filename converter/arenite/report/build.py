"""Program, quantized graph and memory plan → Report."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from arenite.emit.program import Call, Port, Program, ProgramState, ProgramTensor, Storage
from arenite.graph import OPERATORS, Graph, Node, Quantization
from arenite.graph.source_ports import SourcePort
from arenite.plan.memory_plan import MemoryPlan
from arenite.quantize import InputStatistics, LayerReport, MissingPair
from arenite.report.contents import Buffer, EdgeTranspose, KernelOffer, Layer, Limits, Report, ReportPort, ReportState
from arenite.report.trade_off import TradeOff
from arenite.targets.flash_size import FlashSize
from arenite.variants import Offer
from arenite.version import __version__

MODEL_STRUCT_BYTES, SESSION_STRUCT_BYTES, REGION_STRUCT_BYTES = 28, 16, 8
"""sizeof(arn_model), sizeof(arn_session), sizeof(arn_region) on a 32-bit core (a test compiles them)."""


def session_bytes(memories: int) -> int:
    """RAM of the interpreter outside arena and stack, on a 32-bit core."""
    return MODEL_STRUCT_BYTES + SESSION_STRUCT_BYTES + REGION_STRUCT_BYTES * memories


@dataclass(frozen=True)
class Circumstances:
    """What the report says beyond what the program holds."""

    source: str
    target: str | None = None
    calibration: str = ""
    calibrate_command: str | None = None
    io_layout: str = "onnx"
    keeps_inputs: bool = False
    limits: Limits = field(default_factory=Limits)
    interpreted: FlashSize | None = None
    compiled: FlashSize | None = None
    quality: Mapping[str, LayerReport] = field(default_factory=dict)
    """What quantization did to each layer, by name of the output tensor."""
    sqnr_db: float | None = None
    sources: Mapping[str, SourcePort] = field(default_factory=dict)
    """Of every input and output, by name."""
    notes: tuple[str, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)
    """Output → input, by their names in the ONNX file."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Inputs that became constants."""
    calibration_warnings: tuple[str, ...] = ()
    optimize: str = "balanced"
    offers: Mapping[int, tuple[Offer, ...]] = field(default_factory=dict)
    """Of the nodes of the graph that had a choice of kernels."""
    cost_unit: str = ""
    trade_off: TradeOff | None = None
    missing_pairs: tuple[MissingPair, ...] = ()
    seen: Mapping[str, InputStatistics] = field(default_factory=dict)
    """What calibration has seen of the inputs, by name."""


def build_report(program: Program, graph: Graph, plan: MemoryPlan, arn: bytes, about: Circumstances) -> Report:
    """`graph` is the quantized one that `plan` and `program` were made from, `arn` the serialized program."""
    return Report(
        model=program.name,
        source=about.source,
        producer=f"Arenite {__version__}",
        target=about.target,
        precision=program.precision,
        calibrated=program.calibrated,
        calibration=about.calibration,
        calibrate_command=about.calibrate_command,
        io_layout=about.io_layout,
        keeps_inputs=about.keeps_inputs,
        inputs=tuple(_port(program, port, about) for port in program.inputs),
        outputs=tuple(_port(program, port, about) for port in program.outputs),
        layers=tuple(_layer(program, graph, call, about) for call in program.calls),
        buffers=_buffers(program, graph, plan),
        edge_transposes=_edge_transposes(program, graph),
        memories=tuple((memory.name, size) for memory, size in zip(program.memories, program.memory_bytes, strict=True)),
        arena_lower_bound_bytes=plan.lower_bound,
        arena_proven_optimal=plan.proven_optimal,
        peak_step=_Steps(program, plan).first(plan.peak_step),
        session_bytes=session_bytes(len(program.memories)),
        weight_bytes=program.weight_bytes,
        macs=program.macs,
        model_bytes=len(arn),
        interpreted=about.interpreted,
        compiled=about.compiled,
        checksum=zlib.crc32(arn),
        limits=about.limits,
        sqnr_db=about.sqnr_db,
        notes=(*plan.notes, *about.notes),
        calibration_warnings=about.calibration_warnings,
        states=tuple(_state(program, state, about) for state in program.states),
        values=about.values,
        optimize=about.optimize,
        cost_unit=about.cost_unit,
        trade_off=about.trade_off,
        missing_pairs=about.missing_pairs,
    )


def _scale(quantization: Quantization | None) -> tuple[float | None, int | None]:
    if quantization is None or not quantization.is_per_tensor:
        return None, None
    return float(quantization.scale), int(quantization.zero_point)


def _port(program: Program, port: Port, about: Circumstances) -> ReportPort:
    tensor = program.tensors[port.tensor]
    scale, zero_point = _scale(tensor.quantization)
    source = about.sources[port.name]
    source_scale, source_zero_point = _scale(source.quantization)
    return ReportPort(
        name=port.name,
        shape=tensor.shape,
        dtype=tensor.dtype.value,
        scale=scale,
        zero_point=zero_point,
        source_shape=source.shape,
        source_dtype=source.dtype.value,
        permutation=source.permutation,
        source_scale=source_scale,
        source_zero_point=source_zero_point,
        labels=port.labels,
        expected=about.seen.get(port.name) if port in program.inputs else None,
    )


def _state(program: Program, state: ProgramState, about: Circumstances) -> ReportState:
    kept = program.tensors[state.input]
    output = next(output for output, name in about.states.items() if name == kept.name)
    scale, zero_point = _scale(kept.quantization)
    return ReportState(output, kept.name, about.sources[kept.name].shape, kept.dtype.value, scale, zero_point, kept.bytes)


def _layer(program: Program, graph: Graph, call: Call, about: Circumstances) -> Layer:
    node = graph.nodes[call.node]
    output = program.tensors[call.outputs[0]] if call.outputs else None  # control flow has none
    constants: dict[int, ProgramTensor] = {
        i: program.tensors[i] for i in call.inputs if i >= 0 and program.tensors[i].storage is not Storage.REGION
    }
    scale, zero_point = _scale(None if output is None else output.quantization)
    offered = about.offers.get(call.node, ())
    offered = offered if len(offered) > 1 else ()  # else there is no choice
    measured = None if output is None else about.quality.get(output.name if call.band is None else call.band.tensor)
    return Layer(
        name=call.name,
        op=call.op,
        form=call.form or node.op,
        variant=call.variant,
        output="" if output is None else output.name,
        output_shape=() if output is None else output.shape,
        macs=call.macs,
        weight_bytes=sum(tensor.bytes for tensor in constants.values()),
        scale=scale,
        zero_point=zero_point,
        origins=call.origins or node.origins or (node.name,),
        sqnr_db=None if measured is None else _finite(measured.sqnr_db),
        saturated=None if measured is None else measured.saturated,
        band=None if call.band is None else (call.band.tensor, *call.band.rows),
        offers=tuple(
            KernelOffer(offer.variant, round(offer.cycles), offer.bytes, _scratch_bytes(graph, node, offer.variant)) for offer in offered
        ),
    )


def _scratch_bytes(graph: Graph, node: Node, variant: str) -> int:
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    return OPERATORS[node.op].scratch(node.with_attributes(variant=variant), operands, [graph.tensors[name] for name in node.outputs])


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


class _Steps:
    """Positions in the plan's order as positions in the program's calls: a node may be several calls, or none."""

    def __init__(self, program: Program, plan: MemoryPlan) -> None:
        by_node: dict[int, list[int]] = {}
        for index, call in enumerate(program.calls):
            by_node.setdefault(call.node, []).append(index)
        self._calls = [by_node.get(node, []) for node in plan.order]
        self._count = len(program.calls)

    def first(self, step: int) -> int:
        """The first call of this step or of a later one."""
        if step < 0:
            return -1
        return next((calls[0] for calls in self._calls[step:] if calls), self._count)

    def last(self, step: int) -> int:
        """The last call of this step or of an earlier one."""
        if step >= len(self._calls):
            return self._count
        return next((calls[-1] for calls in reversed(self._calls[: step + 1]) if calls), -1)


def _buffers(program: Program, graph: Graph, plan: MemoryPlan) -> tuple[Buffer, ...]:
    steps = _Steps(program, plan)
    kinds = {**dict.fromkeys(graph.output_ports, "output"), **dict.fromkeys(graph.input_ports, "input")}
    kinds |= {state.input: "state" for state in graph.states}
    buffers = []
    for name, place in plan.placements.items():
        kind = kinds.get(name, "activation")
        first = steps.first(place.first)
        buffers.append(
            Buffer(
                name,
                kind,
                plan.memories[place.memory].name,
                place.offset,
                place.bytes,
                first,
                max(first, steps.last(place.last)),
                plan.aliases.get(name),
            )
        )
    for index, place in plan.scratch.items():
        first = steps.first(place.first)
        buffers.append(
            Buffer(
                f"scratch of {graph.nodes[index].name}",
                "scratch",
                plan.memories[place.memory].name,
                place.offset,
                place.bytes,
                first,
                max(first, steps.last(place.last)),
            )
        )
    buffers += _constants_in_ram(program)
    return tuple(sorted(buffers, key=lambda b: (b.memory, b.first, b.offset, b.last)))


def _constants_in_ram(program: Program) -> list[Buffer]:
    """Each once, named after the layer that reads it first, and there all the time."""
    found: dict[tuple[int, int], Buffer] = {}
    for call in program.calls:
        for index in call.inputs:
            tensor = program.tensors[index]
            if index >= 0 and tensor.storage is Storage.EXTERNAL:
                memory, name = program.memories[tensor.memory].name, f"constant of {call.name or call.op}"
                buffer = Buffer(name, "constant", memory, tensor.offset, tensor.bytes, -1, len(program.calls))
                found.setdefault((tensor.memory, tensor.offset), buffer)
    return list(found.values())


def _edge_transposes(program: Program, graph: Graph) -> tuple[EdgeTranspose, ...]:
    """Transposes between a port and the first or last real layer (Reshape, Quantize and Dequantize may stand between)."""
    through = {"Reshape", "Quantize", "Dequantize"}
    from_input = {name: name for name in graph.input_ports}
    to_output = {name: name for name in graph.output_ports}
    for node in graph.nodes:
        if node.op in through and node.input in from_input:
            from_input[node.output] = from_input[node.input]
    for node in reversed(graph.nodes):
        if node.op in through and node.output in to_output:
            to_output[node.input] = to_output[node.output]
    found = []
    for index, node in enumerate(graph.nodes):
        if node.op != "Transpose" or not any(call.node == index for call in program.calls):
            continue
        port = from_input.get(node.input) or to_output.get(node.output)
        if port is not None:
            found.append(EdgeTranspose(node.name, port, graph.tensors[node.output].elements))
    return tuple(found)
