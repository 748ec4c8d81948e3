"""The author's kit: what a plugin's tests, and ours, use to try kernels, targets and allocators."""
