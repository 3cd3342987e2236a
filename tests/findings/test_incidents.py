"""Every incident in every variant: what is true of it is found, and nothing else above info."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.findings import START, ZONE, tell
from idcore.answers.findings.all_rules import RULES, Finding, to_table
from idcore.presentation.triage import known_findings
from idcore.simulate import incidents, situations
from idcore.simulate.incidents import HEALTHY, STORIES, Incident
from tests.findings.test_registry import are_as_declared

pytestmark = pytest.mark.quick

CASES = [(name, variant) for name in sorted(STORIES) for variant in STORIES[name]]


def test_every_code_has_an_incident_in_several_variants() -> None:
    for known, of_store in ((incidents, False), (situations, True)):
        of_rules = {rule.incident.partition("/")[0] for rule in RULES.values() if rule.of_store == of_store}
        assert of_rules <= set(known.STORIES) <= {*RULES, HEALTHY}
        assert all(len(stories) >= 2 for stories in known.STORIES.values())


# What readers who knew only the page asked for: it stands in the sentence itself, not only in the evidence.
BORN_HOST = "Its host according to bornHost in the log: 10."
ASKED = {
    ("collision", None): "The ID contains its producer: ",
    ("duplicate_send", "own_log"): "The ID contains its producer: ",  # a SendResult has no store time
    ("duplicate_send", None): " s apart. The ID contains its producer: ",
    ("clock_back", None): "No ID was generated twice",
    ("missing_ids", "one"): "In the gap the log shows a failed send: “",
    ("missing_ids", "an_outage"): "In the gap the log shows a failed send: “",
    ("missing_ids", "failed_sends"): "In 4 of the 4 widest gaps the log shows a failed send; the first: “",
    ("broker_address_internal", None): "successful sends to it (SEND_OK)",
    ("loopback_host", None): BORN_HOST,
    ("link_local_host", None): BORN_HOST,
    ("container_host", None): BORN_HOST,
    ("fake_host", "java"): BORN_HOST,
    ("fake_host", "java_after_an_hour"): BORN_HOST,
    ("broker_moved", "after_an_hour"): "neither address appeared for at least 59 min",
    ("restart", "three_times"): "which looks like a crash loop",
    ("stored_copies", "consumer_retry"): "Consumer groups that retried: orders",
}


@pytest.mark.long(
    cases=[f"missing_ids-{share}_percent_at_random" for share in (10, 30, 60, 90)]
    + [f"missing_ids-hole_of_{share}_percent" for share in (1, 5, 30)]
)
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_an_incident_is_found_and_nothing_else(name: str, variant: str, tmp_path: Path) -> None:
    """The tests of the registry tell one variant of each with another seed, the benchmark all with several."""
    found, truth, _ = tell(Incident(name, variant, 1, START, ZONE), tmp_path)
    assert not known_findings.unknown(to_table(found).to_pandas()), "each can be said, so none is left out"
    got = {(item.code, item.severity, item.subject) for item in found}
    wanted = {(row["code"], row["severity"], row["subject"]) for row in truth["expected"]}
    assert wanted <= got
    assert {row for row in got - wanted if row[1] != "info"} == set()
    expected = {(code, subject) for code, _, subject in wanted if code == name}
    said = [item.say("meaning") for item in found if (item.code, item.subject) in expected]
    of_others = [item.say("meaning") for item in found if (item.code, item.subject) not in expected]
    asked = ASKED.get((name, variant), ASKED.get((name, None)))
    assert said or name == HEALTHY
    assert not asked or all(asked in text for text in said)
    assert not [text for text in of_others for wish in ASKED.values() if wish in text]
    assert not [text for text in said for wish in ASKED.values() if wish in text and wish not in (asked or "")]
    are_as_declared(found)
    shows_its_evidence(found, tmp_path / f"{name}-{variant}.log")


def shows_its_evidence(found: list[Finding], path: Path) -> None:
    """Every ID and place that a finding names is in the log."""
    text = path.read_bytes()
    lines = text.split(b"\n")
    for item in found:
        ids, where = item.evidence["ids"], item.evidence.places
        if item.code == "send_failed":  # its lines may name no ID: it quotes the first of them
            said, place = item.evidence["failed_line"].rstrip("…"), item.evidence["failed_at"]
            assert " ".join(lines[int(place.rpartition(":")[2]) - 1].decode().split()).startswith(said)
        else:
            assert ids, item.code
        assert [one for one in ids if one.encode() not in text] == [], item.code
        assert set(ids) <= {place["id"] for place in where}
        for place in where:
            digits = place["id"].encode()
            byte = place.get("byte", text.find(digits))  # what a line says of a delivery has none
            assert text[byte : byte + len(digits)] == digits and digits in lines[place["line"] - 1]
