"""Two processes that talk: `talk.py listen NAME` in one terminal, `talk.py connect NAME` in another."""

import sys

from furlong_channel import Channel, Listener

mode, name = sys.argv[1:]
if mode == "listen":
    with Listener(name) as listener, listener.accept() as channel:
        for message in channel:
            channel.send(message)
else:
    with Channel.connect(name) as channel:
        for number in range(1, 4):
            channel.send(f"message {number}".encode())
            print(channel.recv().decode(), "came back")
