"""Arrays of numpy in multiprocessing.shared_memory. The sender copies into it, and the receiver reads there."""

from multiprocessing import resource_tracker, shared_memory

import numpy

import protocol
from elements import Row, bytes_of
from slots import Slots, need_room

# The tracker is a process per role that would remove the name. The initiator removes it once both roles have the memory.
resource_tracker.register = resource_tracker.unregister = lambda *_: None


class Memory(shared_memory.SharedMemory):
    """Memory that is unmapped at exit: arrays on it may live until then, and closing it earlier fails."""

    def __del__(self):
        pass


class NumpyShm(Slots):
    name = "tensors-numpy-shm"
    claims = {
        "summary": "numpy arrays in multiprocessing.shared_memory, announced by a byte over a UNIX socket",
        "patterns": Row.patterns,
    }

    def map(self, set_up, size):
        creates = set_up.role == "initiator"
        if creates:
            need_room("/dev/shm", size)
        self.memory = Memory(set_up.name, create=creates, size=size)
        self.array = numpy.ndarray(size, numpy.uint8, self.memory.buf)

    def unlink(self):
        self.memory.unlink()

    def put(self, at, message):
        self.array[at : at + len(message)] = bytes_of(message)

    def get(self, at, size):
        return self.array[at : at + size]


if __name__ == "__main__":
    protocol.run(NumpyShm)
