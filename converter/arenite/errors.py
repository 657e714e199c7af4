"""What a user can do wrong, as exceptions. The CLI prints them without a traceback and exits with their code.

Every message says what was found, where (file, node, attribute, value), and what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass


class AreniteError(Exception):
    """Base of every error that is the input's fault, not ours. `exit_code` is the process's exit status."""

    exit_code = 1


class ModelFileError(AreniteError):
    """The file is no readable ONNX model: missing, truncated, not ONNX, external data absent, NaN weights."""

    exit_code = 3


class ShapeError(AreniteError):
    """A dimension is left dynamic, or a --shape does not fit the model."""

    exit_code = 4


class PortError(ShapeError):
    """A --state or a --bind that does not fit the model's inputs and outputs."""


@dataclass(frozen=True)
class Unsupported:
    """One reason for refusing a model."""

    node: str
    """Name of the ONNX node (or of its first output where it has none)."""
    operator: str
    """Its operator, with the domain where it is not ONNX's own."""
    problem: str
    """What is not supported, naming the attribute and its value."""
    remedy: str
    """What the user can do."""

    def __str__(self) -> str:
        return f"{self.node} ({self.operator}): {self.problem}\n      remedy: {self.remedy}"


class UnsupportedModelError(AreniteError):
    """The model uses what Arenite does not support; lists every offending node at once."""

    exit_code = 5

    def __init__(self, file: str, problems: list[Unsupported]) -> None:
        self.file = file
        self.problems = problems
        nodes = "node is" if len(problems) == 1 else "nodes are"
        lines = "\n".join(f"  {i}. {problem}" for i, problem in enumerate(problems, 1))
        super().__init__(f"{file}: {len(problems)} {nodes} not supported\n{lines}\n`arenite operators` lists what is supported.")


class CalibrationError(AreniteError):
    """Calibration or verification data that does not fit the model."""

    exit_code = 6


class QuantizationError(AreniteError):
    """The model cannot be quantized as asked."""

    exit_code = 7


class PlanError(AreniteError):
    """No memory plan within the limits."""

    exit_code = 8


class OutputError(AreniteError):
    """The output folder cannot be written."""

    exit_code = 9


class ToolError(AreniteError):
    """A compiler or an emulator is missing or failed."""

    exit_code = 10


class ArtifactError(AreniteError):
    """A folder or .arn file given to run, verify or inspect is not what `convert` wrote."""

    exit_code = 11


class OperatorError(AreniteError):
    """A user's own operator is declared wrongly, clashes with another, or one of its rules failed."""

    exit_code = 12
