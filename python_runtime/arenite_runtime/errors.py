"""What can be wrong with a model file or with what is given to it."""

from __future__ import annotations


class ModelError(ValueError):
    """The file is no valid flat model, or uses what this runtime does not know.

    `status` is the name of the status code with which the C runtime refuses the same file (arenite.h).
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class InputError(ValueError):
    """An array that does not fit the model's input: number of arrays, shape or element type."""


class OperatorError(Exception):
    """A user's own operator is declared wrongly, clashes with another, or its kernel failed."""
