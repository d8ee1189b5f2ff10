"""Runs furlong, and gives what it measured as plain objects.

furlong measures every way two processes on one machine can exchange data. ``furlong.run("pipe", trials=5)`` is
``furlong run pipe --trials 5``. Times are in nanoseconds.
"""

from ._command import FurlongError, command, read, run
from ._frame import frame
from ._run import Row, Run, Skipped

__all__ = ["FurlongError", "Row", "Run", "Skipped", "command", "frame", "read", "run"]
