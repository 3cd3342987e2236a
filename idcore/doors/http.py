"""The HTTP API: each operation is an address below /api/v1 that takes and gives JSON. Speaks ASGI; uses no page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idcore.base import plain_json
from idcore.base.catalogue import Words, lang_of, words
from idcore.base.errors import refuse
from idcore.base.safe_text import json_text
from idcore.doors import openapi
from idcore.doors.calls import (
    CallLimit,
    InFlight,
    Longer,
    OwnLimit,
    Problem,
    asking_again,
    call,
    count_request,
    limit_of,
    next_of,
    operation_of,
    problem_of,
)
from idcore.doors.entry import PATH, Entry
from idcore.operations.model import Caller, Operation
from idcore.policy import limits
from idcore.server.front_door import NOT_KEPT, header_of, path_of

if TYPE_CHECKING:  # an extra of the package
    from idcore.doors.assistants import McpOverHttp

Answer = TypeVar("Answer")
LINES = "application/x-ndjson"
SLOW = 30  # seconds for the body of a call
UNREAD = 60  # seconds in which nothing of an answer is taken: then it ends
AT_ONCE = 8  # calls at work; the others wait
STREAMS = 4  # long answers of one person: of a text of 1 MB each holds some 20 MB, as long as its reader likes
MOST_VALUES = 10_000  # of a call: both doors parse it where everybody is served
SHORT = 600  # bytes of a call that is answered at once where that needs no file: a line, or some IDs
_LINES_AT_ONCE = 200
_DOCUMENTS = ("", "openapi.json")


class Line:
    """The `receive` of a request, which remembers that its caller has hung up."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._gone = receive, False

    async def __call__(self) -> Message:
        message = await self._receive()
        self._gone = self._gone or message["type"] == "http.disconnect"
        return message

    def is_gone(self) -> bool:
        """Whether it did, as far as anybody has listened."""
        return self._gone

    async def while_there(self, work: Awaitable[Answer]) -> Answer:
        """What some work gives that asks `is_gone`. The body of the request was read."""
        listening = asyncio.ensure_future(self())
        try:
            return await work
        finally:
            listening.cancel()


