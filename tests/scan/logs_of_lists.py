"""Made logs of lists: several messages on a line, items of YAML, rows, statements, store times; imports no idcore."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from tests.scan.logs import JAVA, Log, client, joined, offset, uniq, uniq_le
from tests.scan.logs_of_dates import elapsed_in
from tests.scan.logs_of_records import wall

FORMS = (
    ('{"msgId":"%s","time":"%s"}', ",", "[%s]"),
    ('{"time":"%.0s","msgId":"%s","at":"%s"}', ", ", '{"data":[%s]}'),
    ("MessageExt [msgId=PLACE, bornTimestamp=BORN, properties={UNIQ_KEY=%s, START=%s}]", ", ", "[%s]"),
    ("{'id': '%s', 'sent_at': '%s'}", ", ", "2026-02-01 10:00:00 got [%s]"),
    ("Vo(id=%s, sendTime=%s)", ", ", "[%s]"),
    ('"%s":{"time":"%s"}', ",", "{%s}"),
    ('{\\"id\\":\\"%s\\",\\"bornTimestamp\\":BORN,\\"x\\":\\"%s\\"}', ",", '"[%s]"'),
    ("<m><id>%s</id><time>%s</time></m>", "", "<a>%s</a>"),
    ("msgId=%s time=%s", "; ", "%s"),
    ("msgId=%s at %s", "\\n", "log: %s"),
    ("('%s','x','%s')", ",", "INSERT INTO t VALUES %s"),
    ("%s %s", ", ", "PLACE [%s] bornTimestamp=BORN"),
)
LINES = (
    "{one} stuck, planned for {time}",
    "==> Parameters: {one}(String), {time}.0(Timestamp)",
    "SELECT * FROM t WHERE create_time > '{time}' AND id='{one}'",
    "=== Report of orders {time} ===\nmsgId={one}",
    "msgId={one} storeTime={time}",
    'x {{"id":"{one}","storeTimestamp":{born}}}',
    "- msgId: {one}\n  time: {time}\n- msgId: {two}\n  sent_at: {time}",
    "*** 1. row ***\nmsg_id: {one}\nsend_time: {time}\n***** 2. row *****\nmsg_id: {two}\nsend_time: {time}",
    "存储时间\nmore\n{one}\nTagA\n{time}\nDETAIL",
    "INSERT INTO t VALUES (7,'{one}','{before}','{time}',NULL);",
    '{{"id":"{one}","createTime":"{before}","body":{{"deliverTime":"{before}","at":"{time}"}}}}',
    "{before} INFO consumed {one} of {before} PM, born at {time}",
)


def lists(seed: int, count: int = 90) -> Log:
    r = random.Random(seed)
    begun = datetime(2026, 1, 28, 12, tzinfo=UTC) + timedelta(hours=r.randrange(-3, 30))
    made: list[str] = []
    counter = 0

    def fresh(sent: datetime) -> str:
        nonlocal counter
        counter += 1
        pid = r.randrange(1, 14)
        elapsed = elapsed_in(sent, (480, 0, 345)[pid % 3])
        if pid == 12:
            return uniq_le(0x7F000101, 0x12A6, min(elapsed + 86_400_000, 32 * 86_400_000), counter)
        if pid == 13:
            return client(0x087190669A00, 7, int((sent - datetime(2021, 1, 1, tzinfo=UTC)).total_seconds()), counter)
        return uniq(0x0A000001 + pid % 2, pid, JAVA, elapsed, counter)

    for number in range(count):
        sent = begun - timedelta(days=r.choice((0, 0, 31))) + timedelta(seconds=number * 733, milliseconds=number)
        late = timedelta(seconds=r.choice((0, 0, 3, 1_300, 90_000)))
        if r.random() < 0.4:
            born = int((sent + late).timestamp() * 1000)
            before = wall(born - r.choice((5, 3 * 86_400_000)))[:19]
            line = r.choice(LINES).format(
                one=fresh(sent), two=fresh(sent), time=wall(born)[:19], born=born, before=before
            )
            made += [*line.split("\n"), *r.choice(([], [""], ["", ""]))]
            continue
        form, between, around = r.choice(FORMS)
        one_of_list = []
        for place in range(r.randrange(1, 5)):
            other = sent - timedelta(days=r.choice((0, 29, 61)) * place)
            born = int((other + r.choice((late, timedelta(0)))).timestamp() * 1000)
            text = form.replace("BORN", str(born)).replace("PLACE", offset(0x0B000001, 10911, number * 1000 + place))
            values = (fresh(other), wall(born)[:19])
            one_of_list.append(text % ((values[0], *values) if text.count("%") == 3 else values))
        line = around.replace("BORN", str(born)).replace("PLACE", offset(0x0B000002, 10911, number)) % between.join(
            one_of_list
        )
        made.append(f"{wall(born + 5_000_000)} INFO {line}" if r.random() < 0.3 else line)
    return Log(f"lists {seed}", joined(made))
