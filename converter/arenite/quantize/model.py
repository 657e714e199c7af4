"""quantize(): from a float graph and calibration data to the int8 graph, with a report of every layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arenite.errors import QuantizationError
from arenite.graph import Graph, Quantization, Tensor
from arenite.quantize.best import Advance, Found, MethodEffect, search
from arenite.quantize.calibration_data import Dataset, synthetic_data
from arenite.quantize.cell_ranges import largest_cells
from arenite.quantize.coarse import LEAST_DB, coarse_tensors
from arenite.quantize.draft import Draft
from arenite.quantize.edges import IO, with_edges
from arenite.quantize.execution import versions
from arenite.quantize.features import GAIN_DB, GOOD_DB, POOR_DB, uneven_tensors, vector_inputs
from arenite.quantize.fidelity import Fidelity, measure
from arenite.quantize.fine_inputs import fine_inputs
from arenite.quantize.four_bits import four_bit_layers, stored_in_four_bits
from arenite.quantize.input_statistics import InputStatistics, input_statistics
from arenite.quantize.int16_choice import WEIGHTS, Int16Choice
from arenite.quantize.lower_movement import CARRYING
from arenite.quantize.lower_recurrent import fits_int16
from arenite.quantize.lower_typed import without_detours
from arenite.quantize.methods import LEVELS
from arenite.quantize.missing_pairs import Completed, MissingPair, comes_quantized, completed, missing_pairs
from arenite.quantize.observers import OBSERVERS, Histogram, Progress, UnboundedError, min_max, observe, percentile
from arenite.quantize.output_error import MOST_DB, Judge
from arenite.quantize.placement import typed_beside, typed_nodes
from arenite.quantize.ranges import Range
from arenite.quantize.scales import representable, undetermined
from arenite.quantize.state_scales import state_quantization
from arenite.quantize.state_tensors import find_state_tensors, is_copy, recurrent_nodes
from arenite.quantize.to_int16 import chosen_layers, observed
from arenite.quantize.to_typed import to_typed

LISTED = 8
"""Layers that a note names."""
INT16_VARIANTS = ("int16_steps", "int16_weights")
CONVERSIONS = ("Quantize", "Dequantize", "Requantize")
METHODS_NOTE = "signal to noise of the outputs over"
"""How the note about the methods that were tried begins."""
COMPARED = 256
"""Samples that tell whether 256 steps are enough."""


@dataclass(frozen=True)
class QuantizeOptions:
    observer: str = "minmax"
    """How a tensor's range follows from its values: minmax, percentile, mse or entropy (observers.OBSERVERS)."""
    percentile: float = 99.99
    """Of the percentile observer, in percent."""
    float_layers: tuple[str, ...] = ()
    """Names of ONNX nodes that are not to be quantized."""
    int16_layers: tuple[str, ...] | None = ()
    """Names of ONNX nodes that are to have 16-bit activations; None: all."""
    int16_weight_bits: int = 16
    """Of these layers: 8 or 16."""
    int4_layers: tuple[str, ...] | None = ()
    """Names of ONNX nodes whose weights are to have four bits (four_bits.py); None: all convolutions and fully connected layers."""
    int4_loss_db: float = math.inf
    """A layer with which the outputs would lose more signal to noise than this, in dB, keeps eight bits after all."""
    unbounded: frozenset[str] = frozenset()
    """First outputs of nodes that see values which are not finite: found out by quantize()."""
    least_db: float = LEAST_DB
    """Where rounding to int8 leaves less than this of half of the calibration samples, in dB of signal to noise, a tensor and the layers
    that write or read it stay float32 (coarse.py); −inf: never."""
    coarse: tuple[tuple[str, float], ...] = ()
    """Such tensors and what would be left of them: found out by quantize()."""
    methods: frozenset[str] = LEVELS["default"]
    """What makes the result more accurate (methods.METHODS); without calibration data none does anything."""
    uneven: tuple[str, ...] | None = None
    """Tensors whose features need more than one scale (features.py): found out by quantize()."""
    unknown: frozenset[str] = frozenset()
    """Tensors that a model which comes quantized says nothing of, without data that would (missing_pairs.py): found out by quantize()."""
    sixteen: frozenset[str] = frozenset()
    """Tensors that the model itself quantizes to 16 bits: found out by quantize()."""
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
    wide_sqnr_db: float | None = None
    """Of the output's version with 16 bits, where there is another one beside it and it was measured."""

    @property
    def by_version(self) -> dict[str, LayerReport]:
        """By the names that the output may have in the quantized graph."""
        plain, wide = versions(self.output)
        return {plain: self, wide: self if self.wide_sqnr_db is None else replace(self, sqnr_db=self.wide_sqnr_db)}


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
    methods: tuple[MethodEffect, ...] = ()
    """What was tried after the ranges were known, in order."""
    inputs: Mapping[str, InputStatistics] = field(default_factory=dict)
    """What calibration has seen of the inputs, or what the model itself says of them, as far as known."""
    missing: tuple[MissingPair, ...] = ()
    """Tensors without annotation in a graph that comes quantized, and what they were given."""

    @property
    def expected(self) -> dict[str, tuple[float, float]]:
        """The range of each of `inputs`."""
        return {name: (seen.low, seen.high) for name, seen in self.inputs.items()}


