"""What integer operators compute under each name that `--arithmetic` takes."""
