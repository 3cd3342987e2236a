"""The parts without a page: escaping, ruler, cards, sentences, names of runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.base.layout import LAYOUTS
from idcore.base.plain_json import MOST_VALUES
from idcore.ids import fields
from idcore.ids.clock import Clock
from idcore.ids.identify import identify
from idcore.ids.tokens import Token
from idcore.intake import intake
from idcore.presentation import intake_texts
from idcore.presentation.html import cards, ruler
from idcore.presentation.reports import markdown, markup, roles
from idcore.presentation.triage import address_flags, run_texts, sentences
from idcore.presentation.triage.processes import find_process, process_key, process_name
from idcore.rocketmq.message import bodies
from pages.parts import problems
from pages.parts.view import View
from tests.pages import example_run

pytestmark = pytest.mark.quick

SHANGHAI = ZoneInfo("Asia/Shanghai")
UNIQ, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "AC11000100002A9F00000000000E8580"


def reader(lang: str = "en") -> View:
    return View(catalogue.words(lang), SHANGHAI, "Asia/Shanghai", "chosen", "light")


# ---- colours


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_that_text_may_have_is_readable_on_both_grounds(theme: roles.Theme) -> None:
    colours = roles.palette(theme)
    series = {f"series {place}": colour for place, colour in enumerate(colours.series)}
    named = {**colours.roles, **series, "text": colours.text, "muted": colours.muted}
    grounds = (colours.background, colours.panel)
    assert {name: one for name, one in named.items() if min(contrast(one, ground) for ground in grounds) < 4.5} == {}


# ---- markup


def test_half_a_character_from_a_strangers_json_can_be_sent() -> None:
    shown = bodies.as_json('{"a": "\\ud800 \\u4e2d"}')
    assert shown is not None and '"\\ud800 \u4e2d"' in shown and shown.encode()
    assert bodies.as_json("[" + "0," * MOST_VALUES + "0]") is None  # a body of 5 MB, which nobody reads set out
    made = markup.tag("p", "\ud800 \u4e2d", title="\ud800")
    assert made.encode() == '<p title="\\ud800">\\ud800 \u4e2d</p>'.encode()


def test_whatever_stands_in_the_input_is_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>\"'"
    made = markup.table([markup.Column("a", evil, wide=True)], [[evil]], evil)
    assert "<img" not in made and made.count("&lt;img") >= 4
    assert 'href="javascript' not in markup.link("x", "decode?ids=A")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app_2026_11-20.log", "app_2026_11-20.log"),
        ("10.0.0.7 pid 3416, 9 % of it", "10.0.0.7 pid 3416, 9 % of it"),
        ("a*b*|c`<d>", "a\\*b\\*\\|c\\`\\<d\\>"),
        ("_a_ [x](y) &amp; a&b", "\\_a\\_ \\[x\\](y) \\&amp; a&b"),
        ("_a_ (http://e_e/_) - *", "\\_a\\_ (`http://e_e/_`) - \\*"),
        ("at www.evil.example, a@b.example.", "at `www.evil.example`, `a@b.example`."),
        ("已登录：a@b.example。- 1. www.例.cn", "已登录：`a@b.example`。- 1. `www`.例.cn"),
        ("a :material/delete:, :streamlit: 10:00:00", "a `:material/delete`:, `:streamlit`: 10:00:00"),
        ("ask @all, (@team-a).", "ask `@all`, (`@team-a`)."),
        ("fixed by #12, shop/orders#7 (#8)", "fixed by `#12`, `shop/orders#7` (`#8`)"),
        ("smb://e.example/a (file://e/b), $7", "`smb://e.example/a` (`file://e/b`), `$7`"),
        ("!3 %4 &5, GH-6, GL-6 and gh-7", "`!3` `%4` `&5`, `GH-6`, `GL-6` and `gh-7`"),
        ("# 1, C#, 9 % 3, a&1 a!1 50%2 LEGH-6 !", "\\# 1, C\\#, 9 % 3, a&1 a!1 50%2 LEGH-6 !"),
        ("Orders@works, www or http: 1.2", "Orders@works, www or http: 1.2"),
        ("a\n\n# b\r\n    c\u2028d", "a \\# b c d"),
        ("- a", "\\- a"),
        ("12. a", "12\\. a"),
        ("---", "\\---"),
        ("k\udcff\\", "k\\\\udcff\\\\"),
    ],
)
def test_markdown_says_the_text_and_nothing_else(text: str, said: str) -> None:
    assert markdown.escaped(text) == said


@pytest.mark.parametrize(
    ("text", "said"), [("a b", "`a b`"), ("a`b", "``a`b``"), ("`` a", "``` `` a ```"), ("a\nb", "`a b`"), ("", "`  `")]
)
def test_code_in_markdown_ends_where_the_text_ends(text: str, said: str) -> None:
    assert markdown.code(text) == said


# What renderers make a link of in text that is neither code nor a link (mdast-util-gfm-autolink-literal 2.0.1, which
# Streamlit has; GitHub's cmark-gfm finds no more): after the marks were read, so that a backslash is no hindrance.
AUTOLINKS = re.compile(
    r"(https?://|ftp://|www(?=\.))([-.\w]+)([^ \t\r\n]*)|(?:^|(?<=[\W_]))([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)", re.I | re.A
)
PARTS = ["www.evil.example", "http://e", "HTTPS://e/?a=b", "ftp://e", "a.b+c@d.example", "mailto:a@b.cc", "xmpp:a@b.cc"]
PARTS += [
    "*",
    "**",
    "_",
    "`",
    "``",
    "[",
    "](",
    ")",
    "<",
    ">",
    "\\",
    "~~",
    "|",
    " ",
    "\n",
    "- ",
    "1. ",
    "# ",
    "&amp;",
    "Ä",
]


def shown(made: str) -> tuple[set[str], str]:
    """What a renderer makes of Markdown: the kinds of its parts, and its text with a zero where there is code."""
    parts = [each for token in MarkdownIt().parse(made) for each in token.children or ()]
    text = "".join(each.content if each.type.startswith("text") else "\0" for each in parts)
    return {each.type for each in parts}, text


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_no_text_of_a_log_becomes_a_link_or_a_mark(text: str) -> None:
    for make in (markdown.escaped, markdown.with_bold, markdown.code):
        kinds, said = shown(make(text))
        strong = {"strong_open", "strong_close"} if make is markdown.with_bold else set()
        assert kinds <= {"text", "text_special", "code_inline"} | strong, make(text)
        assert not AUTOLINKS.search(said), make(text)
    parts = [each for token in MarkdownIt().parse(markdown.escaped(text)) for each in token.children or ()]
    assert "".join(each.content for each in parts) == " ".join(text.split())


# ---- ruler and card


@pytest.mark.parametrize(
    "token",
    [
        UNIQ,
        OFFSET,
        "0101007F0000A61200003CF1C4030100",
        "0108719066FF9A12670AC62EB100000007",
        "20010DB8001200000000000000000042026330946E09" + "096403F49223",
    ],
)
@pytest.mark.parametrize("lang", catalogue.languages())
def test_the_ruler_shows_every_byte_once_and_in_order(token: str, lang: str) -> None:
    best = identify(token).best
    assert best is not None
    layout = LAYOUTS[best.id.layout.name]
    shown = "".join(fields.digits_of(best, span) for span in layout.spans)
    assert shown == token
    words = catalogue.words(lang)
    for part in (ruler.ruler(best, words, bits=True), ruler.key(best, words), ruler.lessons(best, words)):
        assert part.count("data-field=") == len(layout.fields)
    assert all(value in fields.spoken_text(best, words) for value in (token, fields.digits_of(best, layout.spans[0])))


def test_every_field_of_every_layout_has_a_role_and_a_lesson() -> None:
    for layout in LAYOUTS.values():
        for field in layout.fields:
            assert field.name in roles.FIELD_ROLES
            for table in (catalogue.words(lang).table("") for lang in catalogue.languages()):
                own = f"lesson.{layout.kind}_{field.name}.how"
                assert own in table or (field.always is not None and "lesson.always.how" in table)


@pytest.mark.parametrize("lang", catalogue.languages())
def test_a_card_says_kind_values_time_and_the_months_it_could_be_from(lang: str) -> None:
    found = intake.FoundId(Token(UNIQ, 1, 1, "msgId"), identify(UNIQ, "msgId"))
    view = reader(lang)
    made = cards.card(found, view, Clock(datetime(2026, 11, 21, tzinfo=UTC), SHANGHAI, "given"))
    for said in ("172.17.0.1", "18236", "7D4991AD", "992", "2026-11-10 23:37:24.823 +08:00", "2026-10-10", "msgId"):
        assert said in made


# ---- sentences and marks


def test_a_process_is_told_with_wraps_missing_restarts_and_tracks() -> None:
    rows = [row.to_dict() for _, row in example_run.tables()["processes"].iterrows()]
    assert (
        "3 wraps (normal: after 65,535 a counter starts again at 0), 426 IDs missing (0.3%), 141,000 distinct msgIds"
        in sentences.process(rows[0], reader())
    )
    assert "1 restart" in sentences.process(rows[2], reader())
    assert "**2 counters** rise in parallel" in sentences.process(rows[3], reader())
    assert "generated **1 ID** at 2026" in sentences.process(rows[7], reader())
    assert "at least 3 wraps" in sentences.process(rows[0] | {"wraps_certain": False}, reader())


def test_odd_hosts_and_brokers_carry_their_marks() -> None:
    found = address_flags.of_hosts(example_run.tables()["processes"])
    assert found == {"172.17.0.2": ["docker", "shared"], "127.0.0.1": ["loopback"]}
    assert address_flags.of_broker("172.18.0.4", 30911) == ("internal", "node_port")
    assert address_flags.of_broker("10.1.2.3", 10911) == ()


def test_a_process_in_a_link_is_found_again() -> None:
    processes = example_run.tables()["processes"]
    for place, row in processes.iterrows():
        assert find_process(processes, process_key(row)) == place
    for key in (None, "", "10.0.0.1", "a~b~c", "10.42.3.17~99999999999~18B4AAC2"):
        assert find_process(processes, key) is None


def test_an_average_says_that_it_spans_a_standstill() -> None:
    row = example_run.tables()["processes"].iloc[0].to_dict()
    seconds = [0, 1, 2, 60, 61]
    row["rate_per_second"], none = 1.0, {"missing_before": 0, "position": 0, "sent_at": pd.NaT}
    points = pd.DataFrame({"elapsed_ms": [1000 * second for second in seconds]}).assign(**none)
    said = sentences.process(row | {"produced": 5}, reader(), points)
    assert "IDs/s over the whole span, but 58 s of 1 min 1 s passed without an ID." in said
    steady = pd.DataFrame({"elapsed_ms": range(0, 100_000, 1000)}).assign(**none)
    assert sentences.process(row | {"produced": 5}, reader(), steady).endswith("IDs/s over the whole span.")


# ---- names of runs


def test_a_title_names_what_was_scanned_in_either_language() -> None:
    many = {"sources": ["pasted.txt", "a", "b", "c", "d"]}
    assert run_texts.title_of("", many, catalogue.words("en")) == "pasted text, a, b and 2 more"
    assert run_texts.title_of("", many, catalogue.words("zh")).startswith("粘贴的文本、a、b")
    assert run_texts.title_of("old", {}, catalogue.words("zh")) == "old"
    assert run_texts.title_of("", {"sources": ["pasted.txt"], "only": UNIQ}, catalogue.words("zh")) == UNIQ
    pasted = {"sources": ["pasted.txt"], "lines": 90}
    for summary, title in (
        (None, "90 lines"),
        ({"ids": 0}, "no IDs from 90 lines"),
        ({"ids": 1}, "1 ID from 90 lines"),
    ):
        assert run_texts.title_of("", pasted, catalogue.words("en"), summary) == title


def test_choosers_tell_runs_of_one_title_apart() -> None:
    def row(name: str, minute: int, title: str = "app.log") -> dict[str, object]:
        return {
            "name": name,
            "title": title,
            "options": {},
            "summary": None,
            "created": datetime(2026, 11, 21, 1, minute, 7, tzinfo=UTC),
        }

    rows = [row("20261121-015507-a1b2c3", 55), row("20261121-015507-0d4e5f", 55), row("20261121-015607-777777", 56)]
    rows.append(row("20261121-015507-888888", 55, "old.log"))
    assert list(run_texts.labels(rows, reader()).values()) == [
        "app.log · 2026-11-21 09:55 +08:00 · a1b2c3",
        "app.log · 2026-11-21 09:55 +08:00 · 0d4e5f",
        "app.log · 2026-11-21 09:56 +08:00",
        "old.log · 2026-11-21 09:55 +08:00",
    ]
    assert process_name({"host": "1.1.1.1", "pid": 1, "loader": "0A", "layout": "uniq_v4"}) != process_name(
        {"host": "1.1.1.1", "pid": 1, "loader": "0A", "layout": "uniq_v4_le"}
    )


def test_the_scan_counts_what_was_cut() -> None:
    made = intake.read([("", f"x {UNIQ} {OFFSET}\n" * 50)], limit=10)
    first = intake_texts.intake_sentence(made, "50 lines", catalogue.words("en"))
    assert first.startswith("The first **10 IDs** of 50 lines")
    summary = {"ids": 100, "distinct": 2, "uniq": 50, "offset": 50, "client": 0}
    said = intake_texts.intake_sentence(made, "50 lines", catalogue.words("en"), summary)
    assert said.startswith("**100 ID occurrences** in 50 lines: 50 msgIds and 50 offsetMsgIds; **2 distinct IDs**.")


def test_a_visitor_reads_no_path_of_the_server_unless_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    words = catalogue.words("en")
    refused = PermissionError(13, "Permission denied", "/srv/desk/a.log")
    failed = CoreError("spark_start_said", {"why": "no /srv/jvm/bin/java", "said": 'version "17.0.9" of /srv/jvm'})
    assert problems.message(refused, words) == "The server has no permission to read a.log."
    assert problems.said(failed.coded(), words) == 'Spark did not start: no java. Java\'s output: version "…" of jvm'
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", "/srv/desk")
    assert problems.message(refused, words) == "The server has no permission to read /srv/desk/a.log."


def test_a_stranger_cannot_turn_our_words_around() -> None:
    for sign in "\u202e\u2066\u200f\x1b\u200b\u3164\u034f\ufe01\ufe0f\u180b\U000e0041\U000e0101":
        assert sign not in markdown.escaped(f"a{sign}b") + markdown.code(f"a{sign}b")
        assert sign not in markdown.fenced(f"a{sign}b\n\tc") and "\n\tc" in markdown.fenced(f"a{sign}b\n\tc")
        assert sign not in markup.tag("code", f"a{sign}b", title=f"a{sign}b")
    assert markup.tag("i", "a\u202eb", title="\u200b") == '<i title="\\u200b">a\\u202eb</i>'
    assert markup.tag("i", "a\u00a0\u3000b\tc\n") == "<i>a\u00a0\u3000b\tc\n</i>", "spaces are seen"
    assert markdown.escaped("消息 é ☃ 😀") == "消息 é ☃ 😀"
