"""
Lamina: memory for chat bots and agents.
"""

import os

# One recall is one thread's work. A second thread inside a product of matrices gains a recall next to nothing and takes
# a core from its neighbours, the indexer among them. To be in force, this stands before numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
