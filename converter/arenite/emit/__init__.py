"""See DESIGN: emit."""
