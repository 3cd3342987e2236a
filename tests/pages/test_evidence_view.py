"""The pictures of findings: a clock that falls, a counter as near as its points allow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd

from idcore.answers.findings.missing import MissingEvidence
from idcore.answers.findings.times import ExpiredEvidence
from idcore.base.catalogue import words
from idcore.presentation.triage import evidence_tables, evidence_texts
from idcore.presentation.triage.strokes import in_order
from pages.parts.charts import findings as charts
from pages.parts.view import View
from tests.pages.conftest import reader

START = datetime(2026, 11, 21, 9, tzinfo=UTC)


def points(counters: list[int], seconds: list[float], missing: dict[int, int] | None = None) -> pd.DataFrame:
    """Points of one process of one chain, as the table of counters holds them."""
    return pd.DataFrame(
        {
            "host": "10.0.0.7",
            "pid": 4711,
            "loader": "18B4AAC2",
            "layout": "uniq_v4",
            "elapsed_ms": [int(1000 * value) for value in seconds],
            "sent_at": pd.to_datetime([START + timedelta(seconds=value) for value in seconds], utc=True),
            "counter": counters,
            "position": [counter - counters[0] for counter in counters],
            "track": 0,
            "chain": 0,
            "missing_before": [(missing or {}).get(counter, 0) for counter in counters],
        }
    )


def test_the_clock_is_drawn_in_the_order_of_the_counter_also_past_zero() -> None:
    made = points([65_534, 65_535, 0, 1, 2], [100, 101, 41, 42, 43]).sample(frac=1, random_state=1)
    ordered = in_order(made)
    assert ordered is not None and ordered["counter"].tolist() == [65_534, 65_535, 0, 1, 2]
    assert ordered["place"].tolist() == [0, 1, 2, 3, 4]
    figure = charts.clock(made, reader())
    assert figure is not None
    seconds = pd.Series(figure.data[0].y).diff().dt.total_seconds().tolist()[1:]
    assert seconds == [1, -60, 1, 1], "the fall is where the clock was set back"


def test_a_clock_without_order_or_dates_is_not_drawn() -> None:
    look = (reader(),)
    assert charts.clock(points([1, 2, 1], [1, 2, 3]), *look) is None
    undated = points([1, 2], [1, 2])
    undated["sent_at"] = pd.Series([pd.NaT, pd.NaT], dtype="datetime64[ns, UTC]")
    assert charts.clock(undated, *look) is None


def test_a_counter_that_spans_little_is_drawn_large_with_its_gap() -> None:
    look = (reader(),)
    counters = [n for n in range(1_000, 1_100) if n not in range(1_040, 1_048)]
    made = points(counters, [n / 10 for n in range(len(counters))], {1_048: 8})
    made["position"] = [counter - 1_000 for counter in counters]
    near = charts.counter(made, *look)
    low, high = near.layout.yaxis.range
    assert 980 < low < 1_000 and 1_099 < high < 1_120 and near.layout.yaxis.ticktext == ("1,000", "1,099")
    assert "8" in " ".join(note.text for note in near.layout.annotations)
    far = charts.counter(points([0, 30_000, 60_000], [0, 1, 2]), *look)
    assert far.layout.yaxis.range[0] == 0 and far.layout.yaxis.range[1] > 65_535


def test_each_gap_has_the_id_below_it_and_what_is_missing_beside_the_id_above() -> None:
    ids, below = ["0A000007126718B4AAC266FF3000000A"], ["0A000007126718B4AAC266FF2F000002"]
    gap = {"before": ids[0], "after": below[0], "missing": 7, "from": 3, "to": 9}
    view = View(words("en"), UTC, "UTC", "chosen", "light")
    shown = str(evidence_tables.id_table(MissingEvidence(ids=ids, after_ids=below, gaps=[gap]), view))
    assert ids[0] in shown and below[0] in shown and ">7<" in shown and ">After<" in shown
    assert "after_ids" not in evidence_texts.fact_line(MissingEvidence(ids=ids, after_ids=below, gap_from=3), view)


def test_a_finding_without_ids_has_no_details_and_breaks_no_page() -> None:
    """`expired` of a 5.x client names its client alone."""
    client = {"mac": "a6:aa:da:3b:f0:0c", "pid": 14730}
    evidence = ExpiredEvidence(cutoff="2026-11-19T04:00+08:00", client=client)
    assert evidence_tables.details(evidence, reader()) == []
    assert evidence_tables.id_table(evidence, reader()) is None
