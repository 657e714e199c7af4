"""The report as a JSON object and back. docs/cli.md promises the keys: they may be added to, never renamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arenite.errors import ArtifactError
from arenite.quantize.input_statistics import InputStatistics, Spread
from arenite.quantize.missing_pairs import MissingPair
from arenite.report.contents import Buffer, EdgeTranspose, KernelOffer, Layer, Limits, Report, ReportPort, ReportState
from arenite.report.trade_off import trade_off_from_json, trade_off_to_json
from arenite.targets.flash_size import FlashSize
from arenite.version import __version__


def to_json(report: Report) -> dict[str, Any]:
    """Plain dicts, lists, strings, numbers, booleans and None; sizes in bytes."""
    return {
        "model": report.model,
        "source": report.source,
        "producer": report.producer,
        "target": report.target,
        "precision": report.precision,
        "calibrated": report.calibrated,
        "calibration": report.calibration,
        "calibrate_command": report.calibrate_command,
        "fits": report.fits,
        "limits": {"ram_bytes": report.limits.ram_bytes, "flash_bytes": report.limits.flash_bytes},
        "arena_bytes": report.arena_bytes,
        "arena_lower_bound_bytes": report.arena_lower_bound_bytes,
        "arena_proven_optimal": report.arena_proven_optimal,
        "peak_step": report.peak_step,
        "session_bytes": report.session_bytes,
        "ram_bytes": report.ram_bytes,
        "weight_bytes": report.weight_bytes,
        "flash": {"model_bytes": report.model_bytes, "code_bytes": report.interpreted and report.interpreted.code_bytes},
        "flash_compiled": report.compiled and {"model_bytes": report.compiled.model_bytes, "code_bytes": report.compiled.code_bytes},
        "checksum": report.checksum,
        "macs": report.macs,
        "optimize": report.optimize,
        "cost_unit": report.cost_unit,
        "trade_off": None if report.trade_off is None else trade_off_to_json(report.trade_off),
        "missing_pairs": [
            {"tensor": pair.tensor, "layer": pair.layer, "source": pair.source, "scale": pair.scale, "zero_point": pair.zero_point}
            for pair in report.missing_pairs
        ],
        "sqnr_db": report.sqnr_db,
        "io_layout": report.io_layout,
        "keeps_inputs": report.keeps_inputs,
        "inputs": [_port_to_json(port) for port in report.inputs],
        "outputs": [_port_to_json(port) for port in report.outputs],
        "states": [
            {
                "output": state.output,
                "input": state.input,
                "shape": list(state.shape),
                "dtype": state.dtype,
                "scale": state.scale,
                "zero_point": state.zero_point,
                "bytes": state.bytes,
            }
            for state in report.states
        ],
        "values": dict(report.values),
        "layers": [_layer_to_json(layer) for layer in report.layers],
        "memories": [{"name": name, "bytes": size} for name, size in report.memories],
        "buffers": [
            {
                "name": buffer.name,
                "kind": buffer.kind,
                "memory": buffer.memory,
                "offset": buffer.offset,
                "bytes": buffer.bytes,
                "first": buffer.first,
                "last": buffer.last,
                "alias_of": buffer.alias_of,
            }
            for buffer in report.buffers
        ],
        "edge_transposes": [{"layer": edge.layer, "port": edge.port, "elements": edge.elements} for edge in report.edge_transposes],
        "notes": list(report.notes),
        "calibration_warnings": list(report.calibration_warnings),
    }


def from_json(value: Mapping[str, Any], where: str) -> Report:
    """The report that `to_json` wrote. Unknown keys are ignored. Raises ArtifactError, naming `where`, if it is anything else."""
    try:
        limits = value["limits"]
        return Report(
            model=value["model"],
            source=value["source"],
            producer=value["producer"],
            target=value["target"],
            calibrated=value["calibrated"],
            calibration=value["calibration"],
            calibrate_command=value["calibrate_command"],
            io_layout=value["io_layout"],
            keeps_inputs=value["keeps_inputs"],
            inputs=tuple(_port_from_json(port) for port in value["inputs"]),
            outputs=tuple(_port_from_json(port) for port in value["outputs"]),
            layers=tuple(_layer_from_json(layer) for layer in value["layers"]),
            buffers=tuple(
                Buffer(b["name"], b["kind"], b["memory"], b["offset"], b["bytes"], b["first"], b["last"], b["alias_of"])
                for b in value["buffers"]
            ),
            edge_transposes=tuple(EdgeTranspose(e["layer"], e["port"], e["elements"]) for e in value["edge_transposes"]),
            memories=tuple((m["name"], m["bytes"]) for m in value["memories"]),
            arena_lower_bound_bytes=value["arena_lower_bound_bytes"],
            arena_proven_optimal=value["arena_proven_optimal"],
            peak_step=value["peak_step"],
            session_bytes=value["session_bytes"],
            weight_bytes=value["weight_bytes"],
            macs=value["macs"],
            model_bytes=value["flash"]["model_bytes"],
            interpreted=_flash_from_json(value["flash"]),
            compiled=_flash_from_json(value["flash_compiled"]),
            checksum=value["checksum"],
            limits=Limits(limits["ram_bytes"], limits["flash_bytes"]),
            sqnr_db=value["sqnr_db"],
            notes=tuple(value["notes"]),
            precision=value["precision"],
            calibration_warnings=tuple(value.get("calibration_warnings", ())),
            states=tuple(
                ReportState(s["output"], s["input"], tuple(s["shape"]), s["dtype"], s["scale"], s["zero_point"], s["bytes"])
                for s in value["states"]
            ),
            values=dict(value["values"]),
            optimize=value.get("optimize", "balanced"),
            cost_unit=value.get("cost_unit", ""),
            trade_off=None if value.get("trade_off") is None else trade_off_from_json(value["trade_off"]),
            missing_pairs=tuple(
                MissingPair(p["tensor"], p["layer"], p["source"], p["scale"], p["zero_point"]) for p in value.get("missing_pairs", ())
            ),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ArtifactError(f"{where} {_why_not(value, error)}: convert the model again") from error


def _why_not(value: object, error: Exception) -> str:
    """What is wrong with a report that cannot be read."""
    producer = value.get("producer") if isinstance(value, Mapping) else None
    if not isinstance(producer, str):
        return f"is not a report of `convert` ({error!r})"
    if isinstance(error, KeyError) and producer != f"Arenite {__version__}":
        return f"was written by {producer} and lacks {error.args[0]!r}, which Arenite {__version__} needs"
    return f"is not a report of this version of `convert` ({error!r})"


def _flash_from_json(value: Mapping[str, Any] | None) -> FlashSize | None:
    if value is None or value["code_bytes"] is None:
        return None
    return FlashSize(value["model_bytes"], value["code_bytes"])


def _port_to_json(port: ReportPort) -> dict[str, Any]:
    return {
        "name": port.name,
        "shape": list(port.shape),
        "dtype": port.dtype,
        "scale": port.scale,
        "zero_point": port.zero_point,
        "source_shape": list(port.source_shape),
        "source_dtype": port.source_dtype,
        "source_scale": port.source_scale,
        "source_zero_point": port.source_zero_point,
        "permutation": list(port.permutation),
        "labels": list(port.labels),
        "expected": None if port.expected is None else _statistics_to_json(port.expected),
    }


def _statistics_to_json(seen: InputStatistics) -> dict[str, Any]:
    return {
        "low": seen.low,
        "high": seen.high,
        "mean": _spread_to_json(seen.mean),
        "deviation": _spread_to_json(seen.deviation),
        "changes": [_spread_to_json(each) for each in seen.changes],
    }


def _statistics_from_json(value: Mapping[str, Any]) -> InputStatistics:
    changes = tuple(_spread_from_json(each) for each in value["changes"])
    return InputStatistics(value["low"], value["high"], _spread_from_json(value["mean"]), _spread_from_json(value["deviation"]), changes)


def _spread_to_json(spread: Spread | None) -> list[float] | None:
    return None if spread is None else [spread.mean, spread.deviation]


def _spread_from_json(value: list[float] | None) -> Spread | None:
    return None if value is None else Spread(value[0], value[1])


def _port_from_json(value: Mapping[str, Any]) -> ReportPort:
    return ReportPort(
        name=value["name"],
        shape=tuple(value["shape"]),
        dtype=value["dtype"],
        scale=value["scale"],
        zero_point=value["zero_point"],
        source_shape=tuple(value["source_shape"]),
        source_dtype=value["source_dtype"],
        permutation=tuple(value["permutation"]),
        labels=tuple(value["labels"]),
        source_scale=value["source_scale"],
        source_zero_point=value["source_zero_point"],
        expected=None if value.get("expected") is None else _statistics_from_json(value["expected"]),
    )


def _layer_to_json(layer: Layer) -> dict[str, Any]:
    return {
        "name": layer.name,
        "op": layer.op,
        "form": layer.form,
        "variant": layer.variant,
        "output": layer.output,
        "output_shape": list(layer.output_shape),
        "macs": layer.macs,
        "weight_bytes": layer.weight_bytes,
        "scale": layer.scale,
        "zero_point": layer.zero_point,
        "sqnr_db": layer.sqnr_db,
        "saturated": layer.saturated,
        "origins": list(layer.origins),
        "band": None if layer.band is None else {"of": layer.band[0], "rows": list(layer.band[1:])},
        "offers": [
            {"variant": offer.variant, "cycles": offer.cycles, "bytes": offer.bytes, "scratch_bytes": offer.scratch_bytes}
            for offer in layer.offers
        ],
    }


def _layer_from_json(value: Mapping[str, Any]) -> Layer:
    return Layer(
        name=value["name"],
        op=value["op"],
        form=value["form"],
        variant=value["variant"],
        output=value["output"],
        output_shape=tuple(value["output_shape"]),
        macs=value["macs"],
        weight_bytes=value["weight_bytes"],
        scale=value["scale"],
        zero_point=value["zero_point"],
        sqnr_db=value["sqnr_db"],
        saturated=value["saturated"],
        origins=tuple(value["origins"]),
        band=None if value.get("band") is None else (value["band"]["of"], *value["band"]["rows"]),
        offers=tuple(
            KernelOffer(offer["variant"], offer["cycles"], offer["bytes"], offer.get("scratch_bytes")) for offer in value.get("offers", ())
        ),
    )
