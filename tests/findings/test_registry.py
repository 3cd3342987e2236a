"""A finding is one registration: a rule and its words appear everywhere, and say of themselves what is true."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from benchmarks import findings as measured
from benchmarks import stores
from idcore.answers import finding_words as words
from idcore.answers.findings import all_rules
from idcore.answers.findings.all_rules import RULES, SEVERITIES, Finding, Rule
from idcore.answers.findings.finding_builder import largest_findings, of_process
from idcore.answers.findings.model import read_evidence
from idcore.answers.findings.processes import Processes
from idcore.answers.findings.registry import Scan, register
from idcore.base.catalogue import en, languages, zh
from idcore.base.catalogue import words as console
from idcore.presentation import documents
from idcore.presentation.html import findings as html
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import scans
from idcore.presentation.triage import finding_texts
from idcore.simulate import situations
from idcore.simulate.incidents import Incident
from idcore.simulate.situations import Situation
from pages.parts.triage import report
from pages.parts.view import View
from scripts.rendered import pages as docs
from tests.findings.test_words import findings_of_everything
from tests.pages.test_findings import judged

pytestmark = pytest.mark.quick

# What people script against: codes and severities stay, and new ones may be added.
CONTRACT = {
    "error": ("collision", "shared_fingerprint", "clock_back"),
    "warning": (
        "duplicate_send",
        "consume_failed",
        "send_not_ok",
        "group_stalled",
        "poison_message",
        "group_skipped",
        "retry_storm",
        "dead_letters",
        "topic_unread",
        "missing_ids",
        "id_confusion",
        "received_twice",
        "broker_address_internal",
        "broker_moved",
        "pid_erased",
        "fake_host",
        "loopback_host",
        "link_local_host",
        "zone_mismatch",
        "elapsed_impossible",
    ),
    "info": ("restart", "counter_wrap", "stored_copies", "container_host", "foreign_maker", "expired"),
}
LANGUAGES = tuple(map(console, languages()))
# Message keys of every code.
COMMON = {"more", "unseen"}


def test_codes_and_severities_of_the_contract_stay() -> None:
    for severity, codes in CONTRACT.items():
        assert [code for code in codes if RULES[code].severity != severity] == []
    order = [code for code in RULES if any(code in codes for codes in CONTRACT.values())]
    assert order == [code for severity in SEVERITIES for code in CONTRACT[severity]]


@pytest.mark.long(first=5)
@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_its_incident_proves_a_rule(rule: Rule, tmp_path: Path) -> None:
    name, _, variant = rule.incident.partition("/")
    if rule.of_store:
        found, _, _ = stores.tell(Situation(name, variant, 11, measured.START, measured.ZONE), tmp_path)
    else:
        found, _, _ = measured.tell(Incident(name, variant, 11, measured.START, measured.ZONE), tmp_path)
    assert (rule.code, rule.severity) in {(item.code, item.severity) for item in found}
    are_as_declared(found)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_the_message_keys_of_a_rule_are_its_words(rule: Rule) -> None:
    declared = {*rule.variants, *rule.also}
    assert set(rule.info_variants) <= declared and set(rule.background) <= declared
    for said in LANGUAGES:
        keys = {key for part in words.SENTENCES for key in said.table(f"{part}.") if key.partition(".")[0] == rule.code}
        assert {key.partition(".")[2] for key in keys} - {""} <= declared
        assert set(rule.also) <= said.table("also.").keys()


def test_all_words_belong_to_a_rule() -> None:
    for said in LANGUAGES:
        keys = {key.partition(".")[0] for part in words.SENTENCES for key in said.table(f"{part}.")}
        assert keys == {*RULES, *COMMON}
        assert set(said.table("also.")) == {name for rule in RULES.values() for name in rule.also}


@pytest.mark.long
@pytest.mark.slow
def test_findings_of_other_stores_are_as_their_rules_declare(tmp_path: Path) -> None:
    proving = {rule.incident for rule in RULES.values() if rule.of_store}
    for name in sorted(situations.STORIES):
        others = [variant for variant in situations.STORIES[name] if f"{name}/{variant}" not in proving]
        for variant in others if name != situations.HEALTHY else ():
            found, _, _ = stores.tell(Situation(name, variant, 23, measured.START, measured.ZONE), tmp_path)
            are_as_declared(found)


def test_findings_of_everything_are_as_their_rules_declare() -> None:
    are_as_declared(findings_of_everything())


def are_as_declared(found: Iterable[Finding]) -> None:
    """Each has the variant and the severity that its rule declares; tests of incidents hold theirs to it, too."""
    for item in found:
        rule, variant = RULES[item.code], item.evidence.get("variant", "")
        assert variant in ("", "more", *rule.variants), item
        assert set(item.evidence.get("also", ())) <= set(rule.also), item
        assert variant == "more" or (item.severity == "info") == (
            rule.severity == "info" or variant in rule.info_variants
        )


# ---- a rule that nothing else knows

CODE = "even_pid"
SAID = {
    "meaning": "{subject} has an even pid",
    "advice": "Make it odd.",
    "disproof": "Its pid is odd.",
    "decided": "The pid is even.",
}
SAID_ZH = {"meaning": "{subject} 的进程号是偶数", "advice": "改成奇数。", "disproof": "进程号是奇数。"}
AT = datetime(2026, 11, 21, tzinfo=UTC)
LOG = "\n".join(f"msgId=0A0000070D5818B4AAC2{1_000_000 + 10 * n:08X}{100 + n:04X}" for n in range(50))
SUBJECT = "10.0.0.7 pid 3416 loader 18B4AAC2"


def even(processes: Processes, _: Scan) -> Iterator[Finding]:
    yield from largest_findings(processes, processes["pid"] % 2 == 0, CODE, lambda at: of_process(processes, at, CODE))


def rule_of(**other: object) -> Rule:
    given = {"rank": 65, "incident": "pid_erased/v4", "of_processes": even, **other}
    return Rule(CODE, "warning", **given)  # type: ignore[arg-type]


@pytest.fixture
def even_pid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rule]:
    """The rule and its words in both languages: all that a new finding is."""
    monkeypatch.setenv("IDCORE_NO_SPARK", "1")
    for language, said in ((en, SAID), (zh, SAID_ZH)):
        for part, text in said.items():
            monkeypatch.setitem(language.MESSAGES, f"{part}.{CODE}", text)
    monkeypatch.setitem(en.MESSAGES, f"finding.{CODE}", "Even pid")
    register(rule_of())
    yield RULES[CODE]
    del RULES[CODE]


def test_a_new_rule_is_in_the_table_the_console_and_the_command_line(even_pid: Rule, tmp_path: Path) -> None:
    run = judged(tmp_path, LOG)
    (row,) = [row for row in run.table("findings").to_pylist() if row["code"] == CODE]
    assert (row["severity"], row["subject"], row["count"]) == ("warning", SUBJECT, 50)
    assert json.loads(row["values"]) == {"subject": SUBJECT, "count": 50, "assumed": ["month"]}
    # the command line, as JSON and as text
    for lang, said in (("en", SAID), ("zh", SAID_ZH)):
        (told,) = [told for told in scans.findings(run.path, lang) if told["code"] == CODE]
        assert told["advice"] == said["advice"] and told["disproof"] == said["disproof"]
    lines = scans.finding_lines(run.table("findings").to_pandas(), Reader(console("en"), UTC))
    assert f"  Warning: Even pid. {SUBJECT} has an even pid. Make it odd." in lines
    # the console: the list of what was checked, the card, the report
    view = View(console("en"), UTC, "UTC", "chosen", "light")
    counted, checked = finding_texts.silent(pd.DataFrame(), view.words)
    assert (
        f"{len(RULES)} checks" in counted
        and "Process ID missing (pid 0); Even pid; Host address is not real" in checked
    )
    assert CODE in finding_texts.silent(pd.DataFrame(), console("zh"))[1], "without a name of its own it has its code"
    some = pd.DataFrame([row])
    assert "Even pid" not in finding_texts.silent(some, view.words)[1], "it found something"
    assert "Even pid" in str(html.head(row, view)) and SUBJECT in str(html.head(row, view))
    assert finding_texts.say("advice", row, view) in report.markdown(run, view)
    assert pq.read_table(run.path / "findings").num_rows >= 1


def test_a_new_rule_is_in_its_place_in_the_docs_and_in_the_measurement(even_pid: Rule) -> None:
    page = docs.findings()
    before, place, after = (page.index(f" (`{code}`)\n") for code in ("pid_erased", CODE, "fake_host"))
    assert before < place < after
    section = page[place:after]
    assert "Severity: warning. The pid is even." in section
    assert "- `subject` has an even pid\n" in section and "- Make it odd.\n" in section
    assert "python -m idcore make incident pid_erased --variant v4 " in section
    assert f"| [{CODE}](#even-pid-{CODE}) | Even pid | warning |" in page and f"\n### Even pid (`{CODE}`)\n" in page
    assert f"| {CODE} | 0 | 0 | 0 |" in measured.table({})
    found = [Finding.of(code, "p", 9, {"ids": []}) for code in ("fake_host", CODE, "pid_erased", "collision")]
    assert [item.code for item in all_rules.worst_first(found)] == ["collision", "pid_erased", CODE, "fake_host"]


def test_a_rule_is_registered_once_and_with_a_predicate(even_pid: Rule) -> None:
    before = list(RULES)
    for wrong in (rule_of(), rule_of(of_processes=None)):
        with pytest.raises(ValueError, match=CODE):
            register(wrong)
    with pytest.raises(ValueError, match="other"):
        register(Rule("other", "fatal", 1, "", of_processes=even))
    assert list(RULES) == before


# ---- docs/findings.md


def test_the_pages_are_rendered_from_the_rules() -> None:
    assert docs.FINDINGS.read_text(encoding="utf-8") == docs.findings(), "make docs"
    assert docs.FINDINGS_ZH.read_text(encoding="utf-8") == docs.findings("zh"), "make docs"
    assert docs.DECIDED.read_text(encoding="utf-8") == docs.decided(), "make docs"


@pytest.mark.parametrize("lang", docs._FINDINGS)
def test_every_message_of_every_rule_is_on_the_page(lang: str) -> None:
    page = docs.findings(lang)
    for part in words.SENTENCES:
        for key, template in console(lang).table(f"{part}.").items():
            assert key in COMMON or key.endswith(".unseen") or docs._filled(template) in page, key
    for template in console(lang).table("also.").values():
        assert docs._filled(template).lstrip(". 。") in page


@pytest.mark.parametrize("lang", docs._FINDINGS)
def test_the_section_of_a_code_is_in_the_page_of_each_language(lang: str) -> None:
    found = documents.document("findings", lang)
    assert found is not None and found.lang == lang
    for code in RULES:
        part = documents.section(found, code)
        assert part is not None and part.startswith(f"### {console(lang)(f'finding.{code}')} (`{code}`)"), code


# ---- evidence


def test_evidence_is_read_as_it_was_written(tmp_path: Path) -> None:
    for item in findings_of_everything():
        row = json.loads(all_rules.to_table([item])["evidence"][0].as_py())
        assert dict(read_evidence(item.code, row)) == row, item.code


def test_a_rule_has_no_figures_but_those_of_its_class() -> None:
    with pytest.raises(TypeError, match="tracks"):
        Finding.of("pid_erased", "p", 1, {"ids": [], "tracks": 2})


def test_figures_of_another_version_are_left_out() -> None:
    read = read_evidence("pid_erased", {"ids": ["A"], "figure_of_tomorrow": 1})
    assert dict(read) == {"ids": ["A"]}


def test_a_figure_that_is_not_known_is_null_where_the_table_always_has_it() -> None:
    (row,) = all_rules.to_table([Finding.of("group_skipped", "t@g", 1, {"topic": "t", "ids": []})]).to_pylist()
    assert json.loads(row["evidence"])["consumer_offset"] is None


def test_a_server_that_has_scanned_nothing_reads_a_finding() -> None:
    """A link to findings may be its first request: nothing has loaded the rules yet."""
    code = "from idcore.presentation.triage.finding_rows import evidence_of; "
    code += """evidence_of({"code": "container_host", "evidence": '{"ids": []}'})"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2], timeout=60)
