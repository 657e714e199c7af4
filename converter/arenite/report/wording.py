"""The sentences of a report, which its text, Markdown and HTML forms share. The verdict comes first."""

from __future__ import annotations

from arenite.report.contents import Layer, Report, ReportPort
from arenite.report.memory_use import MemoryUse, memory_use

LEAST_CREDIBLE_DB = 10.0
"""Below it the error is more than a tenth of the outputs' power."""
LITTLE_DB = (
    " That is little: `arenite verify --layers` says where it is lost; --precision auto --max-loss chooses layers that need more bits."
)


def verdict(report: Report) -> str:
    """One sentence: what it needs, and whether it fits where limits are known."""
    code = f"model {report.model_bytes:,}, code not included"
    if report.interpreted is not None:
        code = f"model {report.interpreted.model_bytes:,}, code {report.interpreted.code_bytes:,}"
        if report.compiled is not None:
            code += f"; compiled form {report.compiled.total:,}: {report.compiled.model_bytes:,} and {report.compiled.code_bytes:,}"
    further = "".join(f"{name} {size:,}, " for name, size in report.memories[1:] if size)
    need = (
        f"{report.ram_bytes:,} bytes of RAM (arena {report.arena_bytes:,}, {further}session {report.session_bytes}; without the stack) "
        f"and {report.flash_bytes:,} bytes of flash ({code})"
    )
    where = f" on {report.target}" if report.target else ""
    if report.fits is None:
        return f"{report.model} needs {need}."
    if report.fits:
        return f"{report.model} fits{where}: it needs {need}."
    return f"{report.model} DOES NOT FIT{where}: {'; '.join(report.excess)}. It needs {need}."


def accuracy(report: Report) -> str:
    """Whether the model's accuracy can be trusted, and what to do where it cannot. The last line that `convert` prints."""
    if report.precision == "float32":
        return "float32: nothing is quantized, so that no calibration is needed."
    if report.calibrated:
        measured = f"; end to end {report.sqnr_db:.1f} dB against float on the calibration data" if report.sqnr_db is not None else ""
        little = LITTLE_DB if report.sqnr_db is not None and report.sqnr_db < LEAST_CREDIBLE_DB else ""
        calibrated = f"Calibrated: {report.calibration}{measured}.{little}"
        if report.calibration_warnings:
            return f"DOUBTFUL CALIBRATION: accuracy is unknown. {' '.join(report.calibration_warnings)} {calibrated}"
        return calibrated
    return (
        f"NOT CALIBRATED: accuracy is unknown ({report.calibration}; that has cost over 10 points). "
        f"Sizes and speed are right. To calibrate: {report.calibrate_command}"
    )


def arena(report: Report) -> str:
    """How good the plan is."""
    if report.arena_proven_optimal:
        return f"Arena {report.arena_bytes:,} bytes, the least possible for this execution order."
    gap = report.arena_bytes - report.arena_lower_bound_bytes
    return (
        f"Arena {report.arena_bytes:,} bytes; no plan for this execution order is below {report.arena_lower_bound_bytes:,} "
        f"({gap:,} bytes, {gap / max(report.arena_bytes, 1):.1%}, are not proven necessary)."
    )


def memory_verdict(report: Report) -> str:
    """All RAM besides the stack, one sentence."""
    further = "".join(f", {name} {size:,}" for name, size in report.memories[1:])
    return f"{report.model} needs {report.ram_bytes:,} bytes of RAM: arena {report.arena_bytes:,}{further}, session {report.session_bytes}."


def peak(use: MemoryUse) -> str:
    """Where a memory is fullest, one sentence."""
    overlapping = f", {use.peak.shared_bytes:,} fewer than its tensors have, which overlap" if use.peak.shared_bytes else ""
    return f"Peak of {use.name}: step {use.peak.step}, {use.peak.layer}: {use.peak.bytes:,} of {use.bytes:,} bytes in use{overlapping}."


def free(report: Report) -> str:
    """What of the arena an application may use between invocations."""
    use = memory_use(report)[0]
    some = f"the arena's bytes from {use.between:,} on are the application's"
    if use.between >= use.bytes:
        some = "no bytes are the application's, for inputs, outputs or states reach to the end of the arena"
    if use.kept:
        return f"Between invocations {some}; while no input or output is needed, all but the {use.kept:,} bytes of states."
    return f"Between invocations {some}{';' if use.between >= use.bytes else ', and'} all of them while no input or output is needed."


