"""A profile as data. The text, HTML and JSON forms are views of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cost:
    """What something took in one inference."""

    instructions: int | None
    """None: not counted."""
    cycles: int | None
    """None: neither modelled nor measured."""


@dataclass(frozen=True)
class LayerProfile:
    """One call of the model, as the report lists it."""

    name: str
    op: str
    form: str
    """The operator of the graph."""
    variant: str
    macs: int
    executions: int
    """Calls of its kernel in the inference: 0 in a branch that was not taken, several in a loop. Control flow has none in the compiled
    form, where it is statements of C."""
    cost: Cost
    code_bytes: int | None
    """Of all functions that it executed; other layers may execute the same ones. None where that is not known."""


def joined(parts: Sequence[LayerProfile]) -> LayerProfile:
    """A layer that is executed in bands, from its calls: costs and multiply-accumulates of all."""
    if len(parts) == 1:
        return parts[0]
    costs = [part.cost for part in parts]
    code = [part.code_bytes for part in parts if part.code_bytes is not None]
    return replace(
        parts[0],
        macs=sum(part.macs * part.executions for part in parts),
        executions=1,
        cost=Cost(_sum([cost.instructions for cost in costs]), _sum([cost.cycles for cost in costs])),
        code_bytes=max(code, default=None),
    )


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


@dataclass(frozen=True)
class FunctionProfile:
    """A function of the image, wherever it was called from."""

    name: str
    cost: Cost
    code_bytes: int


@dataclass(frozen=True)
class Build:
    """The image that ran on an emulated board, and what it took besides time."""

    resolution: int
    """Step of the total's instructions: 1 exact."""
    open_instructions: int
    stack_bytes: int
    arena_bytes: int
    session_bytes: int
    model_bytes: int
    code_bytes: int
    toolchain: str
    emulator: str
    optimize: str
    """The compiler's flag."""


@dataclass(frozen=True)
class Profile:
    """One inference on a target. The layers and `rest` are the whole of it."""

    model: str
    target: str
    form: str
    """"interpreted" or "compiled"."""
    input: str
    """What it ran on, in words."""
    total: Cost
    layers: tuple[LayerProfile, ...]
    rest: Cost
    """Everything outside of layers: what calls them, and keeping states."""
    functions: tuple[FunctionProfile, ...]
    """Most instructions first. None are known of a board."""
    notes: tuple[str, ...]
    """What is not known, and why."""
    build: Build | None = None
    """None where the figures come from a board."""

    @property
    def macs(self) -> int:
        """Executed: those of a layer as often as it was."""
        return sum(layer.macs * layer.executions for layer in self.layers)

    @property
    def by_layer(self) -> bool:
        """Whether the layers' costs are known."""
        return self.rest.instructions is not None or self.rest.cycles is not None

    @property
    def in_cycles(self) -> bool:
        """Whether shares and bars are of cycles; else of instructions."""
        return self.total.cycles is not None


def amount(cost: Cost, in_cycles: bool) -> int | None:
    return cost.cycles if in_cycles else cost.instructions


def share(profile: Profile, cost: Cost) -> float | None:
    """Of the inference's cycles, or instructions where those are not known."""
    part, whole = amount(cost, profile.in_cycles), amount(profile.total, profile.in_cycles)
    return None if part is None or not whole else part / whole


def per_mac(layer: LayerProfile, in_cycles: bool) -> float | None:
    """Cycles, or instructions, for each multiply-accumulate; None where there are none."""
    part, macs = amount(layer.cost, in_cycles), layer.macs * layer.executions
    return None if part is None or not macs else part / macs
