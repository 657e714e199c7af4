"""Executes a flat model: the file's plan, in memories of the planned sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.errors import InputError, ModelError
from arenite_runtime.input_counts import InputCounts, count_input
from arenite_runtime.kernels import KERNELS
from arenite_runtime.model import Model
from arenite_runtime.structure import Node, RegionKind, Storage, Tensor

Array = NDArray[Any]

_UNDEFINED = 0xA5
"""What memory holds before anything is written, so that reading it does not pass for reading zeros."""


class Interpreter:
    """An execution context of a model, like the C runtime's session.

    Tensors are views of one buffer per region at the planned offsets, so that they share memory exactly as on the target. States persist
    from run to run.
    """

    def __init__(self, model: Model, external: Mapping[int, bytes] | None = None, *, check_inputs: bool = False) -> None:
        """`external`: the contents of external constant memories, by region, where the file does not have them. Raises ModelError where one
        is missing or too short.

        `check_inputs`: count what inputs hold, for check_input()."""
        self.model = model
        self._counts = [InputCounts() for _ in model.inputs] if check_inputs else None
        self._memory = [self._region(i, external or {}) for i in range(len(model.regions))]
        self._views = [self._view(tensor) for tensor in model.tensors]
        self._overlapping = [self._overlaps(node) for node in model.nodes]
        self.reset()

    def reset(self) -> None:
        """Set the states to their initial values."""
        for state in self.model.states:
            if state.initial is None:
                self._bytes(state.input)[...] = self._initial(state.input)
            else:
                self._bytes(state.input)[...] = self._bytes(state.initial)

    def run(self, inputs: Sequence[Array] | Mapping[str, Array]) -> list[Array]:
        """The outputs for `inputs`, both in the order and the types of the model's ports. Inputs may be given by name.

        Raises InputError where an array does not fit; quantize float values with `Model.quantize_input`.
        """
        self._write_inputs(inputs)
        at, nodes = 0, self.model.nodes
        while at < len(nodes):
            at += 1 + self._execute(at)
        outputs = [self._views[port.tensor].copy() for port in self.model.outputs]
        self._advance()
        return outputs

    def trace(self, inputs: Sequence[Array] | Mapping[str, Array]) -> list[int]:
        """The indices of the model's nodes in the order in which a run on `inputs` executes them: a run like any other."""
        self._write_inputs(inputs)
        at, nodes, executed = 0, self.model.nodes, []
        while at < len(nodes):
            executed.append(at)
            at += 1 + self._execute(at)
        self._advance()
        return executed

    def run_all(self, inputs: Sequence[Array] | Mapping[str, Array]) -> dict[str, Array]:
        """The value of every tensor that is not constant, by name, in the order in which they come to be; inputs included.

        A value is taken where it is whole: after the last node that writes it, in a loop in the last iteration. What a branch that
        is not taken would have computed is left out. Tensors without a name are `#index`.
        """
        self._write_inputs(inputs)
        values = {port.tensor: self._views[port.tensor].copy() for port in self.model.inputs}
        at, nodes = 0, self.model.nodes
        while at < len(nodes):
            node = nodes[at]
            # The planner may give bytes another tensor (a reshaped one) without a node that writes it: take it where it is read.
            for index in node.inputs:
                if index is not None and index not in values and self.model.tensors[index].storage is Storage.REGION:
                    values[index] = self._views[index].copy()
            at += 1 + self._execute(at)
            for index in node.outputs:
                values[index] = self._views[index].copy()
        for port in self.model.outputs:
            values.setdefault(port.tensor, self._views[port.tensor].copy())
        self._advance()
        return {self.model.tensors[index].name: value for index, value in values.items()}

    def check_input(self, index: int) -> InputCounts:
        """What input `index` has held in the runs since the last call; counting begins anew. Values outside of what calibration has seen
        show that the data is prepared in another way.

        Raises ValueError where the interpreter was made without `check_inputs`, IndexError for an index out of range.
        """
        if self._counts is None:
            raise ValueError("nothing is counted: make it Interpreter(model, check_inputs=True)")
        counted, self._counts[index] = self._counts[index], InputCounts()
        return counted

    # Memory

    def _region(self, index: int, external: Mapping[int, bytes]) -> NDArray[np.uint8]:
        region = self.model.regions[index]
        if region.kind is not RegionKind.EXTERNAL:
            return np.full(region.size, _UNDEFINED, np.uint8)
        held = self.model.contents(index)
        contents = external.get(index, b"" if held is None else held.tobytes())
        if len(contents) < region.size:
            raise ModelError("ARN_ERROR_MEMORY", f"region {index} needs {region.size} bytes of constants, {len(contents)} are given")
        return np.frombuffer(contents, np.uint8)

    def _view(self, tensor: Tensor) -> Array:
        if tensor.storage is Storage.CONSTANT:
            return self.model.constant(tensor)
        return self._memory[tensor.region][tensor.offset : tensor.offset + tensor.bytes].view(tensor.dtype).reshape(tensor.shape)

    def _bytes(self, index: int) -> NDArray[np.uint8]:
        return self._views[index].reshape(-1).view(np.uint8)

    def _initial(self, index: int) -> int:
        tensor = self.model.tensors[index]
        if tensor.quantization is None or tensor.quantization.zero_point.size != 1 or tensor.dtype.itemsize != 1:
            return 0
        return int(tensor.quantization.zero_point[0]) & 0xFF

    # Running

    def _write_inputs(self, inputs: Sequence[Array] | Mapping[str, Array]) -> None:
        ports = self.model.inputs
        if isinstance(inputs, Mapping):
            missing = [port.name for port in ports if port.name not in inputs]
            if missing or len(inputs) != len(ports):
                raise InputError(f"the model's inputs are {[port.name for port in ports]}, given are {list(inputs)}")
            inputs = [inputs[port.name] for port in ports]
        if len(inputs) != len(ports):
            raise InputError(f"the model has {len(ports)} inputs, {len(inputs)} are given")
        for index, (port, value) in enumerate(zip(ports, inputs, strict=True)):
            array = np.asarray(value)
            if array.shape != port.shape or array.dtype != port.dtype:
                raise InputError(f"input {port.name} is {port.dtype}{port.shape}, given is {array.dtype}{array.shape}")
            self._views[port.tensor][...] = array
            if self._counts is not None:
                self._counts[index] += count_input(port, array)

    def _overlaps(self, node: Node) -> frozenset[int]:
        """Operands, by tensor, some of whose bytes a result takes: what a kernel in C reads before it writes over it, these here copy."""
        tensors = self.model.tensors

        def meet(a: Tensor, b: Tensor) -> bool:
            apart = a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
            return a.storage is b.storage is Storage.REGION and a.region == b.region and not apart

        return frozenset(
            index for index in node.inputs if index is not None and any(meet(tensors[index], tensors[output]) for output in node.outputs)
        )

    def _execute(self, at: int) -> int:
        """How many nodes to skip, negative to go back."""
        node = self.model.nodes[at]
        operands = [
            None if index is None else self._views[index].copy() if index in self._overlapping[at] else self._views[index]
            for index in node.inputs
        ]
        try:
            jump = KERNELS[node.op, node.variant](node.record, *operands, *(self._views[index] for index in node.outputs))
        except (ValueError, IndexError, TypeError, ArithmeticError, MemoryError) as error:
            raise ModelError("ARN_ERROR_CORRUPT", f"node {node.name} ({node.op}) does not fit its tensors: {error}") from error
        return jump or 0

    def _advance(self) -> None:
        """Make the states' outputs their inputs, one after another in the file's order."""
        for state in self.model.states:
            self._bytes(state.input)[...] = self._bytes(state.output)
