"""Einsum against onnxruntime: every way in which two operands share letters."""

import numpy as np
import pytest
from arenite.errors import AreniteError
from onnx import helper

EQUATIONS = [
    ("ij->ji", [(3, 4)]),
    ("ij->i", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("...ij->...ji", [(2, 3, 4, 5)]),
    ("...ii->...i", [(2, 3, 3)]),
    ("ii->", [(4, 4)]),
    ("iij->j", [(3, 3, 2)]),
    ("ij", [(3, 4)]),
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("i,j->ij", [(3,), (4,)]),
    ("i,i->", [(5,), (5,)]),
    ("ij,ij->ij", [(3, 4), (3, 4)]),
    ("ij,ij->", [(3, 4), (3, 4)]),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
    ("bij,bjk->ki", [(5, 2, 3), (5, 3, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
    ("abc,acd->bd", [(2, 3, 4), (2, 4, 5)]),
    ("abcd,cde->aeb", [(2, 3, 4, 5), (4, 5, 6)]),
    ("ab,cd->abcd", [(2, 3), (4, 5)]),
    ("abk,ck->ca", [(2, 3, 4), (5, 4)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("a,b,c->cba", [(2,), (3,), (4,)]),
    ("i->i", [(3,)]),
    ("ab,bc->cb", [(2, 3), (3, 4)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_computed_operands(agree, values, equation, shapes):
    inputs = {f"x{i}": values(*shape, seed=i) for i, shape in enumerate(shapes)}
    agree(helper.make_node("Einsum", list(inputs), ["y"], equation=equation), inputs, oracles=["onnxruntime"])


@pytest.mark.parametrize(("equation", "shapes"), [case for case in EQUATIONS if len(case[1]) > 1])
@pytest.mark.parametrize("fixed", [0, 1])
def test_a_constant_operand(agree, values, equation, shapes, fixed):
    arrays = {f"x{i}": values(*shape, seed=i) for i, shape in enumerate(shapes)}
    constants = {f"x{fixed}": arrays[f"x{fixed}"]}
    inputs = {name: array for name, array in arrays.items() if name not in constants}
    agree(helper.make_node("Einsum", list(arrays), ["y"], equation=equation), inputs, constants, oracles=["onnxruntime"])


def test_a_dense_layer_is_a_fully_connected(agree, values):
    node = helper.make_node("Einsum", ["x", "w"], ["y"], equation="abc,cd->abd")
    graph = agree(node, {"x": values(2, 3, 4)}, {"w": values(4, 5)}, oracles=["onnxruntime"])
    assert [n.op for n in graph.nodes if n.op not in ("Reshape", "Transpose")] == ["FullyConnected"]


@pytest.mark.parametrize("equation", ["ij,jk->ik", "i j k", "ijk->i", "ij->1"])
def test_equations_that_do_not_fit(attempt, values, equation):
    with pytest.raises(AreniteError):
        attempt(helper.make_node("Einsum", ["x"], ["y"], equation=equation), {"x": np.ones((2, 3), np.float32)})
