"""Data sets against themselves: what is prepared alike is never warned of, what is not nearly always. The figures of docs/cli.md."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from acceptance.model_pack import CALIBRATION_SAMPLES, Pack
from arenite.quantize import statistics
from arenite.report import ReportPort
from arenite.verify.input_check import check_input
from numpy.typing import NDArray

Array = NDArray[Any]


def split(pack: Pack, key: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Samples for calibration, and others: the training part where the set has one."""
    others = np.asarray(pack.check.load(key)[0], np.float32)
    training = others
    with suppress(KeyError):
        training = np.asarray(pack.check.load(key, "train")[0], np.float32)
    order = rng.permutation(len(training))
    if len(training) != len(others):
        return training[order[:CALIBRATION_SAMPLES]], others
    count = min(CALIBRATION_SAMPLES, len(others) // 2)
    return others[order[:count]], others[order[count:]]


def test_right_data_passes_and_wrong_data_does_not(data: Path) -> None:
    pack = Pack(data)
    keys = sorted({model.entry["eval"]["data"] for model in pack.models.values() if isinstance(model.entry.get("eval"), dict)})
    rng = np.random.default_rng(0)
    wrong = dict.fromkeys(("times 255", "by 255", "standardized"), 0)
    subsets = 0
    for key in keys:
        calibration, others = split(pack, key, rng)
        shape = calibration.shape[1:]
        port = ReportPort("x", shape, "float32", None, None, shape, "float32", tuple(range(len(shape))), expected=statistics(calibration))
        for count in (1, 4, 16, 100, len(others)):
            for _ in range(10 if count < 100 else 1):
                subsets += 1
                chosen = others[rng.choice(len(others), min(count, len(others)), replace=False)]
                assert check_input(port, chosen).warnings == (), f"{key}, {count} samples"
        spoilt = (others[:16] * 255, others[:16] / 255, (others[:16] - calibration.mean()) / calibration.std())
        for name, values in zip(wrong, spoilt, strict=True):
            wrong[name] += bool(check_input(port, values).warnings)
    assert (len(keys), subsets) == (20, 703)
    assert wrong == {"times 255": 20, "by 255": 20, "standardized": 18}
