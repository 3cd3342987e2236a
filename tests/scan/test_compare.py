"""Two inputs side by side, against the sets of their ids; and the command, from the outside."""

from __future__ import annotations

import gzip
import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.__main__ import main
from idcore.base.catalogue import words
from idcore.ids import find, judge
from idcore.scan import compare as comparing
from idcore.scan.compare import compare
from idcore.simulate.scenario import Scenario


def ids_of(text: str) -> set[str]:
    readings = ((token.text, judge(token).best) for token in find(text))
    return {text.upper() for text, best in readings if best is not None}


@pytest.fixture(scope="module")
def sides() -> tuple[list[str], list[str]]:
    scenario = Scenario(7, datetime(2026, 11, 20, 9, 50, tzinfo=UTC), UTC, 1_500)
    lines = list(scenario.log(1_500))
    lines += ["0101007F0000A61200003CF1C4030100", "20010DB800000000000000000000000100002A9F0000000000000001"] * 3
    dice = random.Random(3)
    before = [line for line in lines if dice.random() < 0.9]
    after = [line for line in lines if dice.random() < 0.8]
    dice.shuffle(after)
    return before, after


@pytest.mark.parametrize("split", [1 << 12, 256 << 20])
def test_what_is_in_one_input_only_is_what_the_sets_say(
    split: int, sides: tuple[list[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "_SPLIT", split)
    before, after = ("\n".join(lines) for lines in sides)
    (tmp_path / "a.log").write_text(before)
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(after.encode()))
    only: dict[str, set[str]] = {"before": set(), "after": set()}
    rows = compare(
        [str(tmp_path / "a.log")], [str(tmp_path / "b.log.gz")], told=lambda side, ids: only[side].update(ids)
    )
    a, b = ids_of(before), ids_of(after)
    assert only == {"before": a - b, "after": b - a}
    assert sum(row.before for row in rows) == len(a)
    assert sum(row.after for row in rows) == len(b)
    assert sum(row.both for row in rows) == len(a & b)
    assert sum(row.missing for row in rows) == len(a - b)
    assert {row.kind for row in rows} == {"uniq", "offset", "client"}
    for row in rows:
        assert set(row.only_before) <= a - b
        assert set(row.only_after) <= b - a
        assert len(row.only_before) == min(row.missing, comparing.SAMPLES)


def test_the_command_tells_what_never_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent = [f"msgId=0A00000700FF18B4AAC20000{n:04X}{n:04X}" for n in range(5)]
    (tmp_path / "sent.log").write_text("\n".join(sent))
    (tmp_path / "got.log").write_text("\n".join(sent[:3]))
    arguments = ["compare", str(tmp_path / "sent.log"), str(tmp_path / "got.log")]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Of 5 msgIds of the first, 3 are in the second and 2 are not; none is only in the second.")
    assert "10.0.0.7 pid 255 loader 18B4AAC2" in shown and shown.endswith(f"\n{words()('compare.no_proof')}\n")
    assert (tmp_path / "out" / "only_before.txt").read_text().split() == [text[6:] for text in sent[3:]]
    assert (tmp_path / "out" / "only_after.txt").read_text() == ""
    assert main([*arguments, "--format", "json"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["missing"], row["new"], row["both"]) == (2, 0, 3)
    assert main(["compare", str(tmp_path / "sent.log"), str(tmp_path / "sent.log")]) == 0
    same = capsys.readouterr().out
    assert same == f"Both inputs contain the same 5 msgIds.\n\n{words()('compare.no_proof')}\n"
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2


def test_what_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("msgId=0A00000700FF18B4AAC2000000010001")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"x" * 5_000)[:-20])
    assert main(["compare", str(tmp_path / "a.log"), str(tmp_path / "b.gz")]) == 1
    assert "b.gz" in capsys.readouterr().err
