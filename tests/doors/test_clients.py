"""A client that a generator makes of the OpenAPI document calls every operation: real input, real Spark, a cluster."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from idcore.__main__ import main
from idcore.doors.openapi import document
from idcore.operations.table import TABLE
from idcore.server import jobs
from tests.doors.conftest import ID, PEOPLE, Door
from tests.doors.test_hung_up import serving
from tests.pages.test_findings import two_at_once
from tests.pages.test_lines import indexed
from tests.remoting.fake import UNIQ, record
from tests.remoting.fake_progress import Progressing
from tests.source_code import ROOT


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The package of the generated client."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(document("/")))
    words = ["generate", "--path", str(folder / "openapi.json"), "--output-path", str(folder / "made_client")]
    subprocess.run([sys.executable, "-m", "openapi_python_client", *words, "--meta", "none"], check=True, timeout=120)
    sys.path.insert(0, str(folder))
    yield "made_client"
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def with_spark(door_of: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDCORE_NO_SPARK")


@pytest.fixture
def served(door: Door) -> Iterator[str]:
    """The API on loopback, without a log-in."""
    with serving(door) as address:
        yield address


class Caller:
    """Calls operations with the generated client; each answer is held to the schema of its operation."""

    def __init__(self, package: str, address: str) -> None:
        self.package = package
        self.client = self._module("client").Client(base_url=address, timeout=60, raise_on_unexpected_status=True)
        self.called: set[str] = set()

    def _module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self.package}.{name}")

    def __call__(self, name: str, **given: Any) -> dict[str, Any]:
        body = getattr(self._module(f"models.{name}_body"), f"{name.title().replace('_', '')}Body").from_dict(given)
        answer = self._module(f"api.default.{name}").sync_detailed(client=self.client, body=body)
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = json.loads(answer.content)
        from jsonschema import Draft202012Validator  # it makes parsers of addresses: a second, of this test alone

        Draft202012Validator(TABLE[name].output_schema).validate(found)
        assert len(answer.parsed.items) == len(found["items"]) > 0, "the client's own classes have the same"
        for item in found["items"]:
            assert item["disproof"] and item["certainty"]
        self.called.add(name)
        return found


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    fake = Progressing()
    fake.records = [record("Orders", UNIQ, 0, b"a secret")]
    with fake.server:
        (tmp_path / "clusters.toml").write_text(f'[clusters.one]\nname_servers = ["{fake.server.address}"]\n')
        monkeypatch.setenv("IDCORE_CLUSTERS", str(tmp_path / "clusters.toml"))
        yield


def test_a_generated_client_calls_every_operation(
    made: str, served: str, door: Door, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, store = Caller(made, served), door.open / "store"
    assert main(["make", "store", "--messages", "30", "--groups", "3", "--out", str(store)]) == 0
    run = indexed(tmp_path, two_at_once())
    (tmp_path / "open" / "a.log").write_text(f"2026-11-10 23:37:24 send, msgId={ID}\n")
    assert call("decode", text=ID)["ids"] == 1
    call("explain_line", text=f"msgId={ID}", lang="zh")
    call("compare", first_text=ID, second_path=str(door.open / "a.log"))
    (first, *_) = call("findings", run=run.name)["items"]
    assert call("finding_lines", run=run.name, finding=first["finding"])["lines"] > 0
    assert {row["run"] for row in call("scans")["items"]} == {run.name}
    assert call("find", run=run.name, text=first["subject"].split()[0])["items"]
    assert call("view", ids=[UNIQ], cluster="one", verdicts=True)["items"][0]["found"]
    call("journey", id=UNIQ, cluster="one")
    call("groups", cluster="one", topic="Orders")
    assert call("progress", cluster="one", topic="Orders", group="billing")["lag"] == 1_204
    truth = json.loads((door.open / "truth.json").read_text())
    dead = next(one["group"] for one in truth["fates"] if one["verdict"].startswith("dead"))
    call("dead_letters", group=dead, store=str(store))
    begun = call("start_scan", path=str(door.open / "a.log"), zone="+08:00")["items"][0]["run"]
    while (now := call("scan", run=begun, wait=20)["items"][0])["state"] in ("new", "running"):
        pass
    assert now["summary"]["ids"] == 1, now
    assert call("cancel_scan", run=begun)["items"][0]["state"] == "done", "it has ended before"
    assert call.called == TABLE.keys()


def test_the_commands_of_the_page_answer(served: str, door: Door) -> None:
    """Each command of docs/api.md as a shell runs it, but for its address, its log and the name of its scan."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    (door.open / "orders.log").write_text(two_at_once())
    run, answers = "RUN", list[dict[str, Any]]()
    for command in re.findall(r"^(curl (?:.*\\\n)*.*)$", page, re.M):
        if "cancel_scan" not in command and "/find" in command:
            answers.append(door.call("scan", run=run, wait=20))
        shell = command.replace("http://127.0.0.1:8501/api/v1", served).replace("$API", served)
        shell = shell.replace("/var/log", str(door.open)).replace("RUN", run)
        done = subprocess.run(["bash", "-c", f"{shell} -sf"], capture_output=True, text=True, timeout=60, check=True)
        answers.append(json.loads(done.stdout))
        if "start_scan" in command:
            run = answers[-1]["items"][0]["run"]
    assert len(answers) >= 6 and all("items" in answer for answer in answers)
    assert answers[-1]["items"][0]["state"] == "done"


def test_a_scan_is_cancelled(door: Door) -> None:
    (door.open / "many.log").write_text(f"{ID}\n" * 2_000_000)
    begun = door.call("start_scan", path=str(door.open / "many.log"))["items"][0]["run"]
    door.call("cancel_scan", run=begun, wait=20)
    assert door.call("scan", run=begun, wait=20)["items"][0]["state"] == "cancelled"
    assert door.call("scans", state="cancelled")["items"][0]["run"] == begun


def test_a_scan_of_a_program_counts_for_its_person(with_login: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setenv("IDCORE_KEPT_VISITOR", "1K")
    answer = with_login.post("start_scan", {"text": ID}, PEOPLE["viewer"])
    assert answer.status_code == 429 and answer.json()["code"] == "limit_kept_of_one", answer.text
