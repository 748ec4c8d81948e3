"""Knows float networks as the PULP world's tools write them: steps of training, and older forms of inference."""
