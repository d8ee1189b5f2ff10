"""furlong's adapter protocol, version 1: the conversation, the stamps and the loops.

A program gives `run` the class of its row. It is made once for a set-up, and gives each role its end:

    class Row:
        name = "mine"                   # as in the manifest
        shape = "pair"                  # or "self": both roles, the responder forked here
        claims = {"summary": "..."}
        versions = {}                   # of what is inside, by name; CPython's own is there anyway
        def __init__(self, set_up): ... # makes what has a name, or is inherited
        def end(self, set_up): ...      # gives `send(message)` and `receive()`, which gives a whole message
        def close(self): ...            # removes what was made
        effective, processes = {}, []   # numbers in force by name; servers of the mechanism's own
"""

import ctypes
import json
import multiprocessing
import os
import platform
import select
import signal
import struct
import sys
import threading
from time import monotonic_ns, sleep, thread_time_ns

LOW, ALL = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
# How far a number may be off and still count as another message's rather than as damage.
NEAR = 64


class Failure(Exception):
    """What the protocol calls an error: a fault by its name, and the detail that the row shows."""

    def __init__(self, fault, detail):
        super().__init__(fault, detail)
        self.fault, self.detail = fault, detail


class SetUp:
    """What furlong asks for, seen from one role."""

    def __init__(self, request, role, alone=False):
        self.role, self.pattern, self.wait = role, request["pattern"], request["wait"]
        self.folder, self.name = request["folder"], request["name"]
        self.sizes = tuple(request["sizes_bytes"])
        # Of each message of the initiator, and which of them this is: more than one where the pattern is fan-out.
        self.responders, self.number = request.get("responders", 1), request.get("number", 1)
        own = 1 if role == "responder" else 0
        other = own if alone else 1 - own
        self.own_size, self.other_size = self.sizes[own], self.sizes[other]
        self.own = Stamp(request["stamps"][own], self.own_size)
        self.other = Stamp(request["stamps"][other], self.other_size)


