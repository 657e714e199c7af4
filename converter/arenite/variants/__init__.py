"""Which kernel every layer of a quantized graph takes: the stage between quantization and planning.

A variant computes the same bytes from the same numbers (docs/numerics.md); what differs is how its constants lie, how fast it is and how
much memory it needs. `candidates` says what a layer may take, `choose` decides.
"""

from arenite.variants.choose import choose_variants

__all__ = ["choose_variants"]
