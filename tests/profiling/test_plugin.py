"""The counting plugin with every interface that QEMU has had, run by a stand-in for QEMU (fake_qemu.c)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from arenite.targets import qemu
from arenite.targets.block_counts import BlockCount, parse_counts

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")

CALL, RETURN, BEGIN = 0x100, 0x108, 0x0
PROGRAM = [
    (0x20, 9),  # before anything is measured
    *[(CALL, 2), (0x40, 4), (RETURN, 1)],
    *[(CALL, 2), (0x40, 4), (0x48, 2), (0x60, 3), (0x60, 3), (0x4C, 1), (RETURN, 1)],
    *[(CALL, 2), (0x40, 4), (RETURN, 1)],
    (0x20, 9),
]
"""Executed blocks: addresses and instructions."""
LAYERS = "dispatch 40 50\nentry 60\nnext 5\n"


def run(tmp_path: Path, plugin: Path, interface: int) -> tuple[subprocess.CompletedProcess[str], Path]:
    emulator = tmp_path / f"fake_qemu_{interface}"
    source = Path(__file__).with_name("fake_qemu.c")
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-rdynamic", f"-DINTERFACE={interface}", str(source), "-o", str(emulator), "-ldl"]
    subprocess.run(command, check=True)
    (tmp_path / "program").write_text("".join(f"{address:x} {count}\n" for address, count in PROGRAM))
    (tmp_path / "code").write_bytes(bytes(0x200))  # instructions of two bytes
    (tmp_path / "layers").write_text(LAYERS)
    options = [f"call={CALL:#x}", f"return={RETURN:#x}", f"output={tmp_path / 'counts'}"]
    options += [f"code={tmp_path / 'code'}", f"begin={BEGIN:#x}", f"layers={tmp_path / 'layers'}"]
    done = subprocess.run([emulator, plugin, tmp_path / "program", *options], capture_output=True, text=True, check=False)
    return done, tmp_path / "counts"


@pytest.mark.parametrize("interface", [1, 2, 4, 6, 7, 8])
def test_counts(tmp_path: Path, interface: int) -> None:
    done, counts = run(tmp_path, qemu._build_plugin(interface), interface)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third = parse_counts(counts.read_text())
    assert (first.instructions, first.layer_calls, first.blocks) == (4, 0, (BlockCount(-1, 0x40, 4, 1, 1),))
    assert (second.instructions, second.layer_calls) == (13, 1)
    assert sorted(second.blocks, key=lambda block: block.address) == [
        BlockCount(-1, 0x40, 4, 1, 1),
        BlockCount(-1, 0x48, 2, 1, 0),  # begins where the block before it ends
        BlockCount(-1, 0x4C, 1, 1, 1),
        BlockCount(5, 0x60, 3, 2, 2),
    ]
    assert (third.instructions, third.blocks) == (4, ())


def test_a_plugin_of_an_older_interface_says_which_one_it_takes(tmp_path: Path) -> None:
    """Where QEMU itself does not refuse it: its callbacks would be called with other arguments."""
    done, counts = run(tmp_path, qemu._build_plugin(2), 7)
    assert done.returncode == 4 and not counts.exists()
    found = qemu._OTHER_INTERFACE.search(done.stderr)
    assert found is not None and found.group(1) == "7"
