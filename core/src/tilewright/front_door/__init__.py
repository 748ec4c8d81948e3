"""The way in for programs and notebooks: `tilewright.compile`, and what it returns."""
