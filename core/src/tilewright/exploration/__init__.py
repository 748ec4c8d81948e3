"""Many parts at once: which of them run a network, how fast, with what is left. Figures are those of `check` alone."""
