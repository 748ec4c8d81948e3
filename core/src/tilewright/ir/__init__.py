"""What every stage speaks of: graphs, kernels, platforms, decisions, stage values, programs, and the contracts that
plugins fulfil. Does not know how any of it is made.
"""
