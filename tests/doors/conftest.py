"""The doors for programs behind the real gate, each person with the roles of a file. No page is drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from idcore.doors.entry import Entry
from idcore.doors.router import ApiRouter
from idcore.policy.access import ROLES, Members, Policy
from idcore.policy.tokens import Tokens
from idcore.server.gate import Gate
from idcore.server.logins import Entrance

# A person of each role, who has it alone; one asks the cluster "one" only.
PEOPLE: dict[str, str] = {role: f"{role}@example.org" for role in ROLES}
POLICY = Policy(
    {role: Members(people=frozenset({name})) for role, name in PEOPLE.items() if role != "look-up"},
    {"one": Members(people=frozenset({PEOPLE["look-up"]}))},
)
WITH_LOGIN = Entrance("header", POLICY, (), (ip_network("127.0.0.0/8"),), frozenset({"x-user"}))
ID = "AC110001473C7D4991AD336AEA5703E0"


def claims_of(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, Any]:
    """What a proxy says."""
    return {"email": Headers(raw=list(headers)).get("x-user")}


class Door:
    """A console of its own folder; `call` is one call of an operation by somebody."""

    def __init__(self, folder: Path, entrance: Entrance) -> None:
        self.folder, self.entrance = folder, entrance
        self.tokens = Tokens(folder / "runs")
        self.open = folder / "open"
        self.open.mkdir(parents=True, exist_ok=True)
        self.entry = Entry(
            lambda: self.entrance,
            claims_of,
            lambda: self.tokens,
            lambda: "/",
            list,
            list,
            lambda: [self.open.resolve()],
            lambda: folder / "runs",
        )
        inner = PlainTextResponse("a page")
        self.app = Gate(ApiRouter(inner, self.entry), lambda: self.entrance, claims_of, lambda: "/")
        self.client = TestClient(
            self.app, "http://localhost:8640", client=("127.0.0.1", 40_000), raise_server_exceptions=False
        )
        del self.client.headers["user-agent"]

    def post(self, name: str, given: Any, who: str | None = None, **more: Any) -> Any:
        headers = {"content-type": "application/json", **({"x-user": who} if who else {}), **more.pop("headers", {})}
        body = given if isinstance(given, bytes) else json.dumps(given).encode()
        return self.client.post(f"/api/v1/{name}", content=body, headers=headers, **more)

    def call(self, name: str, who: str | None = None, **given: Any) -> dict[str, Any]:
        answer = self.post(name, given, who)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
def door_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Entrance], Door]:
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("IDCORE_CALLS_VISITOR", "off")
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IDCORE_NO_SPARK", "1")  # what scans takes this away

    def make(entrance: Entrance) -> Door:
        return Door(tmp_path, entrance)

    return make


@pytest.fixture
def door(door_of: Callable[[Entrance], Door]) -> Door:
    """Without a log-in, on this machine."""
    return door_of(Entrance())


@pytest.fixture
def with_login(door_of: Callable[[Entrance], Door]) -> Door:
    """With one."""
    return door_of(WITH_LOGIN)
