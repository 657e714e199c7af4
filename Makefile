# `make demo`, `make test` and `make bench` need nothing but Python >= 3.11 and a C compiler: each does its own set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Fixed seeds everywhere; workers as many as cores.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo test test-long bench lint generate setup clean

demo: setup ## convert digits_cnn to INT8 and run it on an emulated Cortex-M4
	$(BIN)/convert models/digits_cnn/digits_cnn.onnx --calibration models/digits_cnn/digits_calibration.npz \
	    --target cortex-m4 --output build/digits_cnn --force
	$(BIN)/arenite verify models/digits_cnn/digits_cnn.onnx build/digits_cnn --data models/digits_cnn/digits_test.npz \
	    --engine numpy --engine c --engine compiled --engine emulated --engine emulated-compiled --emulated-samples 120

test: setup lint ## everything that must hold, in some 20 minutes on two cores
	$(PYTEST) tests

test-long: setup lint ## the same with the large counts
	ARENITE_LONG=1 $(PYTEST) tests

bench: setup ## instructions, cycles, RAM and flash of the zoo (and of the real networks where present) on every emulated core
	$(BIN)/python models/benchmark --write
	$(BIN)/python models/benchmark/kernels.py --output docs/kernels.md

lint: setup ## style, types, architecture, generated code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python runtime_c/schema/generate.py --check
	$(BIN)/python docs/generate.py --check
	find runtime_c firmware docs/examples -name '*.[ch]' | xargs $(BIN)/clang-format --dry-run --Werror

generate: setup ## rewrite what is derived from the operators and the flat model's schema
	$(BIN)/python runtime_c/schema/generate.py
	$(BIN)/python docs/generate.py
	find runtime_c firmware docs/examples -name '*.[ch]' | xargs $(BIN)/clang-format -i

setup: $(VENV)/.ready

# Python packages; then the Arm compiler and QEMU from the system where that is possible, else their stand-ins from PyPI.
$(VENV)/.ready: pyproject.toml setup.sh
	PYTHON="$(PYTHON)" VENV="$(VENV)" sh setup.sh
	touch $@

clean:
	rm -rf build $(VENV)
