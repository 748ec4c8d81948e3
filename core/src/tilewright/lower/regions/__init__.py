"""Regions with hops as pipelines of tiles."""
