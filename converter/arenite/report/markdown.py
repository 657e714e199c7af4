"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arenite.report import wording
from arenite.report.arena_map import arena_map
from arenite.report.contents import Report
from arenite.report.layer_rows import layer_rows
from arenite.report.missing_pairs import TITLES as PAIR_TITLES
from arenite.report.missing_pairs import rows as pair_rows
from arenite.report.missing_pairs import sentence as pair_sentence
from arenite.report.trade_off import TITLES, rows, sentence


def to_markdown(report: Report) -> str:
    quantized = report.precision != "float32"
    parts = [
        f"# {report.model}",
        f"**{wording.verdict(report)}**",
        f"**{wording.accuracy(report)}**" if not report.accuracy_known else wording.accuracy(report),
        f"Converted from `{report.source}` by {report.producer}"
        + (f" for {report.target}" if report.target else "")
        + f": {report.macs:,} multiply-accumulates in {len(report.layers)} calls, {report.weight_bytes:,} bytes of constants.",
        *(sentence for sentence in (wording.edges(report),) if sentence is not None),
        *(f"Note: {note}" for note in report.notes),
        "## Inputs and outputs",
        _table(
            ("", "name", "shape", "type"),
            ((kind, _code(name), shape, about) for kind, name, shape, about in wording.port_rows(report)),
        ),
        "## Layers",
        _table(
            ("#", "layer", "operator", "output", "MACs", "weights, bytes", *(("scale", "zero point", "SQNR, dB") if quantized else ())),
            (
                (
                    steps,
                    _code(layer.name),
                    *wording.layer_cells(layer)[: None if quantized else 4],
                )
                for steps, layer in layer_rows(report.layers)
            ),
            right_from=4,
        ),
        *_missing_pairs(report),
        *_kernels(report),
        *_trade_off(report),
        "## Memory",
        wording.arena(report),
        *_memory(report),
    ]
    return "\n\n".join(parts) + "\n"


def _missing_pairs(report: Report) -> Iterable[str]:
    said = pair_sentence(report.missing_pairs)
    if said is not None:
        yield "## Missing pairs"
        yield said
        yield _table(PAIR_TITLES, ((_code(tensor), _code(layer), *cells) for tensor, layer, *cells in pair_rows(report.missing_pairs)))


def _kernels(report: Report) -> Iterable[str]:
    sentence = wording.kernels(report)
    if sentence is not None:
        yield "## Kernels"
        yield sentence
        rows = ((step, _code(layer), *cells) for step, layer, *cells in wording.kernel_rows(report))
        yield _table(wording.KERNEL_TITLES, rows)


def _trade_off(report: Report) -> Iterable[str]:
    if report.trade_off is not None:
        yield "## Precisions"
        yield sentence(report.trade_off)
        yield _table(TITLES, rows(report.trade_off), right_from=1)


def _memory(report: Report) -> Iterable[str]:
    picture = arena_map(report)
    if picture.rows:
        width = len(f"{report.arena_bytes:,}")
        lines = [f"{row.start:>{width},}–{row.end:<{width},} {row.cells}" for row in picture.rows]
        yield "Addresses down, steps across (first column: before the first call; last: after the last):"
        yield "```\n" + "\n".join(lines) + "\n```"
    yield _table(
        ("", "tensor", "kind", "offset", "end", "bytes", "steps", "in place of"),
        (
            (
                symbol,
                _code(b.name),
                b.kind,
                f"{b.offset:,}",
                f"{b.offset + b.bytes:,}",
                f"{b.bytes:,}",
                f"{b.first}–{b.last}",
                _code(b.alias_of) if b.alias_of else "",
            )
            for symbol, b in picture.symbols
        ),
    )


def _code(name: str) -> str:
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], right_from: int | None = None) -> str:
    rule = ["---:" if right_from is not None and i >= right_from else "---" for i in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))
