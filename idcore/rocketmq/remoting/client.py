"""Questions over sockets: pooled connections, TLS, signatures, timeouts, answers paired by opaque. Reads no records."""

from __future__ import annotations

import itertools
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from idcore.base.errors import CoreError, coded, refuse
from idcore.base.safe_text import size
from idcore.rocketmq.remoting.acl import Credentials, sign
from idcore.rocketmq.remoting.address import Address
from idcore.rocketmq.remoting.errors import Closed, FrameError, NotInTopology, RemotingError, Unreachable
from idcore.rocketmq.remoting.frame import LONGEST_FRAME, Frame, FrameReader, encode
from idcore.rocketmq.remoting.requests import VERSION, Request, sendable

T = TypeVar("T")

# Questions on their way at once on one connection: few enough that they fit the socket's buffers unread.
_IN_FLIGHT = 32
_MOST_ROUNDS = 24  # of them that may take the time of an answer each: an answer may lead to 100,000 questions
_IDLE_EACH = 8
# Bytes of all answers to what is asked together. A stranger can register as a broker, and 64 topics with a whole frame
# each were 1 GB. A slice of a queue has 32 messages of 4 MiB at most (maxMessageSize).
_MOST_TOGETHER = 9 * LONGEST_FRAME
_PORTION = 1 << 16


@dataclass(frozen=True, slots=True)
class Tls:
    """How connections are encrypted: the context, and the name a certificate must carry (None: the address itself)."""

    context: ssl.SSLContext
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to connect, seconds to answer what is on its way at once, bytes of one frame, codes for clients."""

    connect_seconds: float = 3.0
    answer_seconds: float = 5.0
    longest_frame: int = LONGEST_FRAME
    reach_clients: bool = False  # whether codes that go on to the machines of clients may be sent


class Client:
    """Asks servers by address. `may_dial` is asked before every connection; what it rejects is never contacted."""

    def __init__(
        self,
        may_dial: Callable[[Address], bool],
        credentials: Credentials | None = None,
        tls: Tls | None = None,
        limits: Limits | None = None,
        name: str = "",
        host_name: Callable[[Address], str | None] = lambda address: None,
    ) -> None:
        self._may_dial = may_dial
        self._credentials = credentials
        self._tls = tls
        self._limits = limits or Limits()
        self._name = name
        self._host_name = host_name
        self._idle: dict[Address, list[_Connection]] = {}
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes what is idle; what is in use is closed as it comes back."""
        with self._lock:
            self._closed = True
            idle = [connection for held in self._idle.values() for connection in held]
            self._idle.clear()
        for connection in idle:
            connection.close()

    def ask(self, address: Address, request: Request[T]) -> T:
        """One question's answer, or the error in its place."""
        answer = self.ask_all(address, [request])[0]
        if isinstance(answer, RemotingError):
            raise answer
        return answer

    def ask_all(self, address: Address, requests: Sequence[Request[T]]) -> list[T | RemotingError]:
        """Many questions on one connection, answers in the order of the questions, a rejected one as its error.

        So is each that comes after what is too much together.
        Raises Unreachable where the connection fails: then no answer counts.
        """
        if not requests:
            return []
        for request in requests:
            sendable(request.code, self._limits.reach_clients)  # ValueError before anybody is contacted
        if not self._may_dial(address):
            raise NotInTopology.refuse(str(address), self._name)
        with self._lock:
            idle = self._idle.get(address)
            connection = idle.pop() if idle else None
        if connection is not None:
            # What was idle may have been closed by the server meanwhile. Nothing that is asked here changes anything,
            # so it is asked again.
            try:
                return self._exchange(connection, requests)
            except Closed:
                self._drop_idle(address)
        tls = self._tls
        if tls is not None and tls.server_name is None:
            # Who is registered under a name has it in the certificate, too.
            tls = Tls(tls.context, self._host_name(address))
        return self._exchange(_Connection(address, tls, self._limits), requests)

    def _exchange(self, connection: _Connection, requests: Sequence[Request[T]]) -> list[T | RemotingError]:
        try:
            frames = connection.exchange(requests, self._credentials)
        except FrameError as problem:
            connection.close()
            raise Unreachable.at(str(connection.address), refuse("not_a_frame", problem=problem)) from problem
        except BaseException:
            connection.close()
            raise
        if len(frames) < len(requests):
            connection.close()
        else:
            self._give_back(connection)
        large = Unreachable.at(str(connection.address), refuse("answers_large", most=size(_MOST_TOGETHER)))
        return [
            _result(request, frames.pop(place), connection.address) if place in frames else large
            for place, request in enumerate(requests)
        ]

    def _drop_idle(self, address: Address) -> None:
        with self._lock:
            idle = self._idle.pop(address, [])
        for connection in idle:
            connection.close()

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            held = self._idle.setdefault(connection.address, [])
            if not self._closed and len(held) < _IDLE_EACH:
                held.append(connection)
                return
        connection.close()


