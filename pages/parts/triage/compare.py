"""The compare page's two inputs, and its answer in words and tables. The core compares; no id is read here."""

from __future__ import annotations

from typing import Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.intake import intake
from idcore.intake.intake import Source
from idcore.operations.texts import turn
from idcore.presentation.html import compared as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import compared as core
from idcore.presentation.triage import compared_texts, run_tables, run_texts
from idcore.presentation.triage.compared import SIDES, Compared, ComparisonQuery, digest_of
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.runs import COMPARE, FATES, SCANS, Run, RunError
from idcore.server import jobs
from idcore.simulate import example
from pages.parts import cache, problems, scans, session, visitor
from pages.parts.runs import fate_lists, keeping
from pages.parts.triage import lines, time_range
from pages.parts.view import View, into_address, view
from pages.parts.widgets import page_of, pager, show_html

PARAMS = {"before": "a", "after": "b"}
OLDER = {"before": "first", "after": "second"}  # what links of older versions call them
NOWHERE = dict.fromkeys(("run", *PARAMS.values(), *OLDER.values()))  # an address without a comparison
DRAWN = 32 << 20  # bytes of both sides whose time line is drawn before a time range is chosen
LIMIT = 256 << 20  # bytes of one side that the page reads; the command reads any size
ROWS = 25
TABLES = ("uniq", "client", "offset")


def from_link() -> None:
    """What the address asks for, unless it is here already: ?a=RUN&b=RUN, or ?run=NAME of a comparison.

    One scan alone is chosen already, and waits for what it is compared with.
    """
    query, state = st.query_params, st.session_state
    first, second = (query.get(PARAMS[side]) or query.get(OLDER[side]) for side in SIDES)
    state.setdefault("compare-case", query.get("case") == "any")
    if first and second:
        _of_pair(first, second)
    elif one := first or second:
        _of_one("before" if first else "after", one)
    elif (name := query.get("run")) and state.get("compare_run") != name:
        if name in runs(view().words):
            _of_one("before", name)
            return
        try:
            scans.visible_runs().open(name)
        except RunError as error:  # above the boxes, as on every page
            problems.show_error(error)
            forget()
            return
        state.pop("compare", None)
        state["compare_run"] = name


def _of_one(side: str, name: str) -> None:
    """The only scan of a link is chosen, if it is here and keeps its input."""
    words = view().words
    try:
        if of_run(name) and name in runs(words):
            st.session_state[f"compare-run-{side}"] = name
        else:
            st.warning(words("compare.not_kept", side=words(f"compare.the_{side}")), icon=":material/info:")
    except (CoreError, OSError) as error:
        problems.show_error(error)
    forget()


def _of_pair(first: str, second: str) -> None:
    """The two scans of a link: compared already, or to be compared now."""
    query, state = st.query_params, st.session_state
    known, here = runs(view().words), state.get("compare_of")
    any_case = query.get("case") == "any"
    asked = (first, second, any_case)
    for side, name in zip(SIDES, (first, second), strict=True):
        if name in known and (here != asked or f"compare-run-{side}" not in state):
            state[f"compare-run-{side}"] = name
    if here == asked and ("compare" in state or core.is_there(state.get("compare_run"), scans.visible_runs())):
        return
    try:
        both = (of_run(first), of_run(second))
    except (CoreError, OSError) as error:  # a link to a scan that was deleted: say so, and offer the empty boxes
        problems.show_error(error)
        forget()
        return
    state["compare_of"] = asked
    state["compare"] = ComparisonQuery(*both, any_case, (first, second))
    state.pop("compare_run", None)


def forget() -> None:
    """Neither the address nor the session has a comparison any more."""
    for name in ("compare", "compare_run", "compare_of"):
        st.session_state.pop(name, None)
    into_address(NOWHERE)


def of_run(name: str) -> tuple[Source, ...]:
    """The input that a scan keeps; none where it scanned a folder of the server."""
    return tuple(intake.kept(scans.visible_runs().open(name, (*SCANS, FATES))))


def box(words: Words, run: Run | None) -> None:
    """What is compared; folded where the answer is below it."""
    if run is None:
        inputs(words)
        return
    titles = (text(run.title, run.options, words, run.summary) for text in (run_texts.title_of, run_texts.made_title))
    title = " · ".join(dict.fromkeys(titles))
    with st.expander(words("compare.others", title=escaped(title)), icon=":material/compare_arrows:"):
        inputs(words)


