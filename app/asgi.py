"""
The application for any ASGI server: `app.asgi:app`, configured by `config.yaml` and the environment.
"""

from app.api.app import create_app
from app.bootstrap import build
from app.config import load_settings
from app.telemetry import logging

_settings = load_settings()
logging.configure(_settings.log)
app = create_app(build(_settings))
