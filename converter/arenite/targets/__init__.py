"""See DESIGN: targets."""
