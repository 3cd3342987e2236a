"""Every incident in every variant: what is true of it is found, and nothing else above info."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.findings import START, ZONE, tell
from idcore.findings import CODES
from idcore.ids.incidents import HEALTHY, Incident, names, variants

CASES = [(name, variant) for name in names() for variant in variants(name)]


def test_every_code_has_an_incident_in_several_variants() -> None:
    assert set(names()) == {*CODES, HEALTHY}
    assert all(len(variants(name)) >= 2 for name in names())


@pytest.mark.parametrize(("name", "variant"), CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_an_incident_is_found_and_nothing_else(name: str, variant: str, seed: int, tmp_path: Path) -> None:
    found, truth, _ = tell(Incident(name, variant, seed, START, ZONE), tmp_path)
    got = {(item.code, item.severity, item.subject) for item in found}
    wanted = {(row["code"], row["severity"], row["subject"]) for row in truth["expected"]}
    assert wanted <= got
    assert {row for row in got - wanted if row[1] != "info"} == set()


def test_evidence_is_of_the_log(tmp_path: Path) -> None:
    for name, variant in CASES:
        incident = Incident(name, variant, 3, START, ZONE)
        found, _, _ = tell(incident, tmp_path)
        text = (tmp_path / f"{name}-{variant}.log").read_bytes()
        lines = text.split(b"\n")
        for item in found:
            ids, where = item.evidence["ids"], item.evidence["places"]
            assert ids, (name, variant, item.code)
            assert [one for one in ids if one.encode() not in text] == [], (name, variant, item.code)
            assert set(ids) <= {place["id"] for place in where}
            for place in where:
                digits = place["id"].encode()
                assert text.find(digits) == place["byte"] and digits in lines[place["line"] - 1]