def quantize(
    graph: Graph,
    calibration: Dataset | None = None,
    options: QuantizeOptions | None = None,
    progress: Progress | None = None,
    searching: Advance | None = None,
) -> QuantizedModel:
    """Quantize an optimized float graph to int8.

    Without `calibration`, ranges that no annotation gives are measured on synthetic inputs, and the result says so. A graph with
    annotations of its own (an imported QDQ model) needs no data: what they do not determine stays float32 then (missing_pairs.py). Where
    no layer has an int8 form the result is float32. `progress(done, total)` counts inferences of calibration, `searching(method, done,
    total)` what each method has to try afterwards.

    Raises QuantizationError for what has no int8 form or for unusable annotations, CalibrationError where data gives no finite ranges.
    """
    return finish(graph, calibration, settle(graph, calibration, options or QuantizeOptions(), progress, searching))


def finish(graph: Graph, calibration: Dataset | None, settled: Settled) -> QuantizedModel:
    """The model that follows from the decisions, with the figures of its layers."""
    options, data, found = settled.options, settled.data, settled.found
    reasons = (*_coarse_notes(graph, dict(options.coarse), options.least_db), *_uneven_notes(graph, options.uneven or ()))
    if found is None:
        return replace(keep_float(graph), inputs=settled.inputs, notes=reasons or ("no layer has an int8 form, so nothing is quantized",))
    draft = found.draft
    quantization, lowering = draft.quantization(), draft.lowering()
    measured = calibration is not None and options.fidelity_samples > 0  # made-up inputs would say nothing about accuracy
    inspected = _inspected(draft.graph, data, options.fidelity_samples)
    made = without_detours(with_edges(lowering.target, options.io))
    fidelity = measure(draft.graph, quantization, lowering, made, inspected) if measured else Fidelity({}, {})
    return QuantizedModel(
        graph=made,
        calibrated=calibration is not None or not draft.ranges,
        layers=tuple(_layers(draft.graph, quantization, lowering.notes, fidelity)),
        input_ranges={name: _limits(quantization[name]) for name in graph.inputs if name in quantization},
        output_ranges={
            name: _limits(chosen) for name in lowering.target.outputs if (chosen := lowering.target.tensors[name].quantization) is not None
        },
        sqnr_db={name: fidelity.sqnr_db[name] for name in graph.outputs if name in fidelity.sqnr_db},
        notes=(*_placement_notes(draft.graph, draft.typed, lowering.target), *reasons, *_method_notes(found)),
        precision="mixed" if draft.typed else "int8",
        methods=found.effects,
        inputs=settled.inputs,
        missing=_missing(graph, settled, quantization, draft.ranges),
    )


def _missing(
    graph: Graph, settled: Settled, quantization: Mapping[str, Quantization], ranges: Mapping[str, Range]
) -> tuple[MissingPair, ...]:
    sources = {} if settled.completed is None else settled.completed.sources
    return missing_pairs(graph, quantization, sources, ranges, settled.options.unknown)


