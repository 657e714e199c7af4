"""The converted model against the float one: accuracy, agreement, and the same from every engine."""

from arenite.verify.agreement import ABSOLUTE, RELATIVE, Criterion
from arenite.verify.verification import EngineResult, Mismatch, Verification, class_labels, verify

__all__ = ["ABSOLUTE", "RELATIVE", "Criterion", "EngineResult", "Mismatch", "Verification", "class_labels", "verify"]
