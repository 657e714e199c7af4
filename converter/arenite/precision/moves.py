"""What can be changed about a choice of precisions, and what is expected of it.

A tensor is rounded to 256 steps where its writer or any of its readers is int8, and a layer's weights where it is. So a move is a layer,
or a tensor's writer and readers together; the noise that is left is the sum over what is still rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arenite.graph import Graph, Node
from arenite.precision.cycles import operator_cycles, weight_bytes
from arenite.precision.sensitivity import Sensitivity
from arenite.quantize.four_bits import four_bit_layers
from arenite.quantize.lower_movement import CARRYING

MOVING = (*CARRYING, "Pad")
UPWARDS = ("int16", "float32")
"""What an int8 layer can become."""

Choice = Mapping[str, str]
"""By a layer's name, int16, float32 or int4, which is int8 with weights of four bits; all others are int8."""
FOUR_BIT_NOISE = (127 / 7) ** 2
"""Of weights, times that of eight bits."""


@dataclass(frozen=True)
class Move:
    layers: frozenset[str]
    precision: str

    def applied(self, choice: Choice) -> dict[str, str]:
        """float32 stays where a layer is that already."""
        return {**choice, **{name: self.precision for name in self.layers if choice.get(name) != "float32"}}


@dataclass(frozen=True)
class Landscape:
    """The layers of an int8 draft, by the names of their nodes, and what they are expected to do."""

    graph: Graph
    """Float."""
    typed: frozenset[str]
    """Nodes that are not int8 anyway, by first output."""
    sensitivity: Sensitivity
    features: frozenset[str]

    @cached_property
    def layers(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.graph.nodes:
            if node.output not in self.typed:
                found.setdefault(node.name, []).append(node)
        return found

    def moves(self) -> list[Move]:
        """All that take noise away, each once, in the order of the graph."""
        sets: dict[frozenset[str], None] = {}
        for node in self.graph.nodes:
            if self.sensitivity.weights.get(node.output, 0.0) > 0 and node.output not in self.typed:
                sets[self._known((node.name,))] = None
        producers, consumers = self.graph.producers(), self.graph.consumers()
        for tensor, noise in self.sensitivity.tensors.items():
            if noise > 0:
                sets[self._known(self._around(tensor, producers, consumers))] = None
        return [Move(names, precision) for names in sets if names for precision in UPWARDS]

    def _known(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(names).intersection(self.layers)

    def _around(self, tensor: str, producers: Mapping[str, Node], consumers: Mapping[str, list[Node]]) -> set[str]:
        """Names of all that write or read the values, also where they have been moved in between."""
        names, seen, pending = set(), set(), [tensor]
        while pending:
            name = pending.pop()
            if name in seen or self.graph.tensors[name].is_constant:
                continue
            seen.add(name)
            writer = producers.get(name)
            if writer is not None:
                names.add(writer.name)
                pending += [x for x in writer.inputs if x is not None] if writer.op in MOVING else []
            for reader in consumers.get(name, []):
                names.add(reader.name)
                pending += reader.outputs if reader.op in MOVING else []
        return names

    def expected_noise(self, choice: Choice) -> float:
        """As Sensitivity has it."""
        free, four = self._layers_of(choice, UPWARDS) | self.typed, self._layers_of(choice, ("int4",))
        producers, consumers = self.graph.producers(), self.graph.consumers()
        left = sum(
            noise * (FOUR_BIT_NOISE if output in four else 1.0) for output, noise in self.sensitivity.weights.items() if output not in free
        )
        for tensor, noise in self.sensitivity.tensors.items():
            touching = [node for node in (producers.get(tensor), *consumers.get(tensor, [])) if node is not None]
            left += noise if any(node.output not in free for node in touching) else 0.0
        return left

    def _layers_of(self, choice: Choice, precisions: Sequence[str]) -> frozenset[str]:
        """First outputs of those that have one of the precisions."""
        return frozenset(node.output for name, given in choice.items() if given in precisions for node in self.layers.get(name, []))

    def halved(self) -> list[str]:
        """Layers that can have weights of four bits, those first that save most bytes for the noise expected of it."""
        able = four_bit_layers(self.graph, None, self.typed)
        rated = []
        for name, nodes in self.layers.items():
            linear = [node for node in nodes if node.output in able]
            if linear:
                noise = sum(self.sensitivity.weights.get(node.output, 0.0) for node in linear)
                rated.append((sum(weight_bytes(self.graph, node, "int4") for node in linear) / max(noise, 1e-12), name))
        return [name for _, name in sorted(rated, key=lambda item: (-item[0], item[1]))]

    def expected_cost(self, choice: Choice) -> tuple[float, float, float]:
        """Cycles, bytes of weights and bytes of activations of all layers: for comparing choices."""
        cycles = flash = ram = 0.0
        for name, nodes in self.layers.items():
            kind = choice.get(name, "int8")
            for node in nodes:
                cycles += operator_cycles(self.graph, node, kind, self.features) if node.op not in MOVING else 0.0
                flash += weight_bytes(self.graph, node, kind)
                ram += self.graph.tensors[node.output].elements * {"int4": 1, "int8": 1, "int16": 2, "float32": 4}[kind]
        return cycles, flash, ram

    def completed(self, choice: Choice) -> dict[str, str]:
        """With what only moves elements between layers that are int16: it would convert them to int8 and back."""
        result, producers, consumers = dict(choice), self.graph.producers(), self.graph.consumers()
        grown = True
        while grown:
            grown = False
            for name, nodes in self.layers.items():
                if name in result or any(node.op not in MOVING for node in nodes):
                    continue
                neighbours = [
                    other.name
                    for node in nodes
                    for other in (*(producers[x] for x in node.inputs if x in producers), *consumers.get(node.output, []))
                ]
                if neighbours and all(result.get(other) == "int16" for other in neighbours):
                    result[name], grown = "int16", True
        return result
