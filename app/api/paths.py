"""
Percent-encoded paths: each segment is decoded by itself, so that an encoded slash never becomes a separator.
"""

from urllib.parse import unquote

# Noncharacters, which no sane text holds, stand in for what a router would take for a separator or collapse.
_SLASH = "\ufdd0"
_NOTHING = "\ufdd1"


def routable_path(raw: bytes) -> str:
    """
    The decoded path of a request line, with a stand-in for each encoded slash and for each empty segment inside it.
    """
    segments = raw.partition(b"?")[0].decode("latin-1").split("/")[1:]
    if len(segments) > 1 and not segments[-1]:
        segments.pop()
    decoded = (unquote(segment).replace("/", _SLASH) or _NOTHING for segment in segments)
    return "/" + "/".join(decoded) if segments != [""] else "/"


def segment_text(value: str) -> str:
    """
    What a path parameter, of one segment or of several, says: its stand-ins replaced.
    """
    return "/".join("" if part == _NOTHING else part.replace(_SLASH, "/") for part in value.split("/"))
