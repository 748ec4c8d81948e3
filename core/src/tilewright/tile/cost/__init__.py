"""What tiles and regions take and cost."""
