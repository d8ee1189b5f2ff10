"""Pickle's protocol 5 over a UNIX socket: the elements of an array follow its pickle as a buffer."""

import pickle
import struct
from socket import MSG_WAITALL

import protocol
from elements import Row, bytes_of, connect, gone

LENGTHS = struct.Struct("<QQ")


class PickleSocket(Row):
    name = "tensors-pickle-socket"
    claims = {
        "summary": "numpy arrays by pickle's protocol 5 with an out-of-band buffer, over a UNIX socket",
        "patterns": Row.patterns,
    }

    def open(self, set_up):
        self.sockets = connect(set_up)
        receive_into = self.sockets[0].recv_into
        lengths, elements = bytearray(LENGTHS.size), bytearray(set_up.other_size)

        def send(message):
            buffers = []
            pickled = pickle.dumps(bytes_of(message), protocol=5, buffer_callback=buffers.append)
            (buffer,) = (buffer.raw() for buffer in buffers)
            for socket in self.sockets:
                socket.sendall(LENGTHS.pack(len(pickled), len(buffer)) + pickled)
                socket.sendall(buffer)

        def fill(view):
            while view:
                got = receive_into(view, 0, MSG_WAITALL)
                if not got:
                    raise gone()
                view = view[got:]

        def receive():
            fill(memoryview(lengths))
            of_pickle, of_buffer = LENGTHS.unpack(lengths)
            if of_buffer != len(elements):
                raise protocol.Failure("truncated", f"a message has {of_buffer} bytes instead of {len(elements)}")
            pickled = bytearray(of_pickle)
            fill(memoryview(pickled))
            fill(memoryview(elements))
            return pickle.loads(pickled, buffers=[elements])

        return send, receive


if __name__ == "__main__":
    protocol.run(PickleSocket)
