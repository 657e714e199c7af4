"""What would make the arena smaller next: what binds its peak, and the options that would help there."""

from __future__ import annotations

from collections.abc import Iterator

from arenite.report.bands_advice import bands_bytes, can_be_in_bands
from arenite.report.contents import Buffer, Report
from arenite.report.memory_use import MemoryUse, StepUse, label, memory_use, occupied

CLOSE = 0.95
"""Steps with this part of the peak's bytes are named: a gain at the peak ends there."""
MOST_NAMED = 6
MOST_WAITING = 3


def advice(report: Report) -> tuple[str, ...]:
    """Of the arena, most useful first; sentences."""
    use = memory_use(report)[0]
    if use.peak.bytes == 0:
        return ()
    return (
        *_largest(report, use.peak),
        *_scratch(report, use.peak),
        *_ports(report, use.peak),
        *_bands(report, use),
        *_limits(report, use),
    )


def _largest(report: Report, peak: StepUse) -> Iterator[str]:
    largest = max(peak.buffers, key=lambda buffer: buffer.bytes)
    yield f"The largest at the peak is {_named(report, largest)}, {largest.bytes:,} bytes ({largest.bytes / peak.bytes:.0%})."
    waiting = [buffer for buffer in peak.buffers if buffer.kind == "activation" and buffer.first < peak.step < buffer.last]
    if waiting:
        longest = sorted(waiting, key=lambda buffer: -buffer.bytes)
        named = ", ".join(f"{_named(report, b)} ({b.bytes:,} bytes, steps {b.first} to {b.last})" for b in longest[:MOST_WAITING])
        more = f" and {len(waiting) - MOST_WAITING} more" if len(waiting) > MOST_WAITING else ""
        held = occupied((b.offset, b.offset + b.bytes) for b in waiting)
        yield f"Results that wait for a later layer hold {held:,} bytes there: {named}{more}."


def _scratch(report: Report, peak: StepUse) -> Iterator[str]:
    taken = sum(buffer.bytes for buffer in peak.buffers if buffer.kind == "scratch")
    if not taken or not 0 <= peak.step < len(report.layers):
        return
    layer = report.layers[peak.step]
    now = layer.taken
    if any(offer.scratch_bytes is None for offer in layer.offers):
        yield (
            f"{taken:,} bytes at the peak are scratch memory of {layer.name} ({layer.variant}). What its other kernels need is not in this "
            f"report, which {report.producer} wrote: convert the model again."
        )
        return
    leaner = [offer for offer in layer.offers if offer.scratch_bytes is not None and offer.scratch_bytes < taken]
    if now is None or not leaner:
        choice = "; the kernels that it could take instead need no less" if len(layer.offers) > 1 else ""
        yield f"{taken:,} bytes at the peak are scratch memory of {layer.name} ({layer.variant}){choice}."
        return
    best = min(leaner, key=lambda offer: offer.cycles)
    cost = f"{best.cycles / now.cycles - 1:+.0%} cycles of that layer" if now.cycles else "unknown cycles"
    yield (
        f"{taken:,} bytes at the peak are scratch memory of {layer.name} ({layer.variant}); {best.variant} needs {best.scratch_bytes:,} "
        f"({cost}, {best.bytes - now.bytes:+,} bytes of constants)."
    )


def _ports(report: Report, peak: StepUse) -> Iterator[str]:
    kinds = {buffer.kind for buffer in peak.buffers}
    if report.keeps_inputs and "input" in kinds:
        kept = sum(buffer.bytes for buffer in peak.buffers if buffer.kind == "input")
        yield f"--keep-inputs holds {kept:,} bytes of inputs at the peak: without it their memory is used again behind their last layer."
    wide = {port.name for port in (*report.inputs, *report.outputs) if port.dtype == "float32"}
    if report.precision != "float32" and any(buffer.name in wide for buffer in peak.buffers):
        condition = "" if report.precision == "int8" else ", where the model is int8 (--precision int8)"
        yield f"--io int8{condition}: inputs and outputs at the peak take a quarter of their bytes."
    if any(edge.layer == layer.name for edge in report.edge_transposes for layer in report.layers[max(0, peak.step) : peak.step + 1]):
        yield "--io-layout nhwc: the layer at the peak, a transpose at the edge of the network, is not needed."
    if report.precision == "float32":
        yield "--precision int8: activations take a quarter of their bytes."


def _bands(report: Report, use: MemoryUse) -> Iterator[str]:
    peak = use.peak
    if 0 <= peak.step < len(report.layers):
        layer = report.layers[peak.step]
        if layer.band is not None:
            yield "A smaller --max-ram: bands of fewer rows, of more layers, or such that compute again what they share."
        elif sum(size > 0 for _, size in report.memories) == 1 and can_be_in_bands(report, peak.step):
            least = bands_bytes(report, use)
            if least is not None:
                least += report.ram_bytes - use.bytes  # --max-ram counts the session, too
            yield (
                "--max-ram SIZE: layers around the peak are executed in bands of rows, so that none of their tensors is ever whole."
                + ("" if least is None else f" About {least:,} bytes may do; --ram-curve says what each size costs.")
            )


def _limits(report: Report, use: MemoryUse) -> Iterator[str]:
    """How far a gain at the peak goes."""
    close = [step for step in use.steps if step.step != use.peak.step and step.bytes >= CLOSE * use.peak.bytes]
    if close:
        named = ", ".join(f"{step.step} ({step.layer}, {step.bytes:,})" for step in close[:MOST_NAMED])
        more = f" and {len(close) - MOST_NAMED} more" if len(close) > MOST_NAMED else ""
        yield f"Steps close to the peak, which have to become smaller with it: {named}{more}."
    else:
        following = max((step for step in use.steps if step.step != use.peak.step), key=lambda step: step.bytes, default=None)
        if following is not None:
            yield (
                f"Up to {use.peak.bytes - following.bytes:,} bytes can be gained at the peak alone; then step {following.step} "
                f"({following.layer}) is the highest with {following.bytes:,}."
            )
    if use.bytes > use.peak.bytes:
        yield f"{use.bytes - use.peak.bytes:,} bytes of the arena are gaps at the peak."


def _named(report: Report, buffer: Buffer) -> str:
    return buffer.name if buffer.kind in ("input", "state", "scratch") else f"the result of {label(report, buffer)}"
