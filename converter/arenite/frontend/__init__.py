"""ONNX file → Graph: reading, binding of shapes, constants, one importer an operator."""

from arenite.frontend.load import load
from arenite.frontend.states import likely_states

__all__ = ["likely_states", "load"]
