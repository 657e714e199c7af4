"""firmware/freestanding/math.c, which stands in for a libm, compiled for this machine under other names, against float64."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
from collections.abc import Callable

import numpy as np
import pytest
from arenite.targets.sources import native_root
from numpy.typing import NDArray

FREESTANDING = native_root() / "firmware" / "freestanding"
Values = NDArray[np.float32]

erf = np.vectorize(math.erf, otypes=[np.float64])
FUNCTIONS: dict[str, tuple[Callable[..., NDArray[np.float64]], float, float]] = {
    "acosf": (np.arccos, -1, 1),
    "acoshf": (np.arccosh, 1, 100),
    "asinf": (np.arcsin, -1, 1),
    "asinhf": (np.arcsinh, -100, 100),
    "atanf": (np.arctan, -100, 100),
    "atanhf": (np.arctanh, -1, 1),
    "coshf": (np.cosh, -89, 89),
    "erff": (erf, -5, 5),
    "expm1f": (np.expm1, -100, 88),
    "log1pf": (np.log1p, -1, 1e9),
    "rintf": (np.rint, -1e7, 1e7),
    "sinhf": (np.sinh, -89, 89),
    "tanhf": (np.tanh, -12, 12),
}
"""Of one number: the truth, and between which numbers it is of interest."""
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 3e38, -3e38, 16777216.0, 8388609.0]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("math") / "math.so"
    source = FREESTANDING / "math.c"
    own = re.findall(r"^float (\w+)\(", source.read_text(), re.M)
    assert set(own) == {*FUNCTIONS, "powf"}
    names = [f"-D{name}=own_{name}" for name in own]
    flags = ["-std=c99", "-O1", "-fPIC", "-shared", "-ffp-contract=off", f"-I{FREESTANDING / 'include'}"]
    subprocess.run([compiler, *flags, *names, source, "-lm", "-o", path], check=True)
    return ctypes.CDLL(str(path))


def results(library: ctypes.CDLL, name: str, *columns: Values) -> Values:
    function = library[f"own_{name}"]
    function.restype = ctypes.c_float
    function.argtypes = [ctypes.c_float] * len(columns)
    return np.asarray([function(*map(float, row)) for row in zip(*columns, strict=True)], np.float32)


def check(got: Values, truth: NDArray[np.float64], what: list[Values]) -> None:
    """NaN, infinities and signs alike; the rest within a few units in the last place."""
    with np.errstate(over="ignore"):
        truth = truth.astype(np.float32).astype(np.float64)
    finite = np.isfinite(truth)
    np.testing.assert_array_equal(got[~finite], truth[~finite])
    error = np.abs(got[finite] - truth[finite])
    worst = int(np.argmax(error - 1e-6 * np.abs(truth[finite])))
    assert (error <= 1e-6 * np.abs(truth[finite]) + 1e-37).all(), [column[finite][worst] for column in what]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(library: ctypes.CDLL, name: str) -> None:
    truth, low, high = FUNCTIONS[name]
    rng = np.random.default_rng(7)
    wide = rng.uniform(low, high, 2000)
    narrow = 10.0 ** rng.uniform(-12, 0, 1000) * rng.choice([-1, 1], 1000)
    ends = [low, high, *SPECIAL]
    x = np.concatenate([wide, narrow, np.arange(-8, 9) / 2, ends]).astype(np.float32)
    with np.errstate(all="ignore"):
        check(results(library, name, x), truth(x.astype(np.float64)), [x])


def test_power(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(8)
    x = np.concatenate([10.0 ** rng.uniform(-6, 6, 2000), rng.integers(-9, 10, 1000)]).astype(np.float32)
    y = np.concatenate([rng.uniform(-6, 6, 2000), rng.integers(-9, 10, 1000)]).astype(np.float32)
    grid = np.asarray(np.meshgrid(SPECIAL, SPECIAL), np.float32).reshape(2, -1)
    x, y = np.concatenate([x, grid[0]]), np.concatenate([y, grid[1]])
    with np.errstate(all="ignore"):
        truth = np.power(x.astype(np.float64), y.astype(np.float64))
    check(results(library, "powf", x, y), truth, [x, y])


def test_ties_go_to_even_and_signs_stay(library: ctypes.CDLL) -> None:
    x = np.asarray([0.5, 1.5, 2.5, -0.5, -1.5, 8388607.5, -0.0, -0.25], np.float32)
    got = results(library, "rintf", x)
    np.testing.assert_array_equal(got, [0, 2, 2, -0.0, -2, 8388608, -0.0, -0.0])
    np.testing.assert_array_equal(np.signbit(got), np.signbit(x))
