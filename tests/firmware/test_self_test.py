"""Startup, semihosting, measuring and faults: the same image must behave the same on every emulator."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from arenite.errors import ToolError
from arenite.targets.outcome import Outcome

pytestmark = pytest.mark.emulated

Run = Callable[..., Outcome]
HARD_FAULT = 128 + 3


def test_files_and_console(run: Run, tmp_path: Path) -> None:
    (tmp_path / "greeting").write_text("hello\n")
    outcome = run("egreeting")
    assert (outcome.status, outcome.console) == (0, "hello\n")
    assert (tmp_path / "copy").read_text() == "hello\n"


def test_missing_file_is_a_status(run: Run) -> None:
    assert run("eabsent").status == 65


@pytest.mark.parametrize(("arguments", "status"), [(("x",), 42), ((), 64), (("d",), 0), (("f",), 7)])
def test_exit_status(run: Run, arguments: tuple[str, ...], status: int) -> None:
    """A given status; none for missing arguments; .data and .bss are initialised; float arithmetic, by the FPU or without,
    rounds as IEEE 754 says."""
    assert run(*arguments).status == status


def test_command_line_too_long_is_a_status(run: Run) -> None:
    assert run("x" * 200).status == 64


def test_instructions_are_exact(run: Run) -> None:
    """movs, lsls, 1000 × (subs, bne), cmp, nop, bx; twice."""
    assert run("l").instructions == (2005, 2005)


def test_stack_is_exact(run: Run) -> None:
    outcome = run("s")
    assert (outcome.status, outcome.instructions) == (200, (5,))


@pytest.mark.parametrize("argument", ["u", "n"])
def test_fault_names_its_place(run: Run, argument: str) -> None:
    outcome = run(argument)
    assert outcome.status == HARD_FAULT
    assert re.match(r"fault 00000003 pc [01]000[0-9a-f]{4}", outcome.console)  # flash begins at 0, of the AN505 at 0x10000000


def test_stack_overflow_is_a_fault(run: Run, request: pytest.FixtureRequest) -> None:
    if "an505-unicorn" in request.node.name:
        pytest.skip("unicorn raises no fault at the stack limit register of ARMv8-M, by which this board is guarded")
    outcome = run("o")
    assert outcome.status == HARD_FAULT
    assert "stack overflow" in outcome.console


def test_endless_loop_times_out_with_the_last_output(run: Run) -> None:
    with pytest.raises(ToolError, match=r"did not end within 1 s under (QEMU|unicorn). Its last output:\nwaiting"):
        run("w", timeout=1.0)
