"""convert(): from an ONNX file to a folder that a firmware can be built from. The whole story, in reading order."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from arenite.artifact import REPORT, check_destination, write_folder
from arenite.emit import build_program
from arenite.emit.c import write_sources
from arenite.emit.cmake import cmake_lists
from arenite.emit.constants_in_ram import Room, move_constants
from arenite.emit.constants_in_ram import sentences as constants_in_ram
from arenite.emit.flat import serialize
from arenite.emit.identifiers import program_name
from arenite.emit.own_files import own_files
from arenite.emit.program import Program
from arenite.errors import OutputError, PlanError, QuantizationError, ToolError
from arenite.frontend import likely_states, load
from arenite.graph import Graph, State
from arenite.graph.printer import format_graph
from arenite.graph.source_ports import SourcePort, source_ports
from arenite.graph.verifier import verify
from arenite.own_operators import used_operators
from arenite.partial import ONE_ARENA, Curve, Execution, Search, Space, curve, fit, moved_offers, search, sentences, shortage
from arenite.passes import optimize
from arenite.plan import Memory, MemoryPlan
from arenite.precision import Budgets, Chosen, CostModel, LossLimit
from arenite.precision import search as search_precisions
from arenite.precision.describe import trade_off
from arenite.quantize import (
    LEAST_DB,
    LEVELS,
    Dataset,
    InputSpec,
    MissingPair,
    QuantizedModel,
    QuantizeOptions,
    all_missing,
    keep_float,
    load_data,
    method_flags,
    quantize,
    settle,
)
from arenite.ram import check_rooms, limits_on, memories_of, reserved, short_in, short_on, sized
from arenite.ram import sentence as on_board
from arenite.report import Circumstances, Limits, Report, build_report, session_bytes, to_html, to_json, to_markdown
from arenite.targets.catalogue import target_named
from arenite.targets.chips import chip_named
from arenite.targets.emulated import Form
from arenite.targets.flash_size import FlashSize, measure_flash
from arenite.targets.sources import interpreter_sources, kernel_sources, runtime_root
from arenite.tune import TUNED_TARGET, tune
from arenite.variants import Choice, Offer, choose_variants, code_bytes, offers

PRECISIONS = ("int8", "int16x8", "int16", "float32", "auto")
QUANTIZED = ("int8", "auto")
"""Precisions whose layers are int8 where nothing else is asked for."""

Progress = Callable[[str, int, int], None]
"""(stage, units done, units in all)."""


@dataclass(frozen=True)
class ConvertOptions:
    precision: str = "int8"
    """int8; int16x8 and int16: 16-bit activations with weights of 8 and of 16 bits, float32 where a layer has no such form; float32:
    nothing is quantized; auto: int8, but for layers that must be more for `max_loss`, within `max_cycles` and `limits`
    (arenite.precision)."""
    calibration: Path | None = None
    """Typical inputs: see quantize.load_data. None: ranges are measured on synthetic inputs and accuracy is unknown."""
    max_cycles: int | None = None
    """Of one inference, estimated, for the precision auto."""
    max_loss: LossLimit | None = None
    """For the precision auto. None: the least loss within the other limits."""
    target: str | None = None
    """A name of targets.catalogue.TARGETS: images are built for it to measure their flash, where its compiler is there."""
    optimize: str = "balanced"
    """speed, balanced or size: how much flash may be spent on faster kernels (variants.choose.GOALS). limits.flash_bytes binds, too."""
    tune: bool = False
    """Measure the kernels that layers can take under the emulator (tune.py), rather than estimate their cycles."""
    output: Path | None = None
    """The folder to write. None: named after the model, beside it."""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of inputs with dynamic dimensions, by name."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Inputs that become constants, every element of them this number."""
    states: Mapping[str, str] = field(default_factory=dict)
    """Output → input that takes its value in the next invocation; a caller sees neither."""
    operators: tuple[Path, ...] = ()
    """Python files that declare own operators, besides those of installed packages; docs/own-operators.md."""
    float_layers: tuple[str, ...] = ()
    """Names of ONNX nodes that an int8 model computes in float32."""
    int16_layers: tuple[str, ...] = ()
    """Names of ONNX nodes that an int8 model computes with 16-bit activations and weights."""
    int4_layers: tuple[str, ...] | None = ()
    """Names of ONNX nodes whose weights take four bits in an int8 model; None: all convolutions and fully connected layers."""
    int4_loss_db: float = math.inf
    """A layer with which the outputs would lose more signal to noise than this keeps eight bits: QuantizeOptions.int4_loss_db."""
    least_db: float = LEAST_DB
    """An int8 model computes layers in float32, too, where 256 steps leave less of a typical sample: QuantizeOptions.least_db."""
    io: str | None = None
    """Element type of inputs and outputs, int8 or float32. None: that of `precision`."""
    io_layout: str = "onnx"
    keep_inputs: bool = False
    observer: str = "minmax"
    methods: frozenset[str] = LEVELS["default"]
    """What makes an int8 model more accurate: names of quantize.METHODS. quantize.selected() gives those of a level."""
    name: str | None = None
    """C identifier. None: made from the file's name."""
    limits: Limits = field(default_factory=Limits)
    memories: tuple[Memory, ...] = ()
    """RAMs of the target, the fastest first; none: one arena, as large as is needed. Their capacities are limits, too."""
    ram_curve: bool = False
    """Also look for what less RAM would cost: ram_curve.svg and ram_curve.json."""
    dump_ir: Path | None = None
    """A folder for the graph's text form after every pass."""
    strip_names: bool = False
    force: bool = False
    """Write into a folder that holds files which are not Arenite's."""
    weights_in: tuple[Room, ...] = ()
    """RAMs that the constants which are read most are copied to, the fastest first. Without a size: one of `memories`, what tensors leave
    of it."""
    board: str | None = None
    """A name of targets.chips: its core is the target, its flash and its largest RAM are limits where none are stated."""
    board_memories: bool = False
    """`memories` are the RAMs of the board."""


