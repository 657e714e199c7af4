"""quantize(): from a float graph and calibration data to the int8 graph, with a report of every layer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from arenite.errors import QuantizationError
from arenite.graph import Graph, Quantization
from arenite.quantize.calibration_data import Dataset, synthetic_data
from arenite.quantize.cell_ranges import largest_cells
from arenite.quantize.coarse import LEAST_DB, coarse_tensors
from arenite.quantize.edges import IO, with_edges
from arenite.quantize.fidelity import Fidelity, measure
from arenite.quantize.lower import lower
from arenite.quantize.lower_typed import without_detours
from arenite.quantize.observers import OBSERVERS, Histogram, Progress, UnboundedError, min_max, observe, percentile
from arenite.quantize.placement import typed_beside, typed_nodes
from arenite.quantize.ranges import Range
from arenite.quantize.scales import choose_scales, representable, undetermined
from arenite.quantize.state_scales import state_quantization
from arenite.quantize.state_tensors import find_state_tensors, recurrent_nodes
from arenite.quantize.to_typed import to_typed

LISTED = 8
"""Layers that a note names."""
COMPARED = 256
"""Samples that tell whether 256 steps are enough."""


@dataclass(frozen=True)
class QuantizeOptions:
    observer: str = "minmax"
    """How a tensor's range follows from its values: minmax, percentile or mse (observers.OBSERVERS)."""
    percentile: float = 99.99
    """Of the percentile observer, in percent."""
    float_layers: tuple[str, ...] = ()
    """Names of ONNX nodes that are not to be quantized."""
    unbounded: frozenset[str] = frozenset()
    """First outputs of nodes that see values which are not finite: found out by quantize()."""
    least_db: float = LEAST_DB
    """Where rounding to int8 leaves less than this of half of the calibration samples, in dB of signal to noise, a tensor and the layers
    that write or read it stay float32 (coarse.py); −inf: never."""
    coarse: tuple[tuple[str, float], ...] = ()
    """Such tensors and what would be left of them: found out by quantize()."""
    io: str = "int8"
    """Types of inputs and outputs: int8, float32 or model (edges.py)."""
    synthetic_samples: int = 32
    """Made up where there is no calibration data."""
    seed: int = 0
    fidelity_samples: int = 16
    """Calibration samples over which the report's figures are measured; 0: none are."""