def inputs(words: Words) -> None:
    """Two boxes, two uploaders, the scans whose input is kept, and the button."""
    titles = runs(words)
    with st.form("compare-input", border=False):
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                label = words(f"compare.{side}")
                st.text_area(label, key=f"compare-text-{side}", height=132, placeholder=words("compare.hint"))
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
            st.form_submit_button(words("decode.example"), on_click=load_example)
            st.checkbox(words("compare.case"), key="compare-case", help=words("case.help"))
    keeping.choice()


def runs(words: Words) -> dict[str, str]:
    """Finished scans that keep their input, each by a label of its own: the box finds its options by them."""
    rows = [row for row in cache.finished() if row["options"].get("sources")]
    return run_texts.labels(rows, view())


def take() -> None:
    """The button: what was pasted, uploaded and chosen, side by side."""
    state = st.session_state
    sides, chosen, any_case = [], [], bool(state.get("compare-case"))
    for side in SIDES:
        run = state.get(f"compare-run-{side}")
        text, files = state.get(f"compare-text-{side}") or "", session.chosen(f"compare-files-{side}")
        sources = intake.sources_of_input(text, files)
        chosen.append(scans.scanned(sources, _dating(), "any" if any_case else "strict") if sources else run)
        try:
            sides.append(tuple(sources) if sources or not run else of_run(run))
        except (CoreError, OSError):  # deleted since it was listed
            sides.append(())
    forget()
    state["compare"] = ComparisonQuery(sides[0], sides[1], any_case, (chosen[0], chosen[1]))
    into_address({"case": "any" if any_case else None})


def load_example() -> None:
    """The producers' log of the example against the consumers'."""
    before, after = (Source(name, text().encode()) for name, text in example.COMPARED.items())
    forget()
    st.session_state["compare"] = ComparisonQuery((before,), (after,))


def _dating() -> intake.Dating:
    return intake.Dating.of(view().clock())


def current(words: Words) -> Run | None:
    """The comparison of this page: made now, or made before and kept."""
    here, state = st.session_state.get("compare"), st.session_state
    if isinstance(here, ComparisonQuery):
        if not is_whole(here, words) or too_large(here, words):
            return None
        spinner = st.spinner(words("compare.working", size=words.bytes(here.size)))
        # What a page sends while it waits ends it once its visitor has left.
        with problems.caught(), spinner, turn(here.size, st.empty().empty):
            state["compare_run"] = made_of(here).name
        state.pop("compare", None)
    name = state.get("compare_run")
    if not name:
        return None
    try:
        run = scans.visible_runs().open(name)
    except RunError as error:
        problems.show_error(error)
        forget()
        return None
    if run.kind != COMPARE:
        st.error(words("problem.not_comparison", name=name), icon=":material/error:")
        forget()
        return None
    if run.state != "done":
        reason = problems.public(words.said(run.error or words("scan.gone")))
        st.error(words("compare.failed", reason=escaped(reason)), icon=":material/error:")
        return None
    scans.keep_while_here(name)
    into_link(run)
    return run


def made_of(here: ComparisonQuery) -> Run:
    """The comparison of two inputs, made once: the same inputs again give the one that is kept."""
    visitor.current().require("compare")
    dating = _dating()
    digest = digest_of(here, dating)
    known = core.find(cache.all_runs(), digest, visitor.current().name)
    kept = scans.wants_kept() and all(scans.visible_runs().open(name).kept for name in here.of if name)
    if known is not None and kept:
        return scans.visible_runs().open(known)
    scans.admit(here.size)
    run = core.make(here, dating, scans.visible_runs(), digest, session.someone(), **({} if kept else scans.NOT_KEPT))
    scans.begun_here(run)
    cache.forget_runs()
    return run


def into_link(run: Run) -> None:
    """The address names both scans where both inputs are of scans, else the comparison itself."""
    first, second = run.options["of"]
    any_case = run.options["case"] == "any"
    if both := first and second and run.kept:
        st.session_state["compare_of"] = (first, second, any_case)
    named = {"a": first, "b": second} if both else {"run": run.name}
    into_address({**NOWHERE, **named, "case": "any" if any_case else None})


def is_whole(here: ComparisonQuery, words: Words) -> bool:
    """Whether both sides have something; a side that is empty is said."""
    empty = core.empty_side(here, scans.visible_runs())
    if empty is not None:
        side, why = empty
        st.warning(words(f"compare.{why}", side=words(f"compare.the_{side}")), icon=":material/info:")
    return empty is None


def too_large(here: ComparisonQuery, words: Words) -> bool:
    """Whether a side is more than the page reads; then it says how the command does it."""
    size, side = max((sum(source.size for source in here.of_side(side)), side) for side in SIDES)
    if size <= LIMIT:
        return False
    figures = {"size": words.bytes(size), "limit": words.bytes(LIMIT)}
    st.info(words("compare.too_large", side=words(f"compare.the_{side}"), **figures), icon=":material/info:")
    st.code(compared_texts.as_command(here), language="console", wrap_lines=True)
    return True


