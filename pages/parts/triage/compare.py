"""The compare page's two inputs, and its answer in words and tables. The core compares; no id is read here."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import streamlit as st

from idcore import intake
from idcore.catalogue import Words
from idcore.errors import CoreError
from idcore.html import compared as html
from idcore.ids.identify import Case
from idcore.intake import PASTED, Source
from idcore.reports.markdown import escaped
from idcore.runs import COMPARE, Run, RunError
from idcore.triage import compared as core
from idcore.triage import run_texts
from idcore.triage.compared import KEPT, SIDES, Asked, Compared, digest_of, size_of
from idcore.triage.time_range import ALL_TIMES, TimeRange
from pages.parts import cache, problems, scans
from pages.parts.runs import fate_lists, keeping
from pages.parts.triage import lines, time_range
from pages.parts.view import RANGE, View, into_address, view
from pages.parts.widgets import page_of, pager, show_html

if TYPE_CHECKING:  # the boxes are up before pandas and the kernels are
    pass


PARAMS = {"before": "a", "after": "b"}
OLDER = {"before": "first", "after": "second"}  # what links of older versions call them
DRAWN = 32 << 20  # bytes of both sides whose time line is drawn before a time range is chosen
LIMIT = 256 << 20  # bytes of one side that the page reads; the command reads any size
ROWS = 25
TABLES = ("uniq", "client", "offset")


def from_link() -> None:
    """What the address asks for, unless it is here already: ?a=RUN&b=RUN, or ?run=NAME of a comparison."""
    query, state = st.query_params, st.session_state
    first, second = (query.get(PARAMS[side]) or query.get(OLDER[side]) for side in SIDES)
    state.setdefault("compare-case", query.get("case") == "any")
    if first and second:
        _of_pair(first, second)
    elif (name := query.get("run")) and state.get("compare_run") != name:
        state.pop("compare", None)
        state["compare_run"] = name


def _of_pair(first: str, second: str) -> None:
    """The two scans of a link: compared already, or to be compared now."""
    query, state = st.query_params, st.session_state
    known, here = runs(view().words), state.get("compare_of")
    any_case = query.get("case") == "any"
    asked = (first, second, any_case)
    for side, name in zip(SIDES, (first, second), strict=True):
        if name in known and (here != asked or f"compare-run-{side}" not in state):
            state[f"compare-run-{side}"] = name
    if here == asked and ("compare" in state or _is_there(state.get("compare_run"))):
        return
    try:
        both = (of_run(first), of_run(second))
    except (CoreError, OSError) as error:  # a link to a scan that was deleted: say so, and offer the empty boxes
        problems.show_error(error)
        forget()
        return
    state["compare_of"] = asked
    state["compare"] = Asked(*both, any_case, (first, second))
    state.pop("compare_run", None)


def _is_there(name: str | None) -> bool:
    try:
        return name is not None and scans.store().open(name).kind == COMPARE
    except RunError:
        return False


def forget() -> None:
    """Neither the address nor the session has a comparison any more."""
    for name in ("compare", "compare_run", "compare_of"):
        st.session_state.pop(name, None)
    into_address(dict.fromkeys(("run", *PARAMS.values(), *OLDER.values())))


def of_run(name: str) -> tuple[Source, ...]:
    """The input that a scan keeps; none where it scanned a folder of the server."""
    run = scans.store().open(name)
    if run.kind == COMPARE:
        raise RunError("not_a_scan", {"name": name}, "run", None, name)
    return tuple(intake.kept(run))


def box(words: Words, run: Run | None) -> None:
    """What is compared; folded where the answer is below it."""
    if run is None:
        inputs(words)
        return
    title = run_texts.title_of(run.title, run.options, words, run.summary)
    with st.expander(words("compare.others", title=escaped(title)), icon=":material/compare_arrows:"):
        inputs(words)


def inputs(words: Words) -> None:
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
    keeping.choice()


def runs(words: Words) -> dict[str, str]:
    """Finished scans that keep their input, each by a label of its own: the box finds its options by them."""
    rows = [row for row in cache.finished() if row["options"].get("sources")]
    return run_texts.labels(rows, view())


def _case(any_case: bool) -> Case:
    return "any" if any_case else "strict"


def take() -> None:
    """The button: what was pasted, uploaded and chosen, side by side."""
    state = st.session_state
    sides, chosen = [], []
    dating, case = intake.Dating.of(view().clock()), _case(bool(state.get("compare-case")))
    for side in SIDES:
        text, files = state.get(f"compare-text-{side}") or "", state.get(f"compare-files-{side}") or []
        run = state.get(f"compare-run-{side}")
        sources = [Source(PASTED, text.encode())] if text.strip() else []
        sources += [Source(file.name, file) for file in files]
        chosen.append(scans.scanned(sources, dating, case) if sources else run)
        try:
            sides.append(tuple(sources) if sources or not run else of_run(run))
        except (CoreError, OSError):  # deleted since it was listed
            sides.append(())
    any_case = bool(state.get("compare-case"))
    forget()
    state["compare"] = Asked(sides[0], sides[1], any_case, (chosen[0], chosen[1]))
    into_address({"case": "any" if any_case else None})


def current(words: Words) -> Run | None:
    """The comparison of this page: made now, or made before and kept."""
    here, state = st.session_state.get("compare"), st.session_state
    if isinstance(here, Asked):
        if not is_whole(here, words) or too_large(here, words):
            return None
        with problems.caught(), st.spinner(words("compare.working", size=words.bytes(here.size))):
            state["compare_run"] = made_of(here).name
        state.pop("compare", None)
    name = state.get("compare_run")
    if not name:
        return None
    try:
        run = scans.store().open(name)
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
    if not run.kept:
        scans.hold(name)
    into_link(run)
    return run


def made_of(here: Asked) -> Run:
    """The comparison of two inputs, made once: the same inputs again give the one that is kept."""
    dating = intake.Dating.of(view().clock())
    digest = digest_of(here, dating)
    known = core.find(cache.comparisons(), digest)
    kept = scans.wants_kept() and all(scans.store().open(name).kept for name in here.of if name)
    if known is not None and kept:
        return scans.store().open(known)
    scans.admit(here.size)
    run = core.make(here, dating, scans.store(), digest, **({} if kept else scans.NOT_KEPT))
    cache.forget_runs()
    return run


def into_link(run: Run) -> None:
    """The address names both scans where both inputs are of scans, else the comparison itself."""
    first, second = run.options["of"]
    any_case = run.options["case"] == "any"
    if both := first and second and run.kept:
        st.session_state["compare_of"] = (first, second, any_case)
    named = {"a": first, "b": second} if both else {"run": run.name}
    nothing = dict.fromkeys(("run", *PARAMS.values(), *OLDER.values()))
    into_address({**nothing, **named, "case": "any" if any_case else None})


def is_whole(here: Asked, words: Words) -> bool:
    """Whether both sides have something; a side that is empty is said."""
    for side, name in zip(SIDES, here.of, strict=True):
        if not getattr(here, side):
            key = "compare.nothing"
            if name:
                run = scans.store().open(name)
                key = "compare.not_kept" if scans.store_of(run) is None else "compare.not_text"
            st.warning(words(key, side=words(f"compare.the_{side}")), icon=":material/info:")
            return False
    return True


def too_large(here: Asked, words: Words) -> bool:
    """Whether a side is more than the page reads; then it says how the command does it."""
    sizes = [size_of(getattr(here, side)) for side in SIDES]
    if max(sizes) <= LIMIT:
        return False
    largest = SIDES[sizes.index(max(sizes))]
    side, size = words(f"compare.the_{largest}"), words.bytes(max(sizes))
    st.info(words("compare.too_large", side=side, size=size, limit=words.bytes(LIMIT)), icon=":material/info:")
    names = [getattr(here, side)[0].name if len(getattr(here, side)) == 1 else f"{OLDER[side]}-logs" for side in SIDES]
    st.code(
        f"python -m idcore compare {' '.join(map(shlex.quote, names))} --out only", language="console", wrap_lines=True
    )
    return True


def in_range(run: Run, shown: View) -> TimeRange:
    """The time range of both inputs: of two scans by their lines, else by the minute, where both inputs are there."""
    both = _scans_of(run)
    if both is not None:
        return time_range.bar(both[0], shown, both[1])
    here = core.inputs_of(run, scans.store())
    if here is None:
        return ALL_TIMES
    if here.size > DRAWN and not time_range.asked():
        return time_range.strip([], shown)
    both_or_one = {id(side["timeline"]): side["timeline"] for side in _tables(run, here)}
    return time_range.strip([table.to_pandas() for table in both_or_one.values()], shown)


def _tables(run: Run, here: Asked) -> list[dict[str, Any]]:
    """The tables that date the IDs of each input. One that no scan has is read here, once."""
    dating = intake.Dating.of(view().clock())
    key = f"{run.path} {here.of} {dating.zone}"
    found: list[dict[str, Any]] = cache.compared(key, lambda: core.tables_of(here, dating, scans.store()))
    return found


def _scans_of(run: Run) -> tuple[Run, Run] | None:
    """The two scans of a comparison, where both inputs are of scans that are still there."""
    try:
        first, second = (scans.store().open(name or "") for name in run.options["of"])
    except RunError:
        return None
    return first, second


def compared(run: Run, chosen: TimeRange) -> Compared:
    """The answer that a comparison keeps; within a time range it is made again of both inputs."""
    key = f"{run.path} {cache.stamp(run)}"
    here = core.inputs_of(run, scans.store()) if chosen else None
    if here is None:
        return cache.compared(key, lambda: core.read(run))
    dating = intake.Dating.of(view().clock())
    return cache.compared(
        f"{key} {chosen.params()}",
        lambda: core.compare(here, dating, scans.store(), core.within(_tables(run, here), chosen)),
    )


def first_lines(run: Run, found: Compared, view: View) -> None:
    """The lines of the largest difference in place, once somebody opens them."""
    words = view.words
    for side, name in zip(SIDES, run.options["of"], strict=True):
        rows = core.largest(found, side)
        if not name or not rows:
            continue
        who = rows[0].subject.partition(" loader ")[0]
        label = words("compare.first_lines", who=who, side=words(f"compare.the_{side}"))
        fold = st.expander(
            label, key=f"compare-lines-{side}", icon=":material/format_list_numbered:", on_change="rerun"
        )
        if fold.open:
            with fold:
                try:
                    lines.preview(scans.store().open(name), view, core.line_filters(found, side, rows[0]))
                except RunError as error:
                    problems.show_error(error)
        return


def offer_fates(found: Compared) -> None:
    """What became of the messages that one input alone has, where a cluster can be asked."""
    fate_lists.offer({f"fates.ask_{side}": found.ids[side] for side in SIDES})


def offer_scans(run: Run, words: Words) -> None:
    """An input that is not of a scan has no lines to lead to: a button scans it."""
    sides = [side for side, name in zip(SIDES, run.options["of"], strict=True) if not name]
    if not sides or not scans.ready():
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(
            words("compare.no_lines", sides=words.listed([words(f"compare.the_{side}") for side in sides])),
            width="content",
        )
        for side in sides:
            label = words("compare.scan_side", side=words(f"compare.the_{side}"))
            st.button(label, key=f"compare-scan-{side}", on_click=scan_side, args=(run, side), type="tertiary")


def scan_side(run: Run, side: str) -> None:
    """Scans the input of one side, and remembers the scan in the comparison."""
    of = list(run.options["of"])
    dating = intake.Dating.of(view().clock())
    case = _case(run.options["case"] == "any")
    sources = core.sources_of(run, side)
    pasted = sum(intake.lines_of(intake.text_of(b"".join(one.pieces()))) for one in sources if one.name == PASTED)
    try:
        of[SIDES.index(side)] = scans.begin(sources, dating, case, lines=pasted).name
        run.set_options(of=of)
    except (CoreError, OSError) as error:
        st.session_state["scan_problem"] = problems.message(error, view().words)


def unread(found: Compared, words: Words) -> None:
    """What could not be read is shown next to the figures: its ids would look as if they were missing."""
    if found.problems:
        names = words("comma").join(escaped(f"{name}: {words.said(why)}") for name, why in found.problems[:5])
        st.warning(words("compare.unread", names=names), icon=":material/warning:")


def table_of(kind: str, run: Run, found: Compared, view: View) -> None:
    """Producers, clients or brokers, those with the most differences first."""
    mine, key = core.frame([row for row in found.rows if row.kind == kind]), f"compare-page-{kind}"
    if mine.empty:
        return
    st.header(view.words(f"compare.table_{kind}"), anchor=False)
    page, first = page_of(mine, key, ROWS)
    show_html(html.table_of(kind, run.options["of"], found, page.to_dict("records"), first, view))
    pager(mine, key, ROWS)


def notes(run: Run, found: Compared, chosen: TimeRange, view: View) -> list[str]:
    """What was assumed, and what was cut."""
    words = view.words
    names = {
        side: words("comma").join(words("decode.pasted") if name == PASTED else name for name in sources)
        for side, sources in zip(SIDES, run.options["sides"], strict=True)
    }
    cut = [side for side in SIDES if len(found.ids[side]) == KEPT]
    undated = sum(
        core.only(row, side) - (span.dated if (span := found.made.get((side, row.kind, row.subject))) else 0)
        for side in SIDES
        for row in core.largest(found, side)
        if row.kind != "offset"
    )
    return [
        words("compare.inputs", **names),
        words("compare.range_note") if chosen else "",
        words("compare.range_scans") if not chosen and any(name in st.query_params for name in RANGE) else "",
        words("compare.apart"),
        words("compare.no_proof"),
        words("compare.lines_of_many", n=f"{core.LINKED:,}") if any(run.options["of"]) else "",
        words("compare.undated", ids=words.count("id", undated)) if undated else "",
        words("compare.case_any" if run.options["case"] == "any" else "compare.case_strict"),
        words("compare.cut", n=f"{KEPT:,}") if cut else "",
        words("compare.kept", at=view.minute(run.created)) if run.kept else "",
    ]
