"""For authors of commands.

Subcommands of `tilewright`. What most of them begin with is in `tilewright.api.deployment`.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.plugins.offers import Command

__all__ = ["Command"]
