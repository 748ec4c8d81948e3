"""What several operator families use."""
