"""See DESIGN: passes."""
