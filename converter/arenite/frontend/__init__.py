"""See DESIGN: frontend."""
