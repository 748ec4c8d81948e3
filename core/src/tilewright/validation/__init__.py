"""Running what was generated, and judging what came out."""
