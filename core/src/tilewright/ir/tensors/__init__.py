"""Element types, layouts, requantisation."""
