"""Bodies in the IR: printed, verified, named."""

from __future__ import annotations

from dataclasses import replace

import onnx
import pytest
from arenite.frontend import load
from arenite.graph.verifier import VerificationError, verify
from control_flow.conftest import parsed
from control_flow.test_branches import SIMPLE
from control_flow.test_loops import COUNTED, SCANNED


def loaded(text, tmp_path):
    onnx.save(parsed(text), tmp_path / "flow.onnx")
    return load(tmp_path / "flow.onnx")


def test_printed_with_its_bodies(tmp_path):
    text = str(loaded(SIMPLE, tmp_path))
    assert "= If(c, doubled, x)" in text
    assert "chosen: graph chosen/then: 1 node" in text
    assert "chosen: graph chosen/else: 2 nodes" in text


def test_what_a_body_reads_is_among_its_inputs(tmp_path):
    graph = loaded(COUNTED, tmp_path)
    (node,) = [node for node in graph.nodes if node.op == "Loop"]
    assert node.inputs == ("n", "x")
    assert node.bodies[0].inputs == ["i", "v"]
    assert (node.attributes["counted"], node.attributes["conditional"], node.attributes["stops"]) == (True, False, False)


@pytest.mark.parametrize("what", ["input", "output", "inside"])
def test_a_body_that_does_not_fit_is_found(what, tmp_path):
    graph = loaded(SIMPLE, tmp_path)
    at = next(i for i, node in enumerate(graph.nodes) if node.op == "If")
    body = graph.nodes[at].bodies[0].copy()
    if what == "input":
        body.inputs = body.inputs[:1]
    elif what == "output":
        body.outputs = body.inputs * 2
    else:
        body.nodes = [replace(node, op="Unheard") for node in body.nodes]
    graph.nodes[at] = graph.nodes[at].with_attributes(bodies=(body, graph.nodes[at].bodies[1]))
    with pytest.raises(VerificationError):
        verify(graph)


def test_names_say_the_iteration(tmp_path):
    graph = loaded(SCANNED.replace("COUNT", "3"), tmp_path)
    names = [name for node in graph.nodes for name in node.outputs]
    assert {"w[0]", "w[1]", "y", "entry[0]", "entry[2]"} <= set(names)
    assert len(set(names)) == len(names)
