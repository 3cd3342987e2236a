"""Where the ids of findings stand, and what their lines say beside them."""

from __future__ import annotations

import gzip
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.findings import limits, line_locations
from idcore.answers.findings.all_rules import Finding
from idcore.sources.inputs import InputFile, list_files

pytestmark = pytest.mark.quick

ID, OTHER = "0A000007126718B4AAC266FF3000000A", "0A000007126718B4AAC266FF3100000B"
LOOPBACK = "7F000001126718B4AAC266FF3000000A"
BROKER = "7F00000100002A9F0000000000000400"
LINE = "2026-11-21 09:00:00 INFO nothing to see here, and no id either, but an umlaut: ü\n"


def placed(path: Path, *ids: str, code: str = "restart", subject: str = "p", **more: Any) -> dict[str, Any]:
    (found,) = line_locations.place([Finding.of(code, subject, 1, {"ids": list(ids), **more})], list_files([str(path)]))
    return dict(found.evidence)


@pytest.mark.parametrize("before", [0, 1, 40_000])  # the last is three windows of text
def test_file_line_and_byte_of_the_first_place(before: int, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(LINE * before + f"x {ID}\n" + LINE + f"{OTHER} {ID}")
    size = len(LINE.encode())
    assert placed(path, ID, OTHER, ID.replace("A", "B"))["places"] == [
        {"id": ID, "file": str(path), "line": before + 1, "byte": before * size + 2},
        {"id": OTHER, "file": str(path), "line": before + 3, "byte": before * size + 2 + 33 + size},
    ]


def test_an_id_behind_a_label_is_at_the_first_line_that_has_that_label(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f'offsetMsgId={BROKER}\n{{"msgId": "{BROKER}"}}\n')
    places = [
        placed(path, BROKER, code="id_confusion", label=label).get("places") for label in ("", "msgId", "UNIQ_KEY")
    ]
    assert [found and (found[0]["line"], found[0]["byte"]) for found in places] == [(1, 12), (2, 56), None]


def test_packed_text_and_members_have_lines_too(tmp_path: Path) -> None:
    packed = tmp_path / "app.log.gz"
    packed.write_bytes(gzip.compress(f"{LINE}{ID}\n".encode()))
    (where,) = placed(packed, ID)["places"]
    assert (where["file"], where["line"], where["byte"]) == (str(packed), 2, len(LINE.encode()))
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.log", LINE)
        file.writestr("b.log", f"{LINE}{LINE}{ID}\n")
    (where,) = placed(archive, ID)["places"]
    assert where["file"].startswith(str(archive)) and where["file"].endswith("b.log") and where["line"] == 3


def test_an_id_of_the_go_client_is_shown_as_it_stands(tmp_path: Path) -> None:
    upper = "0A66E45F5B480000000063F508F8000A"
    path = tmp_path / "app.log"
    path.write_text(f"msgId={upper[:-12]}{upper[-12:].lower()}\n")
    evidence = placed(path, upper)
    assert evidence["ids"] == ["0A66E45F5B480000000063f508f8000a"] == [place["id"] for place in evidence["places"]]


@pytest.mark.parametrize(
    ("tails", "maker"),
    [
        (["623D94F80001", "623DB0500078"], "elixir"),
        (["623d94f80001", "623DB0500078"], "go_family"),
        (["623094080001"], "go_family"),
    ],
)
def test_the_letters_of_a_line_tell_elixir_from_go(tails: list[str], maker: str, tmp_path: Path) -> None:
    texts = ["0A66E45F5B4800000000" + tail for tail in tails]
    path = tmp_path / "app.log"
    path.write_text("\n".join(texts))
    assert placed(path, *map(str.upper, texts), code="foreign_maker", maker_code="go_family")["maker_code"] == maker


RECORD = (
    "MessageExt [brokerName=broker-a, bornHost=/{host}:51000, msgId={offset}, properties={{UNIQ_KEY={id}, WAIT=true}}]"
)


def test_born_hosts_of_the_lines_name_the_host_that_an_id_does_not(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    of_another = RECORD.format(host="10.9.9.9", offset=BROKER, id=ID)
    mine = [RECORD.format(host=host, offset=BROKER, id=LOOPBACK[:-1] + "F") for host in ("10.0.0.8", "10.0.0.7")]
    bare = mine[1].replace("=/", "=")  # other clients print no slash
    no_record = "bornHost=" * 20_000 + LOOPBACK
    path.write_text("\n".join([of_another, ", ".join([of_another, mine[0]]), bare, no_record]))
    assert placed(path, LOOPBACK, code="loopback_host")["born_hosts"] == "10.0.0.7, 10.0.0.8"
    assert "born_hosts" not in placed(path, LOOPBACK, code="restart")
    (named,) = line_locations.place([Finding.of("loopback_host", "p", 1, {"ids": [LOOPBACK]})], list_files([str(path)]))
    assert named.say("meaning").endswith(". Its host according to bornHost in the log: 10.0.0.7, 10.0.0.8")
    same = placed(path, LOOPBACK, code="loopback_host", process={"host": "10.0.0.7", "pid": 4711, "loader": "18B4AAC2"})
    assert same["born_hosts"] == "10.0.0.8", "what the ids say themselves is nothing new"


def test_a_record_without_a_born_host_is_searched_once_however_many_ids_it_prints(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    record = "MessageExt [" + "bornHost=aaaaaaaaaaaaaaaaaaaaaaa" * 300 + f" UNIQ_KEY={LOOPBACK}" * 100
    path.write_text(record * 100)
    began = time.process_time()
    assert "born_hosts" not in placed(path, LOOPBACK, code="loopback_host")
    assert time.process_time() - began < 5  # once for each id of it took 13


@pytest.mark.parametrize(
    "line",
    [
        f"SendResult [sendStatus=SEND_OK, msgId={ID}, offsetMsgId={BROKER}, messageQueue=[brokerName=broker-a]]",
        f"MessageExt [brokerName=broker-b], {RECORD.format(host='10.0.0.7', offset=BROKER, id=ID)}",
    ],
)
def test_the_line_of_an_offset_id_names_the_broker(line: str, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"brokerName=broker-z]\n{line}\nbrokerName=broker-y]\n")
    assert placed(path, BROKER, code="broker_address_internal")["broker_name"] == "broker-a"


def test_what_would_take_long_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"{ID}\n{LINE * 10}{OTHER}\n")
    size = path.stat().st_size
    finding = Finding.of("restart", "p", 1, {"ids": [ID, OTHER]})
    monkeypatch.setattr(limits, "MOST_SEARCHED", size)  # one id of two
    (one,) = line_locations.place([finding], list_files([str(path)]))
    assert [place["id"] for place in one.evidence["places"]] == [ID]
    monkeypatch.setattr(limits, "MOST_PLACED", size - 1)
    assert line_locations.place([finding], list_files([str(path)])) == [finding]


def test_a_commit_log_and_what_cannot_be_read_have_no_places(tmp_path: Path) -> None:
    finding = Finding.of("restart", "p", 1, {"ids": [ID]})
    path = tmp_path / "00000000000000000000"
    path.write_text(ID)
    assert line_locations.place([finding], [InputFile(str(path), 32, kind="commitlog")]) == [finding]
    assert line_locations.place([finding], list_files([str(tmp_path / "none.log")])) == [finding]
