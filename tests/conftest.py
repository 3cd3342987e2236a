"""What the whole test run needs before any of its folders. Knows no test."""

from __future__ import annotations

import signal

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
