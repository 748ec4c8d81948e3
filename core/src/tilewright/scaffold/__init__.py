"""What a new package of a plugin begins with: sources, tests, and what tests them, green as it is written."""
