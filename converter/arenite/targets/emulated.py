"""The two emulated engines: firmware/apps/run_model with a model in either form, on an emulated board."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from arenite.errors import ToolError
from arenite.targets.artifact import ArtifactModel
from arenite.targets.block_counts import CallCounts
from arenite.targets.board import Board, board_named
from arenite.targets.build_cache import cached, content_key
from arenite.targets.catalogue import Target, target_named
from arenite.targets.compiler import SourceSet, last_lines
from arenite.targets.emulator import TIMEOUT, run_image
from arenite.targets.image import Image, Symbol
from arenite.targets.outcome import Outcome
from arenite.targets.sources import (
    interpreter_sources,
    kernel_sources,
    native_root,
    own_includes,
    own_sources,
    runtime_includes,
    runtime_root,
)
from arenite.targets.timing import cycles_of
from arenite.targets.toolchain import OPTIMIZE, build_image

_PARAMS = re.compile(r"_params(_\d+)?$")
"""Records of the compiled form. They are the code's share of what the flat model holds as data."""
_SAMPLES, _OUTPUTS = "samples.bin", "outputs.bin"


class Form(Enum):
    INTERPRETED = "interpreted"
    COMPILED = "compiled"


@dataclass(frozen=True)
class RunInfo:
    """What running on an emulated board measured. Instructions are those executed, exact unless `resolution` is above 1."""

    instructions: int
    """Of one inference: the largest of the samples (most models take the same for each)."""
    instructions_of_samples: tuple[int, ...]
    """Of each inference; with a resolution above 1, their mean, once."""
    open_instructions: int
    """Interpreted: arn_model_open and arn_session_init. Compiled: NAME_reset."""
    resolution: int
    """Step of the counts: 1 exact; else instructions in a tick of the timer that counted."""
    stack_bytes: int
    """High-water mark of an invocation."""
    open_stack_bytes: int
    """High-water mark of opening."""
    model_bytes: int
    """Flash of the model: the .arn, or the constants of the compiled form."""
    code_bytes: int
    """Flash of all else, startup and test app included."""
    arena_bytes: int
    session_bytes: int
    """RAM besides arena and stack: all of .data and .bss."""
    toolchain: str
    emulator: str
    cycles: int | None = None
    """Modelled, of the inference that took most instructions; None where the processor has no model or blocks are not counted."""


class EmulatedEngine:
    """A model on an emulated board. `info` is that of the last run."""

    def __init__(self, folder: Path, form: Form, target: str, *, optimize: str = OPTIMIZE, timeout: float = TIMEOUT) -> None:
        self.name = "emulated" if form is Form.INTERPRETED else "emulated-compiled"
        self.info: RunInfo | None = None
        self.calls: tuple[CallCounts, ...] | None = None
        """Opening and every inference of the last run, block by block; None where the emulator does not count so."""
        self._model = ArtifactModel.read(folder)
        self._form = form
        self._timeout = timeout
        self.board, self.image = _build_where_it_fits(self._model, form, target_named(target), optimize)

    def run(self, samples: Sequence[Sequence[NDArray[Any]]], *, layers: str = "") -> list[list[NDArray[Any]]]:
        """See Engine.run. Sets `info` and `calls`. `layers`: as run_image takes it."""
        if not samples:
            return []
        with tempfile.TemporaryDirectory(prefix="arenite-run-") as scratch:
            folder = Path(scratch)
            (folder / _SAMPLES).write_bytes(b"".join(b"".join(self._model.input_bytes(sample)) for sample in samples))
            outcome = run_image(self.image, self.board, (_SAMPLES, _OUTPUTS), folder, timeout=self._timeout, layers=layers)
            figures = _figures(outcome, self.image)
            data = (folder / _OUTPUTS).read_bytes()
        self.calls = outcome.calls
        self.info = _run_info(self._model, self._form, self.image, self.board, outcome, figures)
        return self._outputs(data, len(samples))

    def _outputs(self, data: bytes, samples: int) -> list[list[NDArray[Any]]]:
        each = sum(port.nbytes for port in self._model.outputs)
        if len(data) != samples * each:
            raise ToolError(f"{self.image.path.name} wrote {len(data)} bytes of outputs, not {samples} · {each}")
        results = []
        for start in range(0, len(data), each):
            arrays = []
            for port in self._model.outputs:
                arrays.append(port.array(data[start : start + port.nbytes]))
                start += port.nbytes
            results.append(arrays)
        return results


def _build_where_it_fits(model: ArtifactModel, form: Form, target: Target, optimize: str) -> tuple[Board, Image]:
    """build_run_model for the target's small board; where that has too little memory, or there is none, for the other."""
    if target.small_board:
        small = board_named(target.small_board)
        try:
            return small, build_run_model(model, form, small, optimize=optimize)
        except ToolError as error:
            if "overflowed by" not in str(error):  # what both linkers say of a memory
                raise
    board = board_named(target.board)
    return board, build_run_model(model, form, board, optimize=optimize)


