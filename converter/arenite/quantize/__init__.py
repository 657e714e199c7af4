"""Quantization: float graph and calibration data → int8 graph."""

from arenite.quantize.calibration_data import Dataset, InputSpec, input_specs, load_data, synthetic_data
from arenite.quantize.coarse import LEAST_DB
from arenite.quantize.input_statistics import InputStatistics, Spread, statistics
from arenite.quantize.methods import LEVELS, METHODS, method_flags, selected
from arenite.quantize.missing_pairs import MissingPair, all_missing
from arenite.quantize.model import LayerReport, QuantizedModel, QuantizeOptions, Settled, finish, keep_float, quantize, rechosen, settle

__all__ = [
    "LEAST_DB",
    "LEVELS",
    "METHODS",
    "Dataset",
    "InputSpec",
    "InputStatistics",
    "LayerReport",
    "MissingPair",
    "QuantizeOptions",
    "QuantizedModel",
    "Settled",
    "Spread",
    "all_missing",
    "finish",
    "input_specs",
    "keep_float",
    "load_data",
    "method_flags",
    "quantize",
    "rechosen",
    "selected",
    "settle",
    "statistics",
    "synthetic_data",
]
