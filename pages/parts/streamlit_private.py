"""Every name of Streamlit or its web server that the API reference lacks: what it is for, and what is without it.

No other module uses such a name. Each is looked up when it is called, so that a version without it loses what its row
says, and no more. `tests/pages/test_streamlit_private.py` names what a new version lacks.
"""

from __future__ import annotations

import json
import re
from asyncio import get_running_loop
from collections.abc import Callable, Mapping
from functools import partial, wraps
from importlib import import_module
from logging import LogRecord, getLogger
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from idcore.base.errors import CoreError
from idcore.base.plain_json import most_values
from idcore.base.protobuf_parts import has_more
from idcore.server import provider_answers
from idcore.server.download_turns import DownloadTurns
from idcore.server.front_door import COMES, KEPT, TOO_LARGE

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession

PART = 64  # bytes of memory for each part of a message, besides its own
MOST_OF_HEAD = 1 << 16  # bytes of a request that come without an end of its head, or a part of its body
MOST_WAITING = 16  # requests of one connection that came before the one at work has its answer; a browser sends none
MOST_IN_A_MESSAGE = 10_000  # values of widgets, or uploads
MOST_PARTS = 50_000  # values in a message, of whatever kind: one that is parsed takes 24 times its bytes of empty ones
MOST_OF_SCRIPTS = 1 << 16  # characters of JSON of our own scripts in a message: they say a word. It takes 25 times that
MOST_OF_LINE = 1 << 16  # characters in a box of one line; the longest path has 4,096
MOST_OF_CLICK = 1 << 16  # characters of what is chosen in a chart; a box around many points has more of them
MOST_IN_BOX = 1_000_000  # values in that, which are read for the box alone
LONGEST_ANSWERED = 4 << 20  # bytes of a message that is parsed once more to say why it was dropped
_FRAGMENT = re.compile("[0-9a-f]{0,64}")  # Streamlit writes one that it does not know into the log, as it is
_DEFERRED = re.compile("[0-9a-f]{32}")  # of a download that is made when it is asked for

