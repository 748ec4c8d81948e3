"""Knows the optional C extensions, built where a compiler is and left out where none is or TILEWRIGHT_PURE is set; and
where it is built: in a folder that is gone afterwards, so that no module of an earlier build is shipped.
"""

import atexit
import os
import shutil
import tempfile

from setuptools import Extension, setup

SCRATCH = tempfile.mkdtemp()
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def extension(name: str, *headers: str) -> Extension:
    """`c/NAME.c` as the module `_NAME`, for the stable interface, without paths of this machine in it."""
    return Extension(
        f"tilewright_minimalloc._{name}",
        sources=[f"c/{name}.c"],
        depends=[f"c/{header}" for header in ("module.h", *headers)],
        extra_compile_args=["-O3", "-std=c11", "-g0"],
        extra_link_args=["-s"],
        py_limited_api=True,
        optional=True,
    )


NATIVE = [extension("native", "state.h", "rules.h", "search.h"), extension("first_fit"), extension("skyline")]
BUILD = {"build": {"build_base": SCRATCH}}
if os.environ.get("TILEWRIGHT_PURE"):
    setup(options=BUILD)
else:
    setup(ext_modules=NATIVE, options={**BUILD, "bdist_wheel": {"py_limited_api": "cp311"}})
