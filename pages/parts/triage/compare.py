"""The compare page's two inputs, and its answer in words and tables. The core compares; no id is read here."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import streamlit as st

from idcore import intake
from idcore.catalogue import Words
from idcore.errors import CoreError
from idcore.intake import PASTED, Source
from idcore.runs import runs_root
from idcore.triage.compared import (
    GROUPS,
    KEPT,
    MESSAGE,
    SIDES,
    STORED,
    Asked,
    Compared,
    compare,
    digest_of,
    size_of,
    within,
)
from idcore.triage.time_range import ALL_TIMES, TimeRange
from pages.parts import cache, problems, scans
from pages.parts.markdown import escaped
from pages.parts.markup import Column, Html, join, link, table, tag
from pages.parts.triage import tables, time_range
from pages.parts.view import RANGE, View, view
from pages.parts.widgets import href, show_html

if TYPE_CHECKING:  # the boxes are up before pandas and the kernels are
    import pandas as pd


PARAMS = {"before": "first", "after": "second"}
LIMIT = 256 << 20  # bytes of one side that the page reads; the command reads any size
SAMPLES, ROWS = 12, 25
TABLES = ("uniq", "client", "offset")


def from_link() -> None:
    """What the address asks for, unless it is here already: ?first=RUN&second=RUN."""
    query, state = st.query_params, st.session_state
    first, second = query.get("first"), query.get("second")
    here = state.get("compare")
    state.setdefault("compare-case", query.get("case") == "any")
    if here is not None and here.link and not first and not second:  # back from another page
        query["first"], query["second"] = first, second = here.link
    if not first or not second:
        return
    known, fresh = runs(view().words), here is None or here.link != (first, second)
    for side, name in zip(SIDES, (first, second), strict=True):
        if name in known and (fresh or f"compare-run-{side}" not in state):
            state[f"compare-run-{side}"] = name
    if not fresh:
        return
    try:
        state["compare"] = Asked(of_run(first), of_run(second), query.get("case") == "any", (first, second))
    except (CoreError, OSError) as error:  # a link to a scan that was deleted: say so, and offer the empty boxes
        problems.show_error(error)
        state.pop("compare", None)
        for name in PARAMS.values():
            query.pop(name, None)


def of_run(name: str) -> tuple[Source, ...]:
    """The input that a scan keeps; none where it scanned a folder of the server."""
    return tuple(intake.kept(scans.store().open(name)))


def box(words: Words) -> None:
    """Two boxes, two uploaders, the scans whose input is kept, and the button."""
    titles = runs(words)
    with st.form("compare-input", border=False):
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                label = words(f"compare.{side}")
                st.text_area(label, key=f"compare-text-{side}", height=132, placeholder=words(f"compare.hint_{side}"))
                upload = words(f"compare.upload_{side}")
                st.file_uploader(upload, key=f"compare-files-{side}", accept_multiple_files=True)
                if titles:
                    st.selectbox(
                        words(f"compare.run_{side}"),
                        list(titles),
                        index=None,
                        key=f"compare-run-{side}",
                        format_func=lambda name: titles.get(name, name),
                        placeholder=words("compare.no_run"),
                    )
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            st.form_submit_button(words("compare.button"), type="primary", on_click=take)
            st.checkbox(words("compare.case"), key="compare-case", help=words("case.help"))


def runs(words: Words) -> dict[str, str]:
    """Finished scans that keep their input, each by a label of its own: the box finds its options by them."""
    rows = [row for row in cache.runs(str(runs_root())) if row["state"] == "done" and row["options"].get("sources")]
    return scans.labels(rows, view())


def take() -> None:
    """The button: what was pasted, uploaded and chosen, side by side. The address keeps what a link can carry."""
    state, query = st.session_state, st.query_params
    sides, chosen = [], []
    for side in SIDES:
        text, files = state.get(f"compare-text-{side}") or "", state.get(f"compare-files-{side}") or []
        run = state.get(f"compare-run-{side}")
        sources = [Source(PASTED, text.encode())] if text.strip() else []
        sources += [Source(file.name, file) for file in files]
        chosen.append(run if not sources else None)
        try:
            sides.append(tuple(sources) if sources or not run else of_run(run))
        except (CoreError, OSError):  # deleted since it was listed
            sides.append(())
    any_case = bool(state.get("compare-case"))
    linked = (chosen[0], chosen[1]) if chosen[0] and chosen[1] else None
    state["compare"] = Asked(sides[0], sides[1], any_case, linked)
    wanted = {"first": linked and linked[0], "second": linked and linked[1], "case": "any" if any_case else None}
    for name, value in wanted.items():
        if value and (linked or name == "case"):
            query[name] = value
        else:
            query.pop(name, None)


def asked(words: Words) -> Asked | None:
    """What is to be compared; a side that is empty is said."""
    here = st.session_state.get("compare")
    if not isinstance(here, Asked):
        return None
    for side in SIDES:
        if not getattr(here, side):
            key = "compare.nothing"
            if here.link:
                run = scans.store().open(here.link[SIDES.index(side)])
                key = "compare.not_kept" if scans.store_of(run) is None else "compare.not_text"
            st.warning(words(key, side=words(f"compare.the_{side}")), icon=":material/info:")
            return None
    return here


def too_large(here: Asked, words: Words) -> bool:
    """Whether a side is more than the page reads; then it says how the command does it."""
    sizes = [size_of(getattr(here, side)) for side in SIDES]
    if max(sizes) <= LIMIT:
        return False
    largest = SIDES[sizes.index(max(sizes))]
    side, size = words(f"compare.the_{largest}"), words.bytes(max(sizes))
    st.info(words("compare.too_large", side=side, size=size, limit=words.bytes(LIMIT)), icon=":material/info:")
    names = [getattr(here, side)[0].name if len(getattr(here, side)) == 1 else f"{PARAMS[side]}-logs" for side in SIDES]
    st.code(f"python -m idcore compare {' '.join(map(shlex.quote, names))} --out only", language="console")
    return True


def in_range(here: Asked, shown: View) -> TimeRange:
    """The time range of two scans; other inputs have none, because no scan has dated their IDs."""
    if here.link is None:
        return ALL_TIMES
    first, second = (scans.store().open(name) for name in here.link)
    return time_range.bar(first, shown, second)


def compared(here: Asked, chosen: TimeRange) -> Compared:
    """The answer, made once for an input; so is its digest, or every click would read large uploads again."""
    state = st.session_state
    of, digest = state.get("compare_digest", (None, ""))
    if of is not here:
        digest = digest_of(here)
        state["compare_digest"] = (here, digest)
    if not chosen or here.link is None:
        return cache.compared(digest, lambda: compare(here))
    runs = [scans.store().open(name) for name in here.link]
    return cache.compared(f"{digest} {chosen.params()}", lambda: compare(here, within(runs, chosen)))


def compared_sentence(found: Compared, words: Words, chosen: TimeRange) -> str:
    """The answer for msgIds, then for offsetMsgIds: one message has both, and a log may name only one of them."""
    if chosen and not found.rows:
        return words("compare.none_range")
    parts = [words("compare.in_range")] if chosen else []
    for group in (MESSAGE, STORED):
        before, after, both = found.sums(group)
        first, second = words.count(f"{group}_id", before), words.count(f"{group}_id", after)
        if before and after and before == after == both:
            parts.append(words("compare.same", ids=first))
        elif before and after:
            are = {"both": both, "missing": before - both, "new": after - both}
            said = {name: words.count("compare_are", n) for name, n in are.items()}
            parts.append(words("compare.said", ids=first, **said))
        elif before or after:
            side, other = SIDES if before else SIDES[::-1]
            named = {"side": words(f"compare.the_{side}"), "other": words(f"compare.the_{other}")}
            parts.append(words("compare.one_side", ids=first if before else second, **named))
    return words("compare.between").join(parts) if found.rows else words("compare.none")


def unread(found: Compared, words: Words) -> None:
    """What could not be read is shown next to the figures: its ids would look as if they were missing."""
    if found.problems:
        names = words("comma").join(escaped(f"{name}: {words.said(why)}") for name, why in found.problems[:5])
        st.warning(words("compare.unread", names=names), icon=":material/warning:")


def samples(found: Compared, side: str) -> Html | None:
    """Some ids of one side only, each a link to its bytes; not of a kind that the other side never names."""
    ids: list[str] = []
    for group in (MESSAGE, STORED):  # msgIds first: they are what people search for
        if all(found.sums(group)[:2]):
            for row in (row for row in found.rows if GROUPS[row.kind] == group):
                ids += row.only_before if side == "before" else row.only_after
    links = [link(text, href("anatomy", id=text), class_="mq-mono") for text in ids[:SAMPLES]]
    return tag("p", join(links, " "), class_="mq-samples") if links else None


def table_of(kind: str, rows: pd.DataFrame, words: Words) -> None:
    """Producers, clients or brokers, those with the most differences first."""
    mine = rows[rows["kind"] == kind]
    if mine.empty:
        return
    st.header(words(f"compare.table_{kind}"), anchor=False)
    columns = [
        Column("subject", words(f"compare.col_{kind}"), mono=True, role="broker" if kind == "offset" else "host"),
        *(
            Column(name, words(f"compare.col_{name}"), right=True)
            for name in ("only_first", "only_second", "both", "first", "second")
        ),
        Column("sample", words("compare.col_sample"), mono=True),
    ]
    page, first = tables.paged(mine, f"compare-page-{kind}", ROWS)
    body = []
    for row in page.to_dict("records"):
        sample = (row["sample_only_first"] or row["sample_only_second"]).partition(" ")[0]
        counts = [tables.number(row[name]) for name in ("only_first", "only_second", "both", "first", "second")]
        body.append([row["subject"], *counts, link(sample, href("anatomy", id=sample)) if sample else ""])
    show_html(table(columns, body, words(f"compare.table_{kind}"), first=first, numbered=True))
    tables.pager(mine, f"compare-page-{kind}", ROWS)


def notes(here: Asked, found: Compared, chosen: TimeRange, words: Words) -> list[str]:
    """What was assumed, and what was cut."""
    names = {
        side: words("comma").join(words("decode.pasted") if s.name == PASTED else s.name for s in getattr(here, side))
        for side in SIDES
    }
    cut = [side for side in SIDES if len(found.ids[side]) == KEPT]
    return [
        words("compare.inputs", **names),
        words("compare.range_note") if chosen else "",
        words("compare.range_scans") if here.link is None and any(name in st.query_params for name in RANGE) else "",
        words("compare.apart"),
        words("compare.no_proof"),
        words("compare.case_any" if here.any_case else "compare.case_strict"),
        words("compare.cut", n=f"{KEPT:,}") if cut else "",
    ]
