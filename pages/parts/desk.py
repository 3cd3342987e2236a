"""The decode page's desk: what was pasted or uploaded, read at once, and the scan it starts. Draws only the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import streamlit as st

from idcore.errors import IdError
from idcore.ids.clock import Clock
from idcore.runs import Run
from pages.parts import cards, example, export, intake, problems, refusals, scans
from pages.parts.markup import tag
from pages.parts.text import Words
from pages.parts.view import view

MOST_LINKED = 20  # ids that an address can carry
PASTED = "pasted.txt"


@dataclass(slots=True)
class Desk:
    """What lies on the desk of this session."""

    intake: intake.Intake
    title: str
    files: bool
    lines: int
    reference: datetime | None = None
    link: str | None = None
    run: str | None = None
    dated: scans.Dating | None = None
    sources: list[scans.Source] = field(default_factory=list)
    made: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)

    def where(self, words: Words) -> str:
        """What was read: so many lines of text, or so many files."""
        if self.files:
            return words.count("file", len({item.source for item in self.intake.found + self.intake.refused}))
        return words.count("line", self.lines)

    def exports(self) -> tuple[bytes, bytes]:
        """All ids as CSV and as JSON Lines, made once for a zone."""
        key = f"{view().zone_name} {view().zone_from}"
        if key not in self.made:
            rows = list(refusals.rows_of(self.intake.found, self.clock())())
            self.made = {key: (export.csv_dicts(rows, refusals.KEYS), export.json_lines(rows))}
        return self.made[key]

    def clock(self) -> Clock:
        """The reader's clock, or the input's own."""
        return cards.clock_of(view(), self.reference)


def current() -> Desk | None:
    """What this session decoded last."""
    found = st.session_state.get("desk")
    return found if isinstance(found, Desk) else None


def box() -> None:
    """The box, the uploader, the two buttons and the three chips."""
    words = view().words
    bare = current() is None
    with st.form("input", border=False):
        left, right = st.columns([7, 4], gap="medium")
        with left:
            st.text_area(
                words("decode.box"),
                key="text",
                height=220 if bare else 132,
                placeholder=words("decode.placeholder"),
                persist_state="session",
            )
        with right:
            st.file_uploader(words("decode.upload"), key="files", accept_multiple_files=True)
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.form_submit_button(words("decode.button"), type="primary", on_click=decode, help=words("decode.keys"))
            st.form_submit_button(words("decode.example"), on_click=load, args=(example.NAME,))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="chips"):
        st.html(tag("span", words("decode.try"), class_="mq-faint mq-try"), width="content")
        for name in ("send_result", "consumed", "incident"):
            st.button(words(f"decode.chip_{name}"), key=f"chip-{name}", type="tertiary", on_click=load, args=(name,))


def decode() -> None:
    """The button: reads the box and the files."""
    files = st.session_state.get("files") or []
    take(st.session_state.get("text") or "", files)


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
    if ids and (here is None or here.link != ids):
        text = "\n".join(part.strip() for part in ids.split(",") if part.strip())
        st.session_state["text"] = text
        take(text, [], link=ids)
    elif run and not ids and (here is None or here.run != run):
        try:
            reopen(run)
        except IdError as error:  # a link to a run that was deleted: say so, and offer the empty box
            problems.show(error)
            del query["run"]
            st.session_state.pop("run", None)


def into_link() -> None:
    """The address says what lies here, so that it can be copied."""
    here, query = current(), st.query_params
    if here is None:
        return
    wanted = {"ids": here.link, "run": None if here.link else here.run}
    for name, value in wanted.items():
        if value is None:
            query.pop(name, None)
        elif query.get(name) != value:
            query[name] = value


def take(
    text: str, files: Sequence[Any], *, reference: datetime | None = None, link: str | None = None, name: str = PASTED
) -> None:
    """Reads everything at once, and starts the scan."""
    words = view().words
    read: list[tuple[str, str]] = [(name if files or name != PASTED else "", text)] if text.strip() else []
    sources = [scans.Source(name, text.encode())] if text.strip() else []
    more = False
    for file in files:
        head, longer = intake.head_text(file)
        more = more or longer
        read.append((file.name, head))
        sources.append(scans.Source(file.name, file))
    if not sources:
        st.session_state["desk"] = None
        st.session_state["nothing"] = True
        for param in ("ids", "run"):
            st.query_params.pop(param, None)
        return
    st.session_state["nothing"] = False
    made = intake.read(read)
    made.cut = made.cut or more
    ids = intake.ids_of(made, MOST_LINKED) if not files and name == PASTED and only_ids(text) else None
    here = Desk(
        made,
        title_of(made, text, [source.name for source in sources], words),
        bool(files),
        lines_of(text),
        reference,
        link or (",".join(ids) if ids else None),
        None,
        None,
        sources,
    )
    st.session_state["desk"] = here
    st.session_state["ids_page"] = 1
    if made.found:
        here.dated = scans.dating(made.found, here.clock())
        scan(here)
    into_link()  # now, or the next look at the address would take up what it asked for before


def scan(here: Desk) -> None:
    """Starts the scan of what lies here, where Spark is to be had."""
    if here.dated is None or not scans.ready():
        return
    try:
        here.run = scans.begin(here.title, here.sources, here.dated).name
    except (IdError, OSError) as error:
        st.session_state["scan_problem"] = problems.message(error, view().words)
    else:
        st.session_state["scan_problem"] = None


def reopen(name: str) -> None:
    """A run from its link: what was scanned is read at once again, its scan is not repeated."""
    run = scans.store().open(name)
    read = []
    more = False
    for path in sorted(run.input_folder.iterdir()):
        with path.open("rb") as file:
            head, longer = intake.head_text(file)
        read.append((path.name[4:], head))
        more = more or longer
    files = any(label != PASTED for label, _ in read)
    made = intake.read(read if files else [("", text) for _, text in read])
    made.cut = made.cut or more
    st.session_state["desk"] = Desk(
        made, run.title, files, sum(lines_of(text) for _, text in read), at_of(run), None, run.name
    )
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


def title_of(made: intake.Intake, text: str, names: Sequence[str], words: Words) -> str:
    """What a run is called in the list of runs."""
    if list(names) != [PASTED]:
        shown = [name if name != PASTED else words("decode.pasted") for name in names]
        return words("comma").join(shown[:3]) + (words("decode.more_files", n=len(shown) - 3) if len(shown) > 3 else "")
    if len(made.found) == 1:
        return made.found[0].token.text
    return words(
        "decode.pasted_title", ids=words.count("id", len(made.found)), lines=words.count("line", lines_of(text))
    )
