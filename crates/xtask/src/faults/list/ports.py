# Takes the one port that is left for TCP and UDP, and becomes the program that is named: it inherits them.
import os
import socket
import sys

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    taken = socket.socket(socket.AF_INET, kind)
    taken.bind(("0.0.0.0", 0))
    os.dup2(taken.fileno(), 50 + kind)
os.execvp(sys.argv[1], sys.argv[1:])
