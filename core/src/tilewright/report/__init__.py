"""What a compilation can say about itself, as data first and as text second."""
