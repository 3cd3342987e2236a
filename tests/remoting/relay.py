"""A relay between the client and real servers: it passes bytes on, and keeps every request that went through."""

from __future__ import annotations

import socket
import threading
from types import TracebackType

from idcore.rocketmq.remoting.address import Endpoint
from idcore.rocketmq.remoting.frame import Frame, FrameReader


class Relay:
    """Listens on a port of its own for one server; `seen` has what clients sent to it, whole frames in their order."""

    def __init__(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        self._server = host, int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.seen: list[Frame] = []
        self._open: list[socket.socket] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def endpoint(self) -> Endpoint:
        """Where to dial instead of the server."""
        return Endpoint.parse(self.address)

    def __enter__(self) -> Relay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._open:
            each.close()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [client, server]
            threading.Thread(target=self._pass, args=(client, server, FrameReader()), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, None), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, reader: FrameReader | None) -> None:
        try:
            while portion := source.recv(65_536):
                if reader is not None:
                    self.seen += reader.feed(portion)
                target.sendall(portion)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return  # one of both has hung up, or the test is over
