"""The classification rule a second time, from its text and by slices of digits: the twin that identify() is held to."""

from __future__ import annotations

from idcore.ids import known_loaders

LABELS = ("msgid", "msgids", "messageid", "uniq_key", "transactionid")
DAY = 86_400_000
KNOWN = {int(value) for value in known_loaders()}


def classify(text: str, label: str | None = None, any_case: bool = False) -> str:
    """The layout's name, or the refusal's code with a minus in front."""
    letters = [char for char in text if char.isalpha()]
    if letters and all(char.islower() for char in letters) and not (any_case and len(text) == 32):
        return "-lower_case"
    if len(text) == 34:
        return "client_v1" if text[:2] == "01" else "-version"
    wide = len(text) == 56
    version = "v6" if wide else "v4"
    rest = text[32:] if wide else text[8:]
    port, offset = int(rest[:8], 16), int(rest[8:], 16)
    loader, elapsed = int(rest[4:12], 16), int(rest[12:20], 16)
    if port < 65536:
        if port >= 1 and offset <= 2**48:
            return "uniq_v4_le" if not wide and little(text, offset) else f"offset_{version}"
        if loader == 0:
            return "-port"
    if elapsed > 31 * DAY + 1000:
        vouched = label is not None and any(label.lower().endswith(name) for name in LABELS)
        if not (elapsed >= 2**32 - DAY or loader in KNOWN or vouched):
            return "-elapsed"
    return f"uniq_{version}"


def private(octets: list[int]) -> bool:
    a, b = octets[:2]
    return a in (10, 127) or (a == 172 and 16 <= b < 32) or (a == 192 and b == 168)


def little(text: str, offset: int) -> bool:
    octets = [int(text[at : at + 2], 16) for at in range(0, 8, 2)]
    turned = octets[::-1]
    if offset <= 2**44 or text[30:] != "00" or not 1 <= turned[0] <= 223:
        return False
    if private(octets) and not private(turned):
        return False
    elapsed = int("".join(text[at : at + 2] for at in (26, 24, 22, 20)), 16)
    return elapsed < 32 * DAY
