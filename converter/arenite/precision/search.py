"""The search: from int8 on, what is expected to take most noise away for its cost is built, executed and kept if that is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from arenite.errors import PlanError
from arenite.graph import OPERATORS, Graph
from arenite.precision.cost import Cost, CostModel
from arenite.precision.cycles import weight_bytes
from arenite.precision.limits import DEFAULT_DB, DEFAULT_POINTS, Budgets, LossLimit
from arenite.precision.loss import MOST_DB, Loss, LossMeter, judged_samples
from arenite.precision.moves import UPWARDS, Choice, Landscape, Move
from arenite.precision.sensitivity import measure_sensitivity
from arenite.quantize import Dataset, QuantizedModel, Settled, finish, keep_float, rechosen
from arenite.quantize.observers import Histogram

Progress = Callable[[str, int, int], None]
"""(stage, units done, units in all)."""

MOST_MEASURED = 48
"""Points of a search."""
STEP_DB = 1.0
"""What one point is expected to gain on the one before: moves are joined until they do."""
LEAST_GAIN_DB = 0.02
"""What a point must gain, measured."""
NAMED = 4
"""Layers that a label names."""
NEGLIGIBLE = 1e-9
"""Noise, as a share of the outputs' power."""


@dataclass(frozen=True)
class Point:
    """A choice of precisions, measured."""

    label: str
    choice: Choice
    cost: Cost
    loss: Loss


@dataclass(frozen=True)
class Chosen:
    """What a search has found."""

    model: QuantizedModel
    point: Point
    points: tuple[Point, ...]
    """All that were measured, in order."""
    samples: int
    limit: LossLimit | None
    """None: the least loss within the budgets."""
    labelled: bool


