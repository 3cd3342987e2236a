"""Java as referee for traces: contexts that the real TraceDataEncoder of three releases wrote are read as they were."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from idcore.rocketmq.message.trace import (
    STATES,
    Context,
    EndTransaction,
    Pub,
    Recall,
    SubAfter,
    SubBefore,
    read_trace,
)
from tests.java import jars
from tests.java.referee import Referee
from tests.remoting.boot import QUIET

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]

RELEASES = (jars.OLD_SERVER, jars.SERVER, jars.NEW_SERVER)
TEXTS = ("a", "键", "😀", "é", " ", "k1 k2", "Pub", "SubAfter", "%RETRY%g", "7")


@pytest.fixture(scope="module", params=RELEASES)
def referee(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    jars.need_server()
    release = str(request.param)
    made = tmp_path_factory.mktemp("trace")
    jars.javac(release, made, jars.HERE / "TraceReferee.java")
    (made / "rmq.logback-test.xml").write_text(QUIET)  # else it prints its own state among the answers
    asked = Referee(release, "UTC", made, made, "TraceReferee")
    yield asked
    asked.close()


def word(text: str | None) -> str:
    return "-" if text is None else text.encode().hex() or "."


class Made:
    """One context as Java is asked to encode it, and what is expected to be read."""

    def __init__(self, rng: random.Random, old: bool) -> None:
        def text() -> str | None:
            return rng.choice([None, "", "".join(rng.choices(TEXTS, k=rng.randrange(1, 4)))])

        kinds = ["Pub", "SubBefore", "SubAfter", "EndTransaction", *([] if old else ["Recall"])]
        kind, cloud = rng.choice(kinds), rng.random() < 0.4
        time, region, group = rng.randrange(-5, 1 << 62), text(), text()
        request, cost, success, code = f"R{rng.randrange(99)}", rng.randrange(-9, 1 << 31), rng.random() < 0.5, 0
        code = rng.randrange(5)
        words = [
            kind,
            "CLOUD" if cloud else "LOCAL",
            str(time),
            word(region),
            word(group),
            word(request),
            str(cost),
            str(success).lower(),
            str(code),
        ]
        self.contexts: list[Context] = []
        for _ in range(rng.randrange(1, 4) if kind.startswith("Sub") else 1):
            topic, msg_id, tags, keys, broker = text(), f"M{rng.randrange(99)}", text(), text(), text()
            body, retry, type_ = rng.randrange(1 << 31), rng.randrange(20), rng.randrange(4 if old else 5)
            offset, transaction, state, check = text(), text(), rng.choice(STATES), rng.random() < 0.5
            words += [
                word(topic),
                word(msg_id),
                word(tags),
                word(keys),
                word(broker),
                str(body),
                str(retry),
                str(type_),
                word(offset),
                word(transaction),
                state,
                str(check).lower(),
            ]
            sent = (time, region, group, topic, msg_id, tags, keys, broker)
            self.contexts.append(
                {
                    "Pub": Pub(*sent, body, cost, type_, offset, success),
                    "SubBefore": SubBefore(time, region, group, request, msg_id, retry, keys),
                    "SubAfter": SubAfter(
                        request, msg_id, cost, success, keys, code, None if cloud else time, None if cloud else group
                    ),
                    "EndTransaction": EndTransaction(*sent, type_, transaction, state, check),
                    "Recall": Recall(time, region, group, topic, msg_id, success),
                }[kind]  # type: ignore[arg-type]
            )
        self.question = " ".join(words)


def test_bodies_of_the_real_encoder_are_read_as_they_were_made(referee: Referee) -> None:
    old = referee.release == jars.OLD_SERVER
    rng = random.Random(referee.release)
    made = [Made(rng, old) for _ in range(1_500)]
    answers = referee.ask([each.question for each in made])
    assert all(answer[0] == "x" for answer in answers)
    raw = [bytes.fromhex(answer[1]) for answer in answers]
    unended = 0
    for at in range(0, len(made), 5):  # as many in a body as a client may put into one
        part = made[at : at + 5]
        unended += sum(not piece.endswith(b"\x02") for piece in raw[at : at + 5])
        wanted = [context for each in part for context in each.contexts]
        assert list(read_trace(b"".join(raw[at : at + 5]))) == wanted
    assert (unended > 50) == old  # only 4.9.7 of these leaves the end of a SubAfter out


def test_no_release_has_a_type_that_is_not_known(referee: Referee) -> None:
    ((_, *types),) = referee.ask(["types"])
    assert set(types) <= {"Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall"}
    assert ("Recall" in types) == (referee.release != jars.OLD_SERVER)
