/* Knows what every extension begins and ends with: the stable interface of Python, and a module from functions.
   Does not know what the functions do. */
#ifndef TILEWRIGHT_MODULE_H
#define TILEWRIGHT_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

enum { SIGNALS_EVERY = 1024 }; /* rounds of a loop after which Ctrl-C is looked for */

/* The module `_name` with these functions, each `{"function", function, METH_VARARGS, "What it says of itself."}`. */
#define MODULE(name, ...)                                                                                             \
    static PyMethodDef methods[] = {__VA_ARGS__, {NULL, NULL, 0, NULL}};                                              \
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_" #name, NULL, 0, methods, NULL, NULL, NULL, NULL};  \
    PyMODINIT_FUNC PyInit__##name(void) { return PyModule_Create(&module); }

#endif
