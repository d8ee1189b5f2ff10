"""Slots for messages in shared memory. A byte over a socket announces a message, and one back frees its slot."""

import itertools
import os

import protocol
from elements import Row, connect, gone, is_one_way

PAGE = 4096


class Slots(Row):
    """A row that has `map(set_up, size)`, `unlink()`, `put(at, message)` and `get(at, size)`."""

    # Bytes that a message needs in addition to its elements.
    framing = 0

    def __init__(self, set_up):
        super().__init__(set_up)
        # Two in a round trip, because a message is read until the one after it is answered.
        self.slots = max(2, min(16, (64 << 20) // set_up.sizes[0])) if is_one_way(set_up) else 2
        self.effective = {"slots": self.slots}
        steps = [-(-(size + self.framing) // PAGE) * PAGE for size in set_up.sizes]
        ends = [0, self.slots * steps[0], self.slots * sum(steps)]
        self.places = [range(ends[way], ends[way + 1], steps[way]) for way in (0, 1)]
        if set_up.role == "initiator":
            self.map(set_up, ends[2])
            self.sockets = connect(set_up)
            try:
                for socket in self.sockets:
                    wait_for_byte(socket.fileno())
            finally:
                self.unlink()
        else:
            self.sockets = connect(set_up)
            self.map(set_up, ends[2])
            self.sockets[0].send(b"\1")

    def open(self, set_up):
        out, into = (0, 1) if set_up.role == "initiator" else (1, 0)
        next_out, next_into = (itertools.cycle(self.places[way]).__next__ for way in (out, into))
        put, get, size = self.put, self.get, set_up.other_size
        peers = [socket.fileno() for socket in self.sockets]
        peer, free, holds = peers[0], self.slots, False

        def send(message):
            put(next_out(), message)
            for each in peers:
                os.write(each, b"\1")

        def receive():
            wait_for_byte(peer)
            return get(next_into(), size)

        def send_when_free(message):
            nonlocal free
            if free:
                free -= 1
            else:
                for each in peers:
                    wait_for_byte(each)
            send(message)

        def receive_and_free():
            nonlocal holds
            if holds:
                os.write(peer, b"\1")
            holds = True
            return receive()

        # In a round trip the answer frees the slot.
        return (send_when_free, receive_and_free) if is_one_way(set_up) else (send, receive)


def wait_for_byte(descriptor):
    if not os.read(descriptor, 1):
        raise gone()


def need_room(folder, size):
    room = os.statvfs(folder)
    if size > room.f_bavail * room.f_frsize:
        raise protocol.Failure("unsupported", f"{folder} has no room for {size} bytes")
