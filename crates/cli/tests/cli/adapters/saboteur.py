"""An adapter without another process that does one thing wrong, by its argument; honest without one of them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

mode = sys.argv[1]
requests, replies = open(os.environ["FURLONG_READ"]), open(os.environ["FURLONG_WRITE"], "w")
readings = []
servers = []
set_up = {}


def reply(op, **more):
    replies.write(json.dumps({"op": op, **more}) + "\n")
    replies.flush()


def hello():
    name = "another" if mode == "name" else mode
    clock = time.time_ns() if mode == "clock" else time.monotonic_ns()
    reply("hello", protocol=2 if mode == "version" else 1, name=name, versions={"saboteur": "1.0"}, clock_ns=clock,
          shape="self", claims={"summary": "does one thing wrong", "alone": True, "waits": ["spin"]})


def begin(request):
    set_up.update(request)
    effective = {key: request[key] for key in ("pattern", "wait", "sizes_bytes")}
    if mode == "size":
        effective["sizes_bytes"] = [1, 1]
    if mode == "boundless":
        effective["queue"] = 2**64 - 1
    if mode == "unsupported":
        return reply("error", fault="unsupported", detail="there is no such thing here")
    if mode == "nonsense":
        replies.write("as you like\n")
        return replies.flush()
    if mode == "twice":
        replies.write('{"op":"finished"}\n')
    if mode == "endless":
        try:
            replies.write("x" * (9 << 20))
        except BrokenPipeError:
            pass
    processes = [{"pid": 1, "role": "responder"}] if mode == "foreign" else []
    if mode == "server":
        servers.append(subprocess.Popen(["sleep", "60"]))
        processes = [{"pid": servers[0].pid, "role": "other", "name": "sleep"}]
    reply("ready", effective=effective, processes=processes)


def exchange(request):
    timed = request["phase"] == "timed"
    if mode in ("silent", "deaf", "starts"):
        if mode == "starts":
            subprocess.Popen(["sleep", "60"], start_new_session=True)
            open(f"/dev/shm/{set_up['name']}-left", "w").close()
        if mode == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    if mode == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "leaves":
        print("I give up", file=sys.stderr, flush=True)
        os._exit(3)
    if mode == "holds":
        subprocess.Popen(["sleep", "60"], close_fds=False)
        os._exit(4)
    if mode == "flipped" and timed:
        return reply("error", fault="flipped", detail="message 7 differs from the sent message")
    if mode == "chatter":
        for _ in range(1000):
            try:
                os.write(2, b"x" * 1000)
            except OSError:
                break
    if mode == "server" and timed and os.sched_getaffinity(servers[0].pid) != os.sched_getaffinity(0):
        return reply("error", fault="error", detail="its server is not pinned as it is")
    messages, batch = request["messages"], request["batch"]
    if mode == "thread":
        helper = threading.Thread(target=help_with, args=(messages,))
        helper.start()
        helper.join()
    readings[:] = [time.monotonic_ns()]
    for _ in range(messages // batch if batch else 0):
        readings.append(time.monotonic_ns())
    if not batch:
        readings.clear()
    reply("exchanged", messages=messages + (mode == "count"), verified=messages if request["verify"] else 0)


def help_with(messages):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as name:
        name.write("helper")
    for _ in range(messages):
        os.getppid()


def finish():
    for server in servers:
        server.kill()
        server.wait()
    if mode in ("forks", "hides", "files"):
        if mode == "forks":
            subprocess.Popen(["sleep", "60"], start_new_session=True)
        elif mode == "hides":
            subprocess.Popen(["sleep", "60"], start_new_session=True, env={})
        else:
            open(os.path.join(set_up["folder"], "left"), "w").close()
            open(f"/dev/shm/{set_up['name']}-left", "w").close()
    if mode == "exit":
        reply("finished")
        os._exit(5)
    reply("finished")


for line in requests:
    asked = json.loads(line)
    operation = asked["op"]
    if operation == "hello":
        hello()
    elif operation == "set-up":
        begin(asked)
    elif operation == "exchange":
        exchange(asked)
    elif operation == "readings":
        if mode == "early":
            readings[0] = 1
        if mode == "few" and len(readings) > 1:
            readings.pop()
        reply("readings", clock_ns=readings)
    elif operation == "finish":
        finish()
        break
