"""Lists of IDs that a reader lets a cluster judge, from the pages that have them: only a click asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.fate_list import MOST_IDS, background
from idcore.answers.fate_list.batched_lookups import FateListProgress, IdList
from idcore.answers.fate_list.sentences import progress_text
from idcore.answers.lookup import Answer, LookupService, shared
from idcore.base.catalogue import words
from idcore.runs import background_run
from idcore.runs.runs import FATES, Run, Runs
from idcore.server import jobs
from pages.parts import live
from pages.parts.runs import fate_lists
from tests.pages.test_compare import comparing
from tests.pages.test_pages import press, shown
from tests.remoting.fake_many import Many, id_of

Open = Callable[..., AppTest]
IDS = [id_of(at) for at in range(8)]
TEXT = "\n".join(f"msgId={each}" for each in IDS)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Many]:
    made = Many(8, ["works", "late"])
    made.offsets = {"Orders@works": 8, "Orders@late": 1}
    made.end = made.pulled = 8
    with made.server:
        monkeypatch.setenv("IDCORE_NAMESRV", str(made.server.address))
        yield made


def listed() -> Run:
    (run,) = (run for run in Runs().list() if run.kind == FATES)
    job = background_run.find(run.name)
    assert job is not None
    job.wait(20)
    return run


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def test_compare_asks_about_what_one_input_lacks_at_a_click(open_page: Open, cluster: Many) -> None:
    app = comparing(open_page, TEXT, "\n".join(TEXT.splitlines()[:3]))
    assert not cluster.server.seen and "What became of the 5 IDs missing from the second input?" in labels(app)
    assert not any("missing from the first" in label for label in labels(app))
    press(app, "What became of the 5 IDs missing from the second input?")
    run = listed()
    app.run()
    assert not app.exception and not app.error
    assert app.query_params["fates"] in (run.name, [run.name])
    assert "5 IDs: 5 with a result." in shown(app)
    assert set(run.table("asked_ids")["id"].to_pylist()) == set(IDS[3:])
    assert run.summary is not None and run.summary["cluster"] == "default" and run.state == "done"


def test_the_page_of_deliveries_shows_a_list_and_what_has_no_verdict(open_page: Open, cluster: Many) -> None:
    (name,) = live.offers()
    service = live.source_of(name)
    assert isinstance(service, LookupService)
    run = background.start(Runs(), service, IdList.of([*IDS, id_of(60_000)], "Orders"), "me").run
    listed()
    asked = len(cluster.server.seen)
    app = open_page("fate", run=run.name)
    page = shown(app)
    assert not app.exception and not app.error and len(cluster.server.seen) == asked
    assert "9 IDs: 8 with a result, 1 not found." in page and id_of(60_000) in page
    waits = sum(row["messages"] for row in run.table("fates").to_pylist() if row["group"] == "late") - 4
    assert f"<b>late</b> has not consumed <b>{waits} messages</b>" in page and "a · 1" in page
    assert f"message?id={IDS[4]}&amp;cluster=default" in page
    for other, said in (("findings", "is not a scan"), ("compare", "is not a comparison")):
        assert said in open_page(other, run=run.name).error[0].value


def test_a_list_without_a_group_says_so(open_page: Open, cluster: Many) -> None:
    cluster.listed = []
    app = open_page("decode", ids=",".join(IDS))
    press(app, "What became of these 8 IDs?")
    page = open_page("fate", run=listed().name)
    assert "8 without a consumer group" in shown(page) and "No message of this list" in shown(page)
    assert not page.exception


@pytest.mark.parametrize(("lang", "said"), [("en", "8 IDs: 8 with a result."), ("zh", "8 个 ID：8 个有消费结果。")])
def test_decode_asks_about_its_ids(open_page: Open, cluster: Many, lang: str, said: str) -> None:
    app = open_page("decode", ids=",".join(IDS), lang=lang)
    assert not cluster.server.seen
    press(app, words(lang)("fates.ask", ids=words(lang).count("id", 8)))
    run = listed()
    assert said in shown(app.run()) and not app.exception
    page = shown(open_page("runs", lang=lang))
    assert said in page and words(lang)("runs.kind_fates") in page
    assert run.options["asked_ids"] == 8


def test_find_message_takes_a_list_with_its_topic(open_page: Open, cluster: Many) -> None:
    app = open_page("lookup", id=",".join([*IDS, IDS[0]]), topic="Orders")
    press(app, words("en")("fates.as_list"))
    run = listed()
    assert (run.options["topic"], run.summary and run.summary["judged"]) == ("Orders", 8)
    assert "8 IDs: 8 with a result." in shown(app.run()) and not app.exception
    app.text_area[0].set_value("")
    press(app, words("en")("fates.as_list"))
    assert app.warning


def test_without_a_cluster_nothing_is_offered(open_page: Open) -> None:
    assert not any("What became" in label for label in labels(comparing(open_page, TEXT, IDS[0])))
    assert not any("What became" in label for label in labels(open_page("decode", ids=",".join(IDS))))


def test_too_many_ids_are_refused_with_their_number(open_page: Open, cluster: Many) -> None:
    many = "\n".join(f"msgId={id_of(at)}" for at in range(MOST_IDS + 2))
    app = comparing(open_page, many, f"msgId={id_of(0)}")
    (button,) = (button for button in app.button if button.label.startswith("What became of the 5,001 IDs"))
    assert button.disabled and not cluster.server.seen
    assert any("5,001 IDs: the cluster is asked about at most 5,000 at once" in each.value for each in app.caption)


class Slow(LookupService):
    """Answers the first ID, and then waits until it may go on."""

    go_on = threading.Event()
    begun = threading.Event()

    def one(self, text: str, *more: Any, **options: Any) -> Answer:
        if text != IDS[0]:
            self.begun.set()
            self.go_on.wait(10)
        return super().one(text, *more, **options)


def test_a_list_is_cancelled_where_it_runs_and_keeps_what_was_judged(
    open_page: Open, cluster: Many, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = live.offers()
    usual = live.source_of(name)
    assert isinstance(usual, LookupService)
    slow = Slow(usual.cluster, usual._moment)
    monkeypatch.setattr(shared, "_source", lambda *_: slow)
    ids = [*IDS, *(id_of(at) for at in range(100, 200))]  # more than a portion, so that some are never asked
    app = open_page("decode", ids=",".join(ids))
    press(app, f"What became of these {len(ids)} IDs?")
    assert slow.begun.wait(10)
    assert "Cancel" in labels(app.run())
    press(app, "Cancel")
    job = background_run.find(next(run.name for run in Runs().list() if run.kind == FATES))
    assert job is not None and job.cancelling
    slow.go_on.set()
    run = listed()
    assert run.summary is not None and run.summary["stopped"] and run.state == "done"
    assert run.summary["judged"] >= 1 and run.summary["not_asked"] >= len(ids) - 64
    assert f"{run.summary['not_asked']} not asked" in shown(app.run())


def test_lists_of_one_cluster_take_turns_and_a_list_that_nobody_keeps_goes(cluster: Many) -> None:
    (name,) = live.offers()
    usual = live.source_of(name)
    assert isinstance(usual, LookupService)
    Slow.go_on.clear()
    Slow.begun.clear()
    slow = Slow(usual.cluster, usual._moment)
    first = background.start(Runs(), slow, IdList.of(IDS), "a")
    assert slow.begun.wait(10)
    second = background.start(Runs(), slow, IdList.of(IDS), "b", kept=False)
    assert second.progress().is_waiting
    assert progress_text(second.progress(), words("en")) == "Waiting for another list of this cluster."
    second.discard()
    second.wait(10)
    assert not second.run.path.exists()
    Slow.go_on.set()
    first.wait(20)
    assert first.run.state == "done" and not first.cancelling
    assert jobs.of(first.run) is first


def test_a_list_that_failed_is_tried_again_where_runs_are_listed(open_page: Open, cluster: Many) -> None:
    again = words("en")("scan.again")
    (name,) = live.offers()
    service = live.cluster(name)
    assert service is not None
    failed = background.start(Runs(), service, IdList.of(IDS, "Orders"), "a")
    failed.wait(20)
    failed.run.set_state("failed")
    elsewhere = Runs().create("of another server", kind=FATES)
    elsewhere.set_state("failed")
    app = open_page("runs", lang="en")
    assert labels(app).count(again) == 1, "this server does not have the IDs of the other list"
    press(app, again)
    assert not app.exception and not app.error
    (begun,) = {run.name for run in Runs().list() if run.kind == FATES} - {failed.run.name, elsewhere.name}
    job = background_run.find(begun)
    assert isinstance(job, background.Job) and (job.wanted.ids, job.wanted.topic) == (failed.wanted.ids, "Orders")
    job.wait(20)


def test_a_link_to_a_scan_in_the_place_of_a_list_is_said(open_page: Open, cluster: Many) -> None:
    run = Runs().create("not a list")
    run.set_state("done")
    app = open_page("lookup", fates=run.name)
    assert not app.exception
    assert any(run.name in error.value for error in app.error)


def test_a_cluster_that_is_gone_is_said(open_page: Open, cluster: Many, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("decode", ids=",".join(IDS))
    monkeypatch.setattr(live, "cluster", lambda name: None)
    press(app, "What became of these 8 IDs?")
    assert "there is no cluster" in app.error[0].value.lower() and not app.exception
    assert fate_lists.PARAM not in app.query_params


def test_how_far_a_list_is_has_its_time_left_and_its_limit() -> None:
    now = FateListProgress(5_000, 1_200, 1_100, 30, 12.0, 38.0, is_limited=True)
    said = progress_text(now, words("en"))
    assert said == (
        "1,200 of 5,000 IDs, 1,100 found, 30 not consumed by a group · 38 s left"
        " · waiting: the allowed number of look-ups a minute is used up"
    )
