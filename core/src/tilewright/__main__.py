"""Knows `python -m tilewright`. Does not know what the command line does."""

from tilewright.cli import main

if __name__ == "__main__":
    main()
