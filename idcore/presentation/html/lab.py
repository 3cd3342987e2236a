"""The lab as static HTML: the story's rows with both ids, changed bytes lit, and the commit logs as bars that fill."""

from __future__ import annotations

from idcore.base.catalogue import Words
from idcore.base.layout import LAYOUTS, Layout
from idcore.presentation import times
from idcore.presentation.lab import LogFile, Piece, PlayedStory, Row, changed, differences, moves, texts
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, emphasised, join, table, tag

UNIQ, OFFSET = (tuple(one for one in LAYOUTS.values() if one.kind == kind) for kind in ("uniq", "offset"))
# So many files of one broker are drawn; the earlier ones are counted.
FILES_MOST = 2
# A counter that moves by more did not simply go on: both values are shown.
_COUNTER_STEP = 1_000
Before = dict[str, str | None]


def lead(words: Words) -> Html:
    """What there is to see, in one sentence."""
    return tag("p", emphasised(words("lab.lead")), class_="mq-lead")


# the commit logs


def bars(shown: PlayedStory, words: Words) -> Html:
    """Every broker's newest files; what the last step wrote is strong."""
    rows = []
    for broker in dict.fromkeys(file.broker for file in shown.logs):
        files = [file for file in shown.logs if file.broker == broker]
        earlier = len(files) - FILES_MOST
        more = words("lab.log.earlier", n=earlier) if earlier > 0 else None
        for place, file in enumerate(files[-FILES_MOST:]):
            rows.append(_file(file, None if place else tag("b", broker), more if place else None, shown, words))
    return tag("section", *rows, class_="mq-logs", aria_label=words("lab.log"))


def _file(file: LogFile, broker: Html | None, more: str | None, shown: PlayedStory, words: Words) -> Html:
    used = words("lab.log.used", used=f"{file.used:,}", size=f"{file.size:,}")
    records = words.count("lab_record", sum(piece.kind == "record" for piece in file.pieces))
    spoken = words(
        "lab.log.spoken",
        broker=file.broker,
        file=file.name,
        used=words.bytes(file.used),
        size=words.bytes(file.size),
        records=records,
    )
    pieces = [_piece(piece, file, shown, words) for piece in file.pieces if piece.kind != "free"]
    return tag(
        "div",
        tag("span", broker, more, class_="mq-logname"),
        tag("span", file.name, class_="mq-mono mq-file"),
        tag("span", *pieces, class_="mq-bar", role="img", aria_label=spoken),
        tag("span", used, class_="mq-used"),
        class_="mq-logfile",
    )


def _piece(piece: Piece, file: LogFile, shown: PlayedStory, words: Words) -> Html:
    row = None if piece.row is None else shown.rows[piece.row]
    values = {"offset": f"{piece.start:,}", "size": words.bytes(piece.size)}
    if row is None or row.record is None:
        said = words("lab.log.blank", **values)
    else:
        said = words("lab.log.record", topic=row.record.topic, **values)
    last = len(shown.story.steps)
    kind = "mq-blank" if piece.kind == "blank" else "mq-last" if row is not None and row.step == last else None
    return tag("i", class_=kind, style=f"width:{100 * piece.size / file.size:.3f}%", title=said)


# the story


def story(shown: PlayedStory, reader: Reader) -> Html:
    """Every step with its rows."""
    words = reader.words
    blocks, before = [], Before(uniq=None, offset=None)
    for step in range(len(shown.story.steps) + 1):
        rows = [_row(row, before, shown, reader) for row in shown.rows if row.step == step]
        name = words(f"lab.step.{shown.story.steps[step - 1]}") if step else words("lab.row.start")
        start = None if step else _time(shown.rows[0], shown)
        head = tag("div", tag("span", step, class_="mq-step-n"), tag("span", name), start, class_="mq-step-name")
        last = "mq-step mq-step-last" if step and step == len(shown.story.steps) else "mq-step"
        blocks.append(tag("li", head, *rows, class_=last))
    return tag("ol", *blocks, class_="mq-story", aria_label=words("lab.story"))


def _row(row: Row, before: Before, shown: PlayedStory, reader: Reader) -> Html:
    words = reader.words
    values = dict(texts.values(row, shown, words))
    title = tag("strong", words(f"lab.row.{row.code}", **values))
    head = tag("div", title, _time(row, shown), class_="mq-what") if row.step else None
    ids: list[Html | None] = []
    if row.code == "start":
        ids = [_line("msgId", _digits(row.values["prefix"], (), UNIQ, cut=12), None, None)]
    elif row.code != "blank":
        ids = [
            _id_line("msgId", row.msg_id, before, "uniq", reader, "lab.no_msg_id", other=row.code == "collide"),
            _unique(row, reader),
            _id_line("offsetMsgId", row.offset_msg_id, before, "offset", reader, "lab.no_offset"),
        ]
    before["uniq"], before["offset"] = row.msg_id or before["uniq"], row.offset_msg_id or before["offset"]
    return tag(
        "div",
        head,
        tag("div", *ids, class_="mq-ids") if ids else None,
        _place(row, words),
        tag("p", emphasised(words(f"lab.why.{row.code}", **values)), class_="mq-because"),
        _copy(row, shown, words),
        class_="mq-row",
    )


