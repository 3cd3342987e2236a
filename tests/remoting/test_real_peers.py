"""The verdicts next to those of mqadmin's own code (messageTrackDetail), on the same messages of the same brokers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from idcore.answers.fate.rule import YOUNG_MS
from tests.remoting.boot import OneBroker
from tests.remoting.test_real_fate import ask

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "mqadmin.md"
HEAD = "| what the group did | mqadmin, 5.3.3 | `--fate`, 5.3.3 | mqadmin, 4.9.7 | `--fate`, 4.9.7 |"
TOPICS = {"first": "FateTopic", "judged": "Reasons", "closed": "Closed", "backlog": "Backlog"}
# What the group did, its name, the message; then for each release what mqadmin says and what we say.
CASES = (
    ("consumed it", "works", "first", "CONSUMED", "consumed", "CONSUMED", "consumed"),
    (
        "consumed it, then went offline",
        "gone",
        "first",
        "NOT_ONLINE",
        "consumed, uncertain",
        "NOT_ONLINE",
        "consumed, uncertain",
    ),
    (
        "failed, and waits for the next attempt",
        "fails",
        "first",
        "CONSUMED",
        "retry_waiting",
        "CONSUMED",
        "retry_waiting",
    ),
    (
        "failed, and has not taken the retry",
        "lingers",
        "judged",
        "CONSUMED",
        "retry_queued",
        "CONSUMED",
        "retry_queued",
    ),
    ("failed, then succeeded", "later", "first", "CONSUMED", "consumed_on_retry", "CONSUMED", "consumed_on_retry"),
    ("failed for good", "dies", "first", "CONSUMED", "dead", "CONSUMED", "dead"),
    (
        "has a tag filter that excludes it",
        "tagged",
        "first",
        "CONSUMED_BUT_FILTERED",
        "filtered",
        "CONSUMED_BUT_FILTERED",
        "filtered",
    ),
    (
        "has an SQL filter that excludes it",
        "sql",
        "judged",
        "CONSUMED",
        "filtered",
        "CONSUMED",
        "filtered",
    ),
    (
        "subscribed later, from the last offset",
        "newcomer",
        "first",
        "CONSUMED",
        "passed_maybe_skipped, uncertain",
        "CONSUMED",
        "passed_maybe_skipped, uncertain",
    ),
    ("pulled it", "pulls", "first", "PULL", "taken, uncertain", "PULL", "taken, uncertain"),
    ("consumed it by broadcast", "spread", "first", "", "broadcast", "NOT_ONLINE", "broadcast, uncertain"),
    ("has it in a listener that hangs", "hangs", "first", "NOT_CONSUME_YET", "handed_out", "NOT_CONSUME_YET", "stuck"),
    ("has a client, but no offset", "fresh", "judged", "", "never_read, uncertain", "NOT_ONLINE", "stuck"),
    (
        "is behind, with a filter that excludes it",
        "choosy",
        "judged",
        "NOT_CONSUME_YET",
        "filtered_ahead",
        "NOT_CONSUME_YET",
        "filtered_ahead",
    ),
    (
        "is behind, and subscribes another topic",
        "elsewhere",
        "judged",
        "NOT_CONSUME_YET",
        "not_subscribed",
        "NOT_CONSUME_YET",
        "not_subscribed",
    ),
    ("is only behind", "slow", "backlog", "NOT_CONSUME_YET", "behind", "NOT_CONSUME_YET", "behind"),
    ("is disabled", "disabled", "judged", "UNKNOWN", "disabled", "UNKNOWN", "disabled"),
    (
        "has a queue that nobody may read",
        "reads",
        "closed",
        "UNKNOWN",
        "unreadable_queue",
        "UNKNOWN",
        "unreadable_queue",
    ),
    ("is not a group: the topic's own name", "FateTopic", "first", "UNKNOWN", "", "", ""),
)


def cell(said: str) -> str:
    code, comma, doubt = said.partition(",")
    return f"`{code}`{comma}{doubt}" if said else "–"


def test_the_document_has_each_case() -> None:
    rows = [f"| {what} | {' | '.join(map(cell, said))} |" for what, _, _, *said in CASES]
    assert "\n".join([HEAD, "|---|---|---|---|---|", *rows]) in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.long(first=1)
@pytest.mark.java
@pytest.mark.timeout(240)
def test_mqadmin_and_the_verdict_say_so(alone: OneBroker) -> None:
    alone.wait_for("READY", "REASONS")
    newest = max(int(alone.words("SENT", name)[1]) for name in TOPICS)
    time.sleep(max(0.0, (newest + YOUNG_MS) / 1_000 - time.time()))
    asked, ours = [], {}
    for name, topic in TOPICS.items():
        answer, verdicts = ask(alone, name, topic)
        asked.append(f"{name} {topic} {answer.copies[0].record.offset_id}\n")
        for group, verdict in verdicts.items():
            doubt = ", uncertain" if verdict.certainty == "uncertain" else ""
            ours[name, group] = verdict.code + doubt
    file = alone.work / "clients" / "tracks"
    file.with_name("asking").write_text("".join(asked), encoding="utf-8")
    file.with_name("asking").rename(file)  # whole from the first moment
    alone.wait_for(*(f"TRACKED {name}" for name in TOPICS))
    theirs = {(words[1], words[2]): words[3] for words in alone.events if words[0] == "TRACK"}
    first = 5 if alone.old else 3
    found = [(what, theirs.get((name, group), ""), ours.get((name, group), "")) for what, group, name, *_ in CASES]
    assert found == [(case[0], case[first], case[first + 1]) for case in CASES]
