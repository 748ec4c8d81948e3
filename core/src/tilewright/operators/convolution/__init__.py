"""Convolutions, and resampling of images."""