@dataclass(frozen=True)
class Conversion:
    folder: Path
    report: Report
    program: Program
    quantized: QuantizedModel
    plan: MemoryPlan
    curve: Curve | None = None
    """RAM against extra work, where ConvertOptions.ram_curve asks for it."""


def convert(path: Path, options: ConvertOptions | None = None, progress: Progress | None = None) -> Conversion:
    """Convert the ONNX file at `path` and write the folder: all of it, or nothing.

    Raises an AreniteError (errors.py) for whatever is wrong with the model, the data, the options or the destination.
    """
    options = options or ConvertOptions()
    with used_operators(options.operators):
        try:
            return _convert(path, options, progress)
        except MemoryError as error:
            raise PlanError(
                f"{path}: this computer has too little memory to convert it ({error}): make the largest tensors smaller"
            ) from error


def _convert(path: Path, options: ConvertOptions, progress: Progress | None) -> Conversion:
    advance = progress or (lambda stage, done, total: None)
    options = _on_board(options)
    name = _name(path, options)
    folder = options.output or path.with_suffix("")
    _check_precision(options)
    check_rooms(options.weights_in, options.memories)
    check_destination(folder, force=options.force)
    if options.target is not None:
        target_named(options.target)  # raises
    history = _History(options.dump_ir)

    source = load(path, options.shapes, values=options.values, states=options.states)
    history("load", source)
    graph = optimize(source, io_layout=options.io_layout, calibrates=options.precision != "float32", on_pass=history)
    ports = source_ports(source, history.before.get("drop_edge_transposes", graph), graph)
    data = _load_calibration(options.calibration, ports, graph) if options.calibration is not None else None
    quantized, chosen = _quantize(graph, data, options, source.outputs, advance)
    verify(quantized.graph)
    history("quantize", quantized.graph)

    prices = _prices(quantized.graph, options, advance)
    build = _build_within(options.limits.flash_bytes, lambda most: _build(quantized, source.outputs, name, prices, options, most, advance))
    history("variants", build.choice.graph)
    if build.execution.groups:
        history("partial", build.execution.graph)
    about = _circumstances(path, options, ports, quantized, data, likely_states(graph), graph.remarks)
    notes = (
        *build.partial_notes,
        *constants_in_ram(build.program),
        *(() if options.board is None else (on_board(chip_named(options.board)),)),
        *about.notes,
        *prices.notes,
        *build.notes,
        *_flash_notes(build, options),
    )
    about = replace(
        about,
        interpreted=build.flash.get(Form.INTERPRETED),
        compiled=build.flash.get(Form.COMPILED),
        notes=notes,
        offers=build.offers,
        cost_unit=prices.unit,
        trade_off=None if chosen is None else trade_off(chosen, _budgets(options)),
        missing_pairs=_missing_pairs(source, graph, quantized),
    )
    report = build_report(build.program, build.execution.graph, build.plan, build.arn, about)
    traded = _curve(build.choice, prices, options, advance) if options.ram_curve else None
    files = {**build.files, **_curve_files(traded)}
    write_folder(folder, {**files, **_report_files(report, files)}, force=options.force)
    return Conversion(folder, report, build.program, quantized, build.plan, traded)


