"""Knows the layouts that build systems expect of a library: CMake, Make, Zephyr, PlatformIO, Arduino,
ESP-IDF, CMSIS-Pack.
Does not know how the C is made: every exporter adds files to the same generated sources.
"""
