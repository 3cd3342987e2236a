"""What this visitor decodes: the one object of the decode page, its states, its link and the box it is filled from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.base.errors import CoreError
from idcore.ids.clock import Clock
from idcore.ids.find import find
from idcore.ids.identify import Case, case_of, judge
from idcore.intake.intake import PASTED, Dating, lines_of, sources_of_input
from idcore.presentation.decoding import Decoding
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.runs.runs import SCANS, Run, RunError
from idcore.server import jobs, setting_up
from idcore.server.front_door import OFFLINE, OFFLINE_FILE
from idcore.simulate import example
from pages.parts import browser, problems, scans, session
from pages.parts.runs import keeping, runlist
from pages.parts.view import in_sight, into_address, view

State = Literal["empty", "read", "scanning", "scanned", "failed"]

LONG = 200_000  # characters that the box keeps
SHORT, SOON = 4 << 20, 1.0  # bytes of an input whose scan is waited for, and seconds
LOOKED = 10_000  # characters of a text that is looked through before it is read
LONGEST, SHOWN = 400, 100  # characters of a folded input that are looked at, and in sight
_OF_RUN: dict[str, State] = {"new": "scanning", "running": "scanning", "done": "scanned"}


@dataclass(slots=True)
class DecodeSession(Decoding):
    """What this visitor decodes, and its scan. A scan of a folder of the server has no input here."""

    run: str | None = None
    dated: Dating | None = None
    waits: bool = False  # its scan begins when the table is drawn
    taken: int = 0  # lines that were taken out of the box, for its length
    pressed: bool = False  # a button, with nothing to read
    turn: int = 0  # how many inputs were here before
    typed: bool = False  # still being typed: the box stays as it is, and no scan begins
    bare: bool = False  # the box has not been folded to a line yet

    def read(self) -> None:
        """Reads the input when what was here before is out of sight, once. A scan may begin then."""
        if self.read_now() and self.run is None and self.holds_ids:
            self.dated = Dating.of(self.clock())
            self.waits = not self.typed
        self.agree(scans.log_behind(self.run))

    @property
    def state(self) -> State:
        """Nothing is here; or an input is read, is being scanned, is scanned; or its scan failed or was cancelled."""
        run = self.open_run()
        if run is not None:
            return _OF_RUN.get(run.state, "failed")
        return "read" if self.sources else "empty"

    def clock(self) -> Clock:
        """The reader's clock, or the input's own, with what all lines prove together."""
        return self.dating(self.with_zone_of_scan(view().clock(self.reference)))

    def open_run(self) -> Run | None:
        """Its scan, once it began. The chart pages show it from now on, but one ID takes no other scan's place."""
        if self.run is None:
            return None
        if not self.single or st.session_state.get("run") in (None, self.run):
            scans.remember(self.run)
        else:
            scans.keep_while_here(self.run)
        return scans.visible_runs().open(self.run)

    def is_gone(self) -> bool:
        """Whether its scan was deleted, or is no longer shared: what was read of it is not this visitor's any more."""
        try:
            if self.run is not None:
                scans.visible_runs().open(self.run)
        except RunError:
            return True
        return False

    def begin(self) -> bool:
        """Starts the scan that waits; True where it is there at once: the input is short, or was scanned before."""
        if not self.waits:
            return False
        self.waits = False
        self.scan()
        self.into_link()
        run, engine = self.open_run(), jobs.engine()
        is_soon = engine is not None and engine.state == "ready" and self.size < SHORT
        if is_soon and run is not None and (job := jobs.of(run)) is not None:
            job.wait(SOON)  # what is below the table is then made once, and not for a running scan first
        return self.state == "scanned"

    def scan(self) -> None:
        """Starts the scan of the input where Spark is available, or the scan of a folder of the server once more."""
        if not self.sources and self.run is not None:
            runlist.again(self.run)
            return
        if self.dated is None or not jobs.ready():
            self.waits = setting_up.now() is not None
            return
        items = self.intake.found
        only = items[0].token.text if self.single else None
        try:
            facts = {"ids": len(items), "lines": self.intake.lines, "only": only}
            self.run = scans.begin(self.sources, self.dated, self.case, **facts).name
        except (CoreError, OSError) as error:
            st.session_state["scan_problem"] = problems.message(error, view().words)
        else:
            st.session_state["scan_problem"] = None

    def into_link(self) -> None:
        """The address says what is here, so that it can be copied."""
        case = self.case if self.link and self.case != "strict" else None
        into_address({"ids": self.link, "run": None if self.link else self.run, "case": case})