def _on_board(options: ConvertOptions) -> ConvertOptions:
    """With what --board stands for."""
    if options.board is None:
        if options.board_memories:
            raise PlanError("--memory board: which board that is has to be said, with --board NAME")
        return options
    chip = chip_named(options.board)
    if options.target not in (None, chip.target):
        raise ToolError(f"--board {chip.name} has a {chip.target}, --target says {options.target}: leave --target out")
    memories = memories_of(chip) if options.board_memories else options.memories
    limits = limits_on(chip, options.limits, several=bool(memories))
    return replace(options, target=chip.target, memories=memories, limits=limits)


def _name(path: Path, options: ConvertOptions) -> str:
    if options.name is None:
        return program_name(path.stem)
    if options.name != program_name(options.name):
        raise OutputError(f"--name {options.name} is no C identifier that can be used here: {program_name(options.name)} would be one")
    return options.name


def _features(options: ConvertOptions) -> frozenset[str]:
    """Of the core that kernels are chosen for. Without a target one with the DSP extension: every other runs the model too."""
    return target_named(options.target).features if options.target is not None else frozenset({"dsp"})


@dataclass(frozen=True)
class _Prices:
    """What layers can take, and how its speed is known."""

    offers: dict[int, tuple[Offer, ...]]
    unit: str
    notes: tuple[str, ...] = ()


def _prices(graph: Graph, options: ConvertOptions, advance: Progress) -> _Prices:
    estimated = _Prices(offers(graph, _features(options)), "estimated cycles")
    if not options.tune:
        return estimated
    target = options.target or TUNED_TARGET
    try:
        measured = tune(graph, estimated.offers, target, lambda done, total: advance("tuning", done, total))
    except ToolError as error:
        return replace(estimated, notes=(f"--tune: kernels are chosen by estimated cycles, since none can be measured: {error}",))
    return _Prices(measured.offers, f"{measured.unit} measured on an emulated {target}")


@dataclass(frozen=True)
class _Build:
    """The files of a model whose kernels are chosen, and what they need."""

    choice: Choice
    execution: Execution
    """The graph with the chosen kernels, parts of it in bands of rows where --max-ram asks for that."""
    program: Program
    arn: bytes
    files: dict[str, bytes]
    flash: Mapping[Form, FlashSize]
    """Empty where there is no target, or no compiler for it."""
    notes: tuple[str, ...] = ()
    partial_notes: tuple[str, ...] = ()

    @property
    def plan(self) -> MemoryPlan:
        return self.execution.plan

    @property
    def offers(self) -> Mapping[int, tuple[Offer, ...]]:
        """By index into the nodes of the executed graph."""
        return moved_offers(self.choice.graph, self.choice.offers, self.execution) if self.execution.groups else self.choice.offers

    @property
    def flash_bytes(self) -> int:
        """As Report.flash_bytes."""
        return self.flash[Form.INTERPRETED].total if self.flash else len(self.arn)


def _build(
    quantized: QuantizedModel,
    output_names: Sequence[str],
    name: str,
    prices: _Prices,
    options: ConvertOptions,
    most: int | None,
    advance: Progress,
) -> _Build:
    """`most`: bytes, at most, of the constants and the code of layers that have a choice."""
    features = _features(options)
    counts_code = options.target is not None or options.limits.flash_bytes is None  # without a target, the limit is one for the model

    def code(kernels: Collection[tuple[str, str]]) -> int:
        return code_bytes(kernels, features) if counts_code else 0

    choice = choose_variants(quantized.graph, prices.offers, code, options.optimize, most)
    space = Space(options.memories) if options.memories else ONE_ARENA
    memory = space.planned(choice.graph, keep_inputs=options.keep_inputs)
    execution = _within_ram(choice, memory, space, prices, options, advance)
    program = build_program(
        execution.graph,
        execution.plan,
        name=name,
        calibrated=quantized.calibrated,
        precision=quantized.precision,
        output_names=output_names,
        expected=quantized.expected,
    )
    program = _with_constants_in_ram(program, execution.plan, options)
    arn = serialize(program, strip_names=options.strip_names)
    files = _build_files(program, arn)
    partial_notes = sentences(choice.graph, memory, execution)
    build = _Build(choice, execution, program, arn, files, {}, partial_notes=partial_notes)
    if options.target is None:
        return build
    try:
        return replace(build, flash=measure_flash(files, options.target))
    except ToolError as error:
        return replace(build, notes=(f"the size of the code is not known: {error}",))


