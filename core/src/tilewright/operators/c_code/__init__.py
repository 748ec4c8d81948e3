"""How operators write their portable C."""
