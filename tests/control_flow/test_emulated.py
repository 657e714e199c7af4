"""Control flow on the emulated Cortex-M4, interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.targets.engine import open_engine
from control_flow.conftest import close, parsed, wanted
from control_flow.test_branches import SIMPLE
from control_flow.test_loops import SCAN, STOPPING


@pytest.mark.emulated
@pytest.mark.parametrize("engine", ["emulated", "emulated-compiled"])
@pytest.mark.parametrize("which", ["branch", "stopping", "scan"])
def test_on_the_core(which, engine, converted, values):
    if which == "branch":
        model, x = parsed(SIMPLE), values(2, 3)
        samples = [{"x": x, "c": np.asarray(flag)} for flag in (True, False)]
    elif which == "stopping":
        model = parsed(STOPPING)
        samples = [
            {"x": np.full(4, value, np.float32), "n": np.asarray(n), "first": np.asarray(first)}
            for value, n, first in ((0.1, 100, True), (0.7, 2, True), (0.7, 9, True), (3.0, 0, True), (3.0, 5, False))
        ]
    else:
        attributes = "scan_input_directions = [0], scan_output_directions = [0]"
        model = parsed(SCAN.replace("SHAPE", "150, 3").replace("OUT", "150, 3").replace("ATTRIBUTES", attributes))
        samples = [{"s": values(3), "x": values(150, 3)}]
    folder = converted(model).folder
    results = open_engine(engine, folder, target="cortex-m4").run([list(feeds.values()) for feeds in samples])
    for outputs, feeds in zip(results, samples, strict=True):
        for got, expected in zip(outputs, wanted(model, feeds), strict=True):
            close(got, expected)