@dataclass
class Search:
    graph: Graph
    data: Dataset
    settled: Settled
    """Of the int8 model."""
    costs: CostModel
    budgets: Budgets
    limit: LossLimit | None
    meter: LossMeter
    advance: Progress
    seen: dict[str, Histogram] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)

    def measure(self, choice: Choice, label: str = "") -> Point:
        """The point of this choice: measured, unless it has been before."""
        for known in self.points:
            if dict(known.choice) == dict(choice):
                return known
        cost, arn = self.costs.build(self.model(choice))
        point = Point(label or _label(choice), dict(choice), cost, self.meter.measure(arn))
        self.points.append(point)
        self.advance("measuring precisions", min(len(self.points), MOST_MEASURED), MOST_MEASURED)
        return point

    def model(self, choice: Choice, *, with_figures: bool = False) -> QuantizedModel:
        settled = self.settled
        if choice:
            first = self.settled.options
            floats = (*first.float_layers, *(name for name, precision in sorted(choice.items()) if precision == "float32"))
            int16 = (*(first.int16_layers or ()), *(name for name, precision in sorted(choice.items()) if precision == "int16"))
            int4 = [name for name, precision in sorted(choice.items()) if precision == "int4"]
            settled = rechosen(self.graph, self.settled, floats, int16, self.seen, int4)
        if not with_figures:
            settled = replace(settled, options=replace(settled.options, fidelity_samples=0))
        return keep_float(self.graph, self.data) if settled.found is None else finish(self.graph, self.data, settled)

    def fits(self, point: Point) -> bool:
        return not self.budgets.excess(point.cost)

    def done(self, point: Point) -> bool:
        return self.fits(point) and self.limit is not None and self.limit.met(point.loss)

    def shrink(self, start: Point, land: Landscape) -> Point:
        """Layers with weights of four bits, as many as the budget for flash asks for, or all."""
        here, choice = start, dict(start.choice)
        limit = self.budgets.flash_bytes
        saved = 0.0
        for name in land.halved():
            if limit is None or here.cost.flash_bytes <= limit or len(self.points) >= MOST_MEASURED:
                break
            choice[name] = "int4"
            saved += sum(weight_bytes(land.graph, node, "int4") for node in land.layers[name])
            if saved >= here.cost.flash_bytes - limit:
                here, saved = self.measure(choice), 0.0
        return here if dict(here.choice) == choice else self.measure(choice)

    def descend(self, start: Point, land: Landscape) -> Point:
        """Points of less and less noise, as long as the budgets allow it and until the limit is met."""
        here, refused = start, set[Move]()
        while not self.done(here) and len(self.points) < MOST_MEASURED:
            moves = self._next(land, here, refused)
            if not moves:
                break
            choice: dict[str, str] = dict(here.choice)
            for move in moves:
                choice = move.applied(choice)
            choice = land.completed(choice)
            there = self.measure(choice)
            if self.fits(there) and there.loss.sqnr_db >= here.loss.sqnr_db + LEAST_GAIN_DB:
                here = there
            elif len(moves) > 1:
                refused.add(moves[-1])  # the others are tried without it
            else:
                refused.update(moves)
        return here

    def _next(self, land: Landscape, here: Point, refused: set[Move]) -> list[Move]:
        """The moves of the next point, the most useful first."""
        choice, noise = dict(here.choice), land.expected_noise(here.choice)
        wanted, picked = noise * 10 ** (-STEP_DB / 10), list[Move]()
        possible = [move for move in land.moves() if move not in refused]
        while noise > max(wanted, NEGLIGIBLE):
            rated = [(self._rate(land, choice, noise, move), move) for move in possible if move.applied(choice) != choice]
            best = max(rated, key=lambda item: (item[0], sorted(item[1].layers), item[1].precision), default=None)
            if best is None or best[0] <= 0:
                break
            picked.append(best[1])
            choice = best[1].applied(choice)
            noise = land.expected_noise(choice)
        return picked

    def _rate(self, land: Landscape, choice: Choice, noise: float, move: Move) -> float:
        """Noise that is taken away for its cost, which is measured against the budgets, or against int8 where there are none."""
        after = move.applied(choice)
        gain = noise - land.expected_noise(after)
        if gain <= NEGLIGIBLE * 1e-3:
            return 0.0
        changes = zip(land.expected_cost(after), land.expected_cost(choice), self._wholes(), strict=True)
        return gain / max(sum(max(new - old, 0.0) / max(total, 1) for new, old, total in changes), 1e-6)

    def prune(self, point: Point, land: Landscape) -> Point:
        """Without what the limit does not need, the dearest first."""
        here = point
        for name in sorted(point.choice, key=lambda name: (-self._saving(land, point.choice, name), name)):
            if len(self.points) >= MOST_MEASURED:
                break
            less = {other: precision for other, precision in here.choice.items() if other != name}
            there = self.measure(less)
            if self.done(there) and self.price(there) < self.price(here):
                here = there
        return here

    def price(self, point: Point) -> float:
        """Cycles, flash and RAM together, each as a share of its budget, or of what int8 needs where it has none."""
        cost = point.cost
        used = (cost.cycles, cost.flash_bytes, cost.ram_bytes)
        return sum(new / max(whole, 1) for new, whole in zip(used, self._wholes(), strict=True))

    def _wholes(self) -> tuple[int, int, int]:
        base, limits = self.points[0].cost, self.budgets
        return limits.cycles or base.cycles, limits.flash_bytes or base.flash_bytes, limits.ram_bytes or base.ram_bytes

    @staticmethod
    def _saving(land: Landscape, choice: Choice, name: str) -> float:
        less = {other: precision for other, precision in choice.items() if other != name}
        pairs = zip(land.expected_cost(choice), land.expected_cost(less), strict=True)
        return sum((old - new) / max(old, 1.0) for old, new in pairs)


