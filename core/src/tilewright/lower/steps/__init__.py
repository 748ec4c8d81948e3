"""The functions of single steps."""