def memory_title(use: MemoryUse) -> str:
    """At the beginning of a title: memories keep the names that their user gave them."""
    return use.name.capitalize() if use.name == "arena" else use.name


def edges(report: Report) -> str | None:
    """What keeping the ONNX layout at inputs and outputs costs; None where it costs nothing."""
    if not report.edge_transposes:
        return None
    ports = ", ".join(dict.fromkeys(edge.port for edge in report.edge_transposes))
    elements = sum(edge.elements for edge in report.edge_transposes)
    return (
        f"Keeping the ONNX layout at {ports} costs {len(report.edge_transposes)} transpose"
        f"{'s' if len(report.edge_transposes) > 1 else ''} ({elements:,} elements copied an inference); --io-layout nhwc drops "
        f"{'them' if len(report.edge_transposes) > 1 else 'it'}."
    )


def port_rows(report: Report) -> list[tuple[str, str, str, str]]:
    """Kind, name, shape and type of every input, output and state."""
    rows = [
        (kind, port.name, shape(port.shape), port_type(port.dtype, port.scale, port.zero_point) + _expected(port))
        for kind, ports in (("input", report.inputs), ("output", report.outputs))
        for port in ports
    ]
    return rows + [
        ("state", f"{state.output} → {state.input}", shape(state.shape), port_type(state.dtype, state.scale, state.zero_point))
        for state in report.states
    ]


def _expected(port: ReportPort) -> str:
    return "" if port.expected is None else f", values from {port.expected.low:.4g} to {port.expected.high:.4g} expected"


def port_type(dtype: str, scale: float | None, zero_point: int | None) -> str:
    return dtype if scale is None else f"{dtype}, scale {scale:.7g}, zero point {zero_point}"


def shape(dimensions: tuple[int, ...]) -> str:
    return "×".join(str(size) for size in dimensions) or "scalar"


def operator_name(op: str, form: str, variant: str) -> str:
    """The kernel, with the graph's operator where that is another, and the variant where it is not the usual one."""
    detail = [form] if form != op else []
    if variant not in ("int8", "bytes"):
        detail.append(variant)
    return f"{op} ({', '.join(detail)})" if detail else op


def layer_cells(layer: Layer) -> tuple[str, ...]:
    """A layer in a table: operator, output shape, MACs, bytes of weights, scale, zero point, SQNR."""
    return (
        operator_name(layer.op, layer.form, layer.variant),
        shape(layer.output_shape),
        f"{layer.macs:,}",
        f"{layer.weight_bytes:,}",
        "" if layer.scale is None else f"{layer.scale:.6g}",
        "" if layer.zero_point is None else str(layer.zero_point),
        "" if layer.sqnr_db is None else f"{layer.sqnr_db:.1f}",
    )


KERNEL_TITLES = ("#", "layer", "kernel", "cycles", "constants, bytes", "instead (cycles / bytes)")


def kernels(report: Report) -> str | None:
    """How kernels were chosen; None where no layer has a choice."""
    taken = [layer.taken for layer in report.layers if layer.taken is not None]
    if not taken:
        return None
    return (
        f"Kernels for {report.optimize}: layers that had a choice, {len(taken)}, take {sum(offer.cycles for offer in taken):,} "
        f"{report.cost_unit} and {sum(offer.bytes for offer in taken):,} bytes of constants."
    )


def kernel_rows(report: Report) -> list[tuple[str, ...]]:
    """For every layer that had a choice, KERNEL_TITLES: what it takes, and what it could take instead."""
    rows: list[tuple[str, ...]] = []
    for step, layer in enumerate(report.layers):
        if layer.taken is None:
            continue
        others = (f"{offer.variant}: {offer.cycles:,} / {offer.bytes:,}" for offer in layer.offers if offer is not layer.taken)
        rows.append((str(step), layer.name, layer.variant, f"{layer.taken.cycles:,}", f"{layer.taken.bytes:,}", "; ".join(others)))
    return rows