@dataclass(frozen=True)
class Settled:
    """Everything that a quantization follows from."""

    options: QuantizeOptions
    """With what was found out on the way."""
    data: Dataset
    """Made up, where there is no calibration data."""
    found: Found | None
    """None where nothing can be int8."""
    inputs: Mapping[str, InputStatistics] = field(default_factory=dict)
    """QuantizedModel.inputs."""
    completed: Completed | None = None
    """The graph with annotations that follow from the others."""


def settle(
    graph: Graph,
    calibration: Dataset | None,
    options: QuantizeOptions,
    progress: Progress | None = None,
    searching: Advance | None = None,
) -> Settled:
    """The decisions of quantize(), which has the same arguments and raises the same."""
    if options.observer not in OBSERVERS:
        raise QuantizationError(f"the observer {options.observer!r} is not known. Choose one of {', '.join(OBSERVERS)}.")
    if options.io not in IO:
        raise QuantizationError(f"the input and output type {options.io!r} is not known. Choose one of {', '.join(IO)}.")
    data = calibration if calibration is not None else synthetic_data(graph, options.synthetic_samples, options.seed)
    seen = input_statistics(graph, calibration)
    whole = completed(graph, measured=calibration is not None)
    graph = whole.graph
    options = replace(options, sixteen=frozenset(name for name, tensor in graph.tensors.items() if _has_16_bits(tensor)))
    if calibration is None and comes_quantized(graph):
        options = replace(options, unknown=_unknown(graph, options))
    while True:
        try:
            begun = _begin(graph, data, options, progress)
        except UnboundedError as error:  # infinities that the model itself takes out again, as masks and untaken branches do
            beside = typed_beside(graph, error.tensors) - _typed(graph, options)
            if not beside or error.tensors.intersection(graph.outputs):
                raise
            options = replace(options, unbounded=options.unbounded | beside)
            continue
        if begun is None:
            return Settled(options, data, None, seen, whole)
        changed = options if calibration is None else _without_lossy(graph, begun, calibration, options)
        if changed == options:
            break
        options = changed
    found = Found(begun.draft, (), 0)
    if calibration is not None and options.methods - {"features"} and begun.histograms:
        found = search(
            begun.draft, begun.histograms, data, options.methods, lambda name, histogram: _range(graph, name, histogram, options), searching
        )
    layers = four_bit_layers(found.draft.graph, options.int4_layers, found.draft.typed)
    if layers:
        found = stored_in_four_bits(found, layers, data, searching, options.int4_loss_db)
    return Settled(options, data, found, seen, whole)


def _has_16_bits(tensor: Tensor) -> bool:
    return not tensor.is_constant and tensor.quantization is not None and tensor.quantization.bits == 16


def _unknown(graph: Graph, options: QuantizeOptions) -> frozenset[str]:
    """What nothing determines, but for what recurrent layers carry on, which has scales of its own. What moves elements of such a tensor is
    float32 with it, and then its result may be one as well."""
    while True:
        typed = _typed(graph, options)
        found = find_state_tensors(graph, typed, _apart(options))
        more = frozenset(undetermined(found.graph, typed, found.names | _apart(options))).intersection(graph.tensors)
        more |= frozenset(observed(graph, _int16_layers(graph, options)))
        if more <= options.unknown:
            return options.unknown
        options = replace(options, unknown=options.unknown | more)


