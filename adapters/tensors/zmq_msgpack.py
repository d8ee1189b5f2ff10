"""Multipart messages of pyzmq over a UNIX socket: a header by msgpack, and the elements of an array."""

import contextlib
import os
import time

import msgpack
import numpy
import zmq

import protocol
from elements import Row, bytes_of


class ZmqMsgpack(Row):
    name = "tensors-zmq-msgpack"
    claims = {
        "summary": "pyzmq's PAIR, or PUB and SUB to several, over a UNIX socket: a msgpack header and the array's bytes",
        "patterns": Row.patterns,
        "peer_death": "unnoticed",
    }
    versions = {
        **Row.versions,
        "pyzmq": zmq.pyzmq_version(),
        "libzmq": zmq.zmq_version(),
        "msgpack": ".".join(map(str, msgpack.version)),
    }

    def __init__(self, set_up):
        super().__init__(set_up)
        self.path = os.path.join(set_up.folder, "socket")
        self.context = zmq.Context()
        # XPUB is PUB that reports its subscribers.
        to_several = (zmq.XPUB if set_up.role == "initiator" else zmq.SUB) if set_up.pattern == "fan-out" else zmq.PAIR
        self.socket = self.context.socket(to_several)
        # A stream of large messages must not fill the memory. 1000 is ZeroMQ's own number.
        most = max(2, min(1000, (64 << 20) // max(set_up.sizes)))
        self.socket.set_hwm(most)
        self.socket.linger = 0
        self.effective = {"high-water-mark-messages": most}
        if set_up.role == "responder":
            if set_up.pattern == "fan-out":
                self.socket.subscribe(b"")
            # ZeroMQ would try again only after 100 ms.
            while not os.path.exists(self.path):
                time.sleep(0.001)
            self.socket.connect(f"ipc://{self.path}")
            return
        if set_up.pattern == "fan-out":
            self.socket.xpub_nodrop = self.socket.xpub_verbose = True
        self.socket.bind(f"ipc://{self.path}")
        for _ in range(set_up.responders if set_up.pattern == "fan-out" else 0):
            self.socket.recv()

    def open(self, _set_up):
        send_parts, receive_parts = self.socket.send_multipart, self.socket.recv_multipart

        def send(message):
            array = bytes_of(message)
            header = msgpack.packb({"dtype": array.dtype.str, "shape": array.shape})
            # A copy: the next stamp is written while ZeroMQ's thread may still send this message.
            send_parts([header, array.data])

        def receive():
            header, elements = receive_parts(copy=False)
            header = msgpack.unpackb(header.buffer)
            return numpy.frombuffer(elements.buffer, header["dtype"]).reshape(header["shape"])

        return send, receive

    def close(self):
        self.context.destroy(linger=0)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


if __name__ == "__main__":
    protocol.run(ZmqMsgpack)
