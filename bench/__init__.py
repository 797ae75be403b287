"""
Benchmarks: times and sizes, measured in one run, each beside its limit.
"""

import app as app  # before numpy, for the number of its threads
