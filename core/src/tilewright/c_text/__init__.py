"""How names, numbers and templates become C. Does not know what any of them stands for."""
