"""Starting the command, and reading what it prints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from typing import Any, Union

from ._run import Run

Value = Union[str, int, float, bool, None]
Option = Union[Value, Iterable[Value]]


class FurlongError(Exception):
    """furlong gave no result. ``code`` is how it ended: 2 is a mistake in what was asked."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def command() -> str:
    """The path of the command: the one that was installed with this module, else the one in ``PATH``.

    Raises ``FileNotFoundError`` where there is none.
    """
    places = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", user))
    for place in places:
        path = shutil.which("furlong", path=place)
        if path is not None:
            return path
    path = shutil.which("furlong")
    if path is None:
        raise FileNotFoundError(f"furlong is neither in {places[0]} nor in PATH: install it, or add its folder to PATH")
    return path


def run(*rows: str, **options: Option) -> Run:
    """Measures rows such as ``"pipe"`` or ``"posix-shm/*"``: ``furlong run``.

    An option is named as on the command line, with ``_`` for ``-``. ``True`` is an option without a value, ``None`` and
    ``False`` leave it out, and a list gives it several times. The run is not saved unless ``save`` names it.

    Raises ``FurlongError`` where nothing could be measured at all. A row that failed is among ``skipped``.
    """
    if not options.get("save"):
        options["no_save"] = True
    results, code = _results(["run", *rows, *_arguments(options)])
    return Run(results, code)


def read(*runs: str) -> list[Run]:
    """Saved runs, by name, ``"@last"``, a glob or a path: ``furlong export``. The newest one if none is named."""
    results, code = _results(["export", *runs])
    return [Run(result, code) for result in results]


def _arguments(options: dict[str, Option]) -> list[str]:
    arguments = []
    for name, value in options.items():
        values = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
        option = "--" + name.replace("_", "-")
        for each in values:
            if each is True:
                arguments.append(option)
            elif each is not None and each is not False:
                # A value of its own could look like an option.
                arguments.append(f"{option}={each}")
    return arguments


def _results(arguments: list[str]) -> tuple[Any, int]:
    ended = subprocess.run(
        [command(), *arguments, "--format=json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    try:
        return json.loads(ended.stdout), ended.returncode
    except ValueError:
        said = ended.stderr.strip() or f"furlong ended with {ended.returncode} and printed no result"
        raise FurlongError(ended.returncode, said) from None
