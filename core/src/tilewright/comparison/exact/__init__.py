"""What nodes give in rational arithmetic, without any rounding but those that a model asks for."""
