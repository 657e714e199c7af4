"""See DESIGN: quantize."""
