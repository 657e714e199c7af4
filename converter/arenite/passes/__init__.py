"""Graph → Graph rewrites of the float graph, one a file; optimize.py says in which order they run."""

from arenite.passes.optimize import IO_LAYOUTS, optimize

__all__ = ["IO_LAYOUTS", "optimize"]
