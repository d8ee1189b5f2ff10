"""What a run found. ``data`` of each object has all that furlong says, as docs/format describes it."""

from __future__ import annotations

from typing import Any, Optional

#: The schema that is understood. A newer one has other names.
SCHEMA = 2


class Row:
    """One mechanism with one way of waiting at one size and place, measured and verified."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        #: Mechanism and wait, as in ``"pipe/block"``.
        self.name: str = f"{data['mechanism']}/{data['wait']}"
        self.pattern: str = data["pattern"]
        #: Bytes of a message.
        self.size_bytes: int = data["size_bytes"]
        self.placement: str = data["placement"]
        #: The group that it is ranked in, and its rank there; rows of one rank cannot be told apart.
        self.group: str = data["group"]
        self.rank: int = data["rank"]
        #: What is counted: ``"round-trip"``, ``"message"`` or ``"link"``.
        self.unit: str = data["unit"]
        unit = self.unit.replace("-", "_")
        times = data[f"{unit}_ns"]
        #: The median over all, and the time that 99 of 100 do not exceed.
        self.median_ns: float = times["p50"]
        self.p99_ns: float = times["p99"]
        ends = times["median_ci95"]
        #: The 95 % interval of the median for the duration of this run, if there were enough trials for one.
        self.interval_ns: Optional[tuple[float, float]] = None if ends is None else (ends[0], ends[1])
        self.per_second: float = data[f"{unit}s_per_second"]
        used = data[f"cpu_ns_per_{unit}"]
        #: Processor time of both processes for one unit.
        self.cpu_ns: float = used["user"] + used["system"]
        self.trials: int = data["trials"]
        #: Whether the content of every message was checked; a pair of own programs checks for itself.
        self.verified: bool = data["verified"]

    def __repr__(self) -> str:
        return f"<Row {self.name} {self.size_bytes} B {self.placement}: {self.median_ns:.0f} ns a {self.unit}>"


class Skipped:
    """What was asked for and has no speed."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.name: str = f"{data['mechanism']}/{data['wait']}"
        #: ``"refused"``, ``"unavailable"``, ``"failed"``, ``"void"`` or ``"saturated"``.
        self.status: str = data["status"]
        self.reason: str = data["reason"]
        #: What would help, if anything would.
        self.remedy: str = data["remedy"]

    def __repr__(self) -> str:
        return f"<Skipped {self.name} {self.status}: {self.reason}>"


class Run:
    """A run of furlong."""

    def __init__(self, data: dict[str, Any], exit_code: int = 0) -> None:
        schema = data.get("schema")
        if schema != SCHEMA:
            raise ValueError(f"the run has schema {schema}, and this module reads {SCHEMA}: install the furlong that wrote it")
        self.data = data
        #: How the command ended: 0, or what docs/command-line says.
        self.exit_code = exit_code
        self.rows = [Row(row) for row in data["rows"]]
        self.skipped = [Skipped(row) for row in data["skipped"]]
        #: ``"quiet"``, ``"noisy"`` or ``"unreliable"``: nothing can be concluded from the times of the last one.
        self.noise: str = data["noise"]["level"]
        #: Why the machine was noisy, a sentence each.
        self.noise_reasons: list[str] = data["noise"]["reasons"]
        #: What can be concluded, a sentence each.
        self.findings: list[str] = data["findings"]
        #: Processor, kernel and what else is known of the machine.
        self.machine: dict[str, Any] = data["machine"]
        #: Whether it was interrupted.
        self.partial: bool = data["partial"]

    def __repr__(self) -> str:
        return f"<Run of {len(self.rows)} rows, {len(self.skipped)} skipped, machine {self.noise}>"
