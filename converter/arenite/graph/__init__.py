"""The IR: graph, tensors, the operator schema, the printer and the verifier."""

from arenite.graph.expression import Expression, Step
from arenite.graph.graph import Graph, State
from arenite.graph.node import Band, Node
from arenite.graph.operators import OPERATORS
from arenite.graph.tensor import DType, Quantization, Tensor

__all__ = ["OPERATORS", "Band", "DType", "Expression", "Graph", "Node", "Quantization", "State", "Step", "Tensor"]