# name: what for; without it
NAMES: Mapping[str, tuple[str, str]] = {
    "streamlit.runtime.get_instance": ("the running server", "as for each name of it below"),
    "streamlit.runtime.runtime.Runtime.get_app_session": ("a session that is connected", "`sessions` counts none"),
    "streamlit.runtime.runtime.Runtime.close_session": (
        "a visitor who left is forgotten after two minutes",
        "Streamlit does so when the next visitor leaves",
    ),
    "streamlit.runtime.app_session.AppSession.session_state": (
        "the last visitor's values go, although Streamlit's main loop still has the session",
        "they go when the next visitor comes",
    ),
    "streamlit.runtime.state.session_state.SessionState._new_widget_state": (
        "what a browser sent to its widgets goes unread, also where no widget can have it",
        "`clear` reads it first and fails, and the sessions of others who left meanwhile are not ended",
    ),
    "streamlit.runtime.app_session.AppSession._client_state": (
        "`request_rerun` with it draws a page again, as its browser last asked for it",
        "a refused upload is explained at the next click",
    ),
    "streamlit.runtime.app_session.AppSession._create_scriptrunner": (
        "a turn of a fragment begins once the page that was drawn before it is on its way to the browser (ADR 89)",
        "now and then a page stands half drawn until the next click",
    ),
    "streamlit.runtime.app_session.AppSession._scriptrunner": ("what draws now", "as for the name before"),
    "streamlit.runtime.app_session.AppSession._handle_backend_operation_request": (
        "downloads that are made when they are asked for wait for their turns",
        "one person keeps all threads that make them, and what else the server does there waits",
    ),
    "streamlit.runtime.memory_uploaded_file_manager.MemoryUploadedFileManager.file_storage": (
        "uploads in memory are counted for the limits, and deleted when a scan has its copy",
        "the limit of Streamlit for one file is the only one",
    ),
    "streamlit.runtime.scriptrunner.get_script_run_ctx": (
        "the ID of a session, which addresses of uploads have",
        "limits and logs know no session, and no upload is anybody's",
    ),
    "streamlit.runtime.scriptrunner.StopException": (
        "ends a page, and keeps what is typed meanwhile into a dialog or a fragment",
        "`st.stop` ends it, and drops that",
    ),
    "streamlit.runtime.memory_media_file_storage._calculate_file_id": (
        "the digest in the address of a download, so that it opens for its visitor alone",
        "with log-ins no download opens",
    ),
    "streamlit.web.server.starlette.starlette_websocket._get_signed_cookie_with_chunks": (
        "the claims of a log-in, with their signature checked",
        "nobody is logged in",
    ),
    "streamlit.elements.plotly_chart.PlotlyChartSelectionSerde": (
        "of a box around many points of a chart a session keeps the box alone",
        "20 MB of such points take 450 MB of memory as long as a page is open, and stop everybody for seconds",
    ),
    "streamlit.elements.widgets.text_widgets.TextInputSerde": (
        "a box of one line has a longest text",
        "20 MB in it, which are 20 KB when they are packed, stop everybody for five seconds at each click",
    ),
    "streamlit.elements.widgets.selectbox.SelectboxSerde": (
        "the same of what was chosen in a list",
        "20 MB in it, which are 20 KB when they are packed, stop everybody for five seconds at each click",
    ),
    "streamlit.elements.widgets.radio.RadioSerde": (
        "the same of what was chosen in a row",
        "20 MB in it, which are 20 KB when they are packed, stop everybody for five seconds at each click",
    ),
    "streamlit.web.server.starlette.starlette_auth_routes._create_oauth_client": (
        "what a provider of log-ins answers has a limit, and leads browsers to addresses of the web alone",
        "it fills the memory, or leads a browser anywhere after a log-out",
    ),
    "streamlit.proto.BackMsg_pb2.BackMsg": (
        "messages that no page of the console sends are dropped",
        "one can empty the caches of everybody, or ask for addresses of a million uploads",
    ),
    "streamlit.proto.ForwardMsg_pb2.ForwardMsg": (
        "an uploader with too many files at once says so, and so does a box with too long a text",
        "the one shows none of them, the websocket of the other ends, and no reason is shown",
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


def quiet_caches() -> None:
    """The pages are imported before the server is there: that a cache is in memory then, as always, is no news."""
    log = getLogger("streamlit.runtime.caching.cache_data_api")
    log.addFilter(lambda record: not str(record.msg).startswith("No runtime found"))


def runtime() -> Any:
    """The running server; None where there is none, as under AppTest."""
    get_instance = find("get_instance")
    try:
        return get_instance() if get_instance is not None else None
    except RuntimeError:
        return None


def connected(session_id: str) -> AppSession | None:
    """The session of this ID while its browser is connected."""
    get_app_session = getattr(runtime(), "get_app_session", None)
    return get_app_session(session_id) if get_app_session is not None else None


def close(session_id: str, session: AppSession) -> None:
    """Ends a session for good. Streamlit's main loop may keep the last one for long, so it is emptied."""
    close_session = getattr(runtime(), "close_session", None)
    if close_session is not None:
        close_session(session_id)
    state = getattr(session, "session_state", None)
    if state is not None:
        getattr(getattr(state, "_new_widget_state", None), "states", {}).clear()
        state.clear()


def draw_again(session_id: str) -> None:
    """The page of a session once more, as its browser last asked for it."""
    session = connected(session_id)
    state = getattr(session, "_client_state", None)
    if session is not None and state is not None:
        session.request_rerun(state)


def draw_pages_whole() -> None:
    """From now on a turn of a fragment ends no page: what a page has drawn reaches its browser first (ADR 89)."""
    from streamlit.runtime.app_session import AppSession

    _replace(AppSession, "_create_scriptrunner", _begin_after_page)


def make_downloads_in_turn(whose: Callable[[str], str]) -> None:
    """From now on nobody keeps all threads that make downloads. `whose` gives the person of the ID of a session."""
    from streamlit.runtime.app_session import AppSession

    _replace(AppSession, "_handle_backend_operation_request", partial(_make_in_turn, DownloadTurns(), whose))
    getLogger("streamlit.runtime.backend_operation_handler").addFilter(_without_stack)


async def _make_in_turn(
    turns: DownloadTurns, whose: Callable[[str], str], make: Callable[..., Any], session: AppSession, asked: Any
) -> None:
    async def made() -> None:
        if connected(session.id) is session:  # or its browser has gone
            await make(session, asked)

    if not await turns.wait(whose(session.id), made):
        asked.ClearField("deferred_file")
        await make(session, asked)  # says that it was asked for nothing


def log_values_in_a_line() -> None:
    """From now on what a browser sends for a component, and is no JSON, is a line without a stack."""

    def shorten(record: LogRecord) -> bool:
        record.exc_info = None
        return True

    getLogger("streamlit.components.v2.bidi_component.serialization").addFilter(shorten)


def _without_stack(record: LogRecord) -> bool:
    """Of a download that is not there, or that is refused, a browser may ask for a stack all day: a line is enough."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and isinstance(error.__cause__, CoreError | None):
        record.exc_info = None
    return True


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


def bound_lines() -> None:
    """From now on a box of one line, and a choice, have so many characters; a text area has what fits in a message."""
    for name in ("TextInputSerde", "SelectboxSerde", "RadioSerde"):
        if (kind := find(name)) is not None:
            _replace(kind, "deserialize", _read_line)


def _read_line(read: Callable[..., Any], serde: Any, text: str | None) -> Any:
    return read(serde, text[:MOST_OF_LINE] if isinstance(text, str) else text)


def keep_boxes_alone() -> None:
    """From now on a session keeps a box in a chart without the points in it: no page asks for these."""
    if (kind := find("PlotlyChartSelectionSerde")) is not None:
        _replace(kind, "deserialize", _read_selection)


def _read_selection(read: Callable[..., Any], serde: Any, text: str | None) -> Any:
    if text is None or len(text) <= MOST_OF_CLICK:
        return read(serde, text)
    box = read(serde, text)["selection"].get("box") if most_values(text) <= MOST_IN_BOX else None
    if not box or len(alone := json.dumps(box)) > MOST_OF_CLICK:
        return read(serde, None)
    return read(serde, f'{{"selection": {{"points": [], "point_indices": [], "box": {alone}, "lasso": []}}}}')


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


def _begin_after_page(begin: Callable[..., None], session: AppSession, wanted: Any) -> None:
    """Begins to draw; a fragment only after what its last runner, which has ended, still has to say."""
    if wanted.fragment_id is None or getattr(session, "_scriptrunner", None) is None:
        begin(session, wanted)
    else:
        get_running_loop().call_soon(_begin_fragment, begin, session, wanted)


def _begin_fragment(begin: Callable[..., None], session: AppSession, wanted: Any) -> None:
    runner = session._scriptrunner
    if connected(session.id) is session and (runner is None or not runner.request_rerun(wanted)):
        begin(session, wanted)


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


def stop() -> NoReturn:
    """Ends the page here."""
    raise (find("StopException") or st.stop)()


def download_digest(data: bytes, mime: str, file: str) -> str | None:
    """The digest in the address of a download."""
    calculate = find("_calculate_file_id")
    return calculate(data, mime, file) if calculate is not None else None


def signed_claims(cookies: Mapping[str, str], name: str) -> bytes | None:
    """What Streamlit signed into a cookie and its parts; None where the signature is wrong."""
    read = find("_get_signed_cookie_with_chunks")
    return read(cookies, name) if read is not None else None


def kind_of(message: bytes, stranger: bool = False) -> str | None:
    """The kind of a browser's message; None of one that no page of the console sends. Streamlit refuses what is none.

    It answers others too, whoever sends them: it empties caches, makes an address for each of a million uploads, or
    installs files next to the project. A `stranger` has no log-in, and so a page with a button alone.
    """
    message_type = find("BackMsg")
    if message_type is None:
        return KEPT
    if has_more(message, message_type.DESCRIPTOR, MOST_PARTS):
        return None
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        read = message_type.FromString(message)
    except DecodeError:
        return ""
    kind = read.WhichOneof("type") or ""
    is_sent = kind in ("stop_script", "app_heartbeat", "")
    if kind == KEPT:
        widgets = read.rerun_script.widget_states.widgets
        of_scripts = sum(len(one.json_value) + len(one.json_trigger_value) for one in widgets)
        is_sent = len(widgets) <= MOST_IN_A_MESSAGE and of_scripts <= MOST_OF_SCRIPTS
        is_sent = is_sent and _FRAGMENT.fullmatch(read.rerun_script.fragment_id) is not None
    elif kind == "file_urls_request" and not stranger:
        is_sent = len(read.file_urls_request.file_names) <= MOST_IN_A_MESSAGE
    elif kind == "backend_operation_request" and not stranger:
        is_sent = _DEFERRED.fullmatch(read.backend_operation_request.deferred_file.file_id) is not None
    return kind if is_sent else None


def session_in(answer: bytes) -> str | None:
    """The ID of the session that a message to a browser begins; None of all others."""
    message_type = find("ForwardMsg")
    if message_type is None:
        return None
    message = message_type.FromString(answer)
    is_new = message.WhichOneof("type") == "new_session"
    return message.new_session.initialize.session_id or None if is_new else None


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