class Stamp:
    """What the messages of one direction carry. All is made ready for their size, since it is done for each."""

    def __init__(self, word, size):
        self.word, self.size = int(word, 16), size
        self.high = self.word >> 32
        self.turned = (self.word << 17 | self.word >> 47) & ALL
        pad = "" if size < 8 else f"{size - 8}x" if size < 16 else f"{size - 16}xQ"
        self.unpack = struct.Struct("<II" + pad).unpack
        self.body = None

    def head(self, number):
        number &= LOW
        return struct.pack("<II", number, number ^ self.high)

    def writer(self, message):
        """Gives what writes head and end of `message` for a number."""
        high, turned = self.high, self.turned
        if self.size < 8:

            def write(number):
                message[:] = self.head(number)[: self.size]

            return write
        head = memoryview(message)[:8].cast("I")
        if self.size < 16:

            def write(number):
                number &= LOW
                head[0] = number
                head[1] = number ^ high

            return write
        tail = memoryview(message)[-8:].cast("Q")

        def write(number):
            number &= LOW
            head[0] = number
            head[1] = number ^ high
            tail[0] = number ^ turned

        return write

    def all_writer(self, message):
        """Gives what writes every byte of `message` for a number."""
        write = self.writer(message)

        def write_all(number):
            message[:] = self.bytes(number)
            write(number)

        return write_all

    def bytes(self, number):
        """The words of a message, without head and end.

        All words are mixed at once: they are the lanes, 128 bits each, of one large integer, so that what a
        multiplication carries stays in its lane. One by one, each word takes a microsecond.
        """
        words = -(-self.size // 8)
        if self.body is None:
            ones = int.from_bytes((b"\1" + bytes(15)) * words, "little")
            steps = b"".join((i * 0x9E3779B97F4A7C15 & ALL).to_bytes(16, "little") for i in range(words))
            self.body = ones, ones * ALL, int.from_bytes(steps, "little")
        ones, low, steps = self.body
        x = ones * (self.word + ((number & LOW) << 32) & ALL) ^ steps
        x = (x ^ x >> 30 & low) * 0xBF58476D1CE4E5B9 & low
        x = (x ^ x >> 27 & low) * 0x94D049BB133111EB & low
        lanes = memoryview((x ^ x >> 31 & low).to_bytes(16 * words, "little")).cast("Q")
        return lanes[::2].tobytes()[: self.size]

    def checker(self):
        """Gives what checks length, head and end of a message with a number."""
        unpack, high, turned, size = self.unpack, self.high, self.turned, self.size
        if size < 8:

            def check(message, number):
                if message != self.head(number)[:size]:
                    raise self.explain(message, number)

        elif size < 16:

            def check(message, number):
                number &= LOW
                if len(message) != size or unpack(message) != (number, number ^ high):
                    raise self.explain(message, number)

        else:

            def check(message, number):
                number &= LOW
                if len(message) != size or unpack(message) != (number, number ^ high, number ^ turned):
                    raise self.explain(message, number)

        return check

    def all_checker(self):
        """Gives what checks every byte of a message with a number."""
        sent, check = bytearray(self.size), self.checker()
        write = self.all_writer(sent)

        def check_all(message, number):
            check(message, number)
            write(number)
            if message != sent:
                raise self.flipped(message, sent, number)

        return check_all

    def explain(self, message, number):
        """What happened to a message that is not the one with this number."""
        if len(message) != self.size:
            return Failure("truncated", f"message {number} has {len(message)} bytes instead of {self.size}")
        head = bytes(message[:8])
        for found in sorted(range(number - NEAR, number + NEAR + 1), key=lambda found: abs(found - number)):
            if found != number and head == self.head(found)[: self.size]:
                if found > number:
                    return Failure("lost", f"message {found} arrived instead of {number}, which was lost")
                return Failure("repeated", f"message {found} arrived again instead of {number}")
        sent = bytearray(message)
        self.writer(sent)(number)
        return self.flipped(message, sent, number)

    @staticmethod
    def flipped(message, sent, number):
        at = next(at for at, (found, due) in enumerate(zip(message, sent)) if found != due)
        return Failure("flipped", f"message {number} differs from the sent message, first at byte {at}")


class Schedule:
    """Sends messages when they are due, which is so far apart from the first clock reading on."""

    SLACK_NS, PUNCTUAL_NS = 100_000, 1_000  # how late a timer may wake, and how late is still on time
    MOST_LATE = 100_000  # late messages that are reported one by one

    def __init__(self, send, interval_ns, sleeps):
        self.send_at_once, self.interval_ns, self.sleeps = send, interval_ns, sleeps
        self.due_ns, self.late, self.idle_ns, self.idle_switches = None, 0, 0, 0
        self.number, self.late_by_ns = 0, []

    def now(self):
        now = monotonic_ns()
        if self.due_ns is None:
            self.due_ns = now
        return now

    def send(self, message):
        self.due_ns += self.interval_ns
        before, left_ns = thread_time_ns(), self.due_ns - self.SLACK_NS - monotonic_ns()
        if self.sleeps and left_ns > 0:
            sleep(left_ns / 1e9)
            self.idle_switches += 1
        while monotonic_ns() < self.due_ns:
            pass
        self.number += 1
        self.idle_ns += thread_time_ns() - before
        late_ns = monotonic_ns() - self.due_ns
        if late_ns > self.PUNCTUAL_NS:
            self.late += 1
            if self.late <= self.MOST_LATE:
                self.late_by_ns += (self.number, late_ns)
        self.send_at_once(message)

    def reply(self):
        return {
            "late": self.late, "late_by_ns": self.late_by_ns,
            "idle_ns": self.idle_ns, "idle_switches": self.idle_switches,
        }


class Role:
    """One end and its messages."""

    def __init__(self, set_up, ends):
        self.set_up = set_up
        self.send, self.receive = ends
        self.message = bytearray(set_up.own_size)
        self.done, self.readings, self.schedule = 0, [], None

    def exchange(self, messages, batch, verify, interval_ns=None):
        """Exchanges messages, each at once or when it is due, and gives how many of those received were verified."""
        sleeps = self.set_up.wait == "block"
        self.schedule = Schedule(self.send, interval_ns, sleeps) if interval_ns else None
        own, other = self.set_up.own, self.set_up.other
        stamp = own.all_writer(self.message) if verify else own.writer(self.message)
        check = other.all_checker() if verify else other.checker()
        one_way, role = self.set_up.pattern in ("one-way", "fan-out"), self.set_up.role
        loop = {
            ("initiator", False): self.initiate,
            ("responder", False): self.respond,
            ("both", False): self.initiate,
            ("initiator", True): self.send_all,
            ("responder", True): self.receive_all,
            ("both", True): self.send_and_receive,
        }[role, one_way]
        first = self.done + 1
        self.readings = loop(first, messages, batch, stamp, check)
        self.done += messages
        return messages if verify and loop != self.send_all else 0

    def send_and_clock(self):
        """What sends, and what reads the clock."""
        return (self.schedule.send, self.schedule.now) if self.schedule else (self.send, monotonic_ns)

    def initiate(self, number, messages, batch, stamp, check):
        (send, now), receive, message = self.send_and_clock(), self.receive, self.message
        readings, in_batch = prepare(messages, batch)
        received = None
        stamp(number)
        readings[0] = now()
        for index in range(1, len(readings)):
            for _ in in_batch:
                send(message)
                if received is not None:
                    check(received, number - 1)
                number += 1
                stamp(number)
                received = receive()
            readings[index] = now()
        check(received, number - 1)
        return readings if batch else []

    def respond(self, number, messages, batch, stamp, check):
        send, receive, message = self.send, self.receive, self.message
        stamp(number)
        for number in range(number, number + messages):
            received = receive()
            send(message)
            check(received, number)
            stamp(number + 1)
        return []

    def send_all(self, number, messages, batch, stamp, check):
        (send, now), message = self.send_and_clock(), self.message
        readings = [now()] if batch else []
        for number in range(number, number + messages):
            stamp(number)
            send(message)
        return readings

    def receive_all(self, number, messages, batch, stamp, check):
        receive, now = self.receive, monotonic_ns
        readings, in_batch = prepare(messages, batch)
        for index in range(1, len(readings)):
            for _ in in_batch:
                check(receive(), number)
                number += 1
            readings[index] = now()
        return readings[1:] if batch else []

    def send_and_receive(self, number, messages, batch, stamp, check):
        send, receive, message, now = self.send, self.receive, self.message, monotonic_ns
        readings, in_batch = prepare(messages, batch)
        readings[0] = now()
        for index in range(1, len(readings)):
            for _ in in_batch:
                stamp(number)
                send(message)
                check(receive(), number)
                number += 1
            readings[index] = now()
        return readings if batch else []


def prepare(messages, batch):
    """Room for the readings, and the batch: the loops allocate nothing for either."""
    batch = batch or messages
    return [0] * (messages // batch + 1), range(batch)


class Alone:
    """The one role of a row without another process."""

    def __init__(self, row_class, request, _give_up):
        set_up = SetUp(request, "both", alone=True)
        self.row = row_class(set_up)
        self.role = Role(set_up, self.row.end(set_up))
        self.processes = []

    def exchange(self, *what):
        return self.role.exchange(*what)

    def readings(self):
        return self.role.readings

    def close(self):
        self.row.close()


class OneOfAPair(Alone):
    """The role of a process that furlong started for it."""

    def __init__(self, row_class, request, _give_up):
        set_up = SetUp(request, request["role"])
        self.row = row_class(set_up)
        self.role = Role(set_up, self.row.end(set_up))
        self.processes = self.row.processes


class BothRoles:
    """The initiator here, and the responder in a child."""

    def __init__(self, row_class, request, give_up):
        self.give_up = give_up
        set_up = SetUp(request, "initiator")
        self.row = row_class(set_up)
        context = multiprocessing.get_context("fork")
        self.control, control = context.Pipe()
        self.child = context.Process(target=self.respond, args=(request, control), daemon=True)
        self.child.start()
        control.close()
        self.role = Role(set_up, self.row.end(set_up))
        self.processes = [{"pid": self.child.pid, "role": "responder"}, *self.row.processes]

    def respond(self, request, control):
        """The child's whole life."""
        end_with_parent()
        self.control.close()
        try:
            set_up = SetUp(request, "responder")
            role = Role(set_up, self.row.end(set_up))
            while True:
                what = control.recv()
                if what == "readings":
                    control.send(role.readings)
                else:
                    control.send("begins")
                    control.send(role.exchange(*what))
        except Exception as error:
            control.send(error if isinstance(error, Failure) else Failure("error", repr(error)))
            # The parent ends this process: the end of a stream would be heard before the reason.
            while True:
                sleep(1)
        finally:
            # Not by way of what multiprocessing does at exit: it waits for messages that nobody takes.
            os._exit(1)

    def from_child(self):
        try:
            said = self.control.recv()
        except EOFError:
            raise Failure("error", "the responder is gone") from None
        if isinstance(said, Failure):
            raise said
        return said

    def exchange(self, *what):
        self.control.send(what)
        self.from_child()
        theirs = []
        watcher = threading.Thread(target=self.watch, args=(theirs,), daemon=True)
        watcher.start()
        verified = self.role.exchange(*what)
        watcher.join()
        return verified + theirs[0] if theirs else self.from_child()

    def watch(self, theirs):
        """Waits for what the child says: this role may wait for a message of it that never comes."""
        try:
            theirs.append(self.control.recv())
        except (EOFError, OSError):
            return
        if isinstance(theirs[0], Failure):
            self.give_up(theirs[0])

    def readings(self):
        self.control.send("readings")
        return self.role.readings + self.from_child()

    def close(self):
        self.child.kill()
        self.child.join()
        self.row.close()


def end_with_parent():
    """Ends this process when the one that started it ends, however that happens."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != multiprocessing.parent_process().pid:
        os._exit(1)


class Conversation:
    """What furlong asks a program, and what it answers."""

    def __init__(self, row_class):
        self.row_class, self.work = row_class, None
        # Who has it answers. A thread that gives up keeps it.
        self.turn = threading.RLock()
        self.claims = {"waits": ["block"], "patterns": ["round-trip", "one-way", "request"], "rates": True, **row_class.claims}
        self.requests, self.unread = os.open(os.environ["FURLONG_READ"], os.O_RDONLY | os.O_CLOEXEC), b""
        self.replies = open(os.environ["FURLONG_WRITE"], "w", encoding="utf-8")
        # Has a byte in it once a signal has come.
        self.signals, noted = os.pipe()
        os.set_blocking(noted, False)
        signal.set_wakeup_fd(noted)

    def go_on(self):
        """Answers requests until there are no more."""
        while line := self.next_line():
            request = json.loads(line)
            self.reply(lambda: self.answer(request["op"], request))
            if request["op"] == "finish":
                return

    def next_line(self):
        """The next request; nothing where there are no more."""
        while b"\n" not in self.unread:
            # A read would not end for a signal that came just before it: Python only notes those, for later.
            ready, _, _ = select.select([self.requests, self.signals], [], [])
            if self.requests in ready:
                more = os.read(self.requests, 1 << 16)
                if not more:
                    return b""
                self.unread += more
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def reply(self, answer):
        failed = None
        try:
            reply = answer()
        except Exception as error:
            failed = error if isinstance(error, Failure) else Failure("error", f"{type(error).__name__}: {error}")
            reply = {"op": "error", "fault": failed.fault, "detail": failed.detail}
        with self.turn:
            self.replies.write(json.dumps(reply) + "\n")
            self.replies.flush()
            if failed:
                # The other role may wait for a message that never comes.
                self.close()

    def give_up(self, failure):
        """Goes on in this thread, since the first one waits for what never comes; unless that has an answer itself."""

        def fail():
            raise failure

        if self.turn.acquire(blocking=False):
            self.reply(fail)
            self.go_on()
            os._exit(0)

    def close(self):
        work, self.work = self.work, None
        if work:
            work.close()

    def answer(self, op, request):
        row, claims = self.row_class, self.claims
        if op == "hello":
            versions = {platform.python_implementation(): platform.python_version(), **row.versions}
            about = {"name": row.name, "versions": versions, "shape": row.shape, "claims": claims}
            return {"op": op, "protocol": 1, "clock_ns": monotonic_ns(), **about}
        if op == "set-up":
            refuse(request, claims)
            kind = OneOfAPair if row.shape == "pair" else Alone if claims.get("alone") else BothRoles
            self.work = kind(row, request, self.give_up)
            asked = {key: request[key] for key in ("pattern", "wait", "sizes_bytes")}
            effective = {**asked, **self.work.row.effective}
            return {"op": "ready", "effective": effective, "processes": self.work.processes}
        if op == "finish":
            self.close()
            return {"op": "finished"}
        if not self.work:
            raise Failure("error", "nothing is set up")
        if op == "exchange":
            what = (request["messages"], request["batch"], request["verify"], request.get("interval_ns"))
            verified, schedule = self.work.exchange(*what), self.work.role.schedule
            due = schedule.reply() if schedule else {}
            return {"op": "exchanged", "messages": request["messages"], "verified": verified, **due}
        if op == "readings":
            return {"op": op, "clock_ns": self.work.readings()}
        raise Failure("unsupported", f"the request {op} is unknown")


def run(row_class):
    """Answers furlong's requests until there are no more."""
    conversation = Conversation(row_class)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        conversation.go_on()
    finally:
        conversation.close()


def refuse(request, claims):
    """Refuses what the claims do not have, as what cannot be done here."""
    largest = claims.get("max_size_bytes")
    if request["wait"] not in claims["waits"]:
        raise Failure("unsupported", f"it cannot wait by {request['wait']}")
    if request["pattern"] not in claims["patterns"]:
        raise Failure("unsupported", f"it has no pattern {request['pattern']}")
    if min(request["sizes_bytes"]) < 1:
        raise Failure("unsupported", "a message has at least one byte")
    if largest and max(request["sizes_bytes"]) > largest:
        raise Failure("unsupported", f"its messages have at most {largest} bytes")
