"""--precision auto on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer
from arenite.cli import app
from arenite.cli.options import parse_count
from precision.test_precision import save_network
from typer.testing import CliRunner


@pytest.mark.parametrize(("text", "count"), [("2500000", 2_500_000), ("250k", 250_000), ("2.5M", 2_500_000), (None, None)])
def test_counts(text, count):
    assert parse_count(text, "--max-cycles") == count


@pytest.mark.parametrize("text", ["", "M", "-1", "1G", "2,5M", "1e6"])
def test_no_counts(text):
    with pytest.raises(typer.BadParameter):
        parse_count(text, "--max-cycles")


@pytest.fixture
def words(tmp_path):
    save_network(tmp_path)
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(3).standard_normal((12, 1, 2, 6, 6)).astype(np.float32))
    files = ["convert", tmp_path / "m.onnx", "--calibration", tmp_path / "x.npz", "--output", tmp_path / "out"]
    return [str(word) for word in (*files, "--precision", "auto", "--io", "float32")]


def test_it_prints_the_curve(words):
    printed = CliRunner().invoke(app, [*words, "--max-loss", "51dB"])
    assert printed.exit_code == 0, printed.output
    assert "Trade-off curve" in printed.stdout and "chosen" in printed.stdout and "The same without a search: --" in printed.stdout


def test_json(words):
    result = CliRunner().invoke(app, [*words, "--max-loss", "51dB", "--json"])
    found = json.loads(result.stdout)["trade_off"]
    chosen = found["points"][found["chosen"]]
    assert chosen["meets"] and chosen["sqnr_db"] >= 51 and found["samples"] == 12


def test_what_cannot_be_met_ends_with_status_8(words, tmp_path):
    result = CliRunner().invoke(app, [*words, "--max-cycles", "1k"])
    assert result.exit_code == 8 and "the nearest (int8) takes" in result.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_no_loss_ends_with_status_7(words):
    assert CliRunner().invoke(app, [*words, "--max-loss", "little"]).exit_code == 7
