"""A stranger who connects to every socket that there is in this network, and sends what nobody asked for."""

import fcntl
import os
import socket
import struct
import time

# The loopback of a new network is down.
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x49))
print("ready", flush=True)
kept, number = [], 0


def entries(name):
    with open(f"/proc/net/{name}") as file:
        return [line.split() for line in file][1:]


def bound(entry):
    """The address of a socket, which may be that of a group."""
    address, port = entry.split(":")
    return socket.inet_ntoa(int(address, 16).to_bytes(4, "little")), int(port, 16)


def attack(kind, family, address):
    stranger = socket.socket(family, kind)
    stranger.setblocking(False)
    if kind == socket.SOCK_DGRAM and family == socket.AF_INET:
        stranger.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    try:
        stranger.connect(address)
    except BlockingIOError:
        pass
    stranger.send(b"\0" * 4096)
    kept.append(stranger)


while True:
    found = [(socket.SOCK_STREAM, socket.AF_INET, bound(entry[1])) for entry in entries("tcp") if entry[3] == "0A"]
    found += [(socket.SOCK_DGRAM, socket.AF_INET, bound(entry[1])) for entry in entries("udp")]
    for entry in entries("unix"):
        if len(entry) > 7 and entry[7].startswith("@"):
            found += [(int(entry[4]), socket.AF_UNIX, "\0" + entry[7][1:])]
    for kind, family, where in found:
        try:
            attack(kind, family, where)
            number += 1
        except OSError:
            pass
    for one in kept[:-20]:
        one.close()
    del kept[:-20]
    with open("attacks.new", "w") as file:
        file.write(str(number))
    os.replace("attacks.new", "attacks")
    time.sleep(0.0002)
