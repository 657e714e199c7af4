"""The memory over time as files: one HTML page that needs nothing else, the bare SVG, JSON, and CSV."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from arenite.report import wording
from arenite.report.arena_chart import COLOURS, arena_chart, arena_charts
from arenite.report.contents import Report
from arenite.report.memory_advice import advice
from arenite.report.memory_use import MemoryUse, memory_use, writer
from arenite.report.page import render_page

_TEMPLATE = Path(__file__).parent / "templates" / "memory.html.j2"


def memory_to_html(report: Report) -> str:
    return render_page(
        _TEMPLATE,
        report=report,
        verdict=wording.memory_verdict(report),
        arena=wording.arena(report),
        charts=arena_charts(report),
        peak=wording.peak,
        writer=writer,
        title=wording.memory_title,
        advice=advice(report),
        free=wording.free(report),
        operator_name=wording.operator_name,
        colours=COLOURS,
    )


def memory_to_svg(report: Report) -> str:
    """Of the arena."""
    return f"{arena_chart(report, memory_use(report)[0], standalone=True)}\n"


def memory_to_csv(report: Report) -> str:
    """A line a step of every memory that holds something: what JSON calls `steps`."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("memory", "step", "layer", "bytes", "end", "shared_bytes"))
    for use in memory_use(report):
        writer.writerows((use.name, step.step, step.layer, step.bytes, step.end, step.shared_bytes) for step in use.steps)
    return file.getvalue()


def memory_to_json(report: Report) -> dict[str, Any]:
    """What `inspect --memory --json` prints: docs/cli.md."""
    return {
        "model": report.model,
        "arena_bytes": report.arena_bytes,
        "arena_lower_bound_bytes": report.arena_lower_bound_bytes,
        "arena_proven_optimal": report.arena_proven_optimal,
        "session_bytes": report.session_bytes,
        "ram_bytes": report.ram_bytes,
        "memories": [_use_to_json(use) for use in memory_use(report)],
        "advice": list(advice(report)),
    }


def _use_to_json(use: MemoryUse) -> dict[str, Any]:
    return {
        "name": use.name,
        "bytes": use.bytes,
        "peak": {
            "step": use.peak.step,
            "layer": use.peak.layer,
            "bytes": use.peak.bytes,
            "buffers": [
                {"name": b.name, "kind": b.kind, "offset": b.offset, "bytes": b.bytes, "first": b.first, "last": b.last}
                for b in use.peak.buffers
            ],
        },
        "between_bytes": use.between,
        "state_bytes": use.kept,
        "steps": [
            {"step": step.step, "layer": step.layer, "bytes": step.bytes, "end": step.end, "shared_bytes": step.shared_bytes}
            for step in use.steps
        ],
    }
