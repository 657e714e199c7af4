"""Runs a case: the whole converter with precision float32, and the C runtime on this machine."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.errors import AreniteError, UnsupportedModelError
from arenite.frontend import load
from arenite.passes import optimize
from arenite.plan import plan
from arenite.quantize.to_typed import to_typed
from arenite.targets.engine import open_engine
from conformance.suite import FILLED, Case
from numpy.typing import NDArray

PASSED, WRONG, CONSTANT, UNSUPPORTED, DEFECT = "passed", "wrong result", "constant", "not supported", "defect"


@dataclass(frozen=True)
class Outcome:
    case: Case
    status: str
    reason: str = ""
    """Why it did not pass, in one line."""


def run_case(case: Case, engine: str = "c") -> Outcome:
    """Convert and run one case. Never raises: what goes wrong is the outcome."""
    folder = Path(tempfile.mkdtemp(prefix="conformance-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            convert_case(case, folder)
            got = open_engine(engine, folder).run([list(inputs.values()) for inputs, _ in case.data])
            return Outcome(case, *compare(case, got))
    except UnsupportedModelError as error:
        problems = list(dict.fromkeys(f"{p.operator}: {p.problem}" for p in error.problems))
        constant = all("it depends on no input" in problem for problem in problems)
        return Outcome(case, CONSTANT if constant else UNSUPPORTED, "; ".join(problems))
    except AreniteError as error:
        return Outcome(case, UNSUPPORTED, _line(error))
    except Exception as error:  # a defect of the converter must not hide the other cases
        return Outcome(case, DEFECT, f"{type(error).__name__}: {_line(error)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def convert_case(case: Case, folder: Path) -> None:
    """Write case.arn, precision float32. Raises what the converter raises."""
    path = folder / "case.onnx"
    path.write_bytes(case.model.SerializeToString())
    inputs = case.data[0][0]
    graph = load(path, {info.name: np.shape(inputs[info.name]) for info in case.model.graph.input if info.name in inputs})
    typed = to_typed(optimize(graph))
    memory = plan(typed)
    (folder / "case.arn").write_bytes(serialize(build_program(typed, memory, name="case", calibrated=True)))


def compare(case: Case, got: Sequence[Sequence[NDArray[np.generic]]]) -> tuple[str, str]:
    """Status and reason by the suite's own comparison: shape, type, and np.testing.assert_allclose with the case's tolerances."""
    for results, (_, wanted) in zip(got, case.data, strict=True):
        if len(results) != len(wanted):
            return WRONG, f"{len(results)} outputs instead of {len(wanted)}"
        for index, (output, want) in enumerate(zip(results, wanted, strict=True)):
            result = _without_filling(output, FILLED.get(case.operator))
            if result.shape != want.shape or result.dtype != want.dtype:
                return WRONG, f"output {index} is {result.dtype}{list(result.shape)} instead of {want.dtype}{list(want.shape)}"
            if not np.allclose(result.astype(np.float64), want.astype(np.float64), case.rtol, case.atol, equal_nan=True):
                difference = np.nanmax(np.abs(result.astype(np.float64) - want.astype(np.float64)), initial=0)
                return WRONG, f"output {index} differs by up to {difference:.3g}"
    return PASSED, ""


def _without_filling(output: NDArray[np.generic], axis: int | None) -> NDArray[np.generic]:
    """Without the end along an axis that holds nothing but −1."""
    if axis is None:
        return output
    results = np.flatnonzero((output != -1).any(axis=tuple(d for d in range(output.ndim) if d != axis)))
    return np.take(output, range(int(results[-1]) + 1 if results.size else 0), axis)


def _line(error: Exception) -> str:
    text = str(error).replace("\n", " ").strip()
    return text.partition("case.onnx: ")[2] or text
