"""What the rows of tensors have in common: sockets, and elements that the receiver adds up.

A message is an array of bytes. Head and end are the stamps of the protocol. The receiver adds all bytes between them as
64-bit words before it answers, and checks the sum: in an exchange that is not verified, the sender only changes the stamps.
"""

import os
import socket
import time

# The idle threads of this library of numpy would be pinned and counted too. It reads this at import.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy

import protocol


class Stamp(protocol.Stamp):
    """The stamps of one direction, with all words of a message mixed by numpy, and the sum of the last received one."""

    sum = 0

    def bytes(self, number):
        words = numpy.arange(-(-self.size // 8), dtype=numpy.uint64)
        words *= numpy.uint64(0x9E3779B97F4A7C15)
        words ^= numpy.uint64(self.word + ((number & protocol.LOW) << 32) & protocol.ALL)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            words ^= words >> numpy.uint64(shift)
            words *= numpy.uint64(factor)
        words ^= words >> numpy.uint64(31)
        return words.view(numpy.uint8)[: self.size].data

    def add(self, elements):
        """Keeps the sum of all elements between head and end."""
        between = elements[8 : self.size - 8 if self.size >= 16 else self.size]
        words = len(between) // 8 * 8
        self.sum = int(between[:words].view(numpy.uint64).sum()) + int(between[words:].sum()) & protocol.ALL

    def checker(self):
        check, first = super().checker(), None

        def check_with_sum(message, number):
            nonlocal first
            check(message, number)
            if first is None:
                first = self.sum
            if first != self.sum:
                raise protocol.Failure("flipped", f"message {number} has another sum than the messages before it")

        return check_with_sum

    def all_checker(self):
        sent, check = bytearray(self.size), super().checker()
        write = self.all_writer(sent)

        def check_all(message, number):
            check(message, number)
            write(number)
            if not numpy.array_equal(bytes_of(message), bytes_of(sent)):
                raise self.flipped(message, sent, number)

        return check_all


# Each set-up makes its stamps with this class.
protocol.Stamp = Stamp


def bytes_of(message):
    return numpy.frombuffer(message, numpy.uint8)


class Row:
    """A row whose `open` gives `send(message)` and `receive()`, which gives the elements."""

    shape = "pair"
    versions = {"numpy": numpy.__version__}
    patterns = ["round-trip", "one-way", "request", "fan-out"]

    def __init__(self, set_up):
        self.effective, self.processes = {}, []

    def end(self, set_up):
        (send, receive), add = self.open(set_up), set_up.other.add

        def receive_and_add():
            elements = receive()
            add(elements)
            return elements.data

        return send, receive_and_add

    def close(self):
        """What has a name was removed once it was connected."""


def is_one_way(set_up):
    return set_up.pattern in ("one-way", "fan-out")


def connect(set_up):
    """Gives the sockets to the other role: one of each responder. The initiator accepts them."""
    path = os.path.join(set_up.folder, "socket")
    if set_up.role == "initiator":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(set_up.responders)
            accepted = [listener.accept()[0] for _ in range(set_up.responders)]
        os.unlink(path)
        return accepted
    connected = socket.socket(socket.AF_UNIX)
    while connected.connect_ex(path) != 0:
        time.sleep(0.001)
    return [connected]


def gone():
    return protocol.Failure("error", "the peer has disconnected")