def current() -> DecodeSession:
    """What this session decoded last."""
    here = st.session_state.get("decode")
    return here if isinstance(here, DecodeSession) else put(DecodeSession())


def put(here: DecodeSession) -> DecodeSession:
    """From now on the page shows this."""
    before = st.session_state.get("decode")
    if isinstance(before, DecodeSession):
        here.turn = before.turn + (not here.typed)
        here.bare = here.typed and (before.bare or not before.sources)
    st.session_state["decode"] = here
    return here


# ---- load: from the address, or from the box


def load() -> DecodeSession:
    """What the address asks for, unless it is here already: ?ids=A,B or ?run=NAME."""
    query, here = st.query_params, current()
    ids, run = query.get("ids"), query.get("run") or (here.run if here.is_gone() else None)
    if ids and here.link != ids:
        text = "\n".join(part.strip() for part in ids.split(",") if part.strip())
        st.session_state["text"] = text
        take(text, [], link=ids, case=case_of(query.get("case", ""), None))
    elif run and not ids and (here.run != run or here.is_gone()):
        try:
            reopen(run)
        except (CoreError, OSError) as error:  # deleted, or no longer shared: earlier IDs are not those of this link
            st.session_state["missing"] = ("error", problems.message(error, view().words))
            if here.run is not None:
                st.session_state["text"] = ""
            put(DecodeSession())
            query.pop("run", None)
            st.session_state.pop("run", None)
    if current().run != query.get("run") and not current().sources and not current().pressed:
        put(DecodeSession())  # the scan of a folder that the address no longer names
    missing()
    return current()


def reopen(name: str) -> None:
    """A scan from its link: what was scanned is read at once again, its scan is not repeated."""
    run = scans.visible_runs().open(name, SCANS)
    here = DecodeSession.of_run(run)
    here.run, here.dated = run.name, Dating.of(here.clock()) if here.sources else None
    scans.remember(run.name)
    st.session_state["text"] = here.text if not here.files and len(here.text) <= LONG else ""
    put(here)


def take(text: str, files: Sequence[Any], *, name: str = PASTED, **known: Any) -> None:
    """What was pasted or uploaded; nothing at all empties the page. `known`: its link, case or reference."""
    sources = sources_of_input(text, files, name)
    st.session_state.pop("missing", None)
    if not sources:
        typed = known.get("typed", False)
        put(DecodeSession(pressed=not typed, typed=typed)).into_link()
        return
    start(DecodeSession(sources, **known))


def start(here: DecodeSession) -> None:
    """Shows it from its first page. It is read there, not in the click, which would leave the old page in sight.

    Its scan waits until the table is drawn, because a large upload is copied first.
    """
    here.unread = True
    put(here)
    st.session_state["ids_page"] = 1
    here.into_link()  # now, or the next look at the address would take up what it asked for before


def decode() -> None:
    """The button: reads the box and the files. A long text is taken out of the box.

    Every click would send it to the browser and back, and draw it again: seconds for 10,000 lines.
    """
    files, text = session.chosen("files"), st.session_state.get("text") or ""
    if current().taken and not text.strip() and not files:
        return  # it is here already
    take(text, files)
    if current().sources and len(text) > LONG:
        current().taken = lines_of(text)
        st.session_state["text"] = ""


def decode_files() -> None:
    """Files were chosen: once all are there they are decoded, without what was in the box before.

    One that is taken away again leaves what is here.
    """
    if files := session.chosen("files"):
        st.session_state["text"] = ""
        take("", files)


def decode_typed() -> None:
    """What is being typed, at a pause: the box stays in sight. With files in it, or long, it waits for the button."""
    text = st.session_state.get("text") or ""
    is_here = current().sources and not current().typed and not text.strip()  # taken out of the box, or from a link
    if not session.chosen("files") and len(text) <= LONG and not is_here:
        take(text, [], typed=True)


def load_example(name: str) -> None:
    """An example into the box, decoded; the long one is like a file."""
    text, reference = example.text_of(name)
    is_file = name == example.NAME
    st.session_state["text"] = "" if is_file else text
    take(text, [], reference=reference, name=name if is_file else PASTED)


def read_case(case: Case) -> None:
    """The same input once more, lower-case ids read as upper case or rejected."""
    before = current()
    if before.sources and not before.is_gone():
        here = before.again(case)
        here.taken = before.taken
        start(here)


# ---- the widgets it is filled from


