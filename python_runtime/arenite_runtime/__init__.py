"""Executes Arenite flat models with NumPy, bit for bit as the C kernels do. Needs numpy and flatbuffers only."""
