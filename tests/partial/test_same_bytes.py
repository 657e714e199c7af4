"""Layers in bands compute the bytes that whole layers do: random networks, groups, kinds and sizes of bands, kernels, on every engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arenite.emit.program import Program, Storage
from arenite.partial import Execution
from arenite.pipeline import ConvertOptions, convert
from arenite.plan import plan
from arenite.targets import open_engine
from hypothesis import given, settings
from hypothesis import strategies as st
from partial.banded import built, outputs, quantized_network, random_bands, random_group, random_samples
from partial.random_images import random_network


def check(seed: int, folder: Path, real: bool = False) -> bool:
    """Compare a random execution in bands with the plain one, on the NumPy engine. False: the network has no two layers to cut."""
    graph = quantized_network(seed, folder, real=real)
    rng = np.random.default_rng(seed)
    group = random_group(graph, rng)
    if group is None:
        return False
    plain, banded = built(graph), built(random_bands(group, rng), in_order=True)
    samples = random_samples(plain, 2)
    for whole, parts in zip(outputs(plain, samples), outputs(banded, samples), strict=True):
        for a, b in zip(whole, parts, strict=True):
            if real:
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * float(np.abs(a).max()) + 1e-6)
            else:
                np.testing.assert_array_equal(a, b)
    assert constants(banded) == constants(plain)
    return True


def constants(program: Program) -> list[int]:
    """Sizes of what is stored: bands share what their layer has."""
    stored = {tensor.offset: tensor.bytes for tensor in program.tensors if tensor.storage is Storage.CONSTANT}
    return sorted(stored.values())


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1 << 30))
def test_bands_of_random_networks(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(seed, tmp_path_factory.mktemp("bands"))


@pytest.mark.long
@settings(max_examples=3000, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1 << 30))
def test_bands_of_many_random_networks(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(seed, tmp_path_factory.mktemp("bands"))


@settings(max_examples=5, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1 << 30))
def test_bands_of_float_networks(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(seed, tmp_path_factory.mktemp("bands"), real=True)


def test_most_networks_have_layers_to_cut(tmp_path: Path) -> None:
    """Or the tests above would prove little."""
    assert sum(check(seed, tmp_path) for seed in range(8)) >= 6


@pytest.mark.parametrize("seed", [3, 8])
def test_every_engine(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the whole converter: the C sources compile, and the engines agree with each other and with the plain model."""
    import onnx

    onnx.save(random_network(seed), tmp_path / "random.onnx")
    plain = convert(tmp_path / "random.onnx", ConvertOptions(output=tmp_path / "plain"))
    rng = np.random.default_rng(seed)

    def in_bands(choice, memory, space, prices, options, advance):  # type: ignore[no-untyped-def]
        graph = choice.graph.copy()
        graph.nodes = [graph.nodes[index] for index in memory.order]
        group = random_group(graph, rng)
        assert group is not None
        banded = random_bands(group, rng)
        return Execution(banded, plan(banded, order=range(len(banded.nodes))))

    monkeypatch.setattr("arenite.pipeline._within_ram", in_bands)
    banded = convert(tmp_path / "random.onnx", ConvertOptions(output=tmp_path / "bands"))
    assert any(call.band is not None for call in banded.program.calls)
    samples = random_samples(plain.program, 2)
    expected = open_engine("numpy", plain.folder).run(samples)
    for engine in ("numpy", "c", "compiled"):
        for whole, parts in zip(expected, open_engine(engine, banded.folder).run(samples), strict=True):
            for a, b in zip(whole, parts, strict=True):
                np.testing.assert_array_equal(a, b)
