"""arenite_runtime runs where only numpy and flatbuffers are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import arenite_runtime

PROBE = """
import importlib.abc
import sys

ALLOWED = {"arenite_runtime", "numpy", "flatbuffers"}


class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"blocked: {name}")


sys.meta_path.insert(0, Blocker())
sys.path[:0] = sys.argv[2:]
from pathlib import Path

import numpy as np
from arenite_runtime import Interpreter, Model

model = Model.load(Path(sys.argv[1]))
outputs = Interpreter(model).run([np.zeros(model.inputs[0].shape, np.int8)])
print(outputs[0].ravel().tolist())
try:
    import onnx
except ModuleNotFoundError:
    print("alone")
"""


def test_with_numpy_and_flatbuffers_alone(tmp_path: Path, arn: bytes) -> None:
    (tmp_path / "model.arn").write_bytes(arn)
    root = Path(arenite_runtime.__file__).parents[1]
    command = [sys.executable, "-c", PROBE, str(tmp_path / "model.arn"), str(root)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    # −0 + 2 in steps of the scale: negated is −0 = 0, its real value (0 − 3); plus 2.
    assert result.stdout.splitlines() == ["[2, 2, 2, 2, 2, 2]", "alone"]
