"""A process and a broker as values: their texts, written out by hand, and the ids that they are read from."""

from __future__ import annotations

import ast

import pytest

from idcore.ids import UniqId, identify
from idcore.ids.model import ClientId, OffsetId
from idcore.ids.origins import BrokerAddress, Fingerprint
from tests.source_code import ROOT, modules, nodes

pytestmark = pytest.mark.quick


def test_a_process_has_one_text_for_each_place() -> None:
    process = Fingerprint("10.0.0.7", 3416, "18B4AAC2")
    assert str(process) == "10.0.0.7 pid 3416 loader 18B4AAC2"
    assert (process.brief, process.host_and_pid) == ("10.0.0.7 pid 3416", "10.0.0.7 · 3416")
    assert (process.key, process.place) == ("10.0.0.7~3416~18B4AAC2", "10.0.0.7")


def test_a_client_of_5x_has_no_loader() -> None:
    client = Fingerprint.of_row({"mac": "08:71:90:66:ff:9a", "pid": 7})
    assert (str(client), client.key) == ("08:71:90:66:ff:9a pid 7", "08:71:90:66:ff:9a~7")
    assert client.host_and_pid == "08:71:90:66:ff:9a · 7" and client.place == "08:71:90:66:ff:9a"


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("10.0.0.5", "10.0.0.5:10911"),
        ("2001:db8::1", "[2001:db8::1]:10911"),
        ("::ffff:10.0.0.5", "[::ffff:10.0.0.5]:10911"),
    ],
)
def test_a_broker_of_ipv6_is_in_brackets(host: str, text: str) -> None:
    assert str(BrokerAddress(host, 10911)) == text == OffsetId.of(host, 10911, 0).address


def test_ids_of_one_process_have_one_fingerprint() -> None:
    first, second = (UniqId.of("10.0.0.7", 3416, 0x18B4AAC2, elapsed, elapsed) for elapsed in (1, 2))
    assert first.process == second.process == Fingerprint("10.0.0.7", 3416, "18B4AAC2")
    best = identify("0108719066FF9A00070123456700000001").best
    assert best is not None and isinstance(best.id, ClientId)
    assert best.id.process == Fingerprint("08:71:90:66:ff:9a", 7)


def test_nothing_cuts_the_text_of_a_process_again() -> None:
    cut = {"partition", "rpartition", "split", "rsplit", "removesuffix", "removeprefix"}
    wrong = [
        f"{path.relative_to(ROOT)}, line {node.lineno}"
        for path in modules("idcore", "pages")
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in cut
        if any(isinstance(each, ast.Constant) and each.value in (" pid ", " loader ", " · ") for each in node.args)
    ]
    assert not wrong, "carry a Fingerprint instead"
