"""Layers that a user names by their ONNX nodes."""

from __future__ import annotations

from difflib import get_close_matches

from arenite.errors import QuantizationError
from arenite.graph import Graph


def named_layers(graph: Graph, name: str, option: str) -> list[str]:
    """First outputs of the nodes that the ONNX node `name` has become part of. Raises QuantizationError, naming `option`, for none."""
    named = [node.output for node in graph.nodes if name in (node.name, *node.origins)]
    if not named:
        names = {n for node in graph.nodes for n in (node.name, *node.origins)}
        near = get_close_matches(name, names)
        there = f"Similar ones: {', '.join(near)}; the report lists all" if near else "The report lists those that there are"
        raise QuantizationError(f"{graph.name}: {option} {name}: no layer has this name. {there}.")
    return named
