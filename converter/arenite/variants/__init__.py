"""Which kernel every layer of a quantized graph takes: the stage between quantization and planning.

A variant computes the same bytes from the same numbers (docs/numerics.md); what differs is how its constants lie, how fast it is and how
much memory it needs. `candidates` says what a layer may take, `offers` at what price, `choose` decides.
"""

from arenite.variants.choose import GOALS, Choice, choose_variants
from arenite.variants.kernel_code import code_bytes
from arenite.variants.offers import Cycles, Offer, offers

__all__ = ["GOALS", "Choice", "Cycles", "Offer", "choose_variants", "code_bytes", "offers"]
