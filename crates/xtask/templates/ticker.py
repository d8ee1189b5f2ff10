"""Sends numbered lines through a pipe to a child, which checks that none is missing, until SIGTERM. Writes its status to a file."""
import os, signal, sys, time

reader, writer = os.pipe()
if os.fork() == 0:
    os.close(writer)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for number, line in enumerate(os.fdopen(reader)):
        if int(line) != number:
            os._exit(1)
    os._exit(0)
os.close(reader)
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
number = 0
while not stop:
    os.write(writer, b"%d\n" % number)
    number += 1
    time.sleep(0.0005)
os.close(writer)
with open(sys.argv[1], "w") as file:
    file.write(str(os.waitstatus_to_exitcode(os.wait()[1])))