def _with_constants_in_ram(program: Program, memory: MemoryPlan, options: ConvertOptions) -> Program:
    return move_constants(program, sized(options.weights_in, memory, options.limits.ram_bytes)) if options.weights_in else program


def _within_ram(choice: Choice, memory: MemoryPlan, space: Space, prices: _Prices, options: ConvertOptions, advance: Progress) -> Execution:
    """The graph as it is where its plan is within --max-ram and --memory, else parts of it in bands of rows. Raises PlanError."""
    session = session_bytes(len(space.memories) + len(options.weights_in)) + reserved(options.weights_in)
    limit = options.limits.ram_bytes
    left = None if limit is None else limit - session
    most = min((each for each in (left, space.capacity) if each is not None), default=None)
    looking = _search_for_bands(choice, memory, space, prices, options, advance)
    found = fit(choice.graph, memory, looking, most)
    if most is not None and found.bytes > most:
        if options.memories:
            alone = _in_one_arena(choice, prices, options, advance).least.bytes
            raise PlanError(short_in(space, left, session, found, alone, _ram_hints(options)))
        short = shortage(choice.graph.name, found, most + session, session, _ram_hints(options), reserved(options.weights_in))
        raise PlanError(short if options.board is None else short_on(chip_named(options.board)) + short)
    return found


def _search_for_bands(
    choice: Choice, memory: MemoryPlan, space: Space, prices: _Prices, options: ConvertOptions, advance: Progress
) -> Search:
    return search(
        choice.graph,
        memory,
        features=_features(options),
        offers=prices.offers,
        keep_inputs=options.keep_inputs,
        space=space,
        progress=lambda done, total: advance("looking for bands", done, total),
    )


def _curve(choice: Choice, prices: _Prices, options: ConvertOptions, advance: Progress) -> Curve:
    """Of one arena, whatever memories there are."""
    return curve(choice.graph, _in_one_arena(choice, prices, options, advance), session_bytes(1))


def _in_one_arena(choice: Choice, prices: _Prices, options: ConvertOptions, advance: Progress) -> Search:
    """Whatever memories there are."""
    memory = ONE_ARENA.planned(choice.graph, keep_inputs=options.keep_inputs)
    return _search_for_bands(choice, memory, ONE_ARENA, prices, options, advance)


def _curve_files(traded: Curve | None) -> dict[str, bytes]:
    if traded is None:
        return {}
    return {"ram_curve.svg": traded.to_svg().encode(), "ram_curve.json": (json.dumps(traded.to_json(), indent=2) + "\n").encode()}


def _ram_hints(options: ConvertOptions) -> tuple[str, ...]:
    """Options that make the arena smaller, and what else would."""
    hints = {
        "--precision int8: activations take a quarter": options.precision == "float32",
        "without --keep-inputs: an input's memory is used again": options.keep_inputs,
        "--io int8: inputs and outputs take a quarter": options.precision in QUANTIZED and options.io == "float32",
        "--io-layout nhwc: no transposes at the edges": options.io_layout != "nhwc",
        "--optimize size: kernels that need less constants, and often less scratch memory": options.optimize != "size",
        f"--weights-in with less: it takes {reserved(options.weights_in):,} bytes, counted with the session": reserved(options.weights_in)
        > 0,
        "a smaller input, or fewer channels in the layers around the peak": True,
    }
    return tuple(hint for hint, applies in hints.items() if applies)


def _build_within(most_flash: int | None, make: Callable[[int | None], _Build]) -> _Build:
    """The build that fits `most_flash`, or the smallest where none does. What the linker measures decides, not an estimate."""
    build = make(None)
    while most_flash is not None and build.flash_bytes > most_flash and not build.choice.least:
        build = make(build.choice.bytes - (build.flash_bytes - most_flash))
    return build


