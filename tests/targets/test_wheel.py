"""The wheel: it carries the native sources and the templates, and converts where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROBE = """
import sys
from pathlib import Path

import arenite
from arenite.targets.sources import native_root

site = Path(sys.argv[1])
assert Path(arenite.__file__).parent == site / "arenite", arenite.__file__
assert native_root() == site / "arenite" / "_native", native_root()

from arenite.cli import convert_main

sys.argv = ["convert", *sys.argv[2:]]
convert_main()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel, as pip would install it."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.mark.parametrize(
    ("source", "installed"),
    [
        ("runtime_c", "arenite/_native/runtime_c"),
        ("firmware", "arenite/_native/firmware"),
        ("converter/arenite", "arenite"),
        ("python_runtime/arenite_runtime", "arenite_runtime"),
    ],
)
def test_has_every_file(site: Path, source: str, installed: str) -> None:
    names = {path.relative_to(ROOT / source) for path in (ROOT / source).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert len(names) > 5
    assert not [str(name) for name in names if not (site / installed / name).is_file()]


def test_converts_without_a_checkout(site: Path, tmp_path: Path) -> None:
    model = ROOT / "models" / "digits_cnn" / "digits_cnn.onnx"
    command = [sys.executable, "-c", PROBE, str(site), str(model), "--output", str(tmp_path / "out"), "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "runtime_c" / "kernels" / "portable" / "conv.c").is_file()
