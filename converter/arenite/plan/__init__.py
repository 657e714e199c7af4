"""See DESIGN: plan."""
