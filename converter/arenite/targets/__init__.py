"""What a core or board has, and how to build for it and run on it. `open_engine` is the way in."""

from arenite.targets.catalogue import TARGETS, Target
from arenite.targets.emulated import RunInfo
from arenite.targets.engine import ENGINES, Engine, open_engine

__all__ = ["ENGINES", "TARGETS", "Engine", "RunInfo", "Target", "open_engine"]
