"""What a person reads about a converted model: one Report, four views of it."""

from arenite.report.as_json import from_json, to_json
from arenite.report.build import Circumstances, build_report, session_bytes
from arenite.report.contents import KernelOffer, Layer, Limits, Report, ReportPort, ReportState
from arenite.report.html import to_html
from arenite.report.markdown import to_markdown
from arenite.report.memory_page import memory_to_csv, memory_to_html, memory_to_json, memory_to_svg
from arenite.report.memory_text import render_memory_use
from arenite.report.text import render_report, render_summary
from arenite.report.trade_off import TradeOff, TradeOffPoint
from arenite.report.wording import accuracy, verdict

__all__ = [
    "Circumstances",
    "KernelOffer",
    "Layer",
    "Limits",
    "Report",
    "ReportPort",
    "ReportState",
    "TradeOff",
    "TradeOffPoint",
    "accuracy",
    "build_report",
    "from_json",
    "memory_to_csv",
    "memory_to_html",
    "memory_to_json",
    "memory_to_svg",
    "render_memory_use",
    "render_report",
    "render_summary",
    "session_bytes",
    "to_html",
    "to_json",
    "to_markdown",
    "verdict",
]
