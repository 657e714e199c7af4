"""One interface to everything that executes an artifact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from arenite_runtime import Interpreter, Model
from numpy.typing import NDArray

from arenite.errors import ToolError
from arenite.targets.artifact import ArtifactModel
from arenite.targets.catalogue import target_named
from arenite.targets.emulated import EmulatedEngine, Form, RunInfo
from arenite.targets.host import CEngine, CompiledEngine


class Engine(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def info(self) -> RunInfo | None:
        """Measurements of the last run; None on engines that are not emulated, and before a run."""
        ...

    def run(self, samples: Sequence[Sequence[NDArray[Any]]]) -> list[list[NDArray[Any]]]:
        """The outputs of each sample. A sample is one array an input, in the model's order and of the input's own dtype and size.

        States start from their initial values and carry over from sample to sample.
        Raises ValueError where a sample does not fit, ToolError where a compiler or emulator is missing or fails.
        """
        ...


class NumpyEngine:
    """The NumPy interpreter."""

    name = "numpy"
    info = None

    def __init__(self, folder: Path) -> None:
        self._model = ArtifactModel.read(folder)

    def run(self, samples: Sequence[Sequence[NDArray[Any]]]) -> list[list[NDArray[Any]]]:
        """See Engine.run."""
        interpreter = Interpreter(Model.load(self._model.arn))
        return [interpreter.run(self._model.input_arrays(sample)) for sample in samples]


ENGINES: dict[str, Callable[[Path, str], Engine]] = {
    "numpy": lambda folder, target: NumpyEngine(folder),
    "c": lambda folder, target: CEngine(folder),
    "compiled": lambda folder, target: CompiledEngine(folder),
    "emulated": lambda folder, target: EmulatedEngine(folder, Form.INTERPRETED, target),
    "emulated-compiled": lambda folder, target: EmulatedEngine(folder, Form.COMPILED, target),
}
"""By name: artifact folder and target → engine. All compute the same bytes."""


def open_engine(name: str, artifact: Path, *, target: str = "cortex-m4") -> Engine:
    """The engine `name` for the artifact folder `artifact`; builds what it needs. `target` concerns the emulated ones.

    Raises ToolError where there is no such engine or target, or a compiler is missing or fails; ArtifactError where the folder is wrong.
    """
    if name not in ENGINES:
        raise ToolError(f"there is no engine {name}: choose one of {', '.join(ENGINES)}")
    target_named(target)
    return ENGINES[name](artifact, target)
