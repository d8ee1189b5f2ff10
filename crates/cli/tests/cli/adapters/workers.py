"""An adapter whose workers take what they say: each its messages by number, unless it is told by its argument what to do wrong.
Nothing is sent, since furlong sees only what programs reply."""

import json
import os
import sys
import time

mode = sys.argv[1]
requests, replies = open(os.environ["FURLONG_READ"]), open(os.environ["FURLONG_WRITE"], "w")
set_up, readings = {}, []
done = 0
taken = {"count": 0, "sum": 0, "squares": 0}


def reply(op, **more):
    replies.write(json.dumps({"op": op, **more}) + "\n")
    replies.flush()


def own_numbers(first, last):
    """Those that are this worker's own; where one thing goes wrong, it is about message 8, the second worker's."""
    workers, own = set_up["responders"], set_up["number"]
    numbers = [number for number in range(first, last + 1) if number % workers == own % workers]
    if first <= 8 <= last:
        if mode == "two-workers" and own == 3:
            numbers.append(8)
        if mode == "no-worker" and own == 2:
            numbers.remove(8)
    return numbers


def take(numbers):
    taken["count"] += len(numbers)
    taken["sum"] = (taken["sum"] + sum(numbers)) % 2**64
    taken["squares"] = (taken["squares"] + sum(number**2 for number in numbers)) % 2**64


def exchange(asked):
    global done
    messages, batch = asked["messages"], asked["batch"]
    first, done = done + 1, done + messages
    begun = os.path.join(set_up["folder"], f"begun-{first}")
    if set_up["role"] == "initiator":
        read(messages, batch, begun)
        return reply("exchanged", messages=messages, verified=0)
    numbers = own_numbers(first, done)
    take(numbers)
    # Nobody receives before something is sent.
    while not os.path.exists(begun):
        time.sleep(0.0001)
    read(len(numbers), batch)
    said = {} if mode == "untold" else {"taken": taken}
    reply("exchanged", messages=len(numbers), verified=len(numbers) if asked["verify"] else 0, **said)


def read(messages, batch, begun=None):
    readings[:] = [time.monotonic_ns()] if batch and begun else []
    if begun:
        open(begun, "w").close()
    for _ in range(messages // batch if batch else 0):
        time.sleep(0.00001)
        readings.append(time.monotonic_ns())


for line in requests:
    asked = json.loads(line)
    operation = asked["op"]
    if operation == "hello":
        patterns = ["work", "fan-out"] if mode == "both" else ["work"]
        reply("hello", protocol=1, name=mode, versions={}, clock_ns=time.monotonic_ns(), shape="pair",
              claims={"summary": "takes what it says", "patterns": patterns, "rates": True})
    elif operation == "set-up":
        set_up.update(asked)
        reply("ready", effective={key: asked[key] for key in ("pattern", "wait", "sizes_bytes")})
    elif operation == "exchange":
        exchange(asked)
    elif operation == "readings":
        reply("readings", clock_ns=readings)
    elif operation == "finish":
        for begun in os.listdir(set_up["folder"]) if set_up["role"] == "initiator" else []:
            os.unlink(os.path.join(set_up["folder"], begun))
        reply("finished")
        break
