"""Precision by budget: which layers of an int8 model become int16 or float32, so that its loss is small enough and its costs are, too.

Every layer's error is measured alone on calibration data; errors add up like independent noise, which says what to try next. What is tried
is built and executed: loss, memory and flash of every point are measured, cycles are estimated.
"""

from arenite.precision.cost import Cost, CostModel
from arenite.precision.limits import Budgets, LossLimit, parse_loss
from arenite.precision.search import Chosen, Search, search

__all__ = ["Budgets", "Chosen", "Cost", "CostModel", "LossLimit", "Search", "parse_loss", "search"]
