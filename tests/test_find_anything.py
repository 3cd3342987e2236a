"""What a few typed letters mean: IDs first, then what the scan in sight has, then scans and pages."""

from __future__ import annotations

import pandas as pd
import pytest

from idcore.presentation.triage.find_anything import (
    LONGEST_SOUGHT,
    MOST,
    Group,
    Known,
    address_in,
    looks_like_id,
    search,
)

UNIQ, OFFSET = "0A2A0311" + "6B7B" + "18B4AAC2" + "0B1C2D3E" + "0001", "AC11000100002A9F00000000000E8580"
PAGES = {"decode": "Decode", "counters": "Counters", "brokers": "Brokers", "runs": "Scans"}
RUNS = {
    "20261121-015500-a1b2c3": "orders.log · 2026-11-21 09:55",
    "20261120-015500-a1b2c3": "pay.log · 2026-11-20 09:55",
}
RUN = next(iter(RUNS))
PROCESSES = pd.DataFrame(
    {
        "layout": "uniq_v4",
        "host": ["10.42.3.17", "10.42.3.17", "10.42.3.170"],
        "pid": [27515, 4211, 1],
        "loader": ["18B4AAC2", "14DAD5DC", "18B4AAC2"],
        "ids": [5, 50, 500],
    }
)
HOSTS = pd.DataFrame({"host": ["10.42.3.170", "10.42.3.17"], "ids": [500, 55]})
BROKERS = pd.DataFrame({"address": ["10.42.9.1:10911", "10.42.9.2:10911"], "ids": [1, 2]})
FINDINGS = ["Restart · 10.42.3.17 pid 4211", "IDs missing · 10.42.3.17 pid 27515"]
KNOWN = Known(PAGES, RUNS, RUN, PROCESSES, HOSTS, BROKERS, dict(enumerate(FINDINGS)))


def groups(term: str, known: Known = KNOWN) -> dict[str, Group]:
    return {group.code: group for group in search(term, known)}


def names(term: str, code: str) -> list[str]:
    return [hit.name for hit in groups(term)[code].hits]


@pytest.mark.parametrize("term", [UNIQ, f"  {OFFSET} ", f"msgId={UNIQ}, ok"])
def test_an_id_leads_to_its_lines_in_the_open_scan_and_is_decoded_next(term: str) -> None:
    found = groups(term)["id"].hits
    assert [hit.page for hit in found] == ["lines", "decode", "anatomy", "lookup", "message"]
    text = UNIQ if UNIQ in term else OFFSET
    assert found[1].params == {"ids": text} and found[0].params == {"run": RUN, "ids": text}
    assert next(iter(groups(term))) == "id", "the surest kind is the first"


def test_a_line_with_both_ids_opens_both() -> None:
    found = groups(f"SendResult [msgId={UNIQ}, offsetMsgId={OFFSET}]")["id"].hits
    assert found[1].params == {"ids": f"{UNIQ},{OFFSET}"}
    assert [hit.params["id"] for hit in found if hit.page == "anatomy"] == [UNIQ, OFFSET]


@pytest.mark.parametrize("term", [UNIQ[:-1], "F" * 33, "hello"])
def test_what_is_not_an_id_is_not_offered_as_one(term: str) -> None:
    assert "id" not in groups(term)
    assert looks_like_id(term) == (term != "hello")


def test_a_host_itself_comes_before_larger_ones_that_begin_like_it() -> None:
    assert names("10.42.3.17", "host") == ["10.42.3.17", "10.42.3.170"]
    assert groups("10.42.3.17")["host"].hits[0].params == {"run": RUN, "host": "10.42.3.17"}
    assert groups("10.42.3.17")["host"].hits[0].ids == 55


def test_every_word_counts_and_their_order_does_not() -> None:
    assert names("18b4aac2 10.42.3.17", "process") == ["10.42.3.170 · 1 · 18B4AAC2", "10.42.3.17 · 27515 · 18B4AAC2"]
    assert groups("4211 10.42")["process"].hits[0].params == {"run": RUN, "process": "10.42.3.17~4211~14DAD5DC"}
    assert list(groups("4211 missing")) == ["line"]


def test_brokers_findings_scans_and_pages_are_found() -> None:
    assert groups("9.2:10911")["broker"].hits[0].params == {"run": RUN, "broker": "10.42.9.2:10911"}
    assert groups("missing")["finding"].hits[0].params == {"run": RUN, "finding": "1"}
    assert groups("PAY")["run"].hits[0].params == {"run": "20261120-015500-a1b2c3"}
    assert names("count", "page") == ["Counters"] and names("runs", "page") == ["Scans"], "by its address, too"
    assert groups("counters")["page"].hits[0].params == {"run": RUN}


def test_any_other_text_leads_last_to_the_lines_of_the_open_scan() -> None:
    (key,) = groups(" order-860954509 ")["line"].hits
    assert (key.page, key.params) == ("lines", {"run": RUN, "find": "order-860954509"})
    assert list(groups("10.42"))[-1] == "line", "what has this name is meant first"
    assert "line" not in groups(UNIQ) and "line" not in groups("x" * (LONGEST_SOUGHT + 1))
    assert "line" not in groups("order-860954509", Known(PAGES, RUNS)), "no scan is open"
    assert "line" not in groups("order-860954509", Known(PAGES, RUNS, RUN, has_lines=False)), "a store has no lines"


def test_without_a_term_there_are_scans_and_pages_alone() -> None:
    assert list(groups("")) == ["run", "page"] and len(groups("")["page"].hits) == len(PAGES)


def test_without_a_scan_there_is_nothing_of_one() -> None:
    known = Known(PAGES)
    assert list(groups("10.42", known)) == []
    assert [hit.page for hit in groups(UNIQ, known)["id"].hits] == ["decode", "anatomy", "lookup", "message"]
    assert groups("count", known)["page"].hits[0].params == {}


def test_what_is_not_named_is_counted() -> None:
    hosts = pd.DataFrame({"host": [f"10.0.0.{n}" for n in range(20)], "ids": range(20)})
    found = groups("10.0.0", Known(PAGES, run=RUN, hosts=hosts))["host"]
    assert len(found.hits) == MOST and found.more == 20 - MOST and found.hits[0].name == "10.0.0.19"


@pytest.mark.parametrize("term", ["(", "[a-", "\\", "*", "%", "<b>"])
def test_a_term_is_not_a_pattern(term: str) -> None:
    assert list(groups(term)) == ["line"], "it is sought in the lines as it is, and names nothing"


@pytest.mark.parametrize(
    ("term", "address"),
    [
        ("10.42.3.17", "10.42.3.17"),
        ("27515 10.42.3.17", "10.42.3.17"),
        ("10.42.9.1:10911", "10.42.9.1:10911"),
        ("[2001:db8::1]:10911", "[2001:db8::1]:10911"),
        ("2001:db8:12::42", "2001:db8:12::42"),
        ("10.42.3", None),
        ("10.42.9.1:x", None),
        ("", None),
    ],
)
def test_a_whole_address_is_known(term: str, address: str | None) -> None:
    assert address_in(term) == address


def test_a_comparison_leads_to_its_own_page() -> None:
    known = Known(PAGES, {"a": "ticket 4711 gap", "b": "ticket 4711 log"}, own_pages={"a": "compare"})
    hits = {hit.params["run"]: hit.page for hit in groups("4711", known)["run"].hits}
    assert hits == {"a": "compare", "b": "findings"}