def _flash_notes(build: _Build, options: ConvertOptions) -> tuple[str, ...]:
    """What helps where even the smallest kernels exceed --max-flash."""
    most = options.limits.flash_bytes
    if most is None or build.flash_bytes <= most:
        return ()
    ways = []
    named = 0 if options.strip_names else len(build.arn) - len(serialize(build.program, strip_names=True))
    if named:
        ways.append(f"--strip-names saves {named:,} bytes{' and is enough' if build.flash_bytes - named <= most else ''}")
    if (compiled := build.flash.get(Form.COMPILED)) is not None:
        fits = "and fits" if compiled.total <= most else f"{compiled.total - most:,} too many"
        ways.append(f"the compiled form needs {compiled.total:,} bytes, {fits}")
    if options.precision == "float32":
        ways.append("--precision int8 needs about a quarter")
    ways.append("fewer weights: narrower layers, or pruned ones")
    return (f"--max-flash: kernels are those with the least constants and code already. What would help: {'; '.join(ways)}.",)


def _check_precision(options: ConvertOptions) -> None:
    if options.precision not in PRECISIONS:
        raise QuantizationError(f"the precision {options.precision!r} is not known. Choose one of {', '.join(PRECISIONS)}.")
    if options.precision == "auto" and options.calibration is None:
        raise QuantizationError("--precision auto measures what layers lose on calibration data: give --calibration.")
    if options.precision != "auto" and (options.max_cycles is not None or options.max_loss is not None):
        raise QuantizationError(f"--max-cycles and --max-loss are for --precision auto, not for {options.precision}.")
    if options.precision not in QUANTIZED and options.int4_layers != ():
        raise QuantizationError(
            f"--weights int4 and --int4-layer are for layers that are int8, not for --precision {options.precision}. Leave them out."
        )
    if options.precision not in QUANTIZED and options.io not in (None, "float32"):
        raise QuantizationError(
            f"--io {options.io} does not go with --precision {options.precision}: inputs and outputs are float32 there. Leave --io out."
        )


def _quantize(
    graph: Graph, data: Dataset | None, options: ConvertOptions, output_names: Sequence[str], advance: Progress
) -> tuple[QuantizedModel, Chosen | None]:
    """The form that the kernels know, with as much quantization as `options` ask for, and what a search for precisions has found."""
    if options.precision == "float32":
        return keep_float(graph, data), None
    chosen = QuantizeOptions(
        observer=options.observer,
        io=options.io or ("int8" if options.precision in QUANTIZED else "float32"),
        float_layers=options.float_layers,
        int16_layers=options.int16_layers if options.precision in QUANTIZED else None,
        int16_weight_bits=8 if options.precision == "int16x8" else 16,
        int4_layers=options.int4_layers,
        int4_loss_db=options.int4_loss_db,
        least_db=options.least_db,
        methods=options.methods,
    )

    def calibrating(done: int, total: int) -> None:
        advance("calibrating", done, total)

    if options.precision != "auto" or data is None:
        return quantize(graph, data, chosen, calibrating, advance), None
    costs = _cost_model(options, output_names)
    settled = settle(graph, data, chosen, calibrating, advance)
    found = search_precisions(graph, data, settled, costs, _budgets(options), options.max_loss, advance)
    return found.model, found


def _budgets(options: ConvertOptions) -> Budgets:
    """The RAM is what --max-ram says or, where that is less, all that --memory and --weights-in name."""
    stated, named = options.limits.ram_bytes, _named_ram(options)
    if named is not None and (stated is None or named < stated):
        return Budgets(named, options.limits.flash_bytes, options.max_cycles, "--memory")
    return Budgets(stated, options.limits.flash_bytes, options.max_cycles)


def _named_ram(options: ConvertOptions) -> int | None:
    """Bytes of all RAMs, and of a session in them; None where they are not known."""
    if not options.memories or any(memory.capacity is None for memory in options.memories):
        return None
    regions = len(options.memories) + len(options.weights_in)
    return sum(memory.capacity or 0 for memory in options.memories) + reserved(options.weights_in) + session_bytes(regions)


