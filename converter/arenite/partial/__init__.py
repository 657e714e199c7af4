"""Partial execution: layers in bands of rows, so that no tensor between them is ever whole."""