def rechosen(
    graph: Graph,
    settled: Settled,
    float_layers: Sequence[str],
    int16_layers: Sequence[str],
    seen: dict[str, Histogram],
    int4_layers: Sequence[str] = (),
) -> Settled:
    """`settled`, with other layers that are not int8, or have weights of four bits; what methods chose for the others is kept.

    `seen`: histograms of tensors that earlier calls for this model have measured, added to. Raises what quantize() raises.
    """
    base = settled.found
    graph = graph if settled.completed is None else settled.completed.graph
    coarse_db = settled.options.least_db if settled.options.coarse else -math.inf
    options = replace(
        settled.options,
        float_layers=tuple(float_layers),
        int16_layers=tuple(int16_layers),
        least_db=coarse_db,
        uneven=settled.options.uneven or (),
    )
    moved = base is not None and base.draft.graph is not graph and not base.draft.steps  # by equalization
    source = base.draft.graph if base is not None and moved else graph
    begun = _begin(source, settled.data, options, seen=seen)
    if begun is None or base is None:
        return replace(settled, options=options, found=None if begun is None else Found(begun.draft, (), 0))
    draft = begun.draft
    if moved or not any(effect.kept and effect.name == "equalize" for effect in base.effects):
        wide = set(observed(draft.graph, draft.int16.layers))
        kept = {name: base.draft.ranges[name] for name in draft.ranges if name in base.draft.ranges and name not in wide}
        draft = replace(draft.with_ranges(kept), choices=base.draft.choices)
    found = replace(base, draft=draft)
    if int4_layers:
        found = stored_in_four_bits(found, four_bit_layers(draft.graph, int4_layers, draft.typed), settled.data)
    return replace(settled, options=options, found=found)


def _without_lossy(graph: Graph, begun: _Begun, calibration: Dataset, options: QuantizeOptions) -> QuantizeOptions:
    """`options` with the tensors, if there are any, that 256 steps do not suit and that are int8 so far."""
    quantization = _of(graph, begun.draft.quantization())
    inspected = _inspected(graph, calibration, COMPARED)
    if not options.coarse and options.least_db > -math.inf:
        coarse = coarse_tensors(graph, quantization, inspected, options.least_db)
        if coarse:
            return replace(options, coarse=tuple(coarse.items()))
    if options.uneven is None and "features" in options.methods:
        uneven = _uneven(graph, begun.draft, quantization, inspected, options)
        if uneven:
            return replace(options, uneven=uneven)
    return options


@dataclass(frozen=True)
class _Begun:
    """A graph with ranges for its tensors."""

    draft: Draft
    histograms: dict[str, Histogram]


def _begin(
    graph: Graph, data: Dataset, options: QuantizeOptions, progress: Progress | None = None, seen: dict[str, Histogram] | None = None
) -> _Begun | None:
    """None where nothing can be int8. `seen` as rechosen() has it. Raises UnboundedError, and what quantize() raises."""
    int16 = Int16Choice(_int16_layers(graph, options), WEIGHTS[options.int16_weight_bits])
    typed, apart = _typed(graph, options), _apart(options)
    wide = frozenset(node.output for node in graph.nodes if node.output in int16.layers - typed and fits_int16(graph, node))
    able = frozenset(node.output for node in graph.nodes if node.output in int16.layers - typed and node.op in CARRYING)
    typed |= int16.layers - wide
    if graph.nodes and not (options.float_layers or int16.layers) and all(node.output in typed for node in graph.nodes):
        return None
    recurrent, found = recurrent_nodes(graph, typed), find_state_tensors(graph, typed, apart, wide, able)
    graph, typed = found.graph, typed - found.names
    unknown = [*undetermined(graph, typed, found.names | apart), *found.observed(recurrent), *observed(graph, int16.layers)]
    unknown = [name for name in unknown if name not in options.unknown]
    known = {} if seen is None else seen
    missing = [name for name in unknown if name not in known]
    known.update(observe(graph, data, missing, progress) if missing else {})
    histograms = {name: known[name] for name in unknown}
    ranges = {name: _range(graph, name, histogram, options) for name, histogram in histograms.items()}
    fine = fine_inputs(graph, sorted(found.inputs), ranges, _inspected(graph, data, COMPARED), wide, int16.layers)
    steps = state_quantization(found, recurrent, ranges, largest_cells(graph, data, recurrent), fine)
    return _Begun(Draft(graph, ranges, typed, found.names | apart, steps, int16=int16), histograms)


def _int16_layers(graph: Graph, options: QuantizeOptions) -> frozenset[str]:
    """The user's, and those that the model itself wants so."""
    chosen = chosen_layers(graph, options.int16_layers, options.float_layers)
    apart = chosen_layers(graph, options.float_layers, option="--float-layer")
    return chosen | typed_beside(graph, options.sixteen) - apart


