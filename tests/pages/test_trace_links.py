"""Links of other tools: a trace of theirs leads to its messages, and each recipe's address opens a page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from idcore.rocketmq.message.tracers import trace_of, traces_in
from tests.pages.test_lines import indexed
from tests.pages.test_pages import shown
from tests.source_code import ROOT

Open = Callable[..., AppTest]
ONE, TWO, NONE = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c", "a" * 32
IDS = [f"0A2A010B1FA118B4AAC263F4FD5F{number:04X}" for number in range(3)]
LOG = "".join(
    f"2026-11-20 09:50:0{number} INFO traceparent=00-{trace}-00f067aa0ba902b7-01 sent msgId={text}\n"
    for number, (text, trace) in enumerate(zip(IDS, (ONE, TWO, TWO), strict=True))
)
RECIPES = ROOT / "docs" / "how-to" / "link-to-the-console.md"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"00-{ONE}-00f067aa0ba902b7-01", (ONE,)),
        (f"a=00-{ONE}-00f067aa0ba902b7-01, b=00-{TWO}-00f067aa0ba902b7-00 00-{ONE}-b7ad6b7169203331-01", (ONE, TWO)),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01 00-{ONE}-{'0' * 16}-01 ff-{ONE}-00f067aa0ba902b7-01", ()),
        (f"x00-{ONE}-00f067aa0ba902b7-01 00-{ONE}-00f067aa0ba902b7-012", ()),
        (ONE, ()),
    ],
)
def test_traceparents_of_a_text(text: str, found: tuple[str, ...]) -> None:
    assert traces_in(text) == found


def test_a_link_has_a_trace_id_or_a_whole_traceparent() -> None:
    assert trace_of(f" 00-{ONE}-00f067aa0ba902b7-01 ") == trace_of(ONE) == ONE
    assert trace_of("<b>") is trace_of("x" * 3_000) is trace_of("") is None


def test_a_trace_of_one_message_opens_its_journey(open_page: Open, tmp_path: Path) -> None:
    run = indexed(tmp_path, LOG).name
    for link in (ONE, f"00-{ONE}-00f067aa0ba902b7-01"):
        app = open_page("message", trace=link, run=run)
        assert app.text_input(key="message_id").value == IDS[0] and app.query_params["id"] in (IDS[0], [IDS[0]])


def test_a_trace_of_several_messages_lists_them(open_page: Open, tmp_path: Path) -> None:
    run = indexed(tmp_path, LOG).name
    app = open_page("message", trace=TWO, run=run)
    assert "2 messages" in shown(app)
    links = [link.proto for link in app.get("page_link")]
    assert [link.label for link in links if link.label in IDS] == IDS[1:]
    assert "0 条消息" in shown(open_page("message", trace=NONE, run=run, lang="zh")) or "没有消息" in shown(
        open_page("message", trace=NONE, run=run, lang="zh")
    )


def test_a_trace_without_a_scan_and_no_trace_at_all_say_so(open_page: Open) -> None:
    assert "scan the logs first" in shown(open_page("message", trace=ONE))
    assert "no trace ID" in shown(open_page("message", trace="<script>"))


ADDRESSES = set(re.findall(r"https://desk\.example\.org(/\w+\?\S+?)[`\s]", RECIPES.read_text()))


@pytest.mark.parametrize("address", sorted(ADDRESSES))
def test_each_recipe_opens_a_page(address: str, open_page: Open, tmp_path: Path) -> None:
    run = indexed(tmp_path, LOG).name
    value = ONE if "trace=" in address else IDS[0]
    parts = urlsplit(re.sub(r"\$\{__value\.raw\}|\{\{value\}\}|\{traceId\}", value, address))
    query = dict(parse_qsl(parts.query, strict_parsing=True))
    app = open_page(parts.path.strip("/"), run=run, **query)
    assert app.text_input(key="message_id").value == IDS[0] and not app.exception


def test_the_command_of_the_recipes_writes_an_id_while_the_pipe_stays_open() -> None:
    (words,) = set(re.findall(r"rocketmq-ids (decode - --format json --zone \S+?)[\"\n]", RECIPES.read_text()))
    command = [sys.executable, "-m", "idcore", *words.split()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(LOG.encode())
        process.stdin.flush()
        rows = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert rows[0]["text"] == ONE and rows[0]["error"], "a trace ID only looks like a msgId"
        assert rows[1]["text"] == IDS[0] and rows[1]["error"] is None, "the pipe is open"
        process.stdin.close()
