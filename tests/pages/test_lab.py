"""The lab as a visitor has it: a first story, steps that go into the address, links, wrong links, no script."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.presentation.lab import READY, Story, packed
from idcore.presentation.lab.story import STEPS
from idcore.rocketmq.store import CommitLog, Stored
from tests.pages.test_pages import press, shown

Open = Callable[..., AppTest]


def test_the_first_story_says_what_stays_and_what_changes(open_page: Open) -> None:
    page = shown(open_page("lab", lang="en"))
    assert "1 message, 4 records." in page and "One msgId, 4 records" in page
    assert page.count('class="mq-stays"') == 3, "two records more of the first msgId, and the wait"
    assert "+08:00" in page and "Asia/Shanghai" in page


@pytest.mark.parametrize("lang", catalogue.languages())
@pytest.mark.parametrize("name", READY)
def test_every_ready_story_is_told(open_page: Open, name: str, lang: str) -> None:
    app = open_page("lab", lang=lang, **READY[name].params)
    assert not app.exception and not app.error
    page = shown(app)
    assert page.count("mq-step-name") == len(READY[name].steps) + 1
    assert "{" not in page and "**" not in page and "<script" not in page


def test_a_step_goes_into_the_address_and_can_be_undone(open_page: Open) -> None:
    app = press(open_page("lab", lang="en", story="-"), "Send")
    assert app.query_params["story"] == "send"
    press(app, "Answer lost, retry")
    assert app.query_params["story"] == "send.lost" and "One msgId, 2 records" in shown(app)
    press(app, "Undo")
    assert app.query_params["story"] == "send"
    press(app, "Start over")
    assert app.query_params["story"] == "-" and "nothing has been sent yet" in shown(app)


def test_every_step_has_its_button(open_page: Open) -> None:
    app = open_page("lab", lang="en", story="-")
    keys = {button.key for button in app.button}
    assert {f"lab-step-{step}" for step in STEPS} <= keys


def test_a_setting_changes_every_id_and_the_link(open_page: Open) -> None:
    app = open_page("lab", lang="en", story="send")
    next(box for box in app.text_input if box.label == "Host").set_value("172.17.0.2").run()
    assert app.query_params["host"] == "172.17.0.2" and app.query_params["story"] == "send"
    assert "AC110002" in re.sub("<[^>]+>", "", shown(app))


def test_a_link_of_a_teacher_opens_again(open_page: Open) -> None:
    story = Story.of("send.month", clock="2026-02-28T23:59:50", made_in="Europe/Berlin", pid=7)
    page = re.sub("<[^>]+>", "", shown(open_page("lab", lang="en", **story.params)))
    assert "0A14030B000718B4AAC2000000070001" in page and "2026-03-01 00:00:00.010 +01:00" in page


def test_every_id_leads_to_its_anatomy(open_page: Open) -> None:
    page = shown(open_page("lab", lang="en", story="lost"))
    for msg_id in ("0A14030B6E3518B4AAC263F5365C0000", "0A14010600002A9F0000000000000000"):
        assert f"anatomy?id={msg_id}" in page and f'aria-label="msgId {msg_id}"' in page.replace("offsetMsgId", "msgId")


@pytest.mark.parametrize(("lang", "said"), [("en", "The lab has no step"), ("zh", "实验室没有步骤")])
def test_a_wrong_link_is_told_and_the_stories_stay(open_page: Open, lang: str, said: str) -> None:
    app = open_page("lab", lang=lang, story="send.<script>alert(1)</script>")
    assert said in app.error[0].value and not app.exception
    assert app.text_input, "the settings can be put right"


def test_the_store_that_is_downloaded_is_the_one_that_is_shown(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(packed.archive(READY["roll"]))) as file:
        file.extractall(tmp_path)
    walked = [found for found in CommitLog(tmp_path / "broker-a" / "commitlog").walk() if isinstance(found, Stored)]
    assert len(walked) == packed.played(READY["roll"]).records == 4
    assert "mappedFileSizeCommitLog=4096" in (tmp_path / "broker.conf").read_text()
    assert not (tmp_path / "broker-a" / "abort").exists(), "a clean stop"


@pytest.mark.parametrize("lang", catalogue.languages())
def test_a_presenter_goes_step_by_step_and_the_address_says_where(open_page: Open, lang: str) -> None:
    words, story = catalogue.words(lang), READY["dead"]
    app = press(open_page("lab", lang=lang, **story.params), words("lab.present"))
    for step in range(1, len(story.steps) + 1):
        assert app.query_params["at"] == str(step) and not app.exception
        assert shown(app).count("mq-step-name") == step + 1
        assert words.numbers("lab.page", n=step, of=len(story.steps)) in [one.value for one in app.caption]
        forth = next(one for one in app.button if one.key == "lab-next")
        assert forth.disabled == (step == len(story.steps))
        if not forth.disabled:
            forth.click().run()
    assert not [one for one in app.button if str(one.key).startswith("lab-step-")], "the story alone"
    app = press(app, words("lab.leave"))
    assert "at" not in app.query_params and [one for one in app.button if str(one.key).startswith("lab-step-")]
    for wrong in ("x", "-1", "9" * 50):
        assert not open_page("lab", lang=lang, at=wrong, **story.params).exception
