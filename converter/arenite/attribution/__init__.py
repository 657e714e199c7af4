"""Where a network's quantization error comes from: layer by layer, and what would help."""

from arenite.attribution.analysis import SAMPLES, attribute
from arenite.attribution.figures import LEAST_DB, Attribution, LayerFigures, Suggestion, Values
from arenite.attribution.html import to_html
from arenite.attribution.markdown import to_markdown

__all__ = ["LEAST_DB", "SAMPLES", "Attribution", "LayerFigures", "Suggestion", "Values", "attribute", "to_html", "to_markdown"]
