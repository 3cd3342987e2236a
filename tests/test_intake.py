"""Ids of one input as the decode page reads them: what they settle for one another."""

from __future__ import annotations

from idcore import intake


def test_ids_of_several_files_settle_one_another() -> None:
    alone, clear = "5FE4660B0000F13D000000A1FB5ED000", "5FE4660B0000F13D0000B2671B690100"
    assert intake.read([("a.log", alone)]).kinds == {"offset": 1}
    made = intake.read([("a.log", alone), ("b.log", f"sent {clear}")])
    assert made.kinds == {"uniq": 2}
    assert [item.source for item in made.found] == ["a.log", "b.log"]
