"""Knows the optional C extension, built where a compiler is and left out where none is or TILEWRIGHT_PURE is set; and
where it is built: in a folder that is gone afterwards, so that no module of an earlier build is shipped.
"""

import atexit
import os
import shutil
import tempfile

from setuptools import Extension, setup

SCRATCH = tempfile.mkdtemp()
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
NATIVE = Extension(
    "tilewright_minimalloc._native",
    sources=["c/native.c"],
    depends=["c/state.h", "c/rules.h", "c/search.h"],
    extra_compile_args=["-O3", "-std=c11", "-g0"],  # no paths of this machine in it
    extra_link_args=["-s"],
    py_limited_api=True,
    optional=True,
)
BUILD = {"build": {"build_base": SCRATCH}}
if os.environ.get("TILEWRIGHT_PURE"):
    setup(options=BUILD)
else:
    setup(ext_modules=[NATIVE], options={**BUILD, "bdist_wheel": {"py_limited_api": "cp311"}})
