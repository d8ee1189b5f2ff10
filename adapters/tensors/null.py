"""The loop and the sum of the elements, without a mechanism."""

import protocol
from elements import Row, bytes_of


class Null(Row):
    name = "tensors-null"
    shape = "self"
    claims = {
        "summary": "Python's loop, two copies, and the sum of all elements by numpy, without a mechanism",
        "waits": ["spin"],
        "when_full": "overwrites",
        "peer_death": "unnoticed",
        "reach": "fork",
        "alone": True,
    }

    def open(self, set_up):
        held, received = (bytes_of(bytearray(set_up.own_size)) for _ in range(2))

        def send(message):
            held[:] = bytes_of(message)

        def receive():
            received[:] = held
            return received

        return send, receive


if __name__ == "__main__":
    protocol.run(Null)
