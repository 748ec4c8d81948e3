"""Passes that remove what nobody needs."""
