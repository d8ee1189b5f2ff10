"""Frames of 6 MB, 60 per second, to three receivers: `frames.py send NAME COUNT` in one terminal, `frames.py receive NAME` in three.

A receiver compares every byte and prints how late frames arrived, from the time at which each was due. frames.c does the same.
"""

import struct
import sys
import time
from contextlib import ExitStack

from furlong_channel import Channel, Closed, Listener, Options

RECEIVERS, BYTES, SHIFTS, PER_SECOND = 3, 6_000_000, 251, 60
HEADER = struct.Struct("=QQ")
PATTERN = memoryview(bytes(range(SHIFTS)) * (BYTES // SHIFTS + 2))


def body(number):
    shift = number % SHIFTS
    return PATTERN[shift : shift + BYTES - HEADER.size]


def send_frames(name, options, count):
    frame = bytearray(BYTES)
    with ExitStack() as open_channels:
        with Listener(name, options) as listener:
            channels = [open_channels.enter_context(listener.accept()) for _ in range(RECEIVERS)]
        begin_ns = time.monotonic_ns()
        for number in range(count):
            due_ns = begin_ns + number * 1_000_000_000 // PER_SECOND
            HEADER.pack_into(frame, 0, number, due_ns)
            memoryview(frame)[HEADER.size :] = body(number)
            time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
            for channel in channels:
                channel.send(frame)


def receive_frames(name, options):
    frame, late_ns = bytearray(BYTES), []
    with Channel.connect(name, options) as channel:
        while True:
            try:
                length = channel.recv_into(frame)
            except Closed:
                break
            received_ns = time.monotonic_ns()
            number, due_ns = HEADER.unpack_from(frame)
            if length != BYTES or number != len(late_ns) or frame[HEADER.size :] != body(number):
                sys.exit(f"frame {len(late_ns)} is wrong")
            late_ns.append(received_ns - due_ns)
    late_ns.sort()
    p50, p99 = (late_ns[(len(late_ns) * percent - 1) // 100] / 1e6 for percent in (50, 99))
    print(f"{len(late_ns)} frames in Python, every byte verified: p50 {p50:.1f} ms, p99 {p99:.1f} ms")


options = Options.for_messages(BYTES, 4)
words = sys.argv[1:]
if words[:1] == ["send"] and len(words) == 3:
    send_frames(words[1], options, int(words[2]))
elif words[:1] == ["receive"] and len(words) == 2:
    receive_frames(words[1], options)
else:
    sys.exit(f"type {sys.argv[0]} send NAME COUNT, or {sys.argv[0]} receive NAME")
