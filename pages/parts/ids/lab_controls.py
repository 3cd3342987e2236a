"""The lab's controls: ready stories, the producer's settings, the steps. What is chosen goes into the address."""

from __future__ import annotations

from functools import partial

import streamlit as st

from idcore.base.catalogue import Words
from idcore.presentation import times
from idcore.presentation.lab import GROUPS, READY, STEPS_MOST, Story, packed
from pages.parts import browser
from pages.parts.view import absolute, in_sight, into_address
from pages.parts.widgets import download

FIRST = "retry"
AT = "at"  # of an address: how many steps a presenter shows
SETTINGS = tuple(Story().settings)


def given() -> dict[str, str]:
    """The address as the lab reads it; without a story it is the first one."""
    params = {name: st.query_params[name] for name in ("story", *SETTINGS) if name in st.query_params}
    return params if "story" in params else {**READY[FIRST].params, **params}


def tell(story: Story) -> None:
    """The address becomes this story's, at once: one step back in the browser is one story back."""
    kept = {name: st.query_params[name] for name in st.query_params if name not in ("story", *SETTINGS)}
    st.query_params.from_dict({**kept, **story.params})


def take(story: Story, code: str) -> None:
    """One step more; what it adds is to come into sight."""
    tell(story.then(code))
    st.session_state["lab_turn"] = turn() + 1


def turn() -> int:
    """How many steps this visitor has taken."""
    return int(st.session_state.get("lab_turn", 0))


def presented() -> int | None:
    """How many steps of the story are shown to a room, as the address says; None where nobody presents it."""
    text = st.query_params.get(AT, "")
    return max(1, int(text)) if text.isdecimal() and len(text) < 4 else None


def turn_page(story: Story, at: int, words: Words) -> None:
    """For a presenter: one step back, one further, and the end; the arrow keys and Esc do the same."""
    at = min(at, len(story.steps))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lab-turn"):
        for name, icon, to, key in (("back", "arrow_back", at - 1, "Left"), ("next", "arrow_forward", at + 1, "Right")):
            st.button(
                words(f"lab.{name}"),
                key=f"lab-{name}",
                icon=f":material/{icon}:",
                shortcut=key,
                type="primary" if name == "next" else "secondary",
                disabled=not 1 <= to <= len(story.steps),
                on_click=into_address,
                args=({AT: str(to)},),
            )
        st.caption(words.numbers("lab.page", n=at, of=len(story.steps)), width="content")
        leave, icon = words("lab.leave"), ":material/close_fullscreen:"
        st.button(
            leave,
            key="lab-leave",
            type="tertiary",
            icon=icon,
            shortcut="Esc",
            on_click=into_address,
            args=({AT: None},),
        )


def ready(asked: dict[str, str], words: Words) -> None:
    """The ready stories as chips; the one that is shown is marked."""
    st.session_state["lab_ready"] = next((name for name, story in READY.items() if story.params == asked), None)

    def chosen() -> None:
        name = st.session_state["lab_ready"]
        if name is not None:
            tell(READY[name])

    st.pills(
        words("lab.ready"),
        list(READY),
        key="lab_ready",
        format_func=lambda name: words(f"lab.ready.{name}"),
        on_change=in_sight(chosen),
        label_visibility="collapsed",
    )


def settings(asked: dict[str, str], words: Words) -> None:
    """Clock, zone, host, pid, loader: the story is played again when one changes."""
    shown = Story().settings | {name: asked[name] for name in SETTINGS if asked.get(name)}
    names = list(dict.fromkeys([shown["made_in"], "UTC", "Asia/Shanghai", *times.zone_names()]))

    def changed(name: str) -> None:
        st.query_params["story"] = asked["story"]
        st.query_params[name] = str(st.session_state[f"lab_{name}"] or "").strip()

    with st.expander(words("lab.setting"), icon=":material/tune:"):
        for name in SETTINGS:
            st.session_state[f"lab_{name}"] = shown[name]
            if name == "made_in":
                st.selectbox(words("lab.made_in"), names, key="lab_made_in", on_change=in_sight(changed), args=(name,))
            else:
                st.text_input(words(f"lab.{name}"), key=f"lab_{name}", on_change=in_sight(changed), args=(name,))


def steps(story: Story, words: Words) -> None:
    """One button a step, in groups."""
    full = len(story.steps) >= STEPS_MOST
    for group, codes in GROUPS.items():
        st.caption(words(f"lab.group.{group}"))
        with st.container(horizontal=True, gap="xsmall", key=f"lab-steps-{group}"):
            for code in codes:
                st.button(
                    words(f"lab.step.{code}"),
                    key=f"lab-step-{code}",
                    type="primary" if code == "send" else "secondary",
                    shortcut="Ctrl+Enter" if code == "send" else None,
                    on_click=take,
                    args=(story, code),
                    disabled=full,
                )
    if full:
        st.caption(words("lab.full", most=STEPS_MOST))


def takeaway(story: Story, words: Words) -> None:
    """Undo, start again, the link, the store."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lab-take"):
        for step, icon, changed in (("undo", "undo", story.undone()), ("clear", "restart_alt", story.cleared())):
            label, key, icon = words(f"lab.{step}"), f"lab-{step}", f":material/{icon}:"
            off = not story.steps
            st.button(label, key=key, type="tertiary", icon=icon, disabled=off, on_click=tell, args=(changed,))
        label, icon = words("lab.present"), ":material/slideshow:"
        show = partial(into_address, {AT: "1"})
        st.button(label, key="lab-present", type="tertiary", icon=icon, disabled=not story.steps, on_click=show)
        browser.copy_button(absolute("lab", **story.params), words, "story", words("lab.link"))
        download(
            words("lab.zip"), lambda: packed.archive(story), "lab-store.zip", key="lab-zip", mime="application/zip"
        )
