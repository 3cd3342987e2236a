"""Servers on loopback for the tests: one that speaks S3, and a web server with ranges. Keeps what it was asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.server import ThreadedMotoServer


@contextmanager
def s3_server() -> Iterator[str]:
    """Its endpoint."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


class Web:
    """A web server: `files` by path, and every request as (path, range, authorization)."""

    def __init__(self, ranges: bool, broken: int) -> None:
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.said: dict[str, str] = {}  # by path, what it says of the size of a file instead of the truth
        self.asked: list[tuple[str, str | None, str | None]] = []
        self.ranges = ranges
        self.broken = broken  # so many answers break off in the middle
        self.changed: Callable[[], None] = lambda: None
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = self.headers.get("Range")
                web.asked.append((self.path, asked, self.headers.get("Authorization")))
                path = self.path.split("?")[0]
                if path in web.moved:
                    self.send_response(302)
                    self.send_header("Location", web.moved[path])
                    self.end_headers()
                    return
                data = web.files.get(path)
                if data is None:
                    self.send_error(404)
                    return
                found = re.fullmatch(r"bytes=(\d+)-(\d+)", asked or "") if web.ranges else None
                if found and int(found[1]) >= len(data):
                    self.send_error(416)
                    return
                if path in web.said:
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes 0-0/{web.said[path]}")
                    self.send_header("Content-Length", web.said[path])
                    self.end_headers()
                    return
                part = data[int(found[1]) : int(found[2]) + 1] if found else data
                self.send_response(206 if found else 200)
                if found:
                    last = int(found[1]) + len(part) - 1
                    self.send_header("Content-Range", f"bytes {found[1]}-{last}/{len(data)}")
                self.send_header("ETag", f'"{hash(data)}"')
                self.send_header("Content-Length", str(len(part)))
                self.end_headers()
                if web.broken and len(part) > 1:
                    web.broken -= 1
                    part = part[: len(part) // 2]
                    self.close_connection = True
                self.wfile.write(part)
                web.changed()

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def web_server(ranges: bool = True, broken: int = 0) -> Iterator[Web]:
    web = Web(ranges, broken)
    thread = threading.Thread(target=web.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.server.shutdown()
        web.server.server_close()
        thread.join()