@dataclass(frozen=True)
class LayerReport:
    """One node of the float graph after quantization."""

    name: str
    op: str
    output: str
    scale: float | None
    """None where the output is not quantized."""
    zero_point: int | None
    sqnr_db: float | None
    """Of the output against float, all quantization errors up to here included; None where not measured, inf where there is no error."""
    saturated: float | None
    """Share of the output's values beyond the representable range. None where not measured."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuantizedModel:
    graph: Graph
    """The int8 form, or the typed form of a model that is not quantized."""
    calibrated: bool
    """False: ranges were measured on synthetic inputs, accuracy is unknown."""
    layers: tuple[LayerReport, ...]
    input_ranges: dict[str, tuple[float, float]]
    """Real values that each input can represent."""
    output_ranges: dict[str, tuple[float, float]]
    sqnr_db: dict[str, float]
    """Of each output against float, where measured."""
    notes: tuple[str, ...] = ()
    """On the model as a whole."""
    precision: str = "int8"
    """float32: nothing is quantized. mixed: some layers are not."""


def quantize(
    graph: Graph, calibration: Dataset | None = None, options: QuantizeOptions | None = None, progress: Progress | None = None
) -> QuantizedModel:
    """Quantize an optimized float graph to int8.

    Without `calibration`, ranges that no annotation gives are measured on synthetic inputs, and the result says so. A graph whose
    annotations determine every range (an imported QDQ model) needs no data. Where no layer has an int8 form the result is float32.
    `progress(done, total)` counts inferences of calibration.

    Raises QuantizationError for what has no int8 form or for unusable annotations, CalibrationError where data gives no finite ranges.
    """
    options = options or QuantizeOptions()
    if options.observer not in OBSERVERS:
        raise QuantizationError(f"the observer {options.observer!r} is not known. Choose one of {', '.join(OBSERVERS)}.")
    if options.io not in IO:
        raise QuantizationError(f"the input and output type {options.io!r} is not known. Choose one of {', '.join(IO)}.")
    whole, coarse = graph, dict(options.coarse)
    too_coarse = frozenset(coarse)
    typed = typed_nodes(graph, options.float_layers, options.unbounded, too_coarse)
    if graph.nodes and not options.float_layers and all(node.output in typed for node in graph.nodes):
        reasons = _coarse_notes(graph, coarse, options.least_db) or ("no layer has an int8 form, so nothing is quantized",)
        return replace(keep_float(graph), notes=reasons)
    recurrent, found = recurrent_nodes(graph, typed), find_state_tensors(graph, typed, too_coarse)
    graph = found.graph
    apart = found.names | too_coarse
    unknown = [*undetermined(graph, typed, apart), *found.observed(recurrent)]
    data = calibration if calibration is not None else synthetic_data(graph, options.synthetic_samples, options.seed)
    try:
        histograms = observe(graph, data, unknown, progress) if unknown else {}
    except UnboundedError as error:  # infinities that the model itself takes out again, as masks and untaken branches do
        beside = typed_beside(whole, error.tensors) - typed
        if not beside or error.tensors.intersection(whole.outputs):
            raise
        return quantize(whole, calibration, replace(options, unbounded=options.unbounded | beside), progress)
    ranges = {name: _range(graph, name, histogram, options) for name, histogram in histograms.items()}
    quantization = choose_scales(graph, ranges, typed, apart)
    if calibration is not None and not coarse and options.least_db > -math.inf:
        coarse = coarse_tensors(whole, _of(whole, quantization), _inspected(whole, data, COMPARED), options.least_db)
        if coarse:
            return quantize(whole, calibration, replace(options, coarse=tuple(coarse.items())), progress)
    steps = state_quantization(found, recurrent, ranges, largest_cells(graph, data, recurrent))
    lowering = lower(graph, quantization, typed, steps)
    measured = calibration is not None and options.fidelity_samples > 0  # made-up inputs would say nothing about accuracy
    fidelity = measure(graph, quantization, lowering, _inspected(graph, data, options.fidelity_samples)) if measured else Fidelity({}, {})
    return QuantizedModel(
        graph=without_detours(with_edges(lowering.target, options.io)),
        calibrated=calibration is not None or not unknown,
        layers=tuple(_layers(graph, quantization, lowering.notes, fidelity)),
        input_ranges={name: _limits(quantization[name]) for name in graph.inputs if name in quantization},
        output_ranges={
            name: _limits(chosen) for name in lowering.target.outputs if (chosen := lowering.target.tensors[name].quantization) is not None
        },
        sqnr_db={name: fidelity.sqnr_db[name] for name in graph.outputs if name in fidelity.sqnr_db},
        notes=(*_placement_notes(graph, typed), *_coarse_notes(whole, coarse, options.least_db)),
        precision="mixed" if typed else "int8",
    )


def keep_float(graph: Graph) -> QuantizedModel:
    """An optimized float graph as it is, nothing quantized. Raises QuantizationError for what has no typed form."""
    return QuantizedModel(to_typed(graph), True, (), {}, {}, {}, precision="float32")


def _inspected(graph: Graph, data: Dataset, count: int) -> Dataset:
    """Samples from everywhere, files being often sorted by class; from the start on where each depends on the ones before."""
    return data.first(count) if graph.states else data.spread(count)


def _placement_notes(graph: Graph, typed: frozenset[str]) -> tuple[str, ...]:
    names = list(dict.fromkeys(f"{node.name} ({node.op})" for node in graph.nodes if node.output in typed))
    if not names:
        return ()
    shown = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
    return (f"{len(names)} of {len(graph.nodes)} layers are not quantized: {shown}",)


def _coarse_notes(graph: Graph, coarse: Mapping[str, float], least_db: float) -> tuple[str, ...]:
    if not coarse:
        return ()
    producers = graph.producers()
    named = {(producers[name].name if name in producers else f"input {name}"): max(db, 0.0) for name, db in coarse.items()}
    shown = ", ".join(f"{name} {db:.0f} dB" for name, db in list(named.items())[:LISTED])
    more = f" and {len(named) - LISTED} more" if len(named) > LISTED else ""
    return (f"not int8, in which a typical sample would keep less than {least_db:g} dB of signal to noise: {shown}{more}",)


def _of(graph: Graph, quantization: Mapping[str, Quantization]) -> dict[str, Quantization]:
    """As far as `graph` has the tensors."""
    return {name: chosen for name, chosen in quantization.items() if name in graph.tensors}


def _range(graph: Graph, name: str, histogram: Histogram, options: QuantizeOptions) -> Range:
    """Inputs and outputs keep their extremes: clipping an output makes equals of different scores."""
    if name in graph.inputs or name in graph.outputs:
        return min_max(histogram)
    if options.observer == "percentile":
        return percentile(histogram, options.percentile)
    return OBSERVERS[options.observer](histogram)


def _limits(quantization: Quantization) -> tuple[float, float]:
    limits = representable(quantization)
    return limits.low, limits.high


def _layers(graph: Graph, quantization: dict[str, Quantization], notes: dict[str, list[str]], fidelity: Fidelity) -> list[LayerReport]:
    return [
        LayerReport(
            node.name,
            node.op,
            node.output,
            float(quantization[node.output].scale) if node.output in quantization else None,
            int(quantization[node.output].zero_point) if node.output in quantization else None,
            fidelity.sqnr_db.get(node.output),
            fidelity.saturated.get(node.output),
            tuple(notes.get(node.output, ())),
        )
        for node in graph.nodes
    ]
