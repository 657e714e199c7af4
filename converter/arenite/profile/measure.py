"""measure_profile(): one inference on an emulated board, counted by layer."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from arenite_runtime import Interpreter, Model
from numpy.typing import NDArray

from arenite.artifact import REPORT, read_artifact
from arenite.errors import ArtifactError, ToolError
from arenite.profile.contents import Build, Cost, FunctionProfile, LayerProfile, Profile, joined
from arenite.report import Layer, Report, from_json
from arenite.report.layer_rows import steps_of_rows
from arenite.targets import RunInfo
from arenite.targets.block_counts import NO_LAYER, BlockCount, CallCounts
from arenite.targets.catalogue import target_named
from arenite.targets.emulated import EmulatedEngine, Form
from arenite.targets.image import Image, Symbol
from arenite.targets.layer_calls import CONTROL, describe_layers, layer_calls
from arenite.targets.timing import TIMINGS, cycles_of
from arenite.verify.ports import Ports

Array = NDArray[Any]
SEED = 0
INPUTS = ("random", "zeros")
"""What may stand for a data file: values of the whole range, always the same ones; zeros."""


def measure_profile(folder: Path, *, target: str, form: Form, input: str = "random", optimize: str) -> Profile:
    """Profile the artifact in `folder`. `input`: one of INPUTS, or a data file, of which the first sample is taken.

    Raises ArtifactError, CalibrationError where the data does not fit, and ToolError.
    """
    ports = Ports.read(folder)
    artifact = read_artifact(folder)
    sample = _sample(ports, input)
    executed = _executed(ports.model, sample)
    engine = EmulatedEngine(folder, form, target, optimize=optimize)
    calls = layer_calls(ports.model, executed, form)
    engine.run([sample], layers=describe_layers(engine.image, artifact.arn.stem, form, calls))
    if engine.info is None:
        raise ToolError(f"{engine.image.path.name} measured nothing")
    counts = None if engine.calls is None else engine.calls[1]
    if counts is not None and counts.layer_calls < len(calls):
        raise ToolError(f"{engine.image.path.name} called {counts.layer_calls} kernels where {len(calls)} layers were expected")
    report = from_json(artifact.report, str(folder / REPORT))
    return _profile(report, _Counted(engine.image, target, counts), engine.info, form, calls, (input, optimize))


@dataclass(frozen=True)
class _Counted:
    """Blocks of an inference in an image."""

    image: Image
    target: str
    counts: CallCounts | None

    @cached_property
    def functions(self) -> list[Symbol]:
        """By address. Of several names for one place, the first in the symbol table."""
        found = {symbol.address & ~1: symbol for symbol in reversed(self.image.symbols) if symbol.kind == "FUNC"}
        return [found[address] for address in sorted(found)]

    def function(self, block: BlockCount) -> Symbol | None:
        at = bisect_right(self.functions, block.address, key=lambda symbol: symbol.address & ~1) - 1
        return self.functions[at] if at >= 0 else None

    def cost(self, blocks: Sequence[BlockCount]) -> Cost:
        return Cost(sum(b.executions * b.instructions for b in blocks), cycles_of(self.image, self.target, blocks))

    def code_bytes(self, blocks: Iterable[BlockCount]) -> int:
        """Of the functions that the blocks are in."""
        found = {symbol.address: symbol.size for symbol in map(self.function, blocks) if symbol is not None}
        return sum(found.values())

    def of_layer(self, layer: int) -> tuple[Cost, int | None]:
        if self.counts is None:
            return Cost(None, None), None
        blocks = [block for block in self.counts.blocks if block.layer == layer]
        return self.cost(blocks), self.code_bytes(blocks)

    def by_function(self) -> tuple[FunctionProfile, ...]:
        blocks: dict[str, list[BlockCount]] = {}
        sizes: dict[str, int] = {}
        for block in () if self.counts is None else self.counts.blocks:
            symbol = self.function(block)
            name = "" if symbol is None else symbol.name
            blocks.setdefault(name, []).append(block)
            sizes[name] = 0 if symbol is None else symbol.size
        found = [FunctionProfile(name, self.cost(of_it), sizes[name]) for name, of_it in blocks.items()]
        return tuple(sorted(found, key=lambda function: -(function.cost.instructions or 0)))


def _profile(report: Report, counted: _Counted, info: RunInfo, form: Form, calls: Sequence[int], how: tuple[str, str]) -> Profile:
    executions = Counter(calls)
    layers = tuple(
        joined([_layer(report.layers[i], executions[i], *counted.of_layer(i)) for i in steps]) for steps in steps_of_rows(report.layers)
    )
    rest, _ = counted.of_layer(NO_LAYER)
    input, optimize = how
    return Profile(
        model=report.model,
        target=counted.target,
        form=form.value,
        input=f"{input} input" if input in INPUTS else f"first sample of {Path(input).name}",
        total=Cost(info.instructions, info.cycles),
        layers=layers,
        rest=rest,
        functions=counted.by_function(),
        notes=(*_notes(counted), *_chosen_for_another(report, counted.target)),
        build=Build(
            resolution=info.resolution,
            open_instructions=info.open_instructions,
            stack_bytes=info.stack_bytes,
            arena_bytes=info.arena_bytes,
            session_bytes=info.session_bytes,
            model_bytes=info.model_bytes,
            code_bytes=info.code_bytes,
            toolchain=info.toolchain,
            emulator=info.emulator,
            optimize=optimize,
        ),
    )


def _layer(layer: Layer, executions: int, cost: Cost, code_bytes: int | None) -> LayerProfile:
    return LayerProfile(layer.name, layer.op, layer.form, layer.variant, layer.macs, executions, cost, code_bytes)


def _notes(counted: _Counted) -> Iterable[str]:
    if counted.counts is None:
        yield "layers and cycles are not known: they need QEMU with its plugin interface, which this emulator does not have."
    elif counted.target not in TIMINGS:
        yield f"cycles are not known: there is a model of {', '.join(TIMINGS)}, none of {counted.target}; instructions are exact."
    else:
        yield "cycles are modelled, for memory without wait states (docs/profiling.md); instructions are exact."


def _chosen_for_another(report: Report, target: str) -> Iterable[str]:
    """Kernels of another instruction set than the target has are slow there; without a target those of a core with the DSP extension are
    chosen."""
    chosen_for = target_named(report.target or "cortex-m4")
    if any(layer.offers for layer in report.layers) and chosen_for.features != target_named(target).features:
        yield f"kernels were chosen for a {chosen_for.name}: after `convert --target {target}` it may take fewer instructions."


def _executed(model: Model, sample: Sequence[Array]) -> Sequence[int]:
    """The nodes in the order in which they are executed: every one once, or as the data decides."""
    if not any(node.op in CONTROL for node in model.nodes):
        return range(len(model.nodes))
    shaped = [array.reshape(port.shape) for array, port in zip(sample, model.inputs, strict=True)]
    return Interpreter(model).trace(shaped)


def _sample(ports: Ports, input: str) -> list[Array]:
    """One array an input, as the engines take it."""
    if input not in INPUTS:
        for sample in ports.load(Path(input)).samples():
            return ports.engine_inputs(sample)
        raise ArtifactError(f"{input} holds no samples")
    ports_of_model = ports.model.inputs
    if input == "zeros":
        return [np.zeros(port.shape, port.dtype) for port in ports_of_model]
    random = np.random.default_rng(SEED)
    return [_random(random, port.shape, np.dtype(port.dtype)) for port in ports_of_model]


def _random(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Of real numbers: standard normal; of bytes, which stand for them: all. Other integers may be indices: zeros."""
    if dtype == np.float32:
        return random.standard_normal(shape, np.float32)
    if dtype in (np.int8, np.uint8):
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.zeros(shape, dtype)
