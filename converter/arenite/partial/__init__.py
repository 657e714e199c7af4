"""Partial execution: layers in bands of rows, so that no tensor between them is ever whole.

A rewrite of the graph between the choice of kernels and the plan: every layer of a group becomes several nodes, each for some rows of its
result, with the same constants. Engines and runtime see ordinary layers. docs/partial-execution.md explains it.
"""

from arenite.partial.bands import IN_BANDS
from arenite.partial.candidates import Kind
from arenite.partial.curve import Curve, curve
from arenite.partial.fit import fit, moved_offers, search
from arenite.partial.search import BandedGroup, Execution, Search
from arenite.partial.space import ONE_ARENA, Space
from arenite.partial.wording import peak, sentences, shortage

__all__ = [
    "IN_BANDS",
    "ONE_ARENA",
    "BandedGroup",
    "Curve",
    "Execution",
    "Kind",
    "Search",
    "Space",
    "curve",
    "fit",
    "moved_offers",
    "peak",
    "search",
    "sentences",
    "shortage",
]
