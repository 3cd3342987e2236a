"""Hostile inputs with a seed: markup, IDs, parameters, files, archives, records, settings of stores. Opens nothing."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import zstandard

from idcore.base.layout import LAYOUTS
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message.properties import encode

HIT = "window.__hit&&__hit"  # what runs if markup is obeyed
MARKUP = (
    f"<img src=x data-canary onerror='{HIT}(1)'>",
    f"<script data-canary>{HIT}(2)</script>",
    f"\"><svg data-canary onload='{HIT}(3)'>",
    f'\'><iframe data-canary srcdoc="<script>parent.{HIT}(4)</script>"></iframe>',
    f"</style></title></textarea><b data-canary onclick='{HIT}(5)'>x</b>",
    f"[x](javascript:{HIT}(6))",
    f"<a data-canary href='javascript:{HIT}(7)'>x</a>",
    "![x](http://canary.invalid/a.png)",
    f"$$\\href{{javascript:{HIT}(8)}}{{x}}$$",
    f"```html\n<img data-canary src=x onerror={HIT}(9)>\n```",
    ":red[x] :material/home: :blue-badge[x] <!-- -->",
    f"&lt;img data-canary src=x onerror={HIT}(10)&gt;",
    f"%3Cimg%20data-canary%20src=x%20onerror={HIT}(11)%3E",
    "{{7*7}} ${7*7} %s %n {0} {values}",
    "=cmd|'/c calc'!A1",
    "\x1b]8;;http://canary.invalid\x07x\x1b[2J",
    "\u202e\u2066gnp.exe \u200b\ufeff\u2028",
    "a\r\nSet-Cookie: canary=1\r\n\r\n<b data-canary>",
    "'; DROP TABLE runs; -- \" OR 1=1",
    "A" * 3_000,
)
MARKS = ("__proto__", "constructor", "NaN", "-1", "1e999", "9" * 40, "٣", "null", "\x00", "~", ",", "")
MOST_NAME = 200  # bytes of a file's name


class Inputs:
    """Makes hostile inputs; the same seed makes the same ones. `secret` is a file that nothing may read."""

    def __init__(self, seed: int, secret: str, port: int) -> None:
        self.chance, self.secret = random.Random(seed), secret
        # An offsetMsgId of a listener on this machine: whoever dials an address out of an ID is heard there.
        self.dialled = f"7F000001{port:08X}{0:016X}"
        self.places = (
            secret,
            f"../../../../../../..{secret}",
            f"file://{secret}",
            f"..\\..\\..{secret}",
            f"http://127.0.0.1:{port}/canary",
            f"s3://127.0.0.1:{port}/canary",
            "http://169.254.169.254/latest/meta-data",
            "/proc/self/environ",
            "/etc/shadow",
            "//canary.invalid/share",
            f"{secret}\x00.log",
        )

    def one_of(self, *choices: Any) -> Any:
        return self.chance.choice(choices)

    def text(self) -> str:
        """Markup, places and odd values."""
        return str(self.one_of(self.chance.choice(MARKUP), self.chance.choice(MARKS), self.chance.choice(self.places)))

    def markup(self) -> str:
        return self.chance.choice(MARKUP)

    def id(self) -> str:
        """An ID of any layout with a bit changed, cut, too long, or in letters that look alike."""
        layout = self.chance.choice(list(LAYOUTS.values()))
        text = self.one_of(layout.example, self.chance.randbytes(layout.size).hex().upper(), self.dialled)
        at = self.chance.randrange(len(text))
        return str(
            self.one_of(
                text,
                text[:at] + f"{int(text[at], 16) ^ 1 << self.chance.randrange(4):X}" + text[at + 1 :],
                text.translate(str.maketrans("ABCDE01", "АВСDЕ０１")),  # Cyrillic and full-width
                text.lower(),
                text[:at],
                text + text,
                "0" * 56,
                "F" * 56,
                f"{text[:at]}\u200b{text[at:]}",
                f"{text[:at]}{self.markup()}{text[at:]}",
            )
        )

    def line(self) -> str:
        """A log line with an ID and something hostile next to it, or in its place."""
        text = self.text().replace("\n", " ").replace("\r", " ")
        return str(
            self.one_of(
                f"2026-11-20 09:50:02.000 INFO {text} msgId={self.id()}, topic={self.markup()}, tags={text}",
                f"SendResult [sendStatus={text}, msgId={self.id()}, offsetMsgId={self.id()}, messageQueue="
                f"MessageQueue [topic={text}, brokerName={text}, queueId=1], queueOffset={text}]",
                f'{{"msgId":"{self.id()}","keys":{json.dumps(text)},"body":{json.dumps(self.markup())}}}',
                f"MessageExt [brokerName={text}, queueId=0, storeSize=-1, bornHost=/{text}, msgId={self.id()}, {text}",
                f"{text} {self.id()}",
                text,
            )
        )

    def lines(self, count: int) -> str:
        return "\n".join(self.line().replace("\n", " ") for _ in range(count))

    def name(self) -> str:
        """The name of a file: never a place of ours, and short enough for a file system."""
        text = self.text().replace("\x00", "\\0")
        name = self.one_of(text, f"{text}.log", f"a.log{text}", f"{0:020d}", f"{text}.zip", "..", ".", " ", "con")
        return name.encode("utf-8", "replace")[:MOST_NAME].decode("utf-8", "ignore") or "x"

    # ---- files and archives

    def file(self) -> bytes:
        """The content of an upload: a log, an archive of any kind, a bomb, a cut or changed one, another kind."""
        log = self.lines(3).encode("utf-8", "replace")
        kinds: tuple[Callable[[bytes], bytes], ...] = (
            lambda data: data,
            self.zipped,
            self.tarred,
            lambda data: gzip.compress(self.tarred(data)),
            lambda data: lzma.compress(self.zipped(data), preset=0),
            lambda data: zstandard.ZstdCompressor().compress(data),
            lambda data: gzip.compress(data + bytes(24 << 20), 1),
            lambda data: self.zipped(gzip.compress(bytes(24 << 20), 1)),
            self.nested,
            lambda data: b"7z\xbc\xaf\x27\x1c" + data,
            lambda data: b"PAR1" + self.chance.randbytes(200) + b"PAR1",
            lambda data: data.decode().encode(self.one_of("utf-16", "utf-32", "utf-7")),
            lambda data: self.chance.randbytes(500),
            lambda data: self.changed(self.zipped(data)),
            lambda data: self.changed(gzip.compress(data)),
        )
        return self.chance.choice(kinds)(log)

    def changed(self, data: bytes) -> bytes:
        """Cut somewhere, or with some other bytes."""
        held = bytearray(data)
        for _ in range(self.chance.randrange(1, 6)):
            held[self.chance.randrange(len(held))] = self.chance.randrange(256)
        return bytes(held[: self.chance.randrange(1, len(held))] if self.chance.random() < 0.5 else held)

    def member(self) -> str:
        """The name of a member: a place outside, markup, or one that is too long."""
        return str(self.one_of(*self.places, self.markup(), "../" * 40 + "x", "a" * 5_000, "a/b/c.log", ".."))

    def zipped(self, data: bytes) -> bytes:
        out = io.BytesIO()
        method = self.one_of(zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
        with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as zipped:
            warnings.simplefilter("ignore")  # two members may have one name
            for _ in range(self.chance.randrange(1, 4)):
                info = zipfile.ZipInfo(self.member().replace("\x00", "\\0"))
                info.external_attr = self.one_of(0, 0o120777 << 16)  # a link
                info.compress_type = zipped.compression
                zipped.writestr(info, self.one_of(data, self.secret.encode()))
        held = bytearray(out.getvalue())
        if self.chance.random() < 0.2:  # the flag of an encrypted member
            held[6] |= 1
            held[held.index(b"PK\x01\x02") + 8] |= 1
        return bytes(held)

    def tarred(self, data: bytes) -> bytes:
        out = io.BytesIO()
        kinds = (tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE)
        with tarfile.open(fileobj=out, mode="w", format=self.one_of(tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)) as tar:
            for _ in range(self.chance.randrange(1, 4)):
                info = tarfile.TarInfo(self.member().replace("\x00", "\\0"))
                info.type, info.linkname = self.chance.choice(kinds), self.secret
                info.size = len(data) if info.isreg() else 0
                tar.addfile(info, io.BytesIO(data))
        return out.getvalue()

    def nested(self, data: bytes) -> bytes:
        for _ in range(self.chance.randrange(2, 12)):
            data = self.one_of(gzip.compress, self.zipped, self.tarred)(data)
        return data

    # ---- stores, runs, addresses

    def record(self, offset: int) -> Record:
        """A message whose topic, tags, keys, groups and body are hostile."""
        properties = {name: self.text() for name in ("TAGS", "KEYS", "RETRY_TOPIC", "PGROUP", "TRACE_ON", "DELAY")}
        properties |= {"UNIQ_KEY": self.one_of(self.id(), self.id(), self.markup())}
        properties = {name: value.replace("\x01", "").replace("\x02", "")[:900] for name, value in properties.items()}
        host, at = Host(b"\x7f\0\0\1", 10911), 1_795_000_000_000 + offset
        topic = self.text().encode("utf-8", "ignore")[:120].decode("utf-8", "ignore") or "T"
        body = self.one_of(
            self.markup().encode(), self.line().encode("utf-8", "ignore"), self.zipped(b"x"), b"\xff\xfe"
        )
        made = Record.of(
            topic, body, encode(properties), queue_id=0, born_timestamp=at, born_host=host, store_host=host
        )
        return made.placed(0, offset, at)

    def settings(self) -> bytes:
        """A file of a store's config folder: names of groups that are markup, deep or broken JSON, wrong kinds."""
        name = self.markup()
        deep = '{"a":' * 3_000 + "1" + "}" * 3_000
        whole = {"offsetTable": {f"{self.markup()}@{name}": {"0": self.one_of(1, "x", -1, 10**30)}}}
        groups = {"subscriptionGroupTable": {name: {"groupName": name, "retryMaxTimes": self.one_of(16, "x", None)}}}
        return str(self.one_of(json.dumps(whole), json.dumps(groups), deep, "[", "null", '"x"', "\x00" * 10)).encode()

    def run(self, facts: dict[str, Any]) -> str:
        """A run.json with hostile values in place of its own."""
        made = json.loads(json.dumps(facts))
        for name in self.chance.sample(sorted(made), min(4, len(made))):
            made[name] = self.one_of(
                self.text(), self.markup(), 10**30, None, [self.markup()] * 3, {"x": self.markup()}, True
            )
        made |= self.one_of(
            {"title": self.markup()},
            {"plan": {"paths": [self.secret], "store": self.secret}},
            {"options": {"zone": self.text(), "sources": [self.markup(), self.secret], "at": self.text()}},
            {"error": {"code": self.text(), "values": {"why": self.markup()}}},
            {"owner": self.markup(), "shared": self.text()},
        )
        text = json.dumps(made)
        return str(self.one_of(text, text, text, text[: len(text) // 2], "[" * 5_000, "\x00"))