def _time(row: Row, shown: PlayedStory) -> Html:
    return tag("span", times.full(shown.story.at(row.now), shown.story.zone), class_="mq-mono mq-faint mq-clock")


def _line(name: str, digits: Html | str, mark: Html | None, quiet: str | None) -> Html:
    return tag(
        "div", tag("span", name, class_="mq-idname"), tag("span", digits, class_=quiet), mark, class_="mq-idline"
    )


def _id_line(
    name: str, text: str | None, before: Before, kind: str, reader: Reader, absent: str, *, other: bool = False
) -> Html:
    if text is None:
        return _line(name, reader.words(absent), None, "mq-faint mq-absent")
    layouts = UNIQ if kind == "uniq" else OFFSET
    old = before[kind]
    shown = _id_link(name, text, _digits(text, changed(text, old), layouts, kind), reader)
    return _line(name, shown, _mark(text, old, layouts, reader.words, other), None)


def _id_link(name: str, text: str, digits: Html, reader: Reader) -> Html:
    """The way to an id's anatomy; screen readers get the digits in one piece."""
    return tag(
        "a",
        digits,
        href=reader.href("anatomy", id=text),
        target="_blank",
        rel="noopener",
        class_="mq-id",
        aria_label=f"{name} {text}",
    )


def _digits(text: str, lit: tuple[bool, ...], layouts: tuple[Layout, ...], kind: str = "uniq", *, cut: int = 0) -> Html:
    """The digits in fields; a byte that changed is lit and set in bold. `cut` digits are still to come."""
    layout = next(item for item in layouts if item.digits == len(text) + cut)
    fields = []
    for span in layout.spans:
        digits = text[2 * span.start : 2 * span.stop].ljust(2 * (span.stop - span.start), "·")
        cells = [
            tag("b", digits[2 * at : 2 * at + 2], class_="mq-lit")
            if lit and lit[span.start + at]
            else digits[2 * at : 2 * at + 2]
            for at in range(span.stop - span.start)
        ]
        name = "broker" if kind == "offset" and span.name == "ip" else span.name
        fields.append(tag("span", *cells, data_field=name, class_="mq-field mq-mono"))
    return join(fields)


def _mark(text: str, before: str | None, layouts: tuple[Layout, ...], words: Words, other: bool) -> Html:
    if before == text:
        return tag("span", words("lab.same" if other else "lab.stays"), class_="mq-same" if other else "mq-stays")
    parts = []
    for move in moves(text, before, layouts):
        name = "broker" if move.name == "ip" and layouts is OFFSET else move.name
        by = move.after - move.before
        if move.name == "ip":
            parts.append(name)
        elif abs(by) < (_COUNTER_STEP if move.name == "counter" else 1 << 31):
            parts.append(words("lab.move", name=name, by=f"{by:+,}".replace("-", "−")))
        else:
            parts.append(words("lab.move_from", name=name, before=f"{move.before:,}", after=f"{move.after:,}"))
    said = words("lab.changes", fields=words("comma").join(parts)) if parts else words("lab.new")
    return tag("span", said, class_="mq-moves")


def _unique(row: Row, reader: Reader) -> Html | None:
    """The id that the record contains, where it is not the one that the producer got back."""
    held = None if row.record is None else row.record.uniq_id
    if held is None or held == row.msg_id:
        return None
    name = reader.words("lab.unique")
    return _line(name, _id_link(name, held, _digits(held, changed(held, row.msg_id), UNIQ), reader), None, None)


def _place(row: Row, words: Words) -> Html | None:
    if row.record is None:
        return None
    record = row.record
    size = words.bytes(record.size)
    said = words("lab.at", broker=row.broker, topic=record.topic, queue=record.queue_id, size=size)
    return tag("p", said, class_="mq-place-of")


def _copy(row: Row, shown: PlayedStory, words: Words) -> Html | None:
    """The record next to the one it was copied from: what differs as a table, what was kept in a line."""
    if row.record is None or row.copied_from is None:
        return None
    every = differences(row.copied_from, row.record)
    other = [item for item in every if not item.same]
    columns = [
        Column("name", words("lab.col.name"), mono=True),
        Column("before", words("lab.col.before"), mono=True),
        Column("after", words("lab.col.after"), mono=True),
    ]

    def text(name: str, value: str | None) -> str:
        if value is None:
            return words("lab.missing")
        return times.full(shown.story.at(int(value)), shown.story.zone) if name.endswith("_timestamp") else value

    rows = [(item.name, text(item.name, item.before), text(item.name, item.after)) for item in other]
    caption = words("lab.differs", n=len(other), all=len(every))
    kept = words("comma").join(item.name for item in every if item.same)
    return tag(
        "details",
        tag("summary", caption),
        table(columns, rows, caption),
        tag("p", words("lab.kept", names=kept), class_="mq-faint mq-note"),
        class_="mq-copy",
    )
