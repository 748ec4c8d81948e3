"""Many parts at once: which of them run a network, with what margin, how fast. Every figure is what `check` says alone."""
