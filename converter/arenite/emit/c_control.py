"""Control flow in the compiled form: the calls that skip and repeat others become C's own if and for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from arenite.emit import c_text
from arenite.emit.program import Call

CONTROL = ("SkipUnless", "Skip", "BeginLoop", "RepeatLoop")

Argument = Callable[[int], str]
"""A pointer to a tensor, as C text."""


@dataclass
class Blocks:
    """The blocks that are open between one call and the next."""

    calls: Sequence[Call]
    argument: Argument
    _ends: list[int] = field(default_factory=list)
    """For each open block: the call behind which it is closed."""

    @property
    def depth(self) -> int:
        return len(self._ends)

    def statement(self, at: int, counter: str) -> str:
        """Of the control-flow call at index `at`; `counter` is a name that is free."""
        call = self.calls[at]
        if call.op == "SkipUnless":
            end = at + int(str(call.record["skip"]))
            text = f"if ({self._flag(call.inputs[0])}) {{"
            # The branch for false, where there is one, goes on where this one ends.
            self._ends.append(end)
            return self._line(text, self.depth - 1)
        if call.op == "Skip":
            self._ends[-1] = at + int(str(call.record["skip"]))
            return self._line("} else {", self.depth - 1)
        if call.op == "BeginLoop":
            text = self._loop(at, counter)
            self._ends.append(at + int(str(call.record["skip"])))
            return text
        return ""

    def closed(self, at: int) -> str:
        """What closes the blocks that end with the call at index `at`, the branch for true that one for false follows excepted."""
        lines = []
        while self._ends and self._ends[-1] == at and self.calls[at].op != "Skip":
            self._ends.pop()
            lines.append(self._line("}", self.depth))
        return "\n".join(lines)

    def _line(self, text: str, depth: int) -> str:
        return c_text.INDENT * (1 + depth) + text

    def _flag(self, index: int) -> str:
        return f"*{self.argument(index)} != 0"

    def _loop(self, at: int, counter: str) -> str:
        begin = self.calls[at]
        repeat = self.calls[at + int(str(begin.record["skip"]))]
        limit = c_text.integer(int(str(begin.record["limit"])))
        lines = [f"int64_t *const {counter} = {self.argument(begin.outputs[0])};"]
        trips = [f"*{counter} < *{self.argument(begin.inputs[0])}"] if begin.inputs[0] >= 0 else []
        bounds = [f"*{counter} < {limit}", *trips]
        if begin.inputs[1] < 0 and repeat.inputs[1] < 0:
            lines.append(f"for (*{counter} = 0; {' && '.join(bounds)}; ++*{counter}) {{")
        else:
            first = [*bounds, *([self._flag(begin.inputs[1])] if begin.inputs[1] >= 0 else [])]
            following = [f"++{bounds[0]}", *trips, *([self._flag(repeat.inputs[1])] if repeat.inputs[1] >= 0 else [])]
            more = f"{counter}_more"
            lines.append(f"*{counter} = 0;")
            lines.append(f"for (int {more} = {' && '.join(first)}; {more}; {more} = {' && '.join(following)}) {{")
        return "\n".join(self._line(line, self.depth) for line in lines)


def indented(text: str, depth: int) -> str:
    """The lines of `text`, which stand inside a function, inside `depth` more blocks."""
    return "\n".join(c_text.INDENT * depth + line if line else line for line in text.split("\n"))
