"""
Benchmarks: times and sizes, measured in one run, each beside its limit.
"""
