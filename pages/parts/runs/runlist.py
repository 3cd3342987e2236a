"""The list of runs row by row: found, filtered, named, pinned, selected, deleted. Starts only what is tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.policy import audit
from idcore.presentation.html import runs as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import run_rows, run_texts
from idcore.presentation.triage.run_rows import STATES, Filter
from idcore.runs import retention
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import FATES, KINDS, LONGEST_NAME, PAGES, SCANS, Run, may_change, runs_root
from idcore.server import jobs
from pages.parts import cache, problems, scans, session, visitor
from pages.parts.runs import fate_lists, sharing, watch
from pages.parts.view import in_sight, into_address, view
from pages.parts.widgets import page_link, page_of, pager, said, show_html

Row = Mapping[str, Any]
SHOWN = 20
FEW = 5  # so many runs need no search


def every() -> list[dict[str, Any]]:
    """The runs that this reader may see: those that are kept, and what this session does not keep."""
    held = session.kept().get("held", ())
    return [row for row in cache.all_runs() if row["kept"] or row["name"] in held]


def title_of(row: Row) -> str:
    """What a run is called in the reader's language."""
    return run_texts.title_of(row["title"], row["options"], view().words, row["summary"])


def listing(live: bool) -> None:
    """The runs that fit the filter, pinned ones first, the newest before the others; small pastes are folded."""
    words = view().words
    runs = every()
    said(run_texts.runs_sentence(runs, words))  # here, so that it follows a deletion
    if problem := st.session_state.get("runs_problem"):
        st.error(problem, icon=":material/error:")
    if live and not any(row["state"] in UNENDED for row in runs):
        st.rerun()
    wanted = asked(words) if len(runs) > FEW or asked_for().any else Filter()
    files_of = lambda row: cache.file_names(Run(runs_root() / row["name"]))  # noqa: E731
    chosen = run_rows.chosen(runs, wanted, title_of, files_of)
    listed, small = (chosen, []) if wanted.find.strip() else run_rows.apart(chosen)
    if wanted.any:
        st.caption(words("runs.fit", n=f"{len(chosen):,}", of=run_texts.counted(runs, words)))
    selection(chosen, words)
    paged(listed, "runs_page")
    if small:
        fold = st.expander(words("runs.small", n=f"{len(small):,}"), key="runs_small", on_change="rerun")
        if fold.open:
            with fold:
                st.caption(words("runs.small_help", n=run_rows.MOST_SMALL))
                paged(small, "runs_small_page")


def paged(rows: Sequence[Row], key: str) -> None:
    """One page of rows, and the way to the others."""
    for row in page_of(rows, key, SHOWN)[0]:
        one(row)
    pager(rows, key, SHOWN)


# ---- which


def asked_for() -> Filter:
    """What the address asks for."""
    query = st.query_params
    return Filter(query.get("find", ""), query.get("state", ""), query.get("kind", ""), query.get("pinned") == "1")


def asked(words: Words) -> Filter:
    """The search box and the three filters; the address has what they hold."""
    wanted, state = asked_for(), st.session_state
    state["runs_find"], state["runs_pinned"] = wanted.find, wanted.pinned
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="runs-filter"):
        st.text_input(
            words("runs.find"),
            key="runs_find",
            type="search",
            placeholder=words("runs.find_hint"),
            width=300,
            on_change=in_sight(_into_link),
            args=("find",),
        )
        switches: tuple[tuple[str, tuple[str, ...]], ...] = (("state", STATES), ("kind", KINDS))
        for name, options in switches:
            value = getattr(wanted, name)
            state[f"runs_{name}"] = value if value in options else ""
            st.selectbox(
                words(f"runs.{name}"),
                ["", *options],
                key=f"runs_{name}",
                width=160,
                format_func=partial(_option, words, name),
                on_change=in_sight(_into_link),
                args=(name,),
            )
        st.toggle(words("runs.only_pinned"), key="runs_pinned", on_change=in_sight(_into_link), args=("pinned",))
    return wanted


def _option(words: Words, name: str, value: str) -> str:
    return words(f"runs.{name}_{value or 'any'}")


def _into_link(name: str) -> None:
    value = st.session_state.get(f"runs_{name}")
    into_address({name: "1" if value is True else value})
    st.session_state.pop("runs_page", None)


# ---- several at once


def picked() -> set[str]:
    """The names of the runs that are selected."""
    names: set[str] = st.session_state.setdefault("runs_picked", set())
    return names


def pick(name: str) -> None:
    """The box of a row: selected, or no longer."""
    (picked().add if st.session_state.get(f"pick-{name}") else picked().discard)(name)


def selection(rows: Sequence[Row], words: Words) -> None:
    """How many are selected, and what can be done with all of them. Those that do not fit the filter do not count."""
    chosen = [row for row in rows if row["name"] in picked()]
    if not chosen:
        return
    here = visitor.current()
    gone = [row for row in chosen if not row["pinned"] and may_change(here, row)]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="runs-selection"):
        st.markdown(words("runs.selected", runs=run_texts.counted(chosen, words)), width="content")
        with st.popover(words("runs.delete_some"), type="tertiary", icon=":material/delete:", disabled=not gone):
            st.markdown(words("runs.delete_many_sure", runs=run_texts.counted(gone, words)))
            if pinned := [row for row in chosen if row["pinned"]]:
                st.markdown(words("runs.pinned_stay", runs=run_texts.counted(pinned, words)))
            st.button(
                words("runs.delete_many", runs=run_texts.counted(gone, words)),
                key="delete-picked",
                type="primary",
                on_click=delete,
                args=([row["name"] for row in gone],),
            )
        if len(chosen) < len(rows):
            label = words("runs.select_all", n=f"{len(rows):,}")
            st.button(label, type="tertiary", on_click=picked().update, args=([row["name"] for row in rows],))
        st.button(words("runs.select_none"), type="tertiary", on_click=picked().clear)


