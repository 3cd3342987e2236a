"""Which extra of the package brings a module that is not installed, and how to add it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of a clone
CONSOLE = frozenset({"streamlit", "plotly", "authlib", "httpx", "prometheus_client", "starlette", "uvicorn"})
MCP = frozenset({"mcp", "mcp_types", "anyio"})
SCAN = frozenset(
    {"numpy", "pandas", "pyarrow", "pyspark", "numba", "isal", "grpc", "grpc_status", "google", "rocksdict", "rich"}
)


def missing_package(problem: Exception) -> str | None:
    """What to install for a module that is not there; None for any other problem: that is a mistake of ours."""
    module = (problem.name or "").partition(".")[0] if isinstance(problem, ModuleNotFoundError) else ""
    extra = "mcp" if module in MCP else "console" if module in CONSOLE else "scan" if module in SCAN else None
    if extra is None:
        return None
    if (ROOT / "scripts" / "setup.py").is_file():
        return f"this needs {module}, which `make setup` installs in {ROOT}"
    command = f"{sys.executable} -m pip install 'rocketmq-ids[{extra}]'"
    return f"this needs {module}, which the extra {extra!r} brings: {command}"
