"""Operators that users add from outside, without touching this package. docs/own-operators.md walks through one."""

from arenite.own_operators.declaration import OWN_OPERATORS, CKernels, OwnOperator, own_operator
from arenite.own_operators.loading import used_operators

__all__ = ["OWN_OPERATORS", "CKernels", "OwnOperator", "own_operator", "used_operators"]
