"""For authors of exporters.

Further files beside the generated C.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.plugins.offers import Exporter

__all__ = ["Exporter"]