def build_run_model(model: ArtifactModel, form: Form, board: Board, *, optimize: str = OPTIMIZE, profiling: bool = False) -> Image:
    """Build firmware/apps/run_model with a model in one of its forms; `profiling`: firmware/apps/profile_model, which times its layers.

    Raises ToolError, and ArtifactError where files are missing.
    """
    firmware = native_root() / "firmware"
    app = firmware / "apps" / "run_model"
    main = (firmware / "apps" / "profile_model" / "main.c", firmware / "cortex_m" / "layer_cycles.c") if profiling else (app / "main.c",)
    runtime = runtime_root(model.folder)
    includes = runtime_includes(runtime)
    own = own_includes(model.folder)
    interpreted = form is Form.INTERPRETED
    defines = ("ARN_PROFILE",) if profiling else ()
    generated = model.interpreted_source if interpreted else model.compiled_source
    glue = app_model_header(model, form).parent
    sources = [
        *([SourceSet(interpreter_sources(runtime), includes, defines)] if interpreted else []),
        SourceSet(kernel_sources(runtime), includes),
        SourceSet(main, (app, *includes)),
        SourceSet((app / f"{form.value}.c", generated), (app, glue, model.folder, *own, *includes), defines),
    ]
    if own:
        sources.append(SourceSet(own_sources(model.folder), (*own, *includes)))
    return build_image(f"{model.name}_{form.value}", board, sources, optimize=optimize)


def app_model_header(model: ArtifactModel, form: Form) -> Path:
    """arn_app_model.h, which tells run_model the names of a model (firmware/apps/run_model/interpreted.c and compiled.c say which)."""
    name, upper = model.name, model.name.upper()
    used = model.tensor_memories
    memories = [f"APP_MEMORY({i}, {size})" for i, size in used.items()]
    if form is Form.INTERPRETED:
        lines = [
            f'#include "{name}_model.h"',
            f"#define APP_MODEL {name}_model",
            f"#define APP_MODEL_BYTES {upper}_MODEL_BYTES",
            f"#define APP_ARENA_BYTES {upper}_MODEL_ARENA_BYTES",
            f"#define APP_RESOLVER {name}_resolver",
        ]
        if model.further_memories:
            regions = (f"{{memory_{i}, {size}}}" if size else "{0, 0}" for i, size in enumerate(model.further_memories, 1))
            lines.append(f"#define APP_FURTHER_REGIONS {', '.join(regions)}")
        if model.constant_memories:
            lines.append("#define APP_LOADS_CONSTANTS")
            memories += [f"APP_CONSTANTS({i}, {model.further_memories[i - 1]})" for i in sorted(model.constant_memories)]
    else:
        inputs = ", ".join(f"{upper}_INPUT_{i}_BYTES" for i in range(len(model.inputs)))
        outputs = ", ".join(f"{upper}_OUTPUT_{i}_BYTES" for i in range(len(model.outputs)))
        lines = [
            f'#include "{name}.h"',
            f"#define APP_ARENA_BYTES {upper}_ARENA_BYTES",
            f"#define APP_INPUT_BYTES {{{inputs}}}",
            f"#define APP_OUTPUT_BYTES {{{outputs}}}",
            *_functions(name, used),
            *(["#define APP_LOADS_CONSTANTS"] if model.constant_memories else []),
        ]
    if memories:
        lines.append(f"#define APP_FURTHER_MEMORIES {' '.join(memories)}")
    text, file = "\n".join(lines) + "\n", "arn_app_model.h"

    def write(folder: Path) -> None:
        (folder / file).write_text(text, encoding="utf-8")

    return cached("sources", content_key([file, text], []), write) / file


def _functions(name: str, further: Iterable[int]) -> Iterator[str]:
    """Macros that take an arena, and give the functions of the compiled form the further memories as well."""
    more = "".join(f", memory_{i}" for i in further)
    for function, index in (("reset", ""), ("invoke", ""), ("input", ", index"), ("output", ", index")):
        yield f"#define APP_{function.upper()}(arena{index}) {name}_{function}(arena{more}{index})"


def _figures(outcome: Outcome, image: Image) -> dict[str, int]:
    """The `name value` lines of run_model. Raises ToolError where it failed."""
    figures = {}
    for line in outcome.console.splitlines():
        name, _, value = line.partition(" ")
        if value.isdecimal():
            figures[name] = int(value)
    if outcome.status != 0 or "status" not in figures:
        raise ToolError(f"{image.path.name} ended with status {outcome.status} on {outcome.emulator}:\n{last_lines(outcome.console)}")
    return figures


def _run_info(model: ArtifactModel, form: Form, image: Image, board: Board, outcome: Outcome, figures: dict[str, int]) -> RunInfo:
    if outcome.instructions is not None:
        opening, *inferences = outcome.instructions
        resolution = 1
    else:
        resolution = board.instructions_per_tick
        opening = figures["open_ticks"] * resolution
        inferences = [figures["invoke_ticks"] * resolution // figures["samples"]]
    model_bytes = image.model_bytes(lambda symbol: is_model(symbol, model, form))
    return RunInfo(
        instructions=max(inferences),
        instructions_of_samples=tuple(inferences),
        open_instructions=opening,
        resolution=resolution,
        stack_bytes=figures["invoke_stack_bytes"],
        open_stack_bytes=figures["open_stack_bytes"],
        model_bytes=model_bytes,
        code_bytes=image.flash_bytes - model_bytes,
        arena_bytes=image.arena_bytes,
        session_bytes=image.session_bytes,
        toolchain=image.toolchain,
        emulator=outcome.emulator,
        cycles=_cycles(image, board, outcome),
    )


def _cycles(image: Image, board: Board, outcome: Outcome) -> int | None:
    if not outcome.calls:
        return None
    counted = max(outcome.calls[1:], key=lambda call: call.instructions)
    return cycles_of(image, board.target, counted.blocks)


def is_model(symbol: Symbol, model: ArtifactModel, form: Form) -> bool:
    """Interpreted: the array that is the .arn. Compiled: the constant arrays of NAME.c, but not the parameter structures of kernels."""
    if symbol.kind != "OBJECT":
        return False
    if form is Form.INTERPRETED:
        return symbol.name == f"{model.name}_model"
    return symbol.file == model.compiled_source.name and not _PARAMS.search(symbol.name)
