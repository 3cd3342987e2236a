"""Pasting a long log into Decode: the clipboard as a person uses it, not a script that types it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.harness import Visit

pytestmark = pytest.mark.browser

LINES = 10_000
PASTED = "(length) => document.querySelector('textarea').value.length === length"


def test_ten_thousand_pasted_lines_are_decoded_and_leave_the_box(tab: Visit) -> None:
    at = "2026-11-10 15:52:25.890 INFO [http-nio-80] c.a.OrderService - send result ok ----- msgId="
    text = "\n".join(f"{at}0A0301090A2418B4AAC2{0x31C13615 + n:08X}{n:04X} topic=order_paid" for n in range(LINES))
    tab.go("/decode")
    page = tab.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    box = page.locator("textarea").first
    box.click()
    page.keyboard.press("Control+V")
    page.wait_for_function(PASTED, arg=len(text))
    page.keyboard.press("Control+Enter")
    expect(page.locator("table").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("10,000 lines").first).to_be_visible()
    expect(box).to_have_value("")
