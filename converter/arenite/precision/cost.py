"""What a quantized model costs: kernels chosen, memory planned, the file written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from arenite.emit import Program, build_program
from arenite.emit.flat import serialize
from arenite.partial import ONE_ARENA, Space, fit
from arenite.partial import search as search_bands
from arenite.plan import Memory, MemoryPlan
from arenite.precision.cycles import graph_cycles
from arenite.quantize import QuantizedModel
from arenite.report import session_bytes
from arenite.variants import Choice, Offer, choose_variants, code_bytes, offers

MOST_BANDED = 4
"""Times the memory that there is: bands of rows are not tried for what needs more."""
Kernels = frozenset[tuple[str, str]]
Offers = Mapping[int, tuple[Offer, ...]]


@dataclass(frozen=True)
class Cost:
    cycles: int
    """Estimated, of one inference."""
    flash_bytes: int
    """Of the model, and of the code where a target is known."""
    ram_bytes: int
    """Arena, further memories and session; without the stack."""


@dataclass
class CostModel:
    """Builds models as the pipeline does."""

    features: frozenset[str]
    """Of the core that kernels are chosen for."""
    timed: frozenset[str]
    """Of the core that cycles are estimated for: with an FPU, too, where nothing is known of it."""
    optimize: str = "balanced"
    keep_inputs: bool = False
    strip_names: bool = False
    ram_bytes: int | None = None
    """Layers are executed in bands of rows where this asks for it."""
    flash_bytes: int | None = None
    """Smaller kernels are chosen where this asks for it."""
    output_names: Sequence[str] = ()
    code: Callable[[Program, bytes], int] | None = None
    """The code that a program needs on the target; it depends on the program's kernels alone. None: code is not counted."""
    memories: tuple[Memory, ...] = ()
    """RAMs that tensors are distributed over; none: one arena, as large as is needed."""
    finish: Callable[[Program, MemoryPlan], Program] | None = None
    """What becomes of a program before it is written: constants that go to RAM."""
    _code: dict[Kernels, int] = field(default_factory=dict)

    def build(self, quantized: QuantizedModel) -> tuple[Cost, bytes]:
        """The costs and the flat model. Raises PlanError where there is no plan."""
        priced = offers(quantized.graph, self.features)
        choice, cost, arn = self._build(quantized, priced, None)
        while self.flash_bytes is not None and cost.flash_bytes > self.flash_bytes and not choice.least:
            choice, cost, arn = self._build(quantized, priced, choice.bytes - (cost.flash_bytes - self.flash_bytes))
        return cost, arn

    def _build(self, quantized: QuantizedModel, priced: Offers, most: int | None) -> tuple[Choice, Cost, bytes]:
        counted = self.code is not None

        def code_of(kernels: Collection[tuple[str, str]]) -> int:
            return code_bytes(kernels, self.features) if counted else 0

        choice = choose_variants(quantized.graph, priced, code_of, self.optimize, most)
        space = Space(self.memories) if self.memories else ONE_ARENA
        memory = space.planned(choice.graph, keep_inputs=self.keep_inputs)
        executed, planned = choice.graph, memory
        session = session_bytes(len(memory.memories))
        limits = (None if self.ram_bytes is None else self.ram_bytes - session, space.capacity)
        most = min((each for each in limits if each is not None), default=None)
        if most is not None and most < space.bytes(memory) <= MOST_BANDED * most:
            looking = search_bands(choice.graph, memory, features=self.features, offers=priced, keep_inputs=self.keep_inputs, space=space)
            found = fit(choice.graph, memory, looking, most)
            executed, planned = found.graph, found.plan
        names = list(self.output_names)
        program = build_program(
            executed,
            planned,
            name="model",
            calibrated=True,
            precision=quantized.precision,
            output_names=names,
            expected=quantized.expected,
        )
        if self.finish is not None:
            program = self.finish(program, planned)
        arn = serialize(program, strip_names=self.strip_names)
        ram = sum(program.memory_bytes) + session_bytes(len(program.memories))
        if space.lacking(planned):
            # More than all of them together, even where what is left of each would be enough in one piece.
            ram = space.bytes(planned) + session
        cycles = round(graph_cycles(choice.graph, choice.offers, self.timed))
        return choice, Cost(cycles, len(arn) + self._code_bytes(program, arn), ram), arn

    def _code_bytes(self, program: Program, arn: bytes) -> int:
        if self.code is None:
            return 0
        kernels = frozenset((call.op, call.variant) for call in program.calls)
        if kernels not in self._code:
            self._code[kernels] = self.code(program, arn)
        return self._code[kernels]
