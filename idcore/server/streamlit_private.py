"""Every name of Streamlit or its web server that the API reference lacks: what it is for, and what is without it.

No other module uses such a name. Each is looked up when it is called, so that a version without it loses what its row
says, and no more. `tests/pages/test_streamlit_private.py` names what a new version lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from importlib import import_module
from logging import LogRecord, getLogger
from typing import Any

from idcore.base.errors import CoreError
from idcore.base.plain_json import most_values
from idcore.base.protobuf_parts import has_more
from idcore.server import provider_answers
from idcore.server.conversation import Asked, Told
from idcore.server.front_door import COMES, TOO_LARGE

PART = 64  # bytes of memory for each part of a message, besides its own
MOST_OF_HEAD = 1 << 16  # bytes of a request that come without an end of its head, or a part of its body
MOST_WAITING = 16  # requests of one connection that came before the one at work has its answer; a browser sends none
MOST_IN_A_MESSAGE = 10_000  # values of widgets, or uploads
MOST_PARTS = 50_000  # values in a message, of whatever kind: one that is parsed takes 24 times its bytes of empty ones
MOST_OF_SCRIPTS = 1 << 16  # characters of JSON of our own scripts in a message: they say a word. It takes 25 times that
MOST_OF_NAME = 100  # characters of the ID of a request
MOST_OF_REQUEST = 1 << 10  # bytes of one for a download, which waits: it has three IDs
MOST_OF_LINE = 1 << 16  # characters in a box of one line; the longest path has 4,096
MOST_OF_CLICK = 1 << 15  # characters of a box in a chart
MOST_IN_BOX = 1_000_000  # values in that, which are read for the box alone
LONGEST_ANSWERED = 4 << 20  # bytes of a message that is parsed once more to say why it was dropped
LONGEST_TOLD = 1 << 16  # bytes of a message to a browser that may say what its session does; others are of its page
# Streamlit's ID of a box of many lines, which ends with its key: a text, a list of IDs.
_LARGE = re.compile(r"\$\$ID-[0-9a-f]{1,64}-(text|lookup_text|store_id|compare-text-[a-z]{1,9})")
_FRAGMENT = re.compile("[0-9a-f]{0,64}")  # Streamlit writes one that it does not know into the log, as it is
_DEFERRED = re.compile("[0-9a-f]{32}")  # of a download that is made when it is asked for

# name: what for; without it
NAMES: Mapping[str, tuple[str, str]] = {
    "streamlit.runtime.get_instance": ("the running server", "as for each name of it below"),
    "streamlit.runtime.memory_uploaded_file_manager.MemoryUploadedFileManager.file_storage": (
        "uploads in memory are counted for the limits, and deleted when a scan has its copy",
        "the limit of Streamlit for one file is the only one",
    ),
    "streamlit.runtime.scriptrunner.get_script_run_ctx": (
        "the ID of a session, which addresses of uploads have",
        "limits and logs know no session, and no upload is anybody's",
    ),
    "streamlit.runtime.memory_media_file_storage._calculate_file_id": (
        "the digest in the address of a download, so that it opens for its visitor alone",
        "with log-ins no download opens",
    ),
    "streamlit.web.server.starlette.starlette_websocket._get_signed_cookie_with_chunks": (
        "the claims of a log-in, with their signature checked",
        "nobody is logged in",
    ),
    "streamlit.web.server.starlette.starlette_auth_routes._create_oauth_client": (
        "what a provider of log-ins answers has a limit, and leads browsers to addresses of the web alone",
        "it fills the memory, or leads a browser anywhere after a log-out",
    ),
    "streamlit.proto.BackMsg_pb2.BackMsg": (
        "messages that no page of the console sends are dropped, and values that no page needs are shortened",
        "one can empty the caches of everybody, or ask for addresses of a million uploads",
    ),
    "streamlit.proto.ForwardMsg_pb2.ForwardMsg": (
        "what a session does is known by what its browser is told: its ID, that a page or a download is ready",
        "refusals are not said, downloads have no turns, and a page may stay half drawn (ADR 119)",
    ),
    "uvicorn.protocols.websockets.websockets_sansio_impl.WebSocketsSansIOProtocol": (
        "a websocket with too many headers, or too long ones, is refused with 431, and ends; so does one whose message "
        "has no room before it has ended",
        "the one has no answer, and stays open; of the other the server keeps 25 MB, also of a stranger",
    ),
    "uvicorn.protocols.http.httptools_impl.HttpToolsProtocol": (
        "a request whose head does not end is refused, and so is one behind too many that wait in its connection; what "
        "comes behind a body (trailers) is no header",
        "both are kept as long as they come, also those of a stranger; a trailer may be a proxy's header",
    ),
}


def find(name: str) -> Any:
    """What a name of the table leads to; None in a version without it."""
    module, _, attribute = next(each for each in NAMES if each.endswith(f".{name}")).rpartition(".")
    try:
        return getattr(import_module(module), attribute, None)
    except ImportError:
        return None


def runtime() -> Any:
    """The running server; None where there is none, as under AppTest."""
    get_instance = find("get_instance")
    try:
        return get_instance() if get_instance is not None else None
    except RuntimeError:
        return None


def log_refusals_in_a_line() -> None:
    """From now on what a browser may ask for all day is a line without a stack.

    That is a value of a component that is no JSON, and a download that is not there or that is refused.
    """

    def shorten(record: LogRecord) -> bool:
        record.exc_info = None
        return True

    def shorten_refusal(record: LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return shorten(record) if error is not None and isinstance(error.__cause__, CoreError | None) else True

    getLogger("streamlit.components.v2.bidi_component.serialization").addFilter(shorten)
    getLogger("streamlit.runtime.backend_operation_handler").addFilter(shorten_refusal)


def watch_websockets() -> None:
    """From now on a handshake that websockets cannot read has its answer; uvicorn looks at other errors alone.

    And a message is bounded while it comes: until its end, only this protocol knows of it.
    """
    if (kind := find("WebSocketsSansIOProtocol")) is not None:
        _replace(kind, "data_received", _receive)


def watch_requests() -> None:
    """From now on what a connection may send is bounded, as h11 does it; httptools keeps whatever comes."""
    if (kind := find("HttpToolsProtocol")) is not None:
        _replace(kind, "data_received", _parse)
        _replace(kind, "on_message_begin", _begin_request)
        _replace(kind, "on_headers_complete", _end_head)
        for name in ("on_body", "on_message_complete"):
            _replace(kind, name, _go_on)


def bound_providers() -> None:
    """From now on the answers of providers of log-ins have limits (idcore/server/provider_answers.py)."""
    name = "_create_oauth_client"
    create, module = find(name), next(each for each in NAMES if each.endswith(f".{name}")).rpartition(".")[0]
    if create is not None and not hasattr(create, "__wrapped__"):
        setattr(import_module(module), name, wraps(create)(lambda provider: _bounded(*create(provider))))


def _bounded(client: Any, redirect_uri: str) -> tuple[Any, str]:
    client.client_cls = provider_answers.bounded(client.client_cls)
    address = str(getattr(client, "_server_metadata_url", ""))
    client.load_server_metadata = provider_answers.of_the_web(client.load_server_metadata, address)
    return client, redirect_uri


def _parse(parse: Callable[..., None], protocol: Any, data: bytes) -> None:
    protocol.unread = getattr(protocol, "unread", 0) + len(data)
    parse(protocol, data)
    if protocol.unread > MOST_OF_HEAD and not protocol.transport.is_closing():
        protocol.send_400_response("The head of the request is too long.")


def _begin_request(begin: Callable[..., None], protocol: Any) -> None:
    if len(protocol.pipeline) >= MOST_WAITING:
        raise ValueError("too many requests wait")  # the parser ends, and the connection with it
    begin(protocol)


def _end_head(own: Callable[..., None], protocol: Any) -> None:
    _go_on(own, protocol)
    protocol.headers = [*protocol.headers]  # what comes behind a body is none: no proxy that sends the name saw to it


def _go_on(own: Callable[..., None], protocol: Any, *given: Any) -> None:
    protocol.unread = 0
    own(protocol, *given)


def _replace(kind: type, name: str, by: Callable[..., object]) -> None:
    """Once: instead of a method `by` is called, which has the method as its first argument."""
    own = getattr(kind, name, None)
    if own is not None and not hasattr(own, "__wrapped__"):
        setattr(kind, name, wraps(own)(lambda *given: by(own, *given)))


def _receive(receive: Callable[..., None], protocol: Any, data: bytes) -> None:
    receive(protocol, data)
    conn = protocol.conn
    if protocol.transport.is_closing():
        return
    if getattr(conn, "handshake_exc", None) is not None:
        protocol.transport.write(b"".join(conn.data_to_send()))
        protocol.transport.close()
    elif (comes := getattr(protocol, "scope", {}).get("state", {}).get(COMES)) is not None:
        # A part of one byte takes much more: it is an object, and has its place in a list.
        size = len(conn.reader.buffer) + (conn.current_size or 0) + PART * len(protocol.frames)
        if not comes(size):
            protocol.frames = []
            conn.fail(TOO_LARGE)
            protocol.handle_parser_exception()


def uploads() -> dict[str, dict[str, Any]]:
    """The uploads in memory: by session, by the ID of the file."""
    return getattr(getattr(runtime(), "uploaded_file_mgr", None), "file_storage", {})


def session_id() -> str | None:
    """The ID of the session that this thread works for."""
    get_context = find("get_script_run_ctx")
    context = get_context(suppress_warning=True) if get_context is not None else None
    return context.session_id if context is not None else None


def download_digest(data: bytes, mime: str, file: str) -> str | None:
    """The digest in the address of a download."""
    calculate = find("_calculate_file_id")
    return calculate(data, mime, file) if calculate is not None else None


def signed_claims(cookies: Mapping[str, str], name: str) -> bytes | None:
    """What Streamlit signed into a cookie and its parts; None where the signature is wrong."""
    read = find("_get_signed_cookie_with_chunks")
    return read(cookies, name) if read is not None else None


def read(message: bytes, stranger: bool = False) -> Asked | None:
    """What a browser's message asks; None of one that no page of the console sends. Streamlit refuses what is none.

    It answers others too, whoever sends them: it empties caches, makes an address for each of a million uploads, or
    installs files next to the project. A `stranger` has no log-in, and so a page with a button alone.
    """
    message_type = find("BackMsg")
    if message_type is None:
        return Asked(message, is_click=True)
    if has_more(message, message_type.DESCRIPTOR, MOST_PARTS):
        return None
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        asked = message_type.FromString(message)
    except DecodeError:
        return Asked(message)
    kind = asked.WhichOneof("type")
    if kind == "rerun_script":
        return _click(asked, message)
    if kind == "file_urls_request" and not stranger:
        return Asked(message) if len(asked.file_urls_request.file_names) <= MOST_IN_A_MESSAGE else None
    if kind == "backend_operation_request" and not stranger:
        request = asked.backend_operation_request
        if len(message) > MOST_OF_REQUEST:
            return None
        is_sent = _DEFERRED.fullmatch(request.deferred_file.file_id) and 0 < len(request.request_id) <= MOST_OF_NAME
        return Asked(message, download=request.request_id) if is_sent else None
    return Asked(message) if kind in ("stop_script", "app_heartbeat", None) else None


def _click(asked: Any, message: bytes) -> Asked | None:
    click = asked.rerun_script
    widgets = click.widget_states.widgets
    of_scripts = sum(len(one.json_value) + len(one.json_trigger_value) for one in widgets)
    if len(widgets) > MOST_IN_A_MESSAGE or of_scripts > MOST_OF_SCRIPTS or not _FRAGMENT.fullmatch(click.fragment_id):
        return None
    if long := [one for one in widgets if len(one.string_value) > MOST_OF_LINE and not _LARGE.fullmatch(one.id)]:
        for one in long:
            one.string_value = _shortened(one.string_value)
        message = asked.SerializeToString()
    part, is_timed = click.fragment_id, click.is_auto_rerun
    for name in ("widget_states", "cached_message_hashes", "is_history_navigation"):
        click.ClearField(name)
    return Asked(message, True, part, is_timed, b"" if part else asked.SerializeToString())


def _shortened(text: str) -> str:
    """Of a box around many points of a chart the box alone, which pages ask for; else what has room in a line."""
    if not text.startswith('{"selection"'):
        return text[:MOST_OF_LINE]
    chosen: dict[str, Any] = {"points": [], "point_indices": [], "box": [], "lasso": []}
    if most_values(text) <= MOST_IN_BOX:
        with suppress(ValueError, LookupError, TypeError, RecursionError):  # it is no selection
            box = json.loads(text)["selection"]["box"] or []
            chosen["box"] = box if len(json.dumps(box)) <= MOST_OF_CLICK else []
    return json.dumps({"selection": chosen})


def told(answer: bytes, place: bytes) -> Told:
    """What a message to a browser says of its session. `place` is where the browser was: a click without values."""
    message_type, click_type = find("ForwardMsg"), find("BackMsg")
    if message_type is None or click_type is None or len(answer) > LONGEST_TOLD:
        return Told()
    message = message_type.FromString(answer)
    kind = message.WhichOneof("type")
    if kind == "script_finished":
        return Told(ends=message.script_finished != message_type.FINISHED_EARLY_FOR_RERUN)
    if kind == "backend_operation_response":
        return Told(download=message.backend_operation_response.request_id)
    if kind not in ("new_session", "page_info_changed"):
        return Told()
    now = click_type.FromString(place)
    if kind == "page_info_changed":
        now.rerun_script.query_string = message.page_info_changed.query_string
        return Told(place=now.SerializeToString())
    begun = message.new_session
    now.rerun_script.page_script_hash = begun.page_script_hash
    return Told(begun.initialize.session_id, not message.metadata.run.fragment_ids, place=now.SerializeToString())


def too_many_downloads(request: str, reason: str) -> bytes | None:
    """The answer to one more download where too many wait."""
    if (answering := find("ForwardMsg")) is None:
        return None
    answer = answering()
    answer.backend_operation_response.request_id = request
    answer.backend_operation_response.error_msg = reason
    return bytes(answer.SerializeToString())


def too_many_files(message: bytes, reason: str) -> bytes | None:
    """The answer to an uploader that was given too many files at once: each has the reason. None to all else."""
    asking, answering = find("BackMsg"), find("ForwardMsg")
    if len(message) > LONGEST_ANSWERED:
        return None
    asked = asking.FromString(message).file_urls_request if asking is not None else None
    if answering is None or asked is None or len(asked.file_names) <= MOST_IN_A_MESSAGE:
        return None
    answer = answering()
    answer.file_urls_response.response_id = asked.request_id
    answer.file_urls_response.error_msg = reason
    return bytes(answer.SerializeToString())
