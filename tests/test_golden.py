"""The comparer of golden results: it finds what differs, names the place, and is silent about nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.golden import compare

pytestmark = pytest.mark.quick

ROWS = [
    {"code": "collision", "subject": "A", "count": 2, "evidence": '{"ids": ["A1", "A2"]}'},
    {"code": "collision", "subject": "B", "count": 1, "evidence": "{}"},
]


def folder(path: Path, rows: list[dict[str, object]]) -> Path:
    (path / "real").mkdir(parents=True)
    lines = sorted(json.dumps(row) for row in rows)
    (path / "real" / "findings.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return path


def test_equal_results_have_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(folder(tmp_path / "a", ROWS), folder(tmp_path / "b", ROWS)) == 0
    assert capsys.readouterr().out == "0 differences in 0 columns\n"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROWS[0] | {"count": 3}, ROWS[1]], ["findings.jsonl  count: 1", "collision A", "before 2", "after  3"]),
        ([ROWS[0] | {"evidence": '{"ids": ["A1", "A3"]}'}, ROWS[1]], ["  evidence.ids.1: 1", "before 'A2'"]),
        (ROWS[:1], ["  (row): 1", "collision B", "after  None"]),
        ([*ROWS, ROWS[1]], ["  (row): 1", "collision B #2", "before None"]),
        ([dict(reversed(ROWS[0].items())), ROWS[1]], ["  (order): 1", "collision A"]),
    ],
)
def test_a_difference_is_named_by_file_column_and_row(
    rows: list[dict[str, object]], said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(folder(tmp_path / "a", ROWS), folder(tmp_path / "b", rows)) == 1
    out = capsys.readouterr().out
    assert [words for words in said if words not in out] == []
    assert out.endswith("1 differences in 1 columns\n")
