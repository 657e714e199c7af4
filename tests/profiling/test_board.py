"""Cycles that a board measures, by the hook in front of every layer. QEMU has no DWT: SysTick counts, the same each time under -icount."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from arenite.artifact import REPORT
from arenite.errors import ArtifactError
from arenite.pipeline import ConvertOptions, convert
from arenite.profile import measure_profile, read_board_log, render, to_html, to_json
from arenite.targets import qemu as qemu_module
from arenite.targets.artifact import ArtifactModel
from arenite.targets.board import board_named
from arenite.targets.emulated import Form, build_run_model
from arenite.targets.emulator import run_image

ZOO = Path(__file__).parents[2] / "models"
BOARD = "qemu_mps2_an386"
needs_compiler = pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed")
needs_qemu = pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="QEMU is not installed")
LOG = """Booting
clock_bits 32
layer -1 6 900
layer 0 1 40000
layer 1 2 100000
layer 4 1 700
status 0
"""


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ZOO / "digits_cnn" / "digits_cnn.onnx"
    options = ConvertOptions(
        calibration=ZOO / "digits_cnn" / "digits_calibration.npz", output=tmp_path_factory.mktemp("digits") / "out", name="digits"
    )
    return convert(source, options).folder


@pytest.mark.emulated
@needs_compiler
@needs_qemu
@pytest.mark.parametrize("form", Form)
def test_on_an_emulated_board(digits: Path, form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = measure_profile(digits, target="cortex-m4", form=form, input="zeros", optimize="-Os")
    board = board_named(BOARD)
    image = build_run_model(ArtifactModel.read(digits), form, board, profiling=True)
    monkeypatch.setattr(qemu_module, "counting_plugin", lambda: None)
    outcome = run_image(image, board, (), tmp_path)
    assert outcome.status == 0
    log = tmp_path / "board.txt"
    log.write_text(outcome.console)
    profile = read_board_log(digits, log, target="cortex-m4", form=form)
    tick = board.instructions_per_tick
    for measured, exact in zip(profile.layers, counted.layers, strict=True):
        assert measured.executions == 1
        # Two readings of a counter that steps every 40 instructions, and the call of the hook.
        assert abs((measured.cost.cycles or 0) * tick - (exact.cost.instructions or 0)) <= 2 * tick
    assert "24 bits" in profile.notes[0]


@pytest.mark.emulated
@needs_compiler
def test_nothing_is_compiled_in_otherwise(digits: Path) -> None:
    board = board_named(BOARD)
    model = ArtifactModel.read(digits)
    for form in Form:
        plain, profiling = (build_run_model(model, form, board, profiling=profiling) for profiling in (False, True))
        assert "arn_layer_begins" in {symbol.name for symbol in profiling.symbols}
        assert "arn_layer_begins" not in {symbol.name for symbol in plain.symbols}


def test_a_board_log(digits: Path, tmp_path: Path) -> None:
    log = tmp_path / "board.txt"
    log.write_text(LOG.replace("\n", "\r\n"))
    profile = read_board_log(digits, log, target="cortex-m7", form=Form.COMPILED)
    assert [layer.cost.cycles for layer in profile.layers] == [40000, 100000, 0, 0, 700]
    assert [layer.executions for layer in profile.layers] == [1, 2, 0, 0, 1]
    assert (profile.total.cycles, profile.rest.cycles, profile.total.instructions) == (141600, 900, None)
    value = to_json(profile)
    assert json.loads(json.dumps(value)) == value
    assert (value["target"], value["form"], value["cycles"], value["stack_bytes"]) == ("cortex-m7", "compiled", 141600, None)
    assert value["layers"][1]["per_mac"] == 100000 / (2 * 73728)
    assert "141,600 cycles an inference" in to_html(profile)
    assert len(list(render(profile))) == 2  # the table and a sentence: nothing is known of a build


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no `layer` and `status` lines"),
        (LOG.replace("status 0\n", ""), "holds no `layer` and `status` lines"),
        (LOG.replace("status 0", "status 9"), "ended with status 9"),
        (LOG.replace("layer 4", "layer 5"), "has a layer 5, but digits has 5"),
    ],
)
def test_text_that_does_not_fit(digits: Path, tmp_path: Path, text: str, message: str) -> None:
    log = tmp_path / "board.txt"
    log.write_text(text)
    with pytest.raises(ArtifactError, match=message):
        read_board_log(digits, log, target="cortex-m4", form=Form.COMPILED)


def test_a_log_or_folder_that_is_not_there(digits: Path, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="cannot be read"):
        read_board_log(digits, tmp_path / "absent", target="cortex-m4", form=Form.COMPILED)
    with pytest.raises(ArtifactError, match=REPORT):
        read_board_log(tmp_path, tmp_path / "absent", target="cortex-m4", form=Form.COMPILED)
