"""A scan of an open folder in Spark's workers: what is swapped for a link meanwhile is not read by any of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.intake.allowed import guard_of, roots_of
from idcore.spark import job
from idcore.spark.job import ScanOptions, scan

OPENED, CLOSED = "AC110001473C7D4991AD336AEA5703E0", "0A14030B125E18B4AAC263F506AA0035"


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("swapped", [False, True])
def test_a_folder_that_becomes_a_link_while_it_is_scanned_gives_nothing(
    swapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, ids in (("open", OPENED), ("closed", CLOSED)):
        (tmp_path / name / "logs").mkdir(parents=True)
        for number in range(3):
            (tmp_path / name / "logs" / f"{number}.log").write_text(f"msgId={ids}\n")
    listed = job.list_files

    def then_swapped(*given: object) -> object:
        found = listed(*given)  # type: ignore[arg-type]
        if swapped:
            (tmp_path / "open" / "logs").rename(tmp_path / "aside")
            (tmp_path / "open" / "logs").symlink_to(tmp_path / "closed" / "logs")
        return found

    monkeypatch.setattr(job, "list_files", then_swapped)
    roots = guard_of(roots_of(str(tmp_path / "open")))
    options = ScanOptions(UTC, "assumed", datetime(2026, 11, 21, tzinfo=UTC), roots=roots)
    found = scan([str(tmp_path / "open")], tmp_path / "out", options)
    assert (found["ids"], found["failed_files"], found["files"]) == ((0, 3, 3) if swapped else (3, 0, 3))
