"""Rows of what Python's own library has: pipes, sockets, multiprocessing's connections and queues, shared memory."""

import fcntl
import itertools
import multiprocessing
import multiprocessing.managers
import os
import platform
import socket
import sys
import tempfile
from multiprocessing import resource_tracker, shared_memory

import protocol

FORK = multiprocessing.get_context("fork")
# As in fcntl from Python 3.10 on.
F_GETPIPE_SZ = 1032


class Row:
    """What the rows have in common."""

    shape = "self"
    versions = {}

    def __init__(self, set_up):
        self.effective, self.processes = {}, []

    def close(self):
        """Nothing was made that outlives the two processes."""


class Null(Row):
    name = "python-null"
    claims = {
        "summary": "Python's loop without a mechanism: the message is copied into private memory and out again",
        "waits": ["spin"],
        "when_full": "overwrites",
        "peer_death": "unnoticed",
        "reach": "fork",
        "alone": True,
    }

    def end(self, set_up):
        size = set_up.own_size
        held, received = bytearray(size), bytearray(size)

        def send(message):
            held[:] = message

        def receive():
            received[:] = held
            return received

        return send, receive


def descriptor_end(write_to, read_from, set_up):
    """The end of a stream of bytes: whole messages by os.write and os.read."""
    read, write, own_size, size = os.read, os.write, set_up.own_size, set_up.other_size

    def send(message):
        sent = write(write_to, message)
        while sent != own_size:
            sent += write(write_to, memoryview(message)[sent:])

    def receive():
        message = read(read_from, size)
        return message if len(message) == size else rest(message)

    def rest(begun):
        message = bytearray(size)
        message[: len(begun)] = begun
        view, got = memoryview(message), len(begun)
        while got < size:
            more = os.readv(read_from, [view[got:]]) if got else 0
            if not more:
                raise protocol.Failure("error", "the peer has disconnected")
            got += more
        return message

    return send, receive


class Pipe(Row):
    name = "python-pipe"
    claims = {"summary": "os.pipe in each direction, with os.read and os.write", "reach": "fork"}

    def __init__(self, set_up):
        super().__init__(set_up)
        self.pipes = os.pipe(), os.pipe()
        self.effective = {"pipe-size-bytes": fcntl.fcntl(self.pipes[0][0], F_GETPIPE_SZ)}

    def end(self, set_up):
        there, back = self.pipes if set_up.role == "initiator" else self.pipes[::-1]
        os.close(there[0])
        os.close(back[1])
        return descriptor_end(there[1], back[0], set_up)

    def other_size(self, role):
        return self.set_up.sizes[1 if set_up.role == "initiator" else 0]


