"""Starts a program under a seccomp filter that kills a process if it makes a call with one of these numbers."""
import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None)
numbers = [int(number) for number in sys.argv[1].split(",")]
load, jump, allow, kill = (0x20, 0, 0, 0), (0x15, 0, 1), (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x80000000)
program = [load] + [step for number in numbers for step in ((*jump, number), kill)] + [allow]
code = b"".join(struct.pack("HBBI", *step) for step in program)
steps = ctypes.create_string_buffer(code)
filter = struct.pack("HxxxxxxP", len(program), ctypes.addressof(steps))
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.create_string_buffer(filter), 0, 0) != 0:
    sys.exit("no filter can be set")
os.execvp(sys.argv[2], sys.argv[2:])
