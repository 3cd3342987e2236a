"""What one call of decode costs the server, as calls of Python functions: seconds depend on the machine."""

import json
import sys

import pytest

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
