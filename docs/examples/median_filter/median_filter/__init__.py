"""com.example::MedianFilter, an operator of one's own for Arenite."""
