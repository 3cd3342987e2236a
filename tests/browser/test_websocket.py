"""What a stranger sends on the websocket of a page costs the log one line, and the log gives nobody a session."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import StringArray
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from idcore.server.front_door import MOST_IN_BOXES
from tests.browser.harness import Console

pytestmark = pytest.mark.browser


def opened(console: Console, *more: str) -> ClientConnection:
    """A websocket as the page opens it: `more` are its token and the session that it had."""
    return connect(f"ws{console.url[4:]}/_stcore/stream", subprotocols=["streamlit", *more])  # type: ignore[list-item]


def test_a_message_that_is_none_ends_its_websocket_and_is_one_line(console_without_spark: Console) -> None:
    before, chance = console_without_spark.said(), random.Random(1)
    for broken in (b"\xff", b"\xff\xfe random", chance.randbytes(100), b"\x0a" + chance.randbytes(100_000)):
        with opened(console_without_spark) as socket:
            socket.send(broken)
            with pytest.raises(ConnectionClosedError) as ended:
                socket.recv(timeout=20)
        assert ended.value.rcvd is not None and ended.value.rcvd.code == 1002  # a protocol error
    said = console_without_spark.said().removeprefix(before)
    assert (
        said.count("was not read: Error parsing message") == 4
        and "Traceback" not in said
        and "site-packages" not in said
    )


@pytest.mark.parametrize("headers", [{"X-Long": "a" * 9_000}, {f"X-{number}": "a" for number in range(200)}])
def test_a_handshake_that_is_too_long_is_answered_and_ends(
    headers: dict[str, str], console_without_spark: Console
) -> None:
    with pytest.raises(InvalidStatus) as refused:  # there was no answer, and the connection stayed open
        connect(f"ws{console_without_spark.url[4:]}/_stcore/stream", additional_headers=headers, open_timeout=10)
    assert refused.value.response.status_code == 431


def test_a_value_that_no_widget_can_have_is_one_line(console_without_spark: Console) -> None:
    begin, answer, ids = BackMsg(), ForwardMsg(), set[str]()
    begin.rerun_script.SetInParent()

    def drawn(socket: ClientConnection) -> None:
        socket.send(begin.SerializeToString())
        while answer.WhichOneof("type") != "script_finished":
            answer.ParseFromString(socket.recv(timeout=30))  # type: ignore[arg-type]
            ids.update(re.findall(r"[$][$]ID-[0-9a-f]+-(?:pick_lang|pick_theme|browser-watch)", str(answer)))
        answer.Clear()

    with opened(console_without_spark) as socket:
        drawn(socket)
    assert len(ids) == 3
    before = console_without_spark.said()
    texts = StringArray(data=["x"])
    wrongs = ({"int_value": 7}, {"json_value": "[" * 9_999}, {"bool_value": True}, {"string_array_value": texts})
    for widget, wrong in product(sorted(ids), (*wrongs, {"string_value": "x"}, {"json_value": "x"})):
        with opened(console_without_spark) as socket:
            drawn(socket)
            begin.rerun_script.widget_states.widgets.add(id=widget, **wrong)  # type: ignore[arg-type]
            drawn(socket)
            drawn(socket)  # the session keeps what it was sent
            del begin.rerun_script.widget_states.widgets[:]
    said = console_without_spark.said().removeprefix(before)
    lines = said.count("a message of a browser was not understood: ") + said.count("Failed to deserialize component")
    assert lines == said.count("\n") > 0, said[-3000:]


def test_a_text_without_room_is_answered_with_its_limit_and_the_websocket_goes_on(
    console_without_spark: Console,
) -> None:
    begin, answer = BackMsg(), ForwardMsg()
    begin.rerun_script.query_string = "lang=zh"
    with opened(console_without_spark) as socket:

        def drawn() -> str:
            said = ""
            while answer.WhichOneof("type") != "script_finished":
                answer.ParseFromString(socket.recv(timeout=30))  # type: ignore[arg-type]
                said += str(answer.delta.new_element.alert.body)
            answer.Clear()
            return said

        socket.send(begin.SerializeToString())
        assert "20.0 MiB" not in drawn()
        begin.rerun_script.widget_states.widgets.add(id="text", string_value="a" * MOST_IN_BOXES)
        socket.send(begin.SerializeToString())
        assert "20.0 MiB" in drawn()
        del begin.rerun_script.widget_states.widgets[:]
        socket.send(begin.SerializeToString())
        assert "20.0 MiB" not in drawn(), "it is said once"


def test_the_log_has_no_id_of_a_session_that_is_taken_up_twice(console_without_spark: Console) -> None:
    before, begin, answer = console_without_spark.said(), BackMsg(), ForwardMsg()
    begin.rerun_script.SetInParent()
    with opened(console_without_spark) as socket:
        socket.send(begin.SerializeToString())
        while answer.WhichOneof("type") != "new_session":
            answer.ParseFromString(socket.recv(timeout=30))  # type: ignore[arg-type]
        own = answer.new_session.initialize.session_id
        with opened(console_without_spark, "token", own) as again:
            again.send(begin.SerializeToString())
            again.recv(timeout=30)
    said = console_without_spark.said().removeprefix(before)
    assert own[:8] in said and own not in said
