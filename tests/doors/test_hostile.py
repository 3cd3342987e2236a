"""Hostile arguments: no traceback, no foreign address, nobody else's scan, at either door."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from idcore.base.catalogue import words
from idcore.doors.assistants import _called
from idcore.doors.calls import call, next_of, problem_of
from idcore.operations.model import Argument, Caller, Ground
from idcore.operations.table import TABLE
from idcore.policy.access import ROLES, Visitor
from idcore.policy.audit import Actor
from idcore.runs.runs import Runs
from tests.doors.conftest import ID, PEOPLE, Door

CANARY = "canary of somebody else"
_made = count()
# What breaks programs: paths, queries, markup, signs of other alphabets, numbers at edges, texts of no encoding.
# fmt: off
NASTY = [
    "", "\0", "\ud800", "..", "../../../etc/passwd", "/etc/passwd", "/proc/self/environ", "file:///etc/passwd",
    "http://203.0.113.7/x", "s3://bucket/key", "hdfs://203.0.113.7/", "\\\\203.0.113.7\\share", "203.0.113.7:9876",
    "0A2ACF1100002A9F0000000000058A8F", ID, ID.lower(), ID * 3, "A" * 100_000, "{{7*7}}", "%s%n%x", "$(reboot)",
    "<script>alert(1)</script>", "' OR 1=1 --", "\u202e\u0000\uffff", "١٢٣", "٣", "²", "-1", "1e309", "NaN", "9" * 40,
    "2026-02-30T25:61:00", "0001-01-01", "9999-12-31T23:59:59+23:59", "+25:00", "Mars/Olympus", "..\\..", "*", "**/*",
    "20260101-000000-" + "0" * 32, "zh", "any", "done",
]
# fmt: on
VALUES = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=60),
    st.integers(),
    st.booleans(),
    st.none(),
    st.floats(),
    st.lists(st.sampled_from(NASTY), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)


def fitting(one: Argument) -> st.SearchStrategy[Any]:
    """Values of the argument's own type, so that a call gets behind the first check."""
    if one.choices:
        return st.sampled_from(one.choices)
    if one.kind == "number":
        return st.integers(one.least, min(one.most, 3))
    if one.kind == "flag":
        return st.booleans()
    text = st.sampled_from([text for text in NASTY if one.least <= len(text) <= one.most])
    return text if one.kind == "text" else st.lists(text, min_size=1, max_size=3)


@st.composite
def calls(draw: Any) -> tuple[str, dict[str, Any]]:
    """An operation and arguments: most are of their types, some of none, some are not known at all."""
    name = draw(st.sampled_from(sorted(TABLE)))
    arguments = {}
    for one in TABLE[name].arguments:
        if one.required or draw(st.booleans()):
            arguments[one.name] = draw(fitting(one) if draw(st.integers(0, 9)) else VALUES)
    if not draw(st.integers(0, 19)):
        arguments[draw(st.text(max_size=5))] = draw(VALUES)
    return name, arguments


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with somebody else's scan."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "open").mkdir()
    (folder / "open" / "a.log").write_text(ID)
    Runs(folder / "runs", Visitor("ann@example.org", frozenset({"viewer"}))).create(CANARY, "api")
    return folder


@pytest.fixture(scope="module")
def dialled() -> Iterator[list[Any]]:
    """Every address of another machine that somebody tries to reach."""
    found: list[Any] = []
    own = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            found.append(address)
            raise OSError(113, "no way to it")
        own(self, address)

    socket.socket.connect = connect  # type: ignore[method-assign,assignment]
    yield found
    socket.socket.connect = own  # type: ignore[method-assign,assignment]


def caller_of(folder: Path) -> Caller:
    """Bob, who may do all but open everybody's scans."""
    bob = Visitor("bob@example.org", frozenset(ROLES) - {"admin"}, frozenset({"*"}))
    opened = Ground(lambda: [(folder / "open").resolve()], lambda: folder / "runs")
    return Caller(lambda: bob, lambda: bob, Actor("bob@example.org", f"s{next(_made)}"), opened)


def answered(name: str, arguments: dict[str, Any], caller: Caller, cursor: str | None) -> tuple[int, str]:
    """What the door would answer: a status and a text."""
    try:
        answer, rest = call(TABLE[name], arguments, caller, "api", cursor, 50)
        next_of(cursor, len(answer["items"]), rest)
    except Exception as error:  # noqa: BLE001  as the door does
        problem = problem_of(error, words("zh"), caller.ground.roots)
        return problem.status, json.dumps(problem.body)
    return 200, json.dumps(answer, default=str)


@settings(max_examples=800, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(asked=calls(), cursor=st.one_of(st.none(), st.sampled_from(["0", "7", "-1", "²", "9" * 30, "x"])))
@example(asked=("scans", {}), cursor=None)
@example(asked=("find", {"text": CANARY}), cursor=None)
def test_no_argument_makes_a_mistake_of_ours(
    asked: tuple[str, dict[str, Any]], cursor: str | None, ground: Path, dialled: list[Any]
) -> None:
    name, arguments = asked
    if name == "start_scan":  # its arguments are checked; nothing is scanned
        arguments = {**arguments, "wait": "x"}
    caller = caller_of(ground)
    status, told = answered(name, arguments, caller, cursor)
    assert status != 500, (name, arguments, told)
    assert CANARY not in told and "Traceback" not in told
    assert not dialled, "an address of another machine"


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(asked=calls(), cursor=VALUES)
def test_no_argument_of_a_tool_does_either(
    asked: tuple[str, dict[str, Any]], cursor: Any, ground: Path, dialled: list[Any]
) -> None:
    name, arguments = asked
    if name == "start_scan":
        arguments = {**arguments, "wait": "x"}
    result = _called(TABLE[name], {**arguments, "cursor": cursor}, caller_of(ground))
    told = result.content[0].text  # type: ignore[union-attr]
    assert "call_failed" not in told and CANARY not in told and not dialled
    json.loads(told)


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    body=st.one_of(st.binary(max_size=200), calls().map(lambda one: json.dumps(one[1]).encode())),
    query=st.text(max_size=30),
)
def test_no_body_and_no_query_does(body: bytes, query: str, door: Door) -> None:
    answer = door.client.post(
        "/api/v1/decode", content=body, params={"cursor": query}, headers={"content-type": "application/json"}
    )
    assert answer.status_code != 500 and json.loads(answer.text), answer.text


@pytest.mark.parametrize("path", ["//", "/..", "/decode/..", "/%00", "/decode%2f..", "/" + "a" * 5_000, "/mcp/x", "/ü"])
def test_no_address_does(path: str, with_login: Door) -> None:
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = with_login.client.request(
            method, f"/api/v1{path}", headers={"x-user": PEOPLE["viewer"], "content-type": "application/json"}
        )
        assert answer.status_code < 500, (method, answer.text)
