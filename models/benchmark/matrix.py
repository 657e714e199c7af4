"""Measuring: networks × cores × what kernels are chosen for × forms × compiler flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from arenite.errors import AreniteError
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.compiler import SourceSet
from arenite.targets.emulated import EmulatedEngine, Form
from arenite.targets.image import Image
from arenite.targets.sources import kernel_sources, runtime_includes, runtime_root
from arenite.targets.toolchain import FLAGS, toolchain_for
from arenite.verify.ports import Ports
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from networks import Network
from numpy.typing import NDArray
from rows import Row

FORMS = (Form.COMPILED, Form.INTERPRETED)
COMPILER_FLAGS = ("-O2", "-Os")
GOALS = {"cortex-m4": ("speed", "balanced", "size")}
"""What kernels are chosen for, by core. Real networks have the default of `convert` there: the others show what the choice does."""
REAL_GOALS = {"cortex-m4": ("balanced",)}
USUAL_GOALS = ("speed",)


@dataclass(frozen=True)
class Job:
    """A conversion, and what is built and run of it."""

    network: Network
    target: str
    goal: str
    folder: Path

    @property
    def text(self) -> str:
        return f"{self.network.name} on {self.target}, {self.goal}"


@dataclass(frozen=True)
class Outcome:
    job: Job
    rows: tuple[Row, ...]
    tools: str = ""
    """Compiler and emulator."""
    failure: str | None = None


def jobs(networks: Sequence[Network], targets: Sequence[str], folder: Path) -> Iterator[Job]:
    """Different cores one after another: workers that begin with the same one would both compile its kernels."""
    for network in networks:
        chosen = REAL_GOALS if network.real else GOALS
        goals = {target: chosen.get(target, USUAL_GOALS) for target in targets}
        for at in range(max(map(len, goals.values()))):
            for target in targets:
                if at < len(goals[target]):
                    yield Job(network, target, goals[target][at], folder / f"{network.name}_{target}_{goals[target][at]}")


def measure(job: Job) -> Outcome:
    """Every image of a job; one that cannot be built or run ends it with a reason. The conversion is the same for all of them."""
    network = job.network
    options = ConvertOptions(calibration=network.calibration, target=job.target, optimize=job.goal, output=job.folder, name=network.name)
    rows: list[Row] = []
    tools = ""
    try:
        conversion = convert(network.source, options)
        sample = _sample(job.folder)
        for form in FORMS:
            for flags in COMPILER_FLAGS:
                engine = EmulatedEngine(job.folder, form, job.target, optimize=flags)
                engine.run([sample])
                rows.append(_row(job, conversion, engine, form, flags))
                assert engine.info is not None
                tools = f"{engine.info.toolchain}; {engine.info.emulator}"
    except AreniteError as error:
        return Outcome(job, tuple(rows), tools, str(error).splitlines()[0])
    return Outcome(job, tuple(rows), tools)


def _row(job: Job, conversion: Conversion, engine: EmulatedEngine, form: Form, flags: str) -> Row:
    info, report = engine.info, conversion.report
    assert info is not None
    kernels = kernel_bytes(engine.image, job.target, runtime_root(job.folder), flags)
    arranged = sum(layer.taken.bytes - layer.offers[0].bytes for layer in report.layers if layer.taken is not None)
    return Row(
        network=job.network.name,
        real=job.network.real,
        target=job.target,
        board=engine.board.name,
        goal=job.goal,
        form=form.value,
        flags=flags,
        macs=conversion.program.macs,
        instructions=info.instructions,
        cycles=info.cycles,
        open_instructions=info.open_instructions,
        arena=info.arena_bytes,
        scratch=max((buffer.bytes for buffer in report.buffers if buffer.kind == "scratch"), default=0),
        session=info.session_bytes,
        stack=info.stack_bytes,
        model=info.model_bytes,
        kernels=kernels,
        runtime=info.code_bytes - kernels,
        plain=info.model_bytes - arranged,
    )


def _sample(folder: Path) -> list[NDArray[np.generic]]:
    """Values of the whole range, always the same."""
    random = np.random.default_rng(3)
    ports = Ports.read(folder).model.inputs
    return [
        random.standard_normal(port.shape, np.float32)
        if port.dtype == np.float32
        else random.integers(-128, 128, port.shape).astype(port.dtype)
        for port in ports
    ]


def kernel_bytes(image: Image, target: str, runtime: Path, flags: str) -> int:
    """Flash of what comes from runtime_c/kernels: the functions and tables that the linker kept."""
    board, toolchain = board_named(target_named(target).board), toolchain_for(target_named(target))
    sources = SourceSet(kernel_sources(runtime), (*runtime_includes(runtime), *board.includes, *toolchain.includes))
    defined = _defined(toolchain.compiler.compile(sources, (*FLAGS, flags)), tuple(source.name for source in sources.sources))
    return image.model_bytes(lambda symbol: symbol.kind in ("FUNC", "OBJECT") and (symbol.name, symbol.file) in defined)


@cache
def _defined(objects: tuple[Path, ...], sources: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Name of each symbol that object files define, and its source as Image.symbols tells it: "" for global ones."""
    found: set[tuple[str, str]] = set()
    for compiled, source in zip(objects, sources, strict=True):
        with compiled.open("rb") as stream:
            found |= {
                (symbol.name, source if symbol["st_info"]["bind"] == "STB_LOCAL" else "")
                for section in ELFFile(stream).iter_sections()
                if isinstance(section, SymbolTableSection)
                for symbol in section.iter_symbols()
                if symbol.name and symbol["st_shndx"] != "SHN_UNDEF"
            }
    return frozenset(found)