class Socketpair(Pipe):
    name = "python-socketpair"
    claims = {"summary": "socket.socketpair, with os.read and os.write on its descriptors", "reach": "fork"}

    def __init__(self, set_up):
        Row.__init__(self, set_up)
        self.ends = socket.socketpair()
        bytes_there = self.ends[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        self.effective = {"send-buffer-bytes": bytes_there}

    def end(self, set_up):
        own, other = self.ends if set_up.role == "initiator" else self.ends[::-1]
        other.close()
        return descriptor_end(own.fileno(), own.fileno(), set_up)


class ConnectionBytes(Row):
    name = "python-mp-pipe"
    claims = {
        "summary": "multiprocessing.Pipe, with send_bytes and recv_bytes",
        "reach": "fork",
    }

    def __init__(self, set_up):
        super().__init__(set_up)
        self.ends = FORK.Pipe()

    def own(self, set_up):
        own, other = self.ends if set_up.role == "initiator" else self.ends[::-1]
        other.close()
        return own

    def end(self, set_up):
        own = self.own(set_up)
        return own.send_bytes, own.recv_bytes


class ConnectionPickle(ConnectionBytes):
    name = "python-mp-pipe-pickle"
    claims = {
        "summary": "multiprocessing.Pipe, with send and recv of bytes, which are pickled",
        "reach": "fork",
    }

    def end(self, set_up):
        own = self.own(set_up)
        send = own.send
        return lambda message: send(bytes(message)), own.recv


class QueueRow(Row):
    """A queue in each direction. Each message is bytes of its own: some queues pickle it later, in a thread."""

    # Bounded, so that a stream cannot fill the memory.
    held = 64

    def __init__(self, set_up):
        super().__init__(set_up)
        self.queues = self.queue(), self.queue()

    def end(self, set_up):
        there, back = self.queues if set_up.role == "initiator" else self.queues[::-1]
        put = there.put
        return lambda message: put(bytes(message)), back.get


class Queue(QueueRow):
    name = "python-mp-queue"
    claims = {
        "summary": "multiprocessing.Queue in each direction: a thread pickles, and a pipe carries",
        "peer_death": "unnoticed",
        "reach": "fork",
    }

    def queue(self):
        self.effective = {"queue-messages": self.held}
        return FORK.Queue(self.held)

    def close(self):
        for queue in self.queues:
            queue.cancel_join_thread()
            queue.close()


class SimpleQueue(QueueRow):
    name = "python-mp-simple-queue"
    claims = {
        "summary": "multiprocessing.SimpleQueue in each direction: a pipe under locks, and pickle",
        "peer_death": "unnoticed",
        "reach": "fork",
    }

    def queue(self):
        return FORK.SimpleQueue()


class ManagerQueue(QueueRow):
    name = "python-mp-manager-queue"
    claims = {
        "summary": "queues of multiprocessing.Manager: each put and get is a call to a third process",
        "peer_death": "unnoticed",
    }

    def __init__(self, set_up):
        # The server's socket lies in a folder of its own making.
        tempfile.tempdir = set_up.folder
        self.manager = multiprocessing.managers.SyncManager(ctx=FORK)
        self.manager.start(protocol.end_with_parent)
        super().__init__(set_up)
        server = self.manager._process.pid
        self.processes = [{"pid": server, "role": "other", "name": "manager"}]

    def queue(self):
        self.effective = {"queue-messages": self.held}
        return self.manager.Queue(self.held)

    def close(self):
        self.manager.shutdown()


class SharedMemory(Row):
    """Slots for messages in each direction, in one shared memory object. A message is copied in and out."""

    def __init__(self, set_up):
        super().__init__(set_up)
        # A round trip needs one slot. A stream needs more, or the two processes take turns.
        one_way = set_up.pattern == "one-way"
        self.slots = max(2, min(64, (1 << 20) // set_up.sizes[0])) if one_way else 1
        self.effective = {"slots": self.slots}
        line = 64
        steps = [-(-size // line) * line for size in set_up.sizes]
        begins = [4 * line, 4 * line + self.slots * steps[0]]
        needed = begins[1] + self.slots * steps[1]
        room = os.statvfs("/dev/shm")
        if needed > room.f_bavail * room.f_frsize:
            raise protocol.Failure("unsupported", f"/dev/shm has no room for {needed} bytes")
        # The tracker is a process that removes names left behind. Here none is: the child inherits the memory.
        resource_tracker.register = resource_tracker.unregister = lambda *_: None
        self.object = shared_memory.SharedMemory(set_up.name, create=True, size=needed)
        self.object.unlink()
        view = self.object.buf
        self.counters = [view[at : at + 8].cast("Q") for at in range(0, 4 * line, line)]
        self.rings = [
            [view[at : at + size] for at in range(begin, begin + self.slots * step, step)]
            for begin, step, size in zip(begins, steps, set_up.sizes)
        ]

    def ends(self, set_up):
        """For this role: what gives the next slot to fill and to empty, and room for what came."""
        out, into = (0, 1) if set_up.role == "initiator" else (1, 0)
        slots = [itertools.cycle(self.rings[way]).__next__ for way in (out, into)]
        return out, into, *slots, bytearray(set_up.other_size)

    def close(self):
        for view in [*self.counters, *self.rings[0], *self.rings[1]]:
            view.release()
        self.object.close()


class SharedMemorySemaphore(SharedMemory):
    name = "python-shared-memory-semaphore"
    claims = {
        "summary": "multiprocessing.shared_memory, with semaphores of multiprocessing",
        "peer_death": "unnoticed",
        "reach": "fork",
    }

    def __init__(self, set_up):
        super().__init__(set_up)
        self.filled = FORK.Semaphore(0), FORK.Semaphore(0)
        self.free = FORK.Semaphore(self.slots)

    def end(self, set_up):
        out, into, slot_out, slot_in, received = self.ends(set_up)
        filled, wait_filled = self.filled[out].release, self.filled[into].acquire
        freed, wait_free = self.free.release, self.free.acquire

        def send(message):
            slot_out()[:] = message
            filled()

        def receive():
            wait_filled()
            received[:] = slot_in()
            return received

        def send_when_free(message):
            wait_free()
            slot_out()[:] = message
            filled()

        def receive_and_free():
            wait_filled()
            received[:] = slot_in()
            freed()
            return received

        # In a round trip the answer says that the slot is free.
        return (send_when_free, receive_and_free) if set_up.pattern == "one-way" else (send, receive)


class SharedMemorySpin(SharedMemory):
    name = "python-shared-memory-spin"
    claims = {
        "summary": "multiprocessing.shared_memory, with counters that the receiver looks at until they change",
        "waits": ["spin"],
        "peer_death": "unnoticed",
    }

    def __init__(self, set_up):
        if platform.machine() not in ("x86_64", "AMD64"):
            detail = "Python has no memory barriers, and only x86 keeps stores in order without them"
            raise protocol.Failure("unsupported", detail)
        super().__init__(set_up)

    def end(self, set_up):
        out, into, slot_out, slot_in, received = self.ends(set_up)
        published, arrived = self.counters[out], self.counters[into]
        taken = self.counters[2]
        sent = seen = 0
        slots = self.slots

        def send(message):
            nonlocal sent
            slot_out()[:] = message
            sent += 1
            published[0] = sent

        def receive():
            nonlocal seen
            while arrived[0] == seen:
                pass
            seen += 1
            received[:] = slot_in()
            return received

        def send_when_free(message):
            while sent - taken[0] == slots:
                pass
            send(message)

        def receive_and_free():
            receive()
            taken[0] = seen
            return received

        return (send_when_free, receive_and_free) if set_up.pattern == "one-way" else (send, receive)


ROWS = [
    Null,
    Pipe,
    Socketpair,
    ConnectionBytes,
    ConnectionPickle,
    Queue,
    SimpleQueue,
    ManagerQueue,
    SharedMemorySemaphore,
    SharedMemorySpin,
]

if __name__ == "__main__":
    protocol.run(next(row for row in ROWS if row.name == "python-" + sys.argv[1]))
