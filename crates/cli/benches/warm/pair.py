"""Round trips of 128 pickled bytes through multiprocessing.Pipe. Prints the median in nanoseconds.

python3 pair.py CPU CPU: the CPUs of both processes, or - to leave them to the scheduler. As in furlong's loop, a process numbers its next
message and checks the last one between send and recv: what it does there decides whether the other one has to be woken.
"""

import multiprocessing, os, struct, sys, time

WORDS = struct.Struct("<II112xQ")


def bind(cpu):
    if cpu != "-":
        os.sched_setaffinity(0, {int(cpu)})


def check(message, number):
    assert WORDS.unpack(message) == (number, number ^ 1, number ^ 2)


def write(message, number):
    WORDS.pack_into(message, 0, number, number ^ 1, number ^ 2)


def answer(end, cpu):
    bind(cpu)
    message, number = bytearray(128), 0
    while received := end.recv():
        end.send(bytes(message))
        check(received, number)
        number += 1
        write(message, number)


fork = multiprocessing.get_context("fork")
own, other = fork.Pipe()
child = fork.Process(target=answer, args=(other, sys.argv[2]))
child.start()
bind(sys.argv[1])
message, received, number, times = bytearray(128), None, 0, []
# The child's first message has no number.
write(message, 0)
own.send(bytes(message))
own.recv()
now = begin = time.monotonic_ns()
write(message, 1)
while now - begin < 250_000_000:
    before = now
    own.send(bytes(message))
    if received is not None:
        check(received, number)
    number += 1
    write(message, number + 1)
    received = own.recv()
    now = time.monotonic_ns()
    if now - begin > 200_000_000:
        times.append(now - before)
own.send(b"")
print(sorted(times)[len(times) // 2])
