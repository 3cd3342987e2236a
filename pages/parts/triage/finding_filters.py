"""Which findings are shown: severity and kind, in the address. Each offers what the other leaves, with how many."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from idcore.findings.registry import SEVERITIES
from idcore.triage import finding_rows, finding_texts
from pages.parts.triage import filters
from pages.parts.view import View, into_address

ALL = "all"


def choose(found: pd.DataFrame, view: View) -> pd.DataFrame:
    """The two filters, and the rows that they leave."""
    words = view.words
    asked = st.session_state.get("kind") or st.query_params.get("kind")
    of_kind = finding_rows.select(found, code=asked if asked in set(found["code"]) else None)
    severities = finding_rows.numbers(of_kind, "severity")
    options = [ALL, *(name for name in SEVERITIES if name in severities)]
    severity = st.segmented_control(
        words("findings.severity"),
        options,
        required=True,
        **filters.switch("severity", options),
        format_func=lambda name: finding_texts.option(name, severities, words),
        label_visibility="collapsed",
    )
    chosen = None if severity in (None, ALL) else severity
    codes = finding_rows.numbers(finding_rows.select(found, chosen), "code")
    options = [ALL, *codes]
    kind = st.selectbox(
        words("findings.kind"),
        options,
        **filters.switch("kind", options),
        format_func=lambda code: finding_texts.kind_option(code, codes, words),
        label_visibility="collapsed",
        width=240,
    )
    # also where the address asked for what is not offered
    into_address({"severity": chosen, "kind": None if kind in (None, ALL) else kind})
    return finding_rows.select(found, chosen, None if kind in (None, ALL) else kind)
