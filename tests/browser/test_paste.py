"""Pasting into Decode, and typing: the keyboard and the clipboard as a person uses them, no button pressed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.harness import Visit

pytestmark = pytest.mark.browser

ID = "AC110001473C7D4991AD336AEA5703E0"


def paste(tab: Visit, text: str, *, into: str = "textarea") -> None:
    page = tab.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.locator(into).first.click()
    page.keyboard.press("Control+V")


def lines(count: int) -> str:
    at = "2026-11-10 15:52:25.890 INFO [http-nio-80] c.a.OrderService - send result ok ----- msgId="
    return "\n".join(f"{at}0A0301090A2418B4AAC2{0x31C13615 + n:08X}{n:04X} topic=order_paid" for n in range(count))


@pytest.mark.parametrize("into", ["textarea", ".mq-lead"])
def test_what_is_pasted_is_decoded_at_once(tab: Visit, into: str) -> None:
    tab.go("/decode")
    paste(tab, f"SendResult [sendStatus=SEND_OK, msgId={ID}]", into=into)
    expect(tab.page.get_by_text("18236").first).to_be_visible()
    expect(tab.page.get_by_text("Sent on").first).to_be_visible()
    expect(tab.page.locator(".st-key-decode-now")).not_to_be_visible()  # the box is folded
    if into == "textarea":  # which had the focus
        expect(tab.page.locator("summary").filter(has_text="edit or decode another input")).to_be_focused()


@pytest.mark.long
def test_what_is_typed_is_decoded_at_a_pause_and_the_box_stays(tab: Visit) -> None:
    tab.go("/decode")
    page, box = tab.page, tab.page.locator("textarea").first
    box.click()
    page.keyboard.type(ID[:30])
    expect(page.get_by_text("No ID in this text").first).to_be_visible()
    page.keyboard.type(ID[30:])
    expect(page.get_by_text("18236").first).to_be_visible()
    expect(box).to_be_focused()
    page.keyboard.type(f"\n{ID[:-1]}1")
    expect(page.get_by_text("2 IDs").first).to_be_visible()
    expect(box).to_have_value(f"{ID}\n{ID[:-1]}1")
    expect(page.locator(".st-key-decode-now")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-decode-now")).not_to_be_visible()


@pytest.mark.long
def test_seven_thousand_pasted_lines_are_decoded_and_leave_the_box(tab: Visit) -> None:
    tab.go("/decode")
    paste(tab, lines(7_000))
    expect(tab.page.locator("table").first).to_be_visible(timeout=30_000)
    expect(tab.page.get_by_text("7,000 lines").first).to_be_visible()
    box = tab.page.locator("textarea").first
    expect(box).to_have_value("")
    tab.page.locator("summary").filter(has_text="edit or decode another input").click()
    box.press("Space")  # nothing to decode: what is here stays
    tab.page.wait_for_timeout(1_500)
    expect(tab.page.get_by_text("7,000 lines").first).to_be_visible()


def test_a_pasted_megabyte_becomes_a_file(tab: Visit) -> None:
    tab.go("/decode")
    paste(tab, lines(10_000))
    expect(tab.page.locator("table").first).to_be_visible(timeout=30_000)
    expect(tab.page.get_by_text("clipboard.txt").first).to_be_visible()
    expect(tab.page.locator("textarea").first).to_have_value("")
