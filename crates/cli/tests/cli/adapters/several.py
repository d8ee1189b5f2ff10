"""An adapter that sends each message to every receiver, by a UNIX socket each, and does one thing wrong, by its argument; honest
without one of them. The second receiver is the one that does it."""

import os
import signal
import socket
import sys
import time

import protocol

mode = sys.argv[1]
patterns = ["fan-in"] if mode == "unasked" else ["fan-out"]


class Row:
    name = mode
    shape = "self" if mode == "own" else "pair"
    claims = {"summary": "a socket for each receiver", "patterns": patterns, "rates": mode != "unpaced"}
    versions, effective, processes = {}, {}, []

    def __init__(self, set_up):
        path = os.path.join(set_up.folder, "socket")
        self.wrong = set_up.role == "responder" and set_up.number == 2
        self.received = 0
        if set_up.role == "initiator":
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(path)
                listener.listen(set_up.responders)
                self.sockets = [listener.accept()[0] for _ in range(set_up.responders)]
            os.unlink(path)
        else:
            own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            while own.connect_ex(path) != 0:
                time.sleep(0.001)
            self.sockets = [own]

    def end(self, set_up):
        sends = [own.send for own in self.sockets]
        room = set_up.other_size + 1
        receive_from = self.sockets[0].recv

        def send(message):
            for send_to in sends:
                send_to(message)

        def receive():
            self.received += 1
            if self.wrong and self.received == 5:
                self.do_wrong(receive_from, room)
            return receive_from(room)

        return send, receive

    def do_wrong(self, receive_from, room):
        if mode == "skips":
            receive_from(room)
        elif mode == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif mode == "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)

    def close(self):
        for own in self.sockets:
            own.close()


if __name__ == "__main__":
    protocol.run(Row)
