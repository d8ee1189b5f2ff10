"""The row of Python's template, whose roles stand at the begin of one phase until what is to be done to them is done.

HELD names the phase. Each role says in a file of its name which process it is; HELD_FOLDER has these, and let-go, which
ends the wait. The responder has a child with all its descriptors, which would outlive it.
"""

import os
import sys
import time

import adapter
import protocol

FOLDER = os.environ["HELD_FOLDER"]


def there(name):
    return os.path.exists(os.path.join(FOLDER, name))


def hold(role):
    new = os.path.join(FOLDER, f"{role}.new")
    with open(new, "w") as file:
        file.write(f"{os.getpid()}\n")
    os.rename(new, os.path.join(FOLDER, role))
    if role == "responder" and os.fork() == 0:
        time.sleep(1000)
        sys.exit()
    while not there("let-go"):
        time.sleep(0.005)


class Conversation(protocol.Conversation):
    def answer(self, op, request):
        if op == "exchange" and request["phase"] == os.environ["HELD"] and not there("let-go"):
            hold(self.work.role.set_up.role)
        return super().answer(op, request)


protocol.Conversation = Conversation
protocol.run(adapter.Row)