def _typed(graph: Graph, options: QuantizeOptions) -> frozenset[str]:
    return typed_nodes(graph, options.float_layers, options.unbounded, _apart(options))


def _apart(options: QuantizeOptions) -> frozenset[str]:
    """Tensors that are not to be int8."""
    return frozenset(dict(options.coarse)) | frozenset(options.uneven or ()) | options.unknown | options.sixteen


def _uneven(
    graph: Graph, draft: Draft, quantization: Mapping[str, Quantization], data: Dataset, options: QuantizeOptions
) -> tuple[str, ...]:
    """Tensors of features without which, as int8, the outputs are measurably better."""
    uneven = uneven_tensors(graph, quantization, data)
    tried = uneven or vector_inputs(graph, quantization)
    if not tried:
        return ()
    judge = Judge(graph, data)
    before = judge.sqnr_db(draft)
    if before >= (GOOD_DB if uneven else POOR_DB):
        return ()
    other = _begin(graph, data, replace(options, uneven=tried))
    after = MOST_DB if other is None else judge.sqnr_db(other.draft)
    return tried if after >= before + GAIN_DB else ()


def keep_float(graph: Graph, data: Dataset | None = None) -> QuantizedModel:
    """An optimized float graph as it is, nothing quantized. `data` tells what inputs are like. Raises QuantizationError for what has no
    typed form."""
    return QuantizedModel(to_typed(graph), True, (), {}, {}, {}, precision="float32", inputs=input_statistics(graph, data))


def _inspected(graph: Graph, data: Dataset, count: int) -> Dataset:
    """Samples from everywhere, files being often sorted by class; from the start on where each depends on the ones before."""
    return data.first(count) if graph.states else data.spread(count)


def _placement_notes(graph: Graph, typed: frozenset[str], lowered: Graph) -> tuple[str, ...]:
    int16 = {node.name for node in lowered.nodes if node.attributes.get("variant") in INT16_VARIANTS and node.op not in CONVERSIONS}
    moved = {node.name for node in graph.nodes if node.op in CARRYING} - int16
    kinds: dict[str, list[str]] = {"have 16-bit activations": [], "are not quantized": []}
    layers = [node for node in graph.nodes if not is_copy(graph, node)]
    for node in layers:
        if (node.output in typed or node.name in int16) and not (int16 and node.name in moved):
            kinds["have 16-bit activations" if node.name in int16 else "are not quantized"].append(f"{node.name} ({node.op})")
    notes = []
    for kind, found in kinds.items():
        names = list(dict.fromkeys(found))
        if names:
            shown = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
            notes.append(f"{len(names)} of {len(layers)} layers {kind}: {shown}")
    return tuple(notes)


def _coarse_notes(graph: Graph, coarse: Mapping[str, float], least_db: float) -> tuple[str, ...]:
    if not coarse:
        return ()
    producers = graph.producers()
    named = {(producers[name].name if name in producers else f"input {name}"): max(db, 0.0) for name, db in coarse.items()}
    shown = ", ".join(f"{name} {db:.0f} dB" for name, db in list(named.items())[:LISTED])
    more = f" and {len(named) - LISTED} more" if len(named) > LISTED else ""
    return (f"not int8, in which a typical sample would keep less than {least_db:g} dB of signal to noise: {shown}{more}",)


def _uneven_notes(graph: Graph, uneven: Sequence[str]) -> tuple[str, ...]:
    if not uneven:
        return ()
    producers = graph.producers()
    shown = ", ".join(producers[name].name if name in producers else f"input {name}" for name in uneven[:LISTED])
    more = f" and {len(uneven) - LISTED} more" if len(uneven) > LISTED else ""
    return (f"not int8, in which features of unlike sizes would be lost: {shown}{more}",)


def _method_notes(found: Found) -> tuple[str, ...]:
    if not found.effects:
        return ()
    figures = "; ".join(str(effect) for effect in found.effects)
    return (f"{METHODS_NOTE} {found.judged} samples, by method: {figures}",)


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
            fidelity.sqnr_db.get(versions(node.output)[1]),
        )
        for node in graph.nodes
    ]
