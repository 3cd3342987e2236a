"""How paths are written: of this machine, or as URIs of stores. Opens nothing, and loads no library."""

from __future__ import annotations

import re
from unicodedata import normalize
from urllib.parse import SplitResult, unquote, urlsplit

from idcore.base.errors import CoreError, refuse

LONGEST = 4_096  # characters of a path or URI that somebody may ask for: to read one takes their square
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PORTS = {"http": 80, "https": 443}
_KAFKA = "kafka://"
_SERVER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}")
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")  # org.apache.kafka.common.internals.Topic
_HIDDEN_SLASH = re.compile(r"%(?:2f|5c)", re.IGNORECASE)


def is_uri(path: str) -> bool:
    """Whether a path names a store; `file:` is this machine."""
    return bool(_URI.match(path)) and path[:5].lower() != "file:"


def local_path(path: str) -> str:
    """A path of this machine, also when it is written as a file: URI."""
    if path[:7].lower() == "file://":
        return unquote(urlsplit(path).path)
    return path


def without_secrets(path: str) -> str:
    """A URI for people: no password, and no query, which may be a signature."""
    if not is_uri(path):
        return path
    scheme, _, rest = re.split("[?#]", path, maxsplit=1)[0].partition("://")  # `urlsplit` refuses two hosts
    place, slash, rest = rest.partition("/")
    user, at, host = place.rpartition("@")
    return f"{scheme}://{host if ':' in user else user + at + host}{slash}{rest}"


def is_below(uri: str, root: str) -> bool:
    """Whether a URI names the root or something below it, however it is written; one with a log-in or a query never."""
    if len(uri) > LONGEST:
        return False
    if is_topic(uri):
        return is_topic(root) and _same_topics(uri, root)
    try:
        asked, opened = urlsplit(uri), urlsplit(root)
        if _server(asked) != _server(opened):
            return False
    except ValueError:  # a host or a port that is none
        return False
    if asked.query or asked.fragment or ":" in asked.netloc.rpartition("@")[0] or not uri.isprintable():
        return False
    path, above = unquote(asked.path), unquote(opened.path).rstrip("/")
    return not _may_climb(asked.path) and (path.rstrip("/") == above or path.startswith(above + "/"))


def _same_topics(uri: str, root: str) -> bool:
    try:
        return topics(uri) == topics(root)
    except CoreError:
        return False


def _server(uri: SplitResult) -> tuple[str, str, str, int | None]:
    """Which server or bucket it is: a host in any letter case, its usual port said or not."""
    scheme, user = uri.scheme.lower(), uri.netloc.rpartition("@")[0]
    if scheme not in _PORTS:
        return scheme, "", uri.netloc, None
    return scheme, user, uri.hostname or "", uri.port or _PORTS[scheme]


def _may_climb(path: str) -> bool:
    """Whether a server could read a path as a way up (path traversal).

    Some take escapes out twice, parameters off the name of a folder (`..;a=b`), dots and spaces off its end, a
    backslash for a slash, or wide dots for dots (NFKC).
    """
    while True:
        path = normalize("NFKC", path)
        names = (name.partition(";")[0].strip(" .") for name in path.split("/") if name)
        if not all(names) or "\\" in path or "\ufffd" in path or not path.isprintable() or _HIDDEN_SLASH.search(path):
            return True
        if (plain := unquote(path)) == path:
            return False
        path = plain


def is_topic(path: str) -> bool:
    """Whether a path names topics of Kafka, whose records are lines that go on coming."""
    return path[: len(_KAFKA)].lower() == _KAFKA


def topics(uri: str) -> tuple[str, list[str]]:
    """The servers of `kafka://HOST:PORT,HOST:PORT/TOPIC,TOPIC`, as Kafka's clients take them, and the topics.

    CoreError kafka_uri where one is missing, or is no name that Kafka allows.
    """
    servers, _, names = uri[len(_KAFKA) :].partition("/")
    parts = names.split(",")
    if not all(map(_SERVER.fullmatch, servers.split(","))) or not all(map(_TOPIC.fullmatch, parts)):
        raise refuse("kafka_uri", uri=without_secrets(uri))
    return servers, parts


def is_web(uri: str) -> bool:
    """Whether a web server has it."""
    return uri[:7].lower() == "http://" or uri[:8].lower() == "https://"
