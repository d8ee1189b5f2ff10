"""Round trips of 128 pickled bytes through multiprocessing.Pipe. Prints the median in nanoseconds.

python3 pair.py CPU CPU: the CPUs of both processes, or - to leave them to the scheduler.
"""

import multiprocessing, os, sys, time


def bind(cpu):
    if cpu != "-":
        os.sched_setaffinity(0, {int(cpu)})


def answer(end, cpu):
    bind(cpu)
    while message := end.recv():
        end.send(message)


fork = multiprocessing.get_context("fork")
own, other = fork.Pipe()
child = fork.Process(target=answer, args=(other, sys.argv[2]))
child.start()
bind(sys.argv[1])
message, times, now, begin = bytes(128), [], time.monotonic_ns(), time.monotonic_ns()
while now - begin < 250_000_000:
    before = now
    own.send(message)
    message = own.recv()
    now = time.monotonic_ns()
    if now - begin > 200_000_000:
        times.append(now - before)
own.send(b"")
print(sorted(times)[len(times) // 2])