def search(
    graph: Graph,
    data: Dataset,
    settled: Settled,
    costs: CostModel,
    budgets: Budgets,
    limit: LossLimit | None,
    advance: Progress,
) -> Chosen:
    """The choice of precisions for `graph` with the least cost of those that `limit` allows; without `limit`, that with the least loss.

    `settled` is the int8 model that it starts from. Where neither a limit nor a budget is given, the limit is DEFAULT_POINTS with labels
    and DEFAULT_DB without. Raises PlanError, with the nearest point, where nothing keeps within `budgets` and `limit`.
    """
    macs = _macs(graph)
    meter = LossMeter(graph, judged_samples(data, macs, in_time=bool(graph.states)))
    if limit is None and not budgets.given:
        limit = LossLimit(points=DEFAULT_POINTS) if meter.labelled else LossLimit(db=DEFAULT_DB)
    if limit is not None and limit.points is not None:
        meter.require_classes()
    looking = Search(graph, data, settled, costs, budgets, limit, meter, advance)
    base = looking.measure({})
    best = base
    over = budgets.flash_bytes is not None and base.cost.flash_bytes > budgets.flash_bytes
    if settled.found is not None and not looking.done(base) and (looking.fits(base) or over):  # nothing but flash can be less than int8's
        draft = settled.found.draft
        found = measure_sensitivity(draft, data, lambda done, total: advance("measuring sensitivity", done, total))
        land = Landscape(draft.graph, draft.typed, found, costs.timed)
        start = looking.shrink(base, land) if over else base
        last = looking.descend(start, land) if looking.fits(start) else start
        ends = []
        if not over:
            ends = [looking.measure(dict.fromkeys(land.layers, precision), f"all {precision}") for precision in UPWARDS]
            if looking.done(last):  # which of the two is cheaper depends on all layers that they share a border with
                ends += [looking.measure(land.completed(dict.fromkeys(last.choice, precision))) for precision in UPWARDS]
        cheapest = min((point for point in (last, *ends) if looking.done(point)), key=looking.price, default=None)
        if cheapest is not None:
            looking.prune(cheapest, land)
        best = _best(looking)
    if not looking.fits(best) or (limit is not None and not limit.met(best.loss)):
        raise PlanError(_shortage(looking, best))
    model = looking.model(best.choice, with_figures=True)
    if best.choice:  # the figure of the int8 part alone, which the model has of its own, is another
        model = replace(model, sqnr_db={graph.outputs[0]: best.loss.sqnr_db} if best.loss.sqnr_db < MOST_DB else {})
    return Chosen(model, best, tuple(looking.points), len(meter), limit, meter.labelled)


def _best(looking: Search) -> Point:
    """The cheapest point that meets everything; without a limit, that of least loss. Where there is none, the nearest to it."""
    points, limit = looking.points, looking.limit
    fitting = [point for point in points if looking.fits(point)]
    if not fitting:
        return min(points, key=lambda point: (looking.budgets.overshoot(point.cost), -point.loss.sqnr_db))
    if limit is not None:
        met = [point for point in fitting if limit.met(point.loss)]
        return min(met, key=looking.price) if met else min(fitting, key=lambda point: (limit.missing(point.loss), -point.loss.sqnr_db))
    if looking.meter.labelled:
        return min(fitting, key=lambda point: (max(point.loss.points, 0.0), looking.price(point)))
    return max(fitting, key=lambda point: point.loss.sqnr_db)


def _label(choice: Choice) -> str:
    """What is not int8."""
    parts = []
    for precision in sorted(set(choice.values())):
        names = sorted(name for name, chosen in choice.items() if chosen == precision)
        parts.append(f"{precision}: {', '.join(names) if len(names) <= NAMED else f'{len(names)} layers'}")
    return "; ".join(parts) or "int8"


def _macs(graph: Graph) -> int:
    total = 0
    for node in graph.nodes:
        operands = [None if name is None else graph.tensors[name] for name in node.inputs]
        total += OPERATORS[node.op].macs(operands, graph.tensors[node.output].shape) if node.op in OPERATORS else 0
    return total


def _shortage(looking: Search, nearest: Point) -> str:
    """What cannot be met, and how near it is."""
    labelled, cost, loss = looking.meter.labelled, nearest.cost, nearest.loss
    excess = looking.budgets.excess(cost)
    lost = f"top-1 of {100 * loss.changed:.2f} % changed" if loss.lost is None else f"{100 * loss.lost:.2f} points of accuracy lost"
    point = (
        f"Of those tried the nearest ({nearest.label}) takes {cost.cycles:,} cycles, {cost.flash_bytes:,} bytes of flash and "
        f"{cost.ram_bytes:,} of RAM, with {loss.sqnr_db:.1f} dB of signal to noise, {lost}."
    )
    where = f"{looking.graph.name}: --precision auto"
    if excess:
        return f"{where}: no choice of precisions keeps within the limits: {'; '.join(excess)}. {point}"
    assert looking.limit is not None
    return (
        f"{where}: within the limits no choice of precisions has {looking.limit.describe(labelled)}. {point} Allow more loss or larger "
        "budgets, calibrate with more typical samples, or add --quantize best; --io float32 where int8 ports are too coarse."
    )