def box(here: DecodeSession) -> None:
    """The box, the uploader, the buttons and the choice to keep; below an input they are one line, which opens."""
    place = st.empty()  # one of both at a time: else the old form is in sight next to the new one, once in grey
    if not here.sources or here.bare:
        with place.container():
            _form(here, bare=True)
        return
    # The beginning of a pasted text, or the names of files.
    pasted = any(source.name == PASTED for source in here.sources)
    text = " ".join(here.text[:LONGEST].split()) if pasted else ", ".join(source.name for source in here.sources)
    label = view().words("decode.edit", text=escaped(text if len(text) < SHOWN else f"{text[: SHOWN - 1]}…"))
    with place.expander(label, _is_no_id(here), key=f"input-fold-{here.turn}", icon=":material/edit_note:"):
        _form(here, bare=False)  # the answer is first


def _is_no_id(here: DecodeSession) -> bool:
    """Whether a short text has no ID: then it is edited next."""
    text = "" if here.files else here.text
    return 0 < len(text) <= LOOKED and not any(judge(token).best for token in find(text))


def _form(here: DecodeSession, *, bare: bool) -> None:
    words = view().words
    lead = st.empty()  # each element keeps its place, or what moves would be in sight twice, once in grey
    if bare:
        lead.html(tag("p", words("decode.lead"), class_="mq-lead"))
    left, right = st.columns([7, 4], gap="medium")
    with right:  # apart from the form: what is chosen is decoded at once
        st.file_uploader(
            words("decode.upload"), key="files", accept_multiple_files=True, on_change=in_sight(decode_files)
        )
    with left, st.form("input", border=False):
        with st.container(key="decode-box"):
            st.text_area(
                words("decode.box"),
                key="text",
                height=220 if bare else 132,
                placeholder=words("decode.taken", lines=words.count("line", here.taken))
                if here.taken
                else words("decode.placeholder"),
                persist_state="session",
            )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.form_submit_button(words("decode.button"), key="decode-now", type="primary", on_click=decode)
            st.form_submit_button(words("decode.example"), on_click=load_example, args=(example.NAME,))
            st.html(tag("span", words("decode.keys"), class_="mq-faint mq-keys"), width="content")
            st.form_submit_button(words("decode.button"), key="decode-typed", on_click=decode_typed)
    browser.decode_while_typing()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="chips"):
        st.html(tag("span", words("decode.try"), class_="mq-faint mq-try"), width="content")
        for name in example.SHORT:
            label = words(f"decode.chip_{name}")
            st.button(label, key=f"chip-{name}", type="tertiary", on_click=load_example, args=(name,))
    keeping.choice()
    if bare and OFFLINE_FILE.is_file():
        said = words("decode.offline", size=words.bytes(OFFLINE_FILE.stat().st_size))
        st.html(tag("p", tag("a", said, href=OFFLINE, download=OFFLINE_FILE.name), class_="mq-faint"))
    note = st.empty()
    if here.pressed:
        note.warning(words("decode.nothing"), icon=":material/info:")
    elif here.files and any(source.name == PASTED for source in here.sources):
        note.info(words("decode.both"), icon=":material/info:")


def result(here: DecodeSession) -> DeltaGenerator:
    """The place below the box. Two inputs take turns in two places: the old one is out of sight at once."""
    places = [st.container() if here.turn % 2 == place else st.empty() for place in (0, 1)]
    return places[here.turn % 2]


def case_offer(here: DecodeSession) -> None:
    """Strings that only look like IDs, by their letters or their name, are rejected; one click takes that back."""
    words, lower, others = view().words, here.intake.lower, here.intake.look_alikes
    if not lower + others or here.intake.read_in_lower_case:
        return
    more: Case = "any" if lower else "lookalikes"
    other: Case = "strict" if here.case != "strict" else more
    n = f"{lower + others:,}" if others else words.count("lower", lower)
    kind = "_look_alikes" if others else ""
    offer = f"case.any{kind}" if others or not here.intake.cut else "case.any_cut"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if here.case != "strict":
            st.caption(words(f"case.read{kind}", n=n, count=lower + others), width="content")
        st.button(
            words("case.strict" if other == "strict" else offer, n=n, count=lower + others),
            key="case",
            type="tertiary",
            help=words("case.help") if other != "strict" else None,
            icon=":material/match_case:",
            on_click=read_case,
            args=(other,),
        )


def missing() -> None:
    """An address that is not a page, or a scan that cannot be opened, led here: say so once, calmly."""
    state, query = st.session_state, st.query_params
    if name := query.pop("missing", ""):
        name = name if re.fullmatch(r"[\w./-]{1,60}", name) else "…"
        state["missing"] = ("info", view().words("frame.missing", name=name))
    for kind, said in [state["missing"]] if state.get("missing") and current().state == "empty" else []:
        getattr(st, kind)(said, icon=f":material/{kind}:")
