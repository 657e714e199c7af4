"""Random models with branches and loops in one another, as a hypothesis strategy."""

from __future__ import annotations

from dataclasses import dataclass, field

import hypothesis.strategies as st
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = [3]
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@dataclass
class Scope:
    """A graph that grows, and the values that its nodes may read: its own and those of the graphs around it."""

    draw: st.DrawFn
    names: list[int]
    """One number, shared: every name is new."""
    floats: list[str]
    ints: list[str]
    bools: list[str]
    depth: int
    repeated: bool = False
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    def emit(self, op: str, inputs: list[str], count: int = 1, **attributes: object) -> list[str]:
        outputs = [self.fresh(op.lower()) for _ in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=self.fresh(op), **attributes))
        return outputs

    def fresh(self, stem: str) -> str:
        self.names[0] += 1
        return f"{stem}_{self.names[0]}"

    def pick(self, values: list[str]) -> str:
        """Recent values more often."""
        return values[-1 - self.draw(st.integers(0, min(4, len(values) - 1)))]

    def inside(self, **given: list[str]) -> Scope:
        floats, ints, bools = (given.get(kind, []) for kind in ("floats", "ints", "bools"))
        return Scope(
            self.draw, self.names, self.floats + floats, self.ints + ints, self.bools + bools, self.depth - 1, self.repeated or bool(ints)
        )

    def statements(self, most: int) -> None:
        for _ in range(self.draw(st.integers(1, most))):
            kinds = ["unary", "binary", "flag", "number", *(["if", "if", "loop", "loop"] if self.depth else [])]
            getattr(self, f"add_{self.draw(st.sampled_from(kinds))}")()

    def add_unary(self) -> None:
        self.floats += self.emit(self.draw(st.sampled_from(["Tanh", "Neg", "Sigmoid", "Relu", "Identity"])), [self.pick(self.floats)])

    def add_binary(self) -> None:
        """Bounded, so that nothing grows from iteration to iteration."""
        operands = [self.pick(self.floats), self.pick(self.floats)]
        self.floats += self.emit("Tanh", self.emit(self.draw(st.sampled_from(["Add", "Sub", "Mul"])), operands))

    def add_number(self) -> None:
        self.ints += self.emit("Mod", [*self.emit("Add", [self.pick(self.ints), self.pick(self.ints)]), "five"])

    def add_flag(self) -> None:
        kind = self.draw(st.sampled_from(["Less", "Equal", "Not", "And", "sum"]))
        if kind == "Not":
            self.bools += self.emit("Not", [self.pick(self.bools)])
        elif kind == "And":
            self.bools += self.emit("Or", [self.pick(self.bools), self.pick(self.bools)])
        elif kind == "sum":
            self.bools += self.emit("Less", [*self.emit("ReduceSum", [self.pick(self.floats)], keepdims=0), "threshold"])
        else:
            self.bools += self.emit(kind, [self.pick(self.ints), self.pick(self.ints)])

    def add_if(self) -> None:
        branches = {}
        for which in ("then_branch", "else_branch"):
            scope = self.inside()
            scope.statements(3)
            results = [(scope.pick(scope.floats), FLOAT, SHAPE), (scope.pick(scope.bools), BOOL, [])]
            branches[which] = scope.graph([], results)
        y, flag = self.emit("If", [self.pick(self.bools)], 2, **branches)
        self.floats.append(y)
        self.bools.append(flag)

    def add_loop(self) -> None:
        static = self.draw(st.booleans())
        count = self.draw(st.sampled_from(["two", "five"])) if static else self.draw(st.sampled_from([self.pick(self.ints), "two", ""]))
        condition = (
            self.draw(st.sampled_from(["", "always"])) if static else self.draw(st.sampled_from(["", "always", self.pick(self.bools)]))
        )
        iteration, goes_on, *carried = (self.fresh(name) for name in ("i", "c", "v", "w", "k"))
        scope = self.inside(floats=carried[:2], ints=[iteration, carried[2]], bools=[goes_on])
        scope.statements(3)
        ends = [(scope.pick(scope.floats), FLOAT, SHAPE), (scope.pick(scope.floats), FLOAT, SHAPE), (scope.pick(scope.ints), INT, [])]
        if static or (count and self.draw(st.booleans())):
            more = goes_on
        else:  # an end in any case
            more = scope.emit("And", [scope.pick(scope.bools), *scope.emit("Less", [iteration, "two"])])[0]
        scans = [(scope.pick(scope.floats), FLOAT, SHAPE)] if static else []
        formal = [(iteration, INT, []), (goes_on, BOOL, []), (carried[0], FLOAT, SHAPE), (carried[1], FLOAT, SHAPE), (carried[2], INT, [])]
        body = scope.graph(formal, [(more, BOOL, []), *ends, *scans])
        starts = [self.pick(self.floats), self.pick(self.floats), self.pick(self.ints)]
        y, z, k, *scanned = self.emit("Loop", [count, condition, *starts], 3 + len(scans), body=body)
        self.floats += [y, z]
        self.ints += self.emit("Mod", [k, "five"])
        for entries in scanned:
            self.floats += self.emit("ReduceMax", [entries, "first"], keepdims=0)

    def graph(self, inputs: list[tuple[str, int, list[int]]], outputs: list[tuple[str, int, list[int]]]) -> onnx.GraphProto:
        """Outputs are copies: a graph gives what it computes itself."""
        results = [(self.emit("Identity", [name])[0], kind, shape) for name, kind, shape in outputs]
        return helper.make_graph(
            self.nodes,
            self.fresh("graph"),
            [helper.make_tensor_value_info(*value) for value in inputs],
            [helper.make_tensor_value_info(*value) for value in results],
        )


@st.composite
def random_flows(draw: st.DrawFn, depth: int = 3) -> onnx.ModelProto:
    """Inputs x and z (float[3]), n and m (int64), c and d (bool); three outputs, one of each type."""
    scope = Scope(draw, [0], ["x", "z"], ["n", "m"], ["c", "d"], depth)
    scope.statements(3)
    scope.add_if() if draw(st.booleans()) else scope.add_loop()
    scope.statements(2)
    kinds = [("x", FLOAT, SHAPE), ("z", FLOAT, SHAPE), ("n", INT, []), ("m", INT, []), ("c", BOOL, []), ("d", BOOL, [])]
    results = [(scope.floats[-1], FLOAT, SHAPE), (scope.ints[-1], INT, []), (scope.bools[-1], BOOL, [])]
    graph = scope.graph(kinds, results)
    constants = {
        "two": np.asarray(2),
        "five": np.asarray(5),
        "threshold": np.float32(0.3),
        "always": np.asarray(True),
        "first": np.asarray([0]),
    }
    graph.initializer.extend(numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items())
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
