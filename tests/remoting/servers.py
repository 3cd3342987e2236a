"""Small servers on loopback for tests: they speak frames, or what a test wants. Every one counts its callers."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from types import TracebackType

from idcore.rocketmq.remoting.address import Address
from idcore.rocketmq.remoting.frame import Frame, FrameReader, encode

Handler = Callable[[Frame], Iterable[bytes]]


def answer(request: Frame, code: int = 0, body: bytes = b"", remark: str | None = None, **fields: str) -> bytes:
    """The bytes that answer a request."""
    return encode(Frame(code, request.opaque, 1, "JAVA", 479, remark, fields or None, body))


class Server:
    """Listens on a port of its own; `handle` gets every frame and gives the bytes to send, None ends the connection."""

    def __init__(self, handle: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._handle = handle
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.address = Address.of("127.0.0.1", self._listener.getsockname()[1])
        self.callers = 0
        self.seen: list[Frame] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closing alone does not wake a thread that waits in accept().
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Ends every connection there is."""
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
            finally:
                connection.close()
        self._open.clear()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as a broker does: its answers are small
            self.callers += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        reader = FrameReader()
        try:
            connection = plain if self._tls is None else self._tls.wrap_socket(plain, server_side=True)
            while portion := connection.recv(65_536):
                for frame in reader.feed(portion):
                    self.seen.append(frame)
                    for raw in self._handle(frame):
                        connection.sendall(raw)
        except (OSError, ValueError):
            plain.close()
