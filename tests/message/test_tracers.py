"""Trace ids of other tracers: the examples of their specifications, and what is not one."""

from __future__ import annotations

import random

import pytest

from idcore.rocketmq.message.tracers import TracerId, tracer_ids

pytestmark = pytest.mark.quick

# W3C Trace Context, openzipkin/b3-propagation, Jaeger's client library, SkyWalking's cross process headers v3.
W3C, B3, SHORT = "4bf92f3577b34da6a3ce929d0e0e4736", "80f198ee56343ba864fe8b2a57d3eff7", "e457b5a2e4d86bd1"
SW8 = "1-TRACEID-U0VHTUVOVA==-3-U0VSVklDRQ==-SU5TVEFOQ0U=-L2VuZHBvaW50-MTI3LjAuMC4xOjgwODA="


@pytest.mark.parametrize(
    ("name", "value", "trace_id"),
    [
        ("traceparent", f"00-{W3C}-00f067aa0ba902b7-01", W3C),
        ("TRACE_CONTEXT", f"00-{W3C}-00f067aa0ba902b7-00", W3C),
        ("traceparent", f"cc-{W3C}-00f067aa0ba902b7-01-what-comes", W3C),
        ("b3", f"{B3}-{SHORT}-1-05e3ac9a4f6e3b90", B3),
        ("b3", f"{SHORT}-{SHORT}", SHORT),
        ("X-B3-TraceId", B3, B3),
        ("x-b3-traceid", SHORT, SHORT),
        ("uber-trace-id", f"{SHORT}:{SHORT}:0:1", SHORT),
        ("uber-trace-id", "7f%3A1%3A0%3A1", "7f"),
        ("sw8", SW8.replace("TRACEID", "YWJjLjEuMTIz"), "abc.1.123"),
    ],
)
def test_the_trace_id_of_each_tracer(name: str, value: str, trace_id: str) -> None:
    assert tracer_ids({"KEYS": "k", name: value}) == (TracerId(name, trace_id),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("traceparent", f"00-{'0' * 32}-00f067aa0ba902b7-01"),
        ("traceparent", f"00-{W3C}-0000000000000000-01"),
        ("traceparent", f"ff-{W3C}-00f067aa0ba902b7-01"),
        ("traceparent", f"00-{W3C}-00f067aa0ba902b7-01-more"),
        ("traceparent", f"00-{W3C.upper()}-00f067aa0ba902b7-01"),
        ("traceparent", f"00-{W3C}-00f067aa0ba902b7-01\n"),
        ("b3", "0"),
        ("b3", B3),
        ("X-B3-TraceId", "0" * 16),
        ("X-B3-TraceId", B3[:-1]),
        ("uber-trace-id", "xyz:1:0:1"),
        ("uber-trace-id", f"{SHORT}:1:0"),
        ("sw8", SW8),
        ("sw8", SW8.replace("TRACEID", "PHNjcmlwdD4=")),  # <script>
        ("sw8", SW8.replace("TRACEID", "Li4vLi4v")),  # ../../
        ("sw8", SW8.replace("TRACEID", "gICA")),  # not text
        ("KEYS", W3C),
        ("traceparent", "0" * 100_000),
    ],
)
def test_what_is_not_of_its_format_is_no_trace_id(name: str, value: str) -> None:
    assert tracer_ids({name: value}) == ()


def test_a_link_holds_nothing_but_the_id() -> None:
    link = TracerId("sw8", "abc.1.123").link("https://tempo/trace/{trace_id}?from={trace_id}")
    assert link == "https://tempo/trace/abc.1.123?from=abc.1.123"
    rng = random.Random(3)
    names = ["traceparent", "b3", "X-B3-TraceId", "uber-trace-id", "sw8"]
    seen = 0
    for _ in range(10_000):
        value = "".join(rng.choices(f"{W3C}0123456789abcdef-:%<>\"'/\\. \n=", k=rng.randrange(80)))
        for found in tracer_ids({rng.choice(names): rng.choice([value, f"{SHORT}-{value}", f"7:{value}:0:1"])}):
            seen += 1
            assert found.trace_id.replace(".", "").replace("-", "").isalnum()
    assert seen > 100
