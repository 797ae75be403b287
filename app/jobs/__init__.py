"""
Background work: a worker that claims jobs, runs their handlers and settles them.
"""