def in_range(run: Run, shown: View) -> TimeRange:
    """The time range of both inputs: of two scans by their lines, else by the minute, where both inputs are there."""
    both = core.scans_of(run, scans.visible_runs())
    if both is not None:
        return time_range.bar(both[0], shown, both[1])
    here = core.inputs_of(run, scans.visible_runs())
    if here is None:
        return ALL_TIMES
    if here.size > DRAWN and not time_range.asked():
        return time_range.strip([], shown)
    both_or_one = {id(side["timeline"]): side["timeline"] for side in _tables(run, here)}
    return time_range.strip([table.to_pandas() for table in both_or_one.values()], shown)


def _tables(run: Run, here: ComparisonQuery) -> list[dict[str, Any]]:
    """The tables that date the IDs of each input. One that no scan has is read here, once."""
    dating = _dating()
    tables: list[dict[str, Any]] = cache.compared(
        f"{run.path} {here.of} {dating.zone}", lambda: core.tables_of(here, dating, scans.visible_runs())
    )
    return tables


def compared(run: Run, chosen: TimeRange) -> Compared:
    """The answer that a comparison keeps; within a time range it is made again of both inputs."""
    key = f"{run.path} {run_tables.stamp(run)}"
    here = core.inputs_of(run, scans.visible_runs()) if chosen else None
    if here is None:
        return cache.compared(key, lambda: core.read(run))
    make = lambda: core.compare(here, _dating(), scans.visible_runs(), core.within(_tables(run, here), chosen))  # noqa: E731
    return cache.compared(f"{key} {chosen.params()}", make)


def first_lines(run: Run, comparison: Compared, view: View) -> None:
    """The lines of the largest difference in place, once somebody opens them."""
    first = core.first_difference(run, comparison)
    if first is None:
        return
    (side, name, row), words = first, view.words
    who, of = row.origin.brief, words(f"compare.the_{side}")
    label, icon = words("compare.first_lines", who=who, side=of), ":material/format_list_numbered:"
    fold = st.expander(label, key=f"compare-lines-{side}", icon=icon, on_change="rerun")
    if fold.open:
        with fold:
            try:
                lines.preview(scans.visible_runs().open(name), view, core.line_filters(comparison, side, row))
            except RunError as error:
                problems.show_error(error)


def offer_fates(comparison: Compared) -> None:
    """What became of the messages that one input alone has, where a cluster can be asked."""
    fate_lists.offer(
        {f"fates.ask_{side}": [text for text, _ in comparison.alone(side, comparison.group)] for side in SIDES}
    )


def offer_scans(run: Run, words: Words) -> None:
    """An input that is not of a scan has no lines to lead to: a button scans it."""
    sides = [side for side, name in zip(SIDES, run.options["of"], strict=True) if not name]
    if not sides or not jobs.ready() or not scans.is_own(run):
        return
    named = {side: words(f"compare.the_{side}") for side in sides}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(words("compare.no_lines", count=len(named), sides=words.listed([*named.values()])), width="content")
        for side, name in named.items():
            label = words("compare.scan_side", side=name)
            st.button(label, key=f"compare-scan-{side}", on_click=scan_side, args=(run, side), type="tertiary")


def scan_side(run: Run, side: str) -> None:
    """Scans the input of one side, and remembers the scan in the comparison."""
    try:
        visitor.current().require("compare")
        own = scans.visible_runs().own(run.name)
        of, sources = list(own.options["of"]), core.sources_of(own, side)
        lines_pasted = intake.pasted_lines(sources)
        of[SIDES.index(side)] = scans.begin(sources, _dating(), run.options["case"], lines=lines_pasted).name
        own.set_options(of=of)
    except (CoreError, OSError) as error:
        st.session_state["scan_problem"] = problems.message(error, view().words)


def table_of(kind: str, run: Run, comparison: Compared, view: View) -> None:
    """Producers, clients or brokers, those with the most differences first."""
    mine, key = core.frame([row for row in comparison.of_both if row.kind == kind]), f"compare-page-{kind}"
    if mine.empty:
        return
    st.header(view.words(f"compare.table_{kind}"), anchor=False)
    page, first = page_of(mine, key, ROWS)
    table = html.table_of(kind, run.options["of"], comparison, page.to_dict("records"), view)
    show_html(table.html(first=first, numbered=True))
    pager(mine, key, ROWS)
