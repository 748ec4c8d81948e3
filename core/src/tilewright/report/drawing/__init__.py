"""Reports as pictures and pages."""
