"""Executes Arenite flat models with NumPy, bit for bit as the C kernels do. Needs numpy and flatbuffers only.

model = Model.load("kws.arn")
outputs = Interpreter(model).run([model.quantize_input(0, features)])
scores = model.dequantize_output(0, outputs[0])
"""

from arenite_runtime.errors import InputError, ModelError, OperatorError
from arenite_runtime.input_counts import InputCounts
from arenite_runtime.interpreter import Interpreter
from arenite_runtime.model import Model
from arenite_runtime.operators import Field
from arenite_runtime.own_operators import OwnOperator

__all__ = ["Field", "InputCounts", "InputError", "Interpreter", "Model", "ModelError", "OperatorError", "OwnOperator"]
