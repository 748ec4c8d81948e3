"""Networks and operators."""
