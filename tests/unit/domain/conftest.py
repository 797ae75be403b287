"""
How properties are searched: the same examples every time, and no limit on the time that a busy machine takes for one.
"""

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
