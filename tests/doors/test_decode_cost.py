"""What one call of decode costs the server, as calls of Python functions: seconds depend on the machine."""

import json
import sys
import threading

import pytest

from idcore.doors.http import _body
from idcore.ids import seeds
from idcore.ids.seeds import SeedSearch
from idcore.policy import audit
from idcore.server.front_door import FrontDoor
from idcore.server.login_cookie import LoginCookie
from idcore.server.logins import Entrance, LogIns
from tests.doors.conftest import ID, Door
from tests.doors.test_api import apart

pytestmark = pytest.mark.quick
MOST = 440  # 405 with Python 3.11; each is some 0.7 µs


def test_a_call_of_decode_is_few_calls_of_functions(tmp_path, monkeypatch):
    monkeypatch.setenv("IDCORE_CALLS_VISITOR", "off")
    entrance, body, answers = Entrance(), json.dumps({"text": ID, "zone": "+08:00"}).encode(), []
    inner = LoginCookie(Door(tmp_path, entrance).app, lambda: entrance, lambda: LogIns(tmp_path), lambda: "/")
    app = FrontDoor(inner, tuple, lambda: "/", lambda: None, lambda: tmp_path)
    headers = [(b"host", b"127.0.0.1:8501"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/decode", "query_string": b"", "headers": headers}
    scope |= {"client": ("127.0.0.1", 40_000), "server": ("127.0.0.1", 8501)}

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        answers.append(message)

    async def run():
        for _ in range(3):  # what is made once
            await app(scope, receive, send)
        seen = []
        sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_qualname) if event == "call" else None)
        try:
            await app(scope, receive, send)
        finally:
            sys.setprofile(None)
        return seen

    seen = apart(run)
    assert [one["status"] for one in answers[::2]] == [200] * 4
    assert json.loads(answers[-1]["body"])["items"][0]["host"] == "172.17.0.1"
    assert len(seen) <= MOST, seen


def test_no_call_looks_for_the_start_of_a_process_where_everybody_is_served(door, monkeypatch):
    """Sixteen IDs in 527 bytes took 3.4 s of the event loop: four connections, and no page of anybody opened."""
    found, counts = [], []
    search = SeedSearch.start

    def start(*given):
        found.append(threading.current_thread())
        return search(*given)

    monkeypatch.setattr(SeedSearch, "start", start)
    monkeypatch.setattr(audit, "note", lambda *given, **values: counts.append(values))
    ids = [f"7F0000010BB9{number:08X}10B918B4AAC2" for number in range(1, 17)]
    for operation in ("decode", "explain_line"):
        begun, counted = len(found), len(counts)
        assert [one["text"] for one in door.call(operation, text=" ".join(ids))["items"]] == ids
        assert len(found) - begun == len(ids) and all("AnyIO" in one.name for one in found)
        assert [one["outcome"] for one in counts[counted:]] == ["done"]


def test_one_look_at_a_month_is_for_all_its_processes(monkeypatch):
    seconds, first = [], seeds.first_rand

    def counted(some):
        seconds.append(len(some))
        return first(some)

    monkeypatch.setattr(seeds, "first_rand", counted)
    seeds._of_day.cache_clear()
    some = SeedSearch()
    assert [some.start(loader, 1_795_000_000) for loader in range(1, 17)] == [None] * 16
    assert sum(seconds) == 31 * 86_400


class Piece(bytes):
    def __radd__(self, before):
        assert not isinstance(before, bytes), "all before it is copied"
        return NotImplemented


def test_a_call_that_comes_byte_by_byte_is_not_copied_for_each():
    """Of 4 MB, 20,000 bytes that came alone took 8.5 s of the event loop."""
    left = [Piece(b"a")] * 5

    async def receive():
        return {"type": "http.request", "body": left.pop(), "more_body": bool(left)}

    assert apart(lambda: _body(receive, {"headers": []})) == b"aaaaa"
