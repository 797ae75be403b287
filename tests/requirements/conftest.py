"""
The services, applications and commands that the other tests use, for tests that are named after a promise.
"""

from tests.api.conftest import client, guarded, served, stream
from tests.cli.conftest import _alone, data, lamina, program
from tests.services.conftest import launch

__all__ = ["_alone", "client", "data", "guarded", "lamina", "launch", "program", "served", "stream"]
