"""The rows of a table of layers: a call each, but for layers in bands, all calls of which are one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arenite.report.contents import Layer

COPY = "StridedCopy"


def layer_rows(layers: Sequence[Layer]) -> list[tuple[str, Layer]]:
    """Steps in words, and the layer: of one in bands MACs are summed up, and its result is the whole. Copies are another row."""
    rows: list[tuple[str, Layer]] = []
    for steps in steps_of_rows(layers):
        parts = [layers[step] for step in steps]
        first = parts[0]
        if first.band is None:
            rows.append((str(steps[0]), first))
            continue
        ends = [part.band[2] for part in parts if part.band is not None]
        height = max(ends) if first.op != COPY else sum(part.output_shape[1] for part in parts)
        shape = (first.output_shape[0], height, *first.output_shape[2:])
        rows.append((f"{steps[0]}–{steps[-1]} ({len(steps)})", replace(first, macs=sum(part.macs for part in parts), output_shape=shape)))
    return rows


def steps_of_rows(layers: Sequence[Layer]) -> list[tuple[int, ...]]:
    """The calls that each row stands for."""
    found: dict[object, list[int]] = {}
    for step, layer in enumerate(layers):
        key = step if layer.band is None else (layer.name, layer.band[0], layer.op == COPY)
        found.setdefault(key, []).append(step)
    return [tuple(steps) for steps in found.values()]
