"""Arenite: converts ONNX graphs into INT8 models for microcontrollers."""
