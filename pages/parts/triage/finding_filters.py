"""Which findings are shown: severity and kind, in the address. Each offers what the other leaves, with how many."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from idcore.answers.findings.registry import SEVERITIES
from idcore.presentation.triage import finding_rows, finding_texts
from pages.parts.triage import filters
from pages.parts.view import View, into_address

ALL = "all"
HIDDEN: dict[str, Any] = {"label_visibility": "collapsed"}


def choose(findings: pd.DataFrame, view: View) -> pd.DataFrame:
    """The two filters, and the rows that they leave."""
    words = view.words
    asked = st.session_state.get("kind") or st.query_params.get("kind")
    of_kind = finding_rows.select(findings, code=asked if asked in set(findings["code"]) else None)
    severities = finding_rows.numbers(of_kind, "severity")
    options = [ALL, *(name for name in SEVERITIES if name in severities)]
    label, text = words("findings.severity"), lambda name: finding_texts.option(name, severities, words)
    severity = filters.one_of(st.segmented_control, "severity", options, label, text, required=True, **HIDDEN)
    chosen = None if severity == ALL else severity
    offered = finding_rows.select(findings, chosen)
    codes, names = finding_rows.numbers(offered, "code"), finding_texts.kind_names(offered, words)
    options = [ALL, *codes]
    label, text = words("findings.kind"), lambda code: finding_texts.kind_option(code, codes, names, words)
    kind = filters.one_of(st.selectbox, "kind", options, label, text, width=240, **HIDDEN)
    # also where the address asked for what is not offered
    into_address({"severity": chosen, "kind": None if kind == ALL else kind})
    return finding_rows.select(findings, chosen, None if kind == ALL else kind)
