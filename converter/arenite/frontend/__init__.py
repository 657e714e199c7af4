"""ONNX file → Graph: reading, binding of shapes, constants, one importer an operator."""

from arenite.frontend.load import load

__all__ = ["load"]
