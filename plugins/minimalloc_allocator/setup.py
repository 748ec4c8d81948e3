"""Knows the optional C extensions: built where a compiler is, left out without a word where none is."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "tilewright_minimalloc._native",
            sources=["c/native.c"],
            depends=["c/state.h", "c/rules.h", "c/search.h"],
            extra_compile_args=["-O3", "-std=c11"],
            py_limited_api=True,
            optional=True,
        ),
        Extension(
            "tilewright_minimalloc._first_fit",
            sources=["c/first_fit.c"],
            extra_compile_args=["-O3", "-std=c11"],
            py_limited_api=True,
            optional=True,
        ),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