class Api:
    """The API of one console, and at its address `mcp` the MCP server, each with the roles of who calls."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._room = CallLimit(AT_ONCE)
        self._in_flight = InFlight()
        self._streams = OwnLimit(STREAMS)
        self._mcp: McpOverHttp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = path_of(scope, self.entry.base()).removeprefix(PATH).strip("/")
        try:
            caller = self._let_in(name, scope)
            self._in_flight.begin(caller.counted)
        except Exception as error:  # noqa: BLE001  each becomes a problem of RFC 9457, a mistake of ours too
            await self._refuse(error, scope, receive, send)
            return
        try:
            is_long = LINES in header_of(scope["headers"], b"accept")
            async with self._streams.of(caller.counted) if is_long else nullcontext():
                await self._call(name, caller, scope, receive, send)
        finally:
            self._in_flight.end(caller.counted)

    def _let_in(self, name: str, scope: Scope) -> Caller:
        """Who calls; CoreError of who may not."""
        document = scope["method"] in ("GET", "HEAD") and name in _DOCUMENTS
        if (refused := self.entry.refusal(scope, document)) is not None:
            raise refused
        return self.entry.caller(scope)

    async def _call(self, name: str, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer, given, receive = await self._answer_of(name, caller, scope, Line(receive))
        except Exception as error:  # noqa: BLE001  as above
            await self._refuse(error, scope, receive, send)
        else:
            await _sent(answer, given, receive, send)

    async def _refuse(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        await _sent(_of_problem(problem_of(error, _words(scope), self.entry.roots)), scope, receive, send)

    async def _answer_of(self, name: str, caller: Caller, scope: Scope, line: Line) -> tuple[ASGIApp, Scope, Receive]:
        """What answers, and the request as it is to get it."""
        if name != "mcp":
            return await self._answer(name, caller, scope, line), scope, line
        caller.visitor.require("decode")
        if scope["method"] != "POST":  # a GET would open a stream without an end, on which nothing comes
            raise refuse("call_method", method="POST")
        body = await _read(line, scope)
        caller = count_request(body, caller)
        scope = {**scope, "state": {**scope.get("state", {}), "caller": replace(caller, gone=line.is_gone)}}
        assistants = await self._assistants()

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await line.while_there(assistants(scope, receive, send))

        return answer, scope, _again(body, line)

    async def _assistants(self) -> ASGIApp:
        """The MCP server, started with its first request; CoreError names the extra that brings it."""
        if self._mcp is None:
            try:
                module = await asyncio.to_thread(import_module, "idcore.doors.assistants")  # seconds, the first time
            except ModuleNotFoundError as problem:
                if (problem.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
                    raise
                raise refuse("no_mcp") from None
            self._mcp = self._mcp or module.McpOverHttp(limits.figure("call_bytes"))
        return await self._mcp.ready()

    async def _answer(self, name: str, caller: Caller, scope: Scope, line: Line) -> Response:
        if scope["method"] in ("GET", "HEAD") and name in _DOCUMENTS:
            caller.visitor.require("decode")
            if name:
                return JSONResponse(openapi.document(self.entry.base()), headers=NOT_KEPT)
            return HTMLResponse(openapi.page(self.entry.base()), headers=NOT_KEPT)
        operation = operation_of(name)
        if scope["method"] != "POST":
            raise refuse("call_method", method="POST")
        headers = scope["headers"]
        if header_of(headers, b"content-type").partition(";")[0].strip().lower() != "application/json":
            raise refuse("call_type")  # a form of another site cannot send this type without being asked first
        body = await _read(line, scope)
        given = _object(body)
        query = parse_qs(raw.decode("latin-1")) if (raw := scope.get("query_string", b"")) else {}
        cursor, asked = (query.get(each, [None])[0] for each in ("cursor", "limit"))
        if LINES in header_of(headers, b"accept"):
            return await self._lines(operation, given, caller, cursor, _words(scope), line)
        most = limit_of(asked)
        answer = b""
        if operation.alone and len(body) <= SHORT:  # a thread would take longer than the answer
            with suppress(Longer):
                answer = _part(operation, given, replace(caller, before_long=_longer), cursor, most)
        if not answer:
            caller = replace(caller, gone=line.is_gone)
            answer = await line.while_there(self._room.run(caller, _part, operation, given, caller, cursor, most))
        return Response(answer, headers=NOT_KEPT, media_type="application/json")

    async def _lines(
        self,
        operation: Operation,
        given: Mapping[str, Any],
        caller: Caller,
        cursor: str | None,
        spoken: Words,
        line: Line,
    ) -> Response:
        """All items as JSON Lines, as they come; an error on the way is the last line, under `problem`."""
        caller = replace(caller, gone=line.is_gone)
        ask = asking_again(given, caller)
        work = self._room.run(caller, call, operation, given, caller, "api", cursor, 1)
        head, rest = await line.while_there(work)
        pieces = _pieces(head["items"], rest, ask, spoken, self.entry)

        async def streamed() -> AsyncIterator[bytes]:
            while piece := await self._room.run(caller, next, pieces, b""):
                yield piece

        return StreamingResponse(streamed(), headers=NOT_KEPT, media_type=LINES)


def _longer() -> None:
    raise Longer


def _part(operation: Operation, given: Mapping[str, Any], caller: Caller, cursor: str | None, most: int) -> bytes:
    answer, rest = call(operation, given, caller, "api", cursor, most)
    answer |= next_of(cursor, len(answer["items"]), rest, answer["remaining"])
    return json_text(answer, default=str).encode()


def _pieces(
    first: Iterable[Any], rest: Iterator[Any], ask: Callable[[], None], spoken: Words, entry: Entry
) -> Iterator[bytes]:
    """Lines, many at a time: each piece is a turn of a thread, and asks whether it may still be sent."""
    waiting = [json_text(item, default=str) for item in first]
    try:
        for item in rest:
            waiting.append(json_text(item, default=str))
            if len(waiting) >= _LINES_AT_ONCE:
                yield ("\n".join(waiting) + "\n").encode()
                waiting = []
                ask()
    except Exception as error:  # noqa: BLE001  the status has been sent: the last line says it
        waiting.append(json_text({"problem": problem_of(error, spoken, entry.roots).body}))
    if waiting:
        yield ("\n".join(waiting) + "\n").encode()


async def _read(receive: Receive, scope: Scope) -> bytes:
    """The body of a call; CoreError of one that comes too slowly, or that has too many values to be parsed at once.

    JSON is UTF-8 (RFC 8259, 8.1). In UTF-16 a letter may have the byte of a quote, and values behind it seem text.
    """
    try:
        async with asyncio.timeout(SLOW):
            body = await _body(receive, scope)
    except TimeoutError:
        raise refuse("call_slow", seconds=SLOW) from None
    if not json.detect_encoding(body).startswith("utf-8"):
        raise refuse("call_json")
    if plain_json.has_more(body, MOST_VALUES):
        raise refuse("call_values", most=f"{MOST_VALUES:,}")
    return body


async def _sent(answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that is taken; of one that is not, all that it holds is given back, as if its reader had gone."""
    try:
        if isinstance(answer, StreamingResponse) or not isinstance(answer, Response):
            await answer(scope, receive, _impatient(send))
        else:  # of one part
            async with asyncio.timeout(UNREAD):
                await answer(scope, receive, send)
    except (ClientDisconnect, TimeoutError):
        return


