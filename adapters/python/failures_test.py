"""Tests that a message that the responder finds damaged fails the exchange, with its words, in each row with a responder."""

import json
import os
import tempfile

from adapter import ROWS
from protocol import run


def damaging(row):
    """A row whose responder receives message 7 with another byte 3."""

    class Damaging(row):
        def end(self, set_up):
            send, receive = super().end(set_up)
            received = 0

            def damage():
                nonlocal received
                message, received = bytearray(receive()), received + 1
                message[3] ^= 64 if received == 7 else 0
                return message

            return send, damage if set_up.role == "responder" else receive

    return Damaging


def converse(row, requests):
    """What a program with this row replies."""
    (request_end, to), (from_, reply_end) = os.pipe(), os.pipe()
    program = os.fork()
    if program == 0:
        os.close(to)
        os.environ.update(FURLONG_READ=f"/dev/fd/{request_end}", FURLONG_WRITE=f"/dev/fd/{reply_end}")
        run(row)
        os._exit(0)
    os.close(request_end)
    os.close(reply_end)
    with open(to, "w") as requests_file, open(from_) as replies:
        for request in requests:
            requests_file.write(json.dumps(request) + "\n")
            requests_file.flush()
            yield json.loads(replies.readline())
    assert os.waitpid(program, 0)[1] == 0, row.name


def fails_with_its_words(row, pattern, sizes, folder):
    wait = row.claims.get("waits", ["block"])[0]
    where = {"folder": folder, "name": "furlong-test-" + row.name}
    asked = {"pattern": pattern, "wait": wait, "sizes_bytes": sizes, "stamps": ["1f0c88ab", "88ab1f0c"], **where}
    requests = [
        {"op": "set-up", "role": "both", **asked},
        {"op": "exchange", "messages": 1000, "batch": 1, "verify": False},
        {"op": "finish"},
    ]
    ready, failed, finished = converse(damaging(row), requests)
    assert ready["op"] == "ready" and finished["op"] == "finished", (row.name, pattern, ready, finished)
    detail = "message 7 differs from the sent message, first at byte 3"
    assert failed == {"op": "error", "fault": "flipped", "detail": detail}, (row.name, pattern, failed)
    assert not os.listdir(folder), (row.name, os.listdir(folder))


for row in ROWS:
    if not row.claims.get("alone"):
        for pattern, sizes in (("round-trip", [128, 128]), ("one-way", [128, 1])):
            with tempfile.TemporaryDirectory() as folder:
                fails_with_its_words(row, pattern, sizes, folder)
