"""The decode page's desk: what was pasted or uploaded, read at once, and the scan it starts. Draws only the input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import streamlit as st

from idcore import export, intake
from idcore.errors import CoreError
from idcore.ids.clock import Clock
from idcore.ids.dating import Dates, dates_of
from idcore.ids.describe import Seeds
from idcore.ids.identify import Case
from idcore.intake import PASTED, Dating, Source
from idcore.runs import Run
from idcore.simulate import example
from pages.parts import cards, problems, scans
from pages.parts.markup import tag
from pages.parts.text import Words
from pages.parts.view import view

MOST_LINKED = 20  # ids that an address can carry
LONG = 200_000  # characters that the box keeps


@dataclass(slots=True)
class DecodeSession:
    """What lies on the desk of this session."""

    intake: intake.Intake
    sources: list[Source]
    lines: int  # of pasted text
    case: Case = "strict"
    reference: datetime | None = None
    link: str | None = None
    run: str | None = None
    dated: Dating | None = None
    waits: bool = False
    taken: bool = False  # out of the box, for its length
    made: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    dates: dict[str, Dates] = field(default_factory=dict)
    seeds: Seeds = field(default_factory=Seeds)

    @property
    def files(self) -> bool:
        """Whether files lie here, not only a text."""
        return any(source.name != PASTED for source in self.sources)

    def where(self, words: Words) -> str:
        """What was read: so many lines of text, or so many files."""
        return words.count("file", len(self.sources)) if self.files else words.count("line", self.lines)

    def exports(self) -> tuple[bytes, bytes]:
        """All ids as CSV and as JSON Lines, made once for a zone."""
        key = f"{view().zone_name} {view().zone_from}"
        if key not in self.made:
            rows = list(intake.rows_of(self.intake, self.clock(), self.seeds))
            self.made = {key: (export.file_of(export.csv_of_ids(rows)), export.file_of(export.json_lines(rows)))}
        return self.made[key]

    def clock(self) -> Clock:
        """The reader's clock, or the input's own, with what all lines prove together."""
        clock = cards.clock_of(view(), self.reference)
        key = f"{view().zone_name} {view().zone_from}"
        if key not in self.dates:
            self.dates = {key: dates_of(((item.verdict, item.token) for item in self.intake.found), clock)}
        return replace(clock, dates=self.dates[key])


def current() -> DecodeSession | None:
    """What this session decoded last."""
    found = st.session_state.get("desk")
    return found if isinstance(found, DecodeSession) else None


def laid() -> DecodeSession:
    """What lies here; without anything the page ends, and says so where a button was pressed all the same."""
    here = current()
    if here is None:
        if st.session_state.get("nothing"):
            st.warning(view().words("decode.nothing"), icon=":material/info:")
        st.stop()
    return here


def box() -> None:
    """The box, the uploader, the two buttons and the three chips."""
    words = view().words
    bare = current() is None
    if bare:
        st.html(tag("p", words("decode.lead"), class_="mq-lead"))
    with st.form("input", border=False):
        left, right = st.columns([7, 4], gap="medium")
        with left:
            st.text_area(
                words("decode.box"),
                key="text",
                height=220 if bare else 132,
                placeholder=placeholder(words),
                persist_state="session",
            )
        with right:
            st.file_uploader(words("decode.upload"), key="files", accept_multiple_files=True)
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.form_submit_button(words("decode.button"), type="primary", on_click=decode)
            st.form_submit_button(words("decode.example"), on_click=load, args=(example.NAME,))
            st.html(tag("span", words("decode.keys"), class_="mq-faint mq-keys"), width="content")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="chips"):
        st.html(tag("span", words("decode.try"), class_="mq-faint mq-try"), width="content")
        for name in ("send_result", "consumed", "incident"):
            st.button(words(f"decode.chip_{name}"), key=f"chip-{name}", type="tertiary", on_click=load, args=(name,))


def placeholder(words: Words) -> str:
    """What the empty box says: what to paste, or where a long text went."""
    here = current()
    if here is not None and here.taken:
        return words("decode.taken", lines=words.count("line", here.lines))
    return words("decode.placeholder")


def decode() -> None:
    """The button: reads the box and the files. A long text is taken out of the box.

    Every click would send it to the browser and back, and lay it out again: seconds for 10,000 lines.
    """
    files, text = st.session_state.get("files") or [], st.session_state.get("text") or ""
    before = current()
    if before is not None and before.taken and not text.strip() and not files:
        return  # it lies here already
    take(text, files)
    here = current()
    if here is not None and len(text) > LONG:
        here.taken = True
        st.session_state["text"] = ""


def load(name: str) -> None:
    """An example into the box, decoded."""
    texts = {"send_result": example.send_result, "consumed": example.consumed, "incident": example.incident}
    if name in texts:
        st.session_state["text"] = texts[name]()
        take(texts[name](), [], reference=example.now() if name == "incident" else None)
    else:
        st.session_state["text"] = ""
        take(example.log(), [], reference=example.now(), name=example.NAME)


def from_link() -> None:
    """What the address asks for, unless it lies here already: ?ids=A,B or ?run=NAME."""
    query, here = st.query_params, current()
    ids, run = query.get("ids"), query.get("run")
    case: Case = "any" if query.get("case") == "any" else "strict"
    if ids and (here is None or here.link != ids):
        text = "\n".join(part.strip() for part in ids.split(",") if part.strip())
        st.session_state["text"] = text
        take(text, [], link=ids, case=case)
    elif run and not ids and (here is None or here.run != run):
        try:
            if elsewhere() is None:
                reopen(run)
            else:
                st.session_state["desk"] = None
        except (CoreError, OSError) as error:  # a link to a run that was deleted: say so, and offer the empty box
            problems.show(error)
            del query["run"]
            st.session_state.pop("run", None)


def elsewhere() -> Run | None:
    """The run that the address names, where it scanned a folder of the server: no copy of that can lie here."""
    name, here = st.query_params.get("run"), current()
    if not name or st.query_params.get("ids") or (here is not None and here.run == name):
        return None
    run = scans.store().open(name)
    return None if intake.kept(run) else run


def into_link() -> None:
    """The address says what lies here, so that it can be copied."""
    here, query = current(), st.query_params
    if here is None:
        return
    case = "any" if here.link and here.case == "any" else None
    wanted = {"ids": here.link, "run": None if here.link else here.run, "case": case}
    for name, value in wanted.items():
        if value is None:
            query.pop(name, None)
        elif query.get(name) != value:
            query[name] = value


def take(
    text: str,
    files: Sequence[Any],
    *,
    reference: datetime | None = None,
    link: str | None = None,
    name: str = PASTED,
    case: Case = "strict",
) -> None:
    """What was pasted or uploaded onto the desk; nothing at all clears it."""
    sources = [Source(name, text.encode())] if text.strip() else []
    sources += [Source(file.name, file) for file in files]
    st.session_state["nothing"] = not sources
    st.session_state.pop("missing", None)
    if not sources:
        st.session_state["desk"] = None
        for param in ("ids", "run", "case"):
            st.query_params.pop(param, None)
        return
    here = lay(sources, case)
    here.reference = reference
    ids = intake.ids_of(here.intake, MOST_LINKED) if not here.files and only_ids(text) else None
    here.link = link or (",".join(ids) if ids else None)
    start(here)


def lay(sources: Sequence[Source], case: Case) -> DecodeSession:
    """Reads the beginning of everything at once."""
    read, more, lines = [], False, 0
    failed: list[tuple[str, str]] = []
    partly: list[tuple[str, str]] = []
    only = [source.name for source in sources] == [PASTED]
    for source in sources:
        heads = intake.heads_of(source.data, "" if only else source.name)
        lines += sum(lines_of(text) for _, text in heads.texts) if source.name == PASTED else 0
        read += heads.texts
        failed += heads.failed
        partly += heads.partly
        more = more or heads.more
    made = intake.read(read, case=case)
    made.cut, made.failed, made.partly = made.cut or more, failed, partly
    return DecodeSession(made, list(sources), lines, case)


def start(here: DecodeSession) -> None:
    """Lays it on the desk; its scan waits until the table stands, for a large upload is copied first."""
    st.session_state["desk"] = here
    st.session_state["ids_page"] = 1
    if here.intake.found or here.intake.cut:  # ids may well stand behind the beginning
        here.dated = Dating.of(here.clock())
        here.waits = True
    into_link()  # now, or the next look at the address would take up what it asked for before


def begin(here: DecodeSession) -> bool:
    """Starts the scan that waits; True where the same input had been scanned before and is there at once."""
    if not here.waits:
        return False
    here.waits = False
    scan(here)
    into_link()
    return here.run is not None and scans.store().open(here.run).state == "done"


def run_of(here: DecodeSession) -> Run | None:
    """The run of what lies here, once its scan began; the chart pages show it from now on."""
    if here.run is None:
        return None
    scans.remember(here.run)
    return scans.store().open(here.run)


def read_case(case: Case) -> None:
    """The same input once more, lower-case ids read as upper case or refused."""
    before = current()
    if before is not None:
        here = lay(before.sources, case)
        here.reference, here.link, here.taken = before.reference, before.link, before.taken
        start(here)


def scan(here: DecodeSession) -> None:
    """Starts the scan of what lies here, where Spark is to be had."""
    if here.dated is None or not scans.ready():
        return
    found = here.intake.found
    only = found[0].token.text if len(found) == 1 and not here.intake.cut else None
    try:
        run = scans.begin(here.sources, here.dated, here.case, ids=len(found), lines=here.lines, only=only)
        here.run = run.name
    except (CoreError, OSError) as error:
        st.session_state["scan_problem"] = problems.message(error, view().words)
    else:
        st.session_state["scan_problem"] = None


def reopen(name: str) -> None:
    """A run from its link: what was scanned is read at once again, its scan is not repeated."""
    run = scans.store().open(name)
    here = lay(intake.kept(run), "any" if run.options.get("case") == "any" else "strict")
    here.reference, here.run = at_of(run), run.name
    here.dated = Dating.of(here.clock())
    st.session_state["desk"] = here
    scans.remember(run.name)


def at_of(run: Run) -> datetime | None:
    """ "Now" as a run took it."""
    at = run.options.get("at")
    return datetime.fromisoformat(at) if isinstance(at, str) else None


def lines_of(text: str) -> int:
    """How many lines a text has; an end of line at its end opens no new one."""
    return text.count("\n") + (not text.endswith("\n"))


def only_ids(text: str) -> bool:
    """Whether a text is a list of ids and nothing else: only then may a link carry it."""
    pieces = text.replace(",", " ").split()
    return bool(pieces) and all(piece.isalnum() and len(piece) <= 80 for piece in pieces)


def case_offer(here: DecodeSession) -> None:
    """Ids whose letters are all lower case are refused; where there are some they can be read all the same."""
    words, n = view().words, here.intake.lower
    if not n:
        return
    other: Case = "strict" if here.case == "any" else "any"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if here.case == "any":
            st.caption(words("case.read", n=words.count("lower", n)), width="content")
        st.button(
            words(f"case.{other}", n=words.count("lower", n)),
            key="case",
            type="tertiary",
            help=words("case.help") if other == "any" else None,
            icon=":material/match_case:",
            on_click=read_case,
            args=(other,),
        )


def missing() -> None:
    """An address that is no page led here: say so once, calmly."""
    state, query = st.session_state, st.query_params
    if name := query.get("missing"):
        state["missing"] = name if re.fullmatch(r"[\w./-]{1,60}", name) else "…"
        del query["missing"]
    if state.get("missing") and current() is None:
        st.info(view().words("frame.missing", name=state["missing"]), icon=":material/info:")
