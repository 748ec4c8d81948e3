"""For authors of commands and scripts.

The whole flow as one value: a model, a target, options, and every stage between them and the files. Import it inside
the function that needs it: all of tilewright comes with it.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.config.options import Options
from tilewright.deployment import Deployment

__all__ = ["Deployment", "Options"]