# ---- one


def one(row: Row) -> None:
    """One run: title, figures, state; open, name, pin, delete."""
    words, name, mine = view().words, row["name"], may_change(visitor.current(), row)
    with st.container(border=True, key=f"run-{name}"):
        left, right = st.columns([5, 4], vertical_alignment="center")
        with left, st.container(horizontal=True, gap="small", vertical_alignment="top", key=f"head-{name}"):
            st.session_state[f"pick-{name}"] = name in picked()
            label = words("runs.select", title=escaped(title_of(row)))
            st.checkbox(label, key=f"pick-{name}", label_visibility="collapsed", on_change=in_sight(pick), args=(name,))
            with st.container(gap="xsmall"):
                about(row, words)
        with (
            right,
            st.container(horizontal=True, gap="small", horizontal_alignment="right", vertical_alignment="center"),
        ):
            if row["state"] == "done":
                page = PAGES.get(row["kind"], "findings")
                page_link(page, words("runs.open"), icon=":material/arrow_forward:", run=name)
                if row["store"] and Run(runs_root() / name).has("fates"):
                    page_link("fate", words("page.fate"), icon=":material/mark_email_unread:", run=name)
            elif row["state"] in ("failed", "cancelled") and mine and (step := _again(row)) is not None:
                st.button(words("scan.again"), key=f"again-{name}", on_click=problems.tried, args=(step,))
            sharing.choice(name, row, "list")
            if mine:
                with st.container(horizontal=True, width="content", gap="small"):  # on a phone they wrap together
                    changes(row, words)


def changes(row: Row, words: Words) -> None:
    """Pin, rename, delete."""
    name = row["name"]
    st.button(
        words("runs.unpin" if row["pinned"] else "runs.pin"),
        key=f"pin-{name}",
        type="tertiary",
        icon=":material/keep_off:" if row["pinned"] else ":material/keep:",
        help=words("runs.pin_help"),
        on_click=problems.tried,
        args=(lambda: scans.visible_runs().own(name).pin(not row["pinned"]),),
    )
    with st.popover(words("runs.rename"), type="tertiary"):
        naming(row, words)
    delete_one(row, words)


def about(row: Row, words: Words) -> None:
    """Title, figures, how far it is or how it ended."""
    problem = problems.public(words.said(row["error"] or words("scan.gone")))
    show_html(html.about(row, problem, retention.ends_soon(row, view().now(), runs_root()), view()))
    if row["state"] in UNENDED:
        watch.progress(scans.visible_runs().open(row["name"]), key=f"stop-{row['name']}")


def naming(row: Row, words: Words) -> None:
    """A box for a name of the reader's own."""
    name = row["name"]
    with st.form(f"naming-{name}", border=False):
        st.text_input(
            words("runs.name"),
            value=title_of(row),
            key=f"name-{name}",
            max_chars=LONGEST_NAME,
            help=words("runs.name_help"),
        )
        st.form_submit_button(words("runs.name_save"), on_click=rename, args=(name, title_of(row)))


def delete_one(row: Row, words: Words) -> None:
    """Delete, with a question first; what is pinned is not offered."""
    name = row["name"]
    why = words("runs.unpin_first") if row["pinned"] else None
    with st.popover(words("runs.delete"), type="tertiary", disabled=row["pinned"], help=why):
        st.markdown(words(run_rows.before_deletion(row)))
        st.button(words("runs.delete_yes"), key=f"delete-{name}", type="primary", on_click=delete, args=([name],))


# ---- what a click does


def _again(row: Row) -> Callable[[], Any] | None:
    """What starts a scan or a list of IDs that ended early once more; None for what nobody can start again."""
    if row["kind"] == FATES:
        asked = fate_lists.asked_for(Run(runs_root() / row["name"]))
        return None if asked is None else partial(fate_lists.start, *asked)
    return partial(scans.again, row["name"]) if row["kind"] in SCANS else None


def again(name: str) -> None:
    """Starts a scan that ended early once more."""
    problems.tried(lambda: scans.again(name))


def rename(name: str, title: str) -> None:
    """The name in the box; the title as it was made is not a name."""
    text = str(st.session_state.get(f"name-{name}") or "")
    if text != title:
        problems.tried(lambda: scans.visible_runs().own(name).rename(text))


def delete(names: Sequence[str]) -> None:
    """Deletes runs for good, but what is pinned by now; those at work are stopped first."""
    stop = partial(jobs.stop_unpinned, scans.visible_runs())
    problems.tried(*(partial(step, name) for step in (stop, _delete) for name in names))


def _delete(name: str) -> None:
    kind = jobs.delete_unpinned(scans.visible_runs(), name)
    if kind is None:
        return
    audit.note("run_deleted", session.someone(), run=name, kind=kind)
    state = st.session_state
    picked().discard(name)
    if state.get("run") == name:
        state.pop("run", None)
    if getattr(state.get("decode"), "run", None) == name:
        state.pop("decode")
