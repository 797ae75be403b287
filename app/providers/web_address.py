"""
Tells the address of a server from what is none.
"""

from urllib.parse import urlsplit


def is_web_address(text: str) -> bool:
    """
    Whether the text is of the form `http://host:port/path`.
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
