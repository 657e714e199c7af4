"""convert --board: what it stands for, and what is said where a model does not fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from arenite.emit.constants_in_ram import Room
from arenite.errors import PlanError, ToolError
from arenite.pipeline import ConvertOptions, convert
from arenite.plan import Memory
from arenite.ram import limits_on, memories_of
from arenite.report import Limits
from arenite.targets.board import board_named, board_names
from arenite.targets.catalogue import TARGETS
from arenite.targets.chips import CHIPS, Chip, Ram, chip_named
from onnx import save
from partial.random_images import random_network

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "targets.md").read_text(encoding="utf-8")
UNITS = {"kB": 1024, "MB": 1024 * 1024}


@pytest.mark.parametrize("name", [*CHIPS, *board_names()])
def test_every_one_is_complete(name: str) -> None:
    chip = chip_named(name)
    assert chip.name == name and chip.target in TARGETS and chip.document
    assert [ram.cost for ram in chip.rams] == sorted(ram.cost for ram in chip.rams) and chip.rams[0].cost == 1
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", ram.name) and ram.bytes > 0 and ram.bytes % 1024 == 0 for ram in chip.rams)
    assert len({ram.name for ram in chip.rams}) == len(chip.rams)
    assert [memory.capacity for memory in memories_of(chip)] == [ram.bytes for ram in chip.rams]


@pytest.mark.parametrize("name", CHIPS)
def test_the_table_says_the_same(name: str) -> None:
    chip = CHIPS[name]
    cells = [cell.strip() for cell in next(line for line in DOCUMENTED.splitlines() if line.startswith(f"| `{name}` |")).split("|")]
    assert cells[2].lower() == chip.target
    flash = None if cells[3] == "–" else int(float(cells[3].split()[0]) * UNITS[cells[3].split()[1]])
    assert flash == chip.flash_bytes
    found = []
    for part in cells[4].split(", "):
        match = re.fullmatch(r"(\w+) ([\d.]+) (kB|MB)(?: \((\d)\))?", part)
        assert match is not None, part
        found.append(Ram(match[1], int(float(match[2]) * UNITS[match[3]]), int(match[4] or 1)))
    assert tuple(found) == chip.rams


@pytest.mark.parametrize("name", board_names())
def test_boards_are_as_their_linker_scripts(name: str) -> None:
    board = board_named(name)
    lengths = {}
    for memory, number, unit in re.findall(
        r"^\s*(\w+) \(rw?x?\w*\) : ORIGIN = \w+, LENGTH = (\d+)([KM])", board.linker_script.read_text(), re.M
    ):
        lengths[memory] = int(number) * UNITS[f"{unit.replace('K', 'k')}B"]
    assert board.flash_bytes == lengths.pop("FLASH")
    assert sorted(size for _, size, _ in board.rams) == sorted(lengths.values())


def test_what_is_stated_holds() -> None:
    chip = Chip("c", "c", "cortex-m4", 1000, (Ram("a", 10, 1), Ram("b", 30, 2)), "none")
    assert limits_on(chip, Limits(), several=False) == Limits(30, 1000)
    assert limits_on(chip, Limits(), several=True) == Limits(None, 1000)
    assert limits_on(chip, Limits(20, 500), several=False) == Limits(20, 500)


def test_a_board_that_there_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"there is no board nix: choose one of stm32f407, .*qemu_microbit"):
        chip_named("nix")
    save(random_network(1), tmp_path / "net.onnx")
    for options, error, message in (
        ({"board": "stm32f746", "target": "cortex-m4"}, ToolError, r"has a cortex-m7, --target says cortex-m4"),
        ({"board_memories": True}, PlanError, r"--memory board: .*--board NAME"),
        ({"board": "stm32f746", "weights_in": (Room("dtcm", None),)}, PlanError, r"there is no --memory; write dtcm=SIZE"),
    ):
        with pytest.raises(error, match=message):
            convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out", **options))


def test_the_memories_of_a_board(tmp_path: Path) -> None:
    save(random_network(1), tmp_path / "net.onnx")
    options = ConvertOptions(output=tmp_path / "out", board="stm32h743", board_memories=True, weights_in=(Room("axi", None),))
    report = convert(tmp_path / "net.onnx", options).report
    assert report.target == "cortex-m7" and report.limits == Limits(None, 2 << 20) and report.fits
    assert [name for name, _ in report.memories] == ["dtcm", "axi", "sram_d2", "sram_d3", "axi_weights"]
    assert dict(report.memories)["axi_weights"] >= report.weight_bytes - 64
    assert any(
        note.startswith("--board stm32h743, STMicroelectronics STM32H743/753: RAM dtcm 131,072, axi 524,288,") for note in report.notes
    )
    assert "--board stm32h743 --output" in (report.calibrate_command or "")
    assert (report.calibrate_command or "").endswith("--memory board --weights-in axi")


def test_too_little_ram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the peak, and with what would help: in one RAM, and in several."""
    save(random_network(1), tmp_path / "net.onnx")
    arena = convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out")).report.arena_bytes
    small = Chip("small", "small", "cortex-m4", None, (Ram("fast", arena // 16, 1), Ram("large", arena // 8, 2)), "none")
    monkeypatch.setitem(CHIPS, "small", small)
    with pytest.raises(PlanError) as raised:
        convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out", board="small"))
    assert str(raised.value).startswith(f"--board small: the largest RAM is large with {arena // 8:,} bytes; --memory board distributes")
    assert "The peak is at step " in str(raised.value) and "What would help:\n  - " in str(raised.value)
    named = (Memory("fast", arena // 16), Memory("large", arena // 8))
    for options in ({"board": "small", "board_memories": True}, {"memories": named}):
        with pytest.raises(PlanError) as raised:
            convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out", **options))
        assert f"fast {arena // 16:,} bytes, large {arena // 8:,} bytes" in str(raised.value)
        assert "The peak is at step " in str(raised.value)
        told = re.search(r"  - one memory of ([\d,]+) bytes in place of several", str(raised.value))
        assert told is not None
        enough = int(told[1].replace(",", ""))
        one = ConvertOptions(output=tmp_path / "one", target="cortex-m4", memories=(Memory("one", enough),))
        assert convert(tmp_path / "net.onnx", one).report.arena_bytes <= enough <= arena
        assert "  - a smaller input, or fewer channels in the layers around the peak" in str(raised.value)
