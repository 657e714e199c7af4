"""Program, and what is written from it: the flat model (flat.py) and C sources (c.py)."""

from arenite.emit.build import build_program
from arenite.emit.program import Call, Port, Program, ProgramTensor, Storage

__all__ = ["Call", "Port", "Program", "ProgramTensor", "Storage", "build_program"]