def _result(request: Request[T], frame: Frame, address: Address) -> T | RemotingError:
    try:
        return request.result(frame, str(address))
    except RemotingError as problem:
        return problem.without_stack()


class _Connection:
    """One socket, used by one caller at a time."""

    def __init__(self, address: Address, tls: Tls | None, limits: Limits) -> None:
        self.address = address
        self._limits = limits
        self._opaques = itertools.count(1)
        self._reader = FrameReader(limits.longest_frame)
        self._came = 0  # bytes
        self._socket = _connected(address, tls, limits.connect_seconds)

    def close(self) -> None:
        self._socket.close()

    def exchange(self, requests: Sequence[Request[T]], credentials: Credentials | None) -> dict[int, Frame]:
        """The frames that answer these requests, by their places: those that came before all were too large."""
        # What is asked together may take longer together, by one limit for each round of what fits on the way.
        rounds = min(_MOST_ROUNDS, 1 + (len(requests) - 1) // _IN_FLIGHT)
        until = time.monotonic() + self._limits.answer_seconds * rounds
        answers: dict[int, Frame] = {}
        places: dict[int, int] = {}
        sent, before = 0, self._came
        while len(answers) < len(requests) and self._came - before <= _MOST_TOGETHER:
            while sent < len(requests) and len(places) < _IN_FLIGHT:
                opaque = next(self._opaques) & 0x7FFFFFFF
                self._send(requests[sent], opaque, credentials, until)
                places[opaque] = sent
                sent += 1
            for frame in self._received(until):
                # A server may ask as well (NOTIFY_CONSUMER_IDS_CHANGED); nobody here answers. An opaque that is not
                # ours answers no question of ours.
                place = places.pop(frame.opaque, None) if frame.is_response else None
                if place is not None:
                    answers[place] = frame
        return answers

    def _send(self, request: Request[T], opaque: int, credentials: Credentials | None, until: float) -> None:
        # The only place that sends: every code there is for it is in ReadCode, and in ClientCode where that is allowed.
        code = sendable(request.code, self._limits.reach_clients)
        fields = request.fields()
        signed = fields if credentials is None else sign(fields, b"", credentials)
        raw = encode(Frame(int(code), opaque, 0, "PYTHON", VERSION, None, signed))
        self._socket.settimeout(self._left(until))
        try:
            self._socket.sendall(raw)
        except OSError as problem:
            raise self._failed(problem) from None

    def _received(self, until: float) -> list[Frame]:
        self._socket.settimeout(self._left(until))
        try:
            portion = self._socket.recv(_PORTION)
        except OSError as problem:
            raise self._failed(problem) from None
        if not portion:
            raise Closed.at(str(self.address), refuse("connection_closed"))
        self._came += len(portion)
        return list(self._reader.feed(portion))

    def _left(self, until: float) -> float:
        left = until - time.monotonic()
        if left <= 0:
            raise Unreachable.at(str(self.address), refuse("no_answer", limit=f"{self._limits.answer_seconds:g}"))
        return left

    def _failed(self, problem: OSError) -> Unreachable:
        if isinstance(problem, TimeoutError):
            return Unreachable.at(str(self.address), refuse("no_answer", limit=f"{self._limits.answer_seconds:g}"))
        kind = Closed if isinstance(problem, ConnectionError) else Unreachable
        return kind.at(str(self.address), _why(problem))


def _connected(address: Address, tls: Tls | None, seconds: float) -> socket.socket:
    # An address, never a name: no resolver has a say in where this goes.
    plain = socket.socket(socket.AF_INET6 if len(address.ip) == 16 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        plain.settimeout(seconds)
        plain.connect((address.host, address.port))
    except TimeoutError:
        plain.close()
        raise Unreachable.at(str(address), refuse("no_connection", limit=f"{seconds:g}")) from None
    except OSError as problem:
        plain.close()
        raise Unreachable.at(str(address), _why(problem)) from None
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is None:
            return plain
        return tls.context.wrap_socket(plain, server_hostname=tls.server_name or address.host)
    except OSError as problem:
        plain.close()
        raise Unreachable.at(str(address), refuse("tls", why=_why(problem))) from None


def _why(problem: OSError) -> CoreError:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return refuse("certificate", why=problem.verify_message)
    if isinstance(problem, ssl.SSLError):
        return refuse("said", why=str(problem.reason or problem).lower().replace("_", " "))
    return coded(problem)
