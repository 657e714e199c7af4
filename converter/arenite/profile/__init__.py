"""Where the time of an inference goes: instructions and cycles by layer. docs/profiling.md."""

from arenite.profile.as_json import to_json
from arenite.profile.board_log import read_board_log
from arenite.profile.contents import LayerProfile, Profile
from arenite.profile.html import to_html
from arenite.profile.measure import INPUTS, measure_profile
from arenite.profile.text import render

__all__ = ["INPUTS", "LayerProfile", "Profile", "measure_profile", "read_board_log", "render", "to_html", "to_json"]
