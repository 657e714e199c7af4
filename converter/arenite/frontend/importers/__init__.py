"""Every ONNX operator that is imported, by name, one file a family."""

from __future__ import annotations

from arenite.frontend.importers.activation import ACTIVATION
from arenite.frontend.importers.convolution import CONVOLUTION
from arenite.frontend.importers.detection import DETECTION
from arenite.frontend.importers.einsum import EINSUM
from arenite.frontend.importers.elementwise import ELEMENTWISE
from arenite.frontend.importers.feature import FEATURES
from arenite.frontend.importers.indexing import INDEXING
from arenite.frontend.importers.integer import INTEGER
from arenite.frontend.importers.linear_model import LINEAR_MODELS
from arenite.frontend.importers.logic import LOGIC
from arenite.frontend.importers.matrix import MATRIX
from arenite.frontend.importers.movement import MOVEMENT, MOVES_INT8
from arenite.frontend.importers.ngram import NGRAM
from arenite.frontend.importers.normalization import NORMALIZATION
from arenite.frontend.importers.onnxruntime_fused import ONNXRUNTIME_FUSED
from arenite.frontend.importers.packed_weights import PACKED_WEIGHTS
from arenite.frontend.importers.pooling import POOLING
from arenite.frontend.importers.quantization import QUANTIZATION
from arenite.frontend.importers.quantized_operators import QUANTIZED_OPERATORS, layout_of
from arenite.frontend.importers.recurrent import RECURRENT
from arenite.frontend.importers.reduction import REDUCTION
from arenite.frontend.importers.resize import RESIZE
from arenite.frontend.importers.row_normalization import ROW_NORMALIZATION
from arenite.frontend.importers.sampling import SAMPLING
from arenite.frontend.importers.sequence import SEQUENCE
from arenite.frontend.importers.signal import SIGNAL
from arenite.frontend.importers.training import TRAINING
from arenite.frontend.importers.transposed_convolution import TRANSPOSED_CONVOLUTION
from arenite.frontend.importers.tree_ensemble import TREE_ENSEMBLES
from arenite.frontend.node_import import Importer

IMPORTERS: dict[str, Importer] = {
    **CONVOLUTION,
    **MATRIX,
    **ELEMENTWISE,
    **ACTIVATION,
    **NORMALIZATION,
    **POOLING,
    **MOVEMENT,
    **QUANTIZATION,
    **INTEGER,
    **QUANTIZED_OPERATORS,
    **PACKED_WEIGHTS,
    **LOGIC,
    **REDUCTION,
    **ROW_NORMALIZATION,
    **RECURRENT,
    **EINSUM,
    **ONNXRUNTIME_FUSED,
    **INDEXING,
    **RESIZE,
    **TRANSPOSED_CONVOLUTION,
    **SAMPLING,
    **SIGNAL,
    **DETECTION,
    **NGRAM,
    **TRAINING,
    **SEQUENCE,
    **TREE_ENSEMBLES,
    **LINEAR_MODELS,
    **FEATURES,
}

__all__ = ["IMPORTERS", "MOVES_INT8", "layout_of"]
