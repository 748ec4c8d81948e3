"""The core's vocabulary: one operator family, one module. Its portable C stands beside it in a `.c` file."""
