"""The converted model against the float one: accuracy, agreement, and the same bytes from every engine."""

from arenite.verify.verification import EngineResult, Mismatch, Verification, verify

__all__ = ["EngineResult", "Mismatch", "Verification", "verify"]