def _cost_model(options: ConvertOptions, output_names: Sequence[str]) -> CostModel:
    """What a search for precisions counts: with a target, and where its compiler is there, code as well."""
    features, target = _features(options), options.target

    def code(program: Program, arn: bytes) -> int:
        try:
            return measure_flash(_build_files(program, arn), str(target))[Form.INTERPRETED].code_bytes
        except ToolError:
            return 0

    return CostModel(
        features=features,
        timed=features if target is not None else features | {"fpu"},
        optimize=options.optimize,
        keep_inputs=options.keep_inputs,
        strip_names=options.strip_names,
        ram_bytes=None if options.limits.ram_bytes is None else options.limits.ram_bytes - reserved(options.weights_in),
        flash_bytes=options.limits.flash_bytes,
        output_names=output_names,
        code=None if target is None else code,
        memories=options.memories,
        finish=lambda program, memory: _with_constants_in_ram(program, memory, options),
    )


class _History:
    """Sees the graph after every pass, and writes it where asked to: DIR/00_load.txt, …"""

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._count = folder, 0
        self._last: Graph | None = None
        self.before: dict[str, Graph] = {}
        """What each pass was given, the last time that it ran."""

    def __call__(self, name: str, graph: Graph) -> None:
        if self._last is not None:
            self.before[name] = self._last
        self._last = graph
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f"{self._count:02}_{name}.txt").write_text(f"{format_graph(graph)}\n", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"--dump-ir: {self._folder} cannot be written: {error.strerror or error}") from error
        self._count += 1


def _load_calibration(path: Path, ports: Mapping[str, SourcePort], graph: Graph) -> Dataset:
    """Samples in the ONNX layout, turned into that of the optimized `graph`. Raises CalibrationError."""
    specs = tuple(InputSpec(name, ports[name].shape, ports[name].dtype, graph.tensors[name].quantization) for name in graph.input_ports)
    data = load_data(path, specs)
    inputs = {
        name: np.ascontiguousarray(np.transpose(values, (0, *(1 + axis for axis in ports[name].permutation))))
        for name, values in data.inputs.items()
    }
    return replace(data, inputs=inputs)


def _circumstances(
    path: Path,
    options: ConvertOptions,
    ports: dict[str, SourcePort],
    quantized: QuantizedModel,
    data: Dataset | None,
    likely: Sequence[State],
    remarks: Sequence[str],
) -> Circumstances:
    finite = [value for value in quantized.sqnr_db.values() if math.isfinite(value)]
    return Circumstances(
        source=path.name,
        target=options.target,
        optimize=options.optimize,
        calibration=_calibration(options, quantized),
        calibrate_command=None if quantized.calibrated else calibrate_command(path, options),
        io_layout=options.io_layout,
        keeps_inputs=options.keep_inputs,
        limits=options.limits,
        quality={name: figures for layer in quantized.layers for name, figures in layer.by_version.items()},
        sources=ports,
        sqnr_db=min(finite, default=None),
        states=options.states,
        values=options.values,
        notes=(
            *_proposals(likely),
            *([] if options.precision == "float32" else remarks),
            *quantized.notes,
            *_unused(options),
            *(f"{layer.name}: {note}" for layer in quantized.layers for note in layer.notes),
        ),
        calibration_warnings=_calibration_warnings(data) if data is not None else (),
        seen=quantized.inputs,
    )


def _missing_pairs(source: Graph, graph: Graph, quantized: QuantizedModel) -> tuple[MissingPair, ...]:
    """Of a model that comes quantized, the tensors that the file leaves without quantization."""
    steps = {
        layer.output: (layer.scale, layer.zero_point)
        for layer in quantized.layers
        if layer.scale is not None and layer.zero_point is not None
    }
    return all_missing(source, graph, steps, quantized.missing)


def _calibration_warnings(data: Dataset) -> tuple[str, ...]:
    """Data of one value says nothing about ranges: a file of zeros, an array that was never filled."""
    return tuple(
        f"Every sample of the input {name} in {Path(data.source).name} is the same constant, {value:g}."
        for name, value in data.constant_inputs().items()
    )


def _proposals(likely: Sequence[State]) -> tuple[str, ...]:
    if not likely:
        return ()
    pairs = ", ".join(f"{state.output} → {state.input}" for state in likely)
    options = " ".join(f"--state {shlex.quote(f'{state.output}={state.input}')}" for state in likely)
    return (f"{pairs}: looks like what the next invocation goes on from. To keep it in the arena between invocations: {options}",)


def _unused(options: ConvertOptions) -> tuple[str, ...]:
    if options.precision == "float32" and options.calibration is not None:
        return (f"{options.calibration.name} is not used but for what inputs are like: float32 needs no calibration",)
    return ()


