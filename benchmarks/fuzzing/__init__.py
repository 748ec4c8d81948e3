"""What `benchmarks/fuzz.py` draws: a module for each, and the frame that all of them share."""
