"""Shapes of graphs that exporters write, each as small as it can be. docs/exporters.md says who writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph
from onnx import helper

Agree = Callable[..., Graph]


@pytest.mark.parametrize("opset", [1, 9])
def test_top_k_before_opset_10_has_k_as_an_attribute(opset: int, agree: Agree, values: Any) -> None:
    node = helper.make_node("TopK", ["x"], ["y", "i"], k=3, axis=1)
    agree(node, {"x": values(2, 7)}, outputs=("y", "i"), opset=opset, oracles=("onnxruntime",))