def _calibration(options: ConvertOptions, quantized: QuantizedModel) -> str:
    if options.precision == "float32":
        return "not quantized"
    if options.calibration is not None:
        return f"ranges from {options.calibration.name} ({options.observer})"
    return "ranges from the model's own quantization" if quantized.calibrated else "ranges were measured on synthetic inputs"


def calibrate_command(path: Path, options: ConvertOptions) -> str:
    """What to type to convert again with calibration data."""
    default = ConvertOptions()
    words = ["convert", str(path), "--calibration", "DATA.npz"]
    words += [] if options.precision == default.precision else ["--precision", options.precision]
    target = options.target if options.board is None else None
    for flag, value in (("--board", options.board), ("--target", target), ("--output", options.output), ("--name", options.name)):
        words += [flag, str(value)] if value is not None else []
    for name, shape in options.shapes.items():
        words += ["--shape", f"{name}={','.join(map(str, shape))}"]
    for name, number in options.values.items():
        words += ["--bind", f"{name}={int(number) if float(number).is_integer() else repr(number)}"]
    for state, into in options.states.items():
        words += ["--state", f"{state}={into}"]
    for file in options.operators:
        words += ["--operators", str(file)]
    for layer in options.int16_layers:
        words += ["--int16-layer", layer]
    for layer in options.float_layers:
        words += ["--float-layer", layer]
    words += ["--weights", "int4"] if options.int4_layers is None else []
    for layer in options.int4_layers or ():
        words += ["--int4-layer", layer]
    words += ["--int4-loss", f"{options.int4_loss_db:g}"] if options.int4_loss_db < math.inf else []
    if options.board_memories:
        words += ["--memory", "board"]
    elif options.memories:
        words += ["--memory", ",".join(m.name if m.capacity is None else f"{m.name}={m.capacity}" for m in options.memories)]
    if options.weights_in:
        words += ["--weights-in", ",".join(r.name if r.bytes is None else f"{r.name}={r.bytes}" for r in options.weights_in)]
    of_board = Limits() if options.board is None else limits_on(chip_named(options.board), Limits(), several=bool(options.memories))
    for flag, size, known in (
        ("--max-ram", options.limits.ram_bytes, of_board.ram_bytes),
        ("--max-flash", options.limits.flash_bytes, of_board.flash_bytes),
    ):
        words += [] if size in (None, known) else [flag, str(size)]
    words += [] if options.optimize == default.optimize else ["--optimize", options.optimize]
    words += [] if options.observer == default.observer else ["--observer", options.observer]
    words += method_flags(options.methods)
    words += [] if options.least_db == LEAST_DB else ["--least-sqnr", f"{options.least_db:g}"]
    for flag, chosen, usual in (("--io", options.io, default.io), ("--io-layout", options.io_layout, default.io_layout)):
        words += [flag, chosen] if chosen is not None and chosen != usual else []
    for flag, wanted in (
        ("--keep-inputs", options.keep_inputs),
        ("--tune", options.tune),
        ("--ram-curve", options.ram_curve),
        ("--strip-names", options.strip_names),
        ("--force", options.force),
    ):
        words += [flag] if wanted else []
    return shlex.join(words)


def _build_files(program: Program, arn: bytes) -> dict[str, bytes]:
    """Everything that a build needs: path below the folder → contents."""
    root = runtime_root()
    sources = [_below(root, file) for file in (*interpreter_sources(root), *kernel_sources(root))]
    own = own_files(program)
    sources += [name for name in own if name.endswith(".c")]
    headers = [_below(root, file) for folder in ("include", "src", "kernels") for file in sorted((root / folder).rglob("*.h"))]
    texts = {**write_sources(program, arn), "CMakeLists.txt": cmake_lists(program.name, sources)}
    return {
        f"{program.name}.arn": arn,
        **{name: text.encode() for name, text in texts.items()},
        **{name: (root.parent / name).read_bytes() for name in (*headers, *sources) if name not in own},
        **own,
    }


def _report_files(report: Report, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The report in its written forms; report.json also lists every file of the folder."""
    texts = {"report.md": to_markdown(report), "report.html": to_html(report)}
    listing = {**to_json(report), "files": sorted([*files, *texts, REPORT])}
    texts[REPORT] = json.dumps(listing, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return {name: text.encode() for name, text in texts.items()}


def _below(root: Path, file: Path) -> str:
    return f"runtime_c/{file.relative_to(root).as_posix()}"
