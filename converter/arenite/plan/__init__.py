"""Quantized graph → MemoryPlan: execution order, and where every tensor lies."""

from arenite.plan.check import check
from arenite.plan.memory_plan import BEYOND, Memory, MemoryKind, MemoryPlan, Placement
from arenite.plan.offsets import Enough
from arenite.plan.planner import ARENA, plan

__all__ = ["ARENA", "BEYOND", "Enough", "Memory", "MemoryKind", "MemoryPlan", "Placement", "check", "plan"]