def _impatient(send: Send) -> Send:
    """The same for each part of a long answer."""

    async def sending(message: Message) -> None:
        try:
            async with asyncio.timeout(UNREAD):
                await send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    return sending


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, once more, and what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving


async def _body(receive: Receive, scope: Scope) -> bytes:
    """What a call sends, up to the limit: what says that it is longer is not read at all."""
    most = limits.figure("call_bytes")
    said = header_of(scope["headers"], b"content-length", "0")
    if said.isdecimal() and int(said[:18]) > most:
        raise limits.limit_error("call_bytes", int(said[:18]))
    body = bytearray()  # of bytes each further byte would copy all before it, where everybody is served
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise refuse("call_json")
        body += message.get("body", b"")
        if len(body) > most:
            raise limits.limit_error("call_bytes", len(body))
        if not message.get("more_body"):
            return bytes(body)


def _object(body: bytes) -> dict[str, Any]:
    """The JSON object of a call; CoreError of what is none, also of numbers that JSON does not have."""
    try:
        held = _JSON.decode(body.decode(json.detect_encoding(body), "surrogatepass")) if body else {}
    except (ValueError, RecursionError):
        raise refuse("call_json") from None
    if not isinstance(held, dict):
        raise refuse("call_json")
    return held


def _no_number(text: str) -> Any:
    raise ValueError(text)


_JSON = json.JSONDecoder(parse_constant=_no_number)


def _words(scope: Scope) -> Words:
    """The language that a caller prefers, of those that there are."""
    wanted = header_of(scope["headers"], b"accept-language")[:200]
    for part in wanted.split(","):
        if (lang := lang_of(part.partition(";")[0].strip())) is not None:
            return words(lang)
    return words()


def _of_problem(problem: Problem) -> Response:
    headers = dict(NOT_KEPT)
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    if problem.seconds is not None:
        headers["retry-after"] = str(problem.seconds)
    return Response(
        json_text(problem.body).encode(), problem.status, headers=headers, media_type="application/problem+json"
    )
