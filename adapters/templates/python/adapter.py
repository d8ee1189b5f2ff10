"""The row NAME: messages through a UNIX socket, as a beginning. protocol.py has the rest; it need not be changed."""

import os
import socket
import time

import protocol


class Row:
    name = "NAME"
    shape = "pair"
    # See adapters/protocol.md of furlong for what can be claimed.
    claims = {"summary": "a UNIX socket, with sendall and recv_into"}
    # Of what is inside: {"my library": "1.2.3"}
    versions = {}
    # Numbers in force, by name, and processes of the mechanism's own.
    effective, processes = {}, []

    def __init__(self, set_up):
        """Connects both roles: what has a name lies in set_up.folder, or is called set_up.name."""
        path = os.path.join(set_up.folder, "socket")
        if set_up.role == "responder":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path)
                listener.listen()
                self.socket = listener.accept()[0]
            os.unlink(path)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            while self.socket.connect_ex(path) != 0:
                time.sleep(0.001)

    def end(self, set_up):
        """What sends a message, and what receives one of set_up.other_size bytes. Only they are measured."""
        message = bytearray(set_up.other_size)
        view, size, receive_into = memoryview(message), set_up.other_size, self.socket.recv_into

        def receive():
            got = 0
            while got < size:
                more = receive_into(view[got:])
                if more == 0:
                    raise protocol.Failure("error", "the peer has disconnected")
                got += more
            return message

        return self.socket.sendall, receive

    def close(self):
        """Removes what was made."""
        self.socket.close()


if __name__ == "__main__":
    protocol.run(Row)
