"""Every operator of the IR, by name. One file a family; declaration.py says what a declaration holds."""

from __future__ import annotations

from arenite.graph.operators.classical import CLASSICAL
from arenite.graph.operators.control import CONTROL
from arenite.graph.operators.convolution import CONVOLUTION
from arenite.graph.operators.declaration import UNBOUNDED, VARIANTS, Attribute, Form, Operand, Operator, Param, Record
from arenite.graph.operators.detection import DETECTION
from arenite.graph.operators.determinant import DETERMINANT
from arenite.graph.operators.elementwise import ELEMENTWISE, MAX_DIMS
from arenite.graph.operators.function import FUNCTION
from arenite.graph.operators.indexing import INDEXING
from arenite.graph.operators.integer import INTEGER
from arenite.graph.operators.logic import LOGIC
from arenite.graph.operators.matrix import MATRIX
from arenite.graph.operators.movement import MOVEMENT
from arenite.graph.operators.normalization import NORMALIZATION
from arenite.graph.operators.placement import PLACEMENT
from arenite.graph.operators.pooling import POOLING
from arenite.graph.operators.quantization import QUANTIZATION
from arenite.graph.operators.recurrent import RECURRENT
from arenite.graph.operators.reduction import REDUCTION
from arenite.graph.operators.sampling import SAMPLING
from arenite.graph.operators.signal import SIGNAL
from arenite.graph.operators.spatial import SPATIAL
from arenite.graph.operators.tree_ensemble import TREE_ENSEMBLE

OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        *CONVOLUTION,
        *MATRIX,
        *ELEMENTWISE,
        *FUNCTION,
        *LOGIC,
        *POOLING,
        *MOVEMENT,
        *QUANTIZATION,
        *REDUCTION,
        *TREE_ENSEMBLE,
        *CLASSICAL,
        *INDEXING,
        *PLACEMENT,
        *NORMALIZATION,
        *RECURRENT,
        *SPATIAL,
        *SAMPLING,
        *INTEGER,
        *CONTROL,
        *SIGNAL,
        *DETECTION,
        *DETERMINANT,
    )
}

__all__ = ["MAX_DIMS", "OPERATORS", "UNBOUNDED", "VARIANTS", "Attribute", "Form", "Operand", "Operator", "Param", "Record"]
