"""What is measured: networks × targets × what kernels are chosen for × forms × compiler flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arenite.errors import AreniteError
from arenite.pipeline import ConvertOptions, convert
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.compiler import SourceSet
from arenite.targets.emulated import EmulatedEngine, Form, RunInfo
from arenite.targets.image import Image
from arenite.targets.sources import kernel_sources, runtime_includes, runtime_root
from arenite.targets.toolchain import FLAGS, toolchain_for
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

FORMS = (Form.COMPILED, Form.INTERPRETED)
COMPILER_FLAGS = ("-O2", "-Os")
ALL_GOALS = ("speed", "balanced", "size")
GOALS = {"cortex-m4": ALL_GOALS}
"""What kernels are chosen for, by target."""
USUAL_GOALS = ("speed",)
REAL_NETWORKS = ("cortex-m4", "balanced")


@dataclass(frozen=True)
class Network:
    name: str
    source: Path
    calibration: Path | None
    real: bool = False
    """Trained weights; the others have seeded ones."""


@dataclass(frozen=True)
class Job:
    """A conversion, and what is built and run of it."""

    network: Network
    target: str
    goal: str
    folder: Path

    @property
    def text(self) -> str:
        return f"{self.network.name} for {self.target}, {self.goal}"


@dataclass(frozen=True)
class Row:
    """One image."""

    network: str
    real: bool
    target: str
    goal: str
    form: str
    flags: str
    macs: int
    scratch_bytes: int
    """The largest of a layer; it lies in the arena."""
    kernel_bytes: int
    info: RunInfo

    @property
    def runtime_bytes(self) -> int:
        """Code that is no kernel: the interpreter or the calls, start-up, test app, C library."""
        return self.info.code_bytes - self.kernel_bytes


@dataclass(frozen=True)
class Outcome:
    job: Job
    rows: tuple[Row, ...]
    failure: str | None = None


def jobs(networks: Sequence[Network], targets: Sequence[str], folder: Path) -> Iterator[Job]:
    for network in networks:
        for target in targets:
            goals = GOALS.get(target, USUAL_GOALS)
            if network.real:  # the architectures of the others: one core shows whether weights make a difference
                goals = tuple(goal for goal in goals if (target, goal) == REAL_NETWORKS)
            for goal in goals:
                yield Job(network, target, goal, folder / f"{network.name}_{target}_{goal}")


def measure(job: Job) -> Outcome:
    """Every image of a job; those that cannot be built or run end it with a reason."""
    network = job.network
    options = ConvertOptions(
        calibration=network.calibration, target=job.target, optimize=job.goal, output=job.folder, name=network.name.partition(",")[0]
    )
    try:
        conversion = convert(network.source, options)
        tensors = conversion.program.tensors
        rng = np.random.default_rng(3)
        sample = [rng.integers(-128, 128, tensors[port.tensor].shape).astype(np.int8) for port in conversion.program.inputs]
        scratch = max((buffer.bytes for buffer in conversion.report.buffers if buffer.kind == "scratch"), default=0)
        rows = []
        for form in FORMS:
            for flags in COMPILER_FLAGS:
                engine = EmulatedEngine(job.folder, form, job.target, optimize=flags)
                engine.run([sample])
                assert engine.info is not None
                kernels = kernel_bytes(engine.image, job, flags)
                figures = (network.name, network.real, job.target, job.goal, form.value, flags)
                rows.append(Row(*figures, conversion.program.macs, scratch, kernels, engine.info))
    except AreniteError as error:
        return Outcome(job, (), str(error).splitlines()[0])
    return Outcome(job, tuple(rows))


def kernel_bytes(image: Image, job: Job, flags: str) -> int:
    """Flash of what comes from runtime_c/kernels: the functions and tables that the linker kept."""
    target = target_named(job.target)
    board, toolchain = board_named(target.board), toolchain_for(target)
    runtime = runtime_root(job.folder)
    sources = SourceSet(kernel_sources(runtime), (*runtime_includes(runtime), *board.includes, *toolchain.includes))
    defined: set[tuple[str, str]] = set()
    for source, compiled in zip(sources.sources, toolchain.compiler.compile(sources, (*FLAGS, flags)), strict=True):
        defined |= _defined(compiled, source.name)
    return image.model_bytes(lambda symbol: symbol.kind in ("FUNC", "OBJECT") and (symbol.name, symbol.file) in defined)


def _defined(compiled: Path, source: str) -> set[tuple[str, str]]:
    """Name of each symbol that an object file defines, and the file as Image.symbols tells it: "" for global ones."""
    with compiled.open("rb") as stream:
        elf = ELFFile(stream)
        return {
            (symbol.name, source if symbol["st_info"]["bind"] == "STB_LOCAL" else "")
            for section in elf.iter_sections()
            if isinstance(section, SymbolTableSection)
            for symbol in section.iter_symbols()
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF"
        }
