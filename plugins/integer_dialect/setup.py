"""Knows where it is built: in a folder that is gone afterwards, so that no module of an earlier build is shipped."""

import atexit
import shutil
import tempfile

from setuptools import setup

SCRATCH = tempfile.mkdtemp()
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
setup(options={"build": {"build_base": SCRATCH}})
