"""Two processes that talk: `talk.py LIBRARY listen NAME` in one terminal, `talk.py LIBRARY connect NAME` in another."""
import sys
from ctypes import CDLL, POINTER, byref, c_char_p, c_int64, c_size_t, c_void_p, create_string_buffer

library = CDLL(sys.argv[1])
library.furlong_error_text.restype = c_char_p
library.furlong_send.argtypes = [c_void_p, c_char_p, c_size_t, c_int64]
library.furlong_recv.argtypes = [c_void_p, c_void_p, c_size_t, POINTER(c_size_t), c_int64]
library.furlong_accept_timeout.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_int64]
TIMED_OUT, CLOSED = -2, -3
SLICE_NS = 100_000_000


def wait(function, *arguments):
    """Waits in slices: Python handles Ctrl-C between two calls, and no signal ends a call."""
    while (status := function(*arguments, SLICE_NS)) == TIMED_OUT:
        pass
    return status


def check(status):
    if status != 0:
        raise OSError(library.furlong_error_text(status).decode())


name, sender, receiver, length = sys.argv[3].encode(), c_void_p(), c_void_p(), c_size_t()
buffer = create_string_buffer(1000)
if sys.argv[2] == "listen":
    listener = c_void_p()
    check(library.furlong_listen(name, None, byref(listener)))
    check(wait(library.furlong_accept_timeout, listener, byref(sender), byref(receiver), None))
    while (status := wait(library.furlong_recv, receiver, buffer, 1000, byref(length))) != CLOSED:
        check(status)
        check(library.furlong_send(sender, buffer.raw[: length.value], length.value, -1))
else:
    check(library.furlong_connect(name, None, byref(sender), byref(receiver), None))
    for number in range(1, 4):
        text = f"message {number}".encode()
        check(library.furlong_send(sender, text, len(text), -1))
        check(wait(library.furlong_recv, receiver, buffer, 1000, byref(length)))
        print(buffer.raw[: length.value].decode(), "came back")
library.furlong_sender_close(sender)
library.furlong_receiver_close(receiver)
