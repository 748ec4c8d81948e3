"""Which elements a kernel reads and writes."""
