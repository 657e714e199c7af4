"""Bands in several memories: what cannot be distributed plain is in bands, and every engine computes the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import PlanError
from arenite.pipeline import ConvertOptions, Limits, convert
from arenite.plan import Memory, first_fit
from arenite.plan.rigid import Bodies
from arenite.targets import open_engine
from partial.banded import random_samples
from partial.random_images import random_network
from partial.test_search import mobile_block

ROOT = Path(__file__).parents[2]
ENGINES = ("numpy", "c", "compiled")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memories")
    mobile_block(folder)
    return folder / "block.onnx"


def two(first: int, second: int | None) -> tuple[Memory, ...]:
    return Memory("fast", first), Memory("slow", second)


def same_bytes(model: Path, folder: Path, options: ConvertOptions) -> bool:
    """Whether `options` lead to bands; asserts that they compute what the plain model does."""
    plain = convert(model, ConvertOptions(output=folder / "plain", force=True))
    made = convert(model, options)
    for memory, used in zip(made.plan.memories, made.plan.memory_bytes, strict=True):
        assert memory.capacity is None or used <= memory.capacity
    inputs = random_samples(plain.program, 2)
    expected = open_engine("numpy", plain.folder).run(inputs)
    for engine in ENGINES:
        for a, b in zip(expected, open_engine(engine, made.folder).run(inputs), strict=True):
            for one, other in zip(a, b, strict=True):
                np.testing.assert_array_equal(one, other)
    return any(call.band is not None for call in made.program.calls)


@pytest.mark.parametrize("sizes", [(6_000, 8_000), (9_000, 5_000)])
def test_no_memory_holds_the_largest_tensor(model: Path, tmp_path: Path, sizes: tuple[int, int]) -> None:
    """The expanded image takes 23,040 bytes."""
    assert same_bytes(model, tmp_path, ConvertOptions(output=tmp_path / "bands", memories=two(*sizes)))


def test_bands_only_where_they_are_asked_for(model: Path, tmp_path: Path) -> None:
    """A memory without a size holds everything; --max-ram limits all of them together."""
    memories = two(6_000, None)
    assert not same_bytes(model, tmp_path, ConvertOptions(output=tmp_path / "plenty", memories=memories))
    limited = ConvertOptions(output=tmp_path / "limited", memories=memories, limits=Limits(ram_bytes=14_000))
    assert same_bytes(model, tmp_path, limited)
    assert convert(model, limited).report.ram_bytes <= 14_000


def test_an_input_that_no_memory_holds(model: Path, tmp_path: Path) -> None:
    """Three channels of 24 × 20 in, eight out: 3,840 bytes."""
    with pytest.raises(PlanError, match=r"(?s)y alone, 3,840 bytes, is larger than any memory.*The peak is at step .*What would help:"):
        convert(model, ConvertOptions(output=tmp_path / "out", memories=two(3_000, 3_000)))
    assert not (tmp_path / "out").exists()


def test_a_search_in_three_memories_places_no_more_than_it_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ic01: placements by first fit are what takes the time. One block after the other went on to the next memory until all were tried."""
    subprocess.run([sys.executable, str(ROOT / "models/mlperf_shapes/build.py"), str(tmp_path), "ic01"], check=True)
    placed = 0

    def counting(place: Callable[..., tuple[int, ...]]) -> Callable[..., tuple[int, ...]]:
        def counted(*arguments: object) -> tuple[int, ...]:
            nonlocal placed
            placed += 1
            return place(*arguments)

        return counted

    monkeypatch.setattr(first_fit, "first_fit", counting(first_fit.first_fit))
    monkeypatch.setattr(Bodies, "first_fit", counting(Bodies.first_fit))
    three = (Memory("a", 14_000), Memory("b", 4_000), Memory("c", 4_000))
    found = convert(tmp_path / "ic01.onnx", ConvertOptions(output=tmp_path / "out", memories=three)).plan
    assert found.memory_bytes == (13_984, 3_968, 1_024)
    assert placed <= 7_000


@pytest.mark.parametrize("seed", [1, 3, 7, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 4, 5, 6, 8))])
def test_random_networks(seed: int, tmp_path: Path) -> None:
    """In two memories of less than half of the arena each; what finds no place is told, and nothing is written."""
    path = tmp_path / "random.onnx"
    onnx.save(random_network(seed), path)
    arena = convert(path, ConvertOptions(output=tmp_path / "plain")).plan.arena_bytes
    for share in (0.48, 0.4):
        options = ConvertOptions(output=tmp_path / f"bands{share}", memories=two(int(share * arena), int(share * arena)))
        try:
            same_bytes(path, tmp_path, options)
        except PlanError as error:
            assert "What would help" in str(error) and not (tmp_path / f"bands{share}").exists()
