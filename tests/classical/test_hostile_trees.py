"""A file with damaged trees: no engine runs it, so that none loops or reads what is not there. (tests/runtime_c mutates whole files.)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.emit import Program, build_program
from arenite.emit.flat import serialize
from arenite.errors import ArtifactError
from arenite.frontend import load
from arenite.passes import optimize
from arenite.plan import plan
from arenite.quantize.to_typed import to_typed
from arenite.targets import open_engine
from arenite_runtime.errors import ModelError
from numpy.typing import NDArray

Make = Callable[..., Any]
X, FEATURE, THRESHOLD, CHILD, ROOT, START, TARGET, WEIGHT = range(8)


@pytest.fixture(scope="module")
def program(predict: Make, node: Make, forest: Make, rows: Make, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Trees with every operand: leaves of two weights."""
    path = tmp_path_factory.mktemp("hostile") / "forest.onnx"
    made = node("TreeEnsembleRegressor", n_targets=3, **forest(1, trees=4, scores=3, per_leaf=2, missing=True))
    path.write_bytes(predict(made, rows(2, 5)).model.SerializeToString())
    typed = to_typed(optimize(load(path)))
    return build_program(typed, plan(typed), name="forest", calibrated=True)


def damaged(program: Program, operand: int, at: int, value: int) -> Program:
    """With one element of an operand of the trees changed."""
    (call,) = [call for call in program.calls if call.op == "TreeEnsemble"]
    tensors = list(program.tensors)
    tensor = tensors[call.inputs[operand]]
    assert tensor.data is not None
    data: NDArray[Any] = tensor.data.copy()
    data.reshape(-1)[at] = value
    tensors[call.inputs[operand]] = replace(tensor, data=data)
    return replace(program, tensors=tuple(tensors))


def accepted(program: Program, folder: Path) -> list[bool]:
    """Whether the NumPy and the C engine run it."""
    (folder / "forest.arn").write_bytes(serialize(program))
    results = []
    for engine, refusal in (("numpy", ModelError), ("c", ArtifactError)):
        try:
            open_engine(engine, folder).run([[np.zeros((2, 5), np.float32)]])
            results.append(True)
        except refusal as error:
            assert "CORRUPT" in f"{error} {getattr(error, 'status', '')}"
            results.append(False)
    return results


def size(program: Program, operand: int) -> int:
    (call,) = [call for call in program.calls if call.op == "TreeEnsemble"]
    return program.tensors[call.inputs[operand]].elements


def test_the_undamaged_program_runs(program: Program, tmp_path: Path) -> None:
    assert accepted(program, tmp_path) == [True, True]


@pytest.mark.parametrize(
    ("operand", "at", "value"),
    [
        (CHILD, 0, 0),  # the first node is its own child
        (CHILD, 6, 2),  # the fourth leads back to the third
        (CHILD, 1, 32767),
        (CHILD, 1, -32768),
        (ROOT, 0, 32767),
        (ROOT, 3, -32768),
        (FEATURE, 2, 5),
        (FEATURE, 2, ~5),
        (FEATURE, 2, -32768),
        (START, 0, -1),
        (START, 1, 1 << 30),
        (START, 2, 0),
        (TARGET, 1, 3),
        (TARGET, 1, -1),
    ],
)
def test_damage_is_refused(program: Program, tmp_path: Path, operand: int, at: int, value: int) -> None:
    assert accepted(damaged(program, operand, at, value), tmp_path) == [False, False]


def test_both_engines_refuse_the_same(program: Program, tmp_path: Path) -> None:
    """Any element of any table, by any value: some change nothing that matters, the others are refused by both."""
    rng = np.random.default_rng(3)
    outcomes = []
    for _ in range(300):
        operand = int(rng.choice([FEATURE, CHILD, ROOT, START, TARGET]))
        value = int(rng.choice([rng.integers(-40, 40), rng.integers(-6, 6), 32767, -32768]))
        both = accepted(damaged(program, operand, int(rng.integers(size(program, operand))), value), tmp_path)
        assert both[0] == both[1], (operand, value)
        outcomes.append(both[0])
    assert 30 < sum(outcomes) < 270
