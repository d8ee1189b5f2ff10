"""Tests the stamps with ../stamps.json, which furlong's own code made: python3 stamps_test.py."""

import json
import os

from protocol import Failure, Stamp

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../stamps.json"), encoding="utf-8") as file:
    vectors = json.load(file)

for vector in vectors:
    number, sent = vector["number"], bytes.fromhex(vector["bytes"])
    stamp = Stamp(vector["stamp"], vector["length"])
    message = bytearray(vector["length"])
    stamp.all_writer(message)(number)
    assert message == sent, (vector, message.hex())
    stamp.checker()(sent, number)
    check_all = stamp.all_checker()
    check_all(sent, number)
    for at in range(len(sent)):
        damaged = bytearray(sent)
        damaged[at] ^= 0x80
        try:
            check_all(damaged, number)
        except Failure as failure:
            assert len(sent) < 8 or failure.fault == "flipped", (vector, at, failure)
        else:
            raise AssertionError((vector, at))
    for other, fault in ((number + 1, "lost"), (number - 1, "repeated")):
        stamp.writer(message)(other)
        try:
            stamp.checker()(message, number)
        except Failure as failure:
            assert failure.fault == fault, (vector, failure)
        else:
            raise AssertionError((vector, fault))
print(len(vectors), "vectors")
