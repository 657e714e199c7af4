"""--precision auto keeps within the RAMs that --memory names."""

from __future__ import annotations

from pathlib import Path

import pytest
from arenite.emit.constants_in_ram import Room
from arenite.errors import PlanError
from arenite.plan import Memory
from arenite.precision import LossLimit
from arenite.report import Limits
from precision.test_precision import converted


def sizes(folder: Path) -> tuple[int, int]:
    """RAM of the model in int8, and as it is where 51 dB are asked for."""
    found = converted(folder, max_loss=LossLimit(db=51.0)).report.trade_off
    assert found is not None
    return found.points[0].ram_bytes, found.points[found.chosen].ram_bytes


def test_memories_are_a_budget(tmp_path: Path) -> None:
    """As --max-ram: what is chosen keeps within them, and is what is planned in them."""
    least, wanted = sizes(tmp_path)
    assert least < wanted
    arena = least - 52
    between = (arena + wanted - 52) // 2
    for memories in ((Memory("dtcm", between),), (Memory("dtcm", between // 2), Memory("sram", between // 2 + 64))):
        conversion = converted(tmp_path, "out", max_loss=None, memories=memories)
        found = conversion.report.trade_off
        assert found is not None
        chosen = found.points[found.chosen]
        assert chosen.ram_bytes == conversion.report.ram_bytes
        assert "bytes of RAM" in found.criterion
        for memory, (_, size) in zip(memories, conversion.report.memories, strict=True):
            assert memory.capacity is not None and size <= memory.capacity
        beyond = [point for point in found.points if point.ram_bytes > sum(m.capacity or 0 for m in memories) + 44 + 8 * len(memories)]
        assert chosen not in beyond


def test_memories_that_are_too_small(tmp_path: Path) -> None:
    arena = sizes(tmp_path)[0] - 52
    memories = (Memory("dtcm", arena // 2), Memory("sram", arena // 4))
    with pytest.raises(PlanError, match=r"no choice of precisions keeps within the limits: --memory [\d,]+ of [\d,]+\. Of those tried"):
        converted(tmp_path, "out", max_loss=None, memories=memories)
    # A loss that would need more RAM than they have; the least of both limits holds.
    with pytest.raises(PlanError, match=r"--memory|at least 51 dB"):
        converted(tmp_path, "out", max_loss=LossLimit(db=51.0), memories=(Memory("dtcm", arena),), limits=Limits(ram_bytes=10 * arena))


def test_without_a_size_there_is_no_limit(tmp_path: Path) -> None:
    memories = (Memory("dtcm", 64), Memory("sdram"))
    conversion = converted(tmp_path, "out", max_loss=LossLimit(db=51.0), memories=memories)
    found = conversion.report.trade_off
    assert found is not None and found.points[found.chosen].ram_bytes == conversion.report.ram_bytes


def test_weights_in_ram_count(tmp_path: Path) -> None:
    conversion = converted(tmp_path, "out", max_loss=LossLimit(db=51.0), weights_in=(Room("itcm", 256),))
    found = conversion.report.trade_off
    assert found is not None and dict(conversion.report.memories)["itcm_weights"] > 128
    assert found.points[found.chosen].ram_bytes == conversion.report.ram_bytes
