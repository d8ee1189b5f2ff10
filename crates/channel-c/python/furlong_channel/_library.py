"""The functions of libfurlong_channel, and their errors as exceptions."""

import ctypes
import os
import time
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_ssize_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any, Callable, Optional


class Error(Exception):
    """An error of a channel."""


class TimedOut(Error, TimeoutError):
    """No message arrived, or no message had room, within the timeout. No part of an unsent message arrives."""


class Closed(Error, EOFError):
    """The other end was closed and all its messages were received, or this end was closed."""


class PeerDied(Error, ConnectionError):
    """The other process exited without closing its end, and all its messages were received."""


class TooLong(Error, ValueError):
    """The message is longer than the limit."""


class BufferTooSmall(Error, ValueError):
    """The next message is longer than the buffer. It stays the next message."""

    def __init__(self, length: int) -> None:
        super().__init__(f"the next message has {length} bytes, more than the buffer")
        self.length = length


class Corrupt(Error):
    """The other end broke the protocol, or has another version of the wire format."""


class Refused(Error, PermissionError):
    """The process at the other end is not allowed."""


class TooLarge(Error, ValueError):
    """The listener has a larger capacity or longer messages than this process accepts."""


class OtherKind(Error):
    """The listener accepts another kind of channel, such as one-way channels, which Python does not have."""


class Options(ctypes.Structure):
    _fields_ = [
        ("capacity", c_size_t),
        ("longest_message", c_size_t),
        ("waiting", c_int32),
        ("trusts", c_int32),
        ("no_membarrier", c_int32),
        ("no_coalescing", c_int32),
    ]


class Peer(ctypes.Structure):
    """The process at the other end, as the kernel knows it."""

    _fields_ = [("process", c_int32), ("user", c_uint32), ("group", c_uint32)]
    process: int
    user: int
    group: int


class End(ctypes.Structure):
    _fields_ = [("memory", c_int32), ("sending", c_int32), ("receiving", c_int32), ("side", c_int32)]


class Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("address", c_void_p),
        ("owner", c_void_p),
        ("length", c_ssize_t),
        ("item_bytes", c_ssize_t),
        ("is_readonly", c_int),
        ("dimensions", c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


SIMPLE, WRITABLE = 0, 1
get_buffer = ctypes.pythonapi.PyObject_GetBuffer
get_buffer.argtypes = [ctypes.py_object, POINTER(Buffer), c_int]
release_buffer = ctypes.pythonapi.PyBuffer_Release
release_buffer.argtypes = [POINTER(Buffer)]
release_buffer.restype = None
new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
new_bytes.argtypes = [c_void_p, c_ssize_t]
new_bytes.restype = ctypes.py_object

RULE = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Peer))

# The library in the wheel, or the library named by the environment, for tests and for packages of a distribution.
library = ctypes.CDLL(
    os.environ.get("FURLONG_CHANNEL_LIBRARY", str(Path(__file__).with_name("libfurlong_channel.so"))), use_errno=True
)


def _declare(name: str, *arguments: Any, result: Any = c_int) -> Any:
    function = getattr(library, "furlong_" + name)
    function.argtypes, function.restype = arguments, result
    return function


_handles = [POINTER(c_void_p), POINTER(c_void_p), POINTER(Peer)]
version = _declare("version", result=c_char_p)
error_text = _declare("error_text", c_int, result=c_char_p)
options_for_messages = _declare("options_for_messages", POINTER(Options), c_size_t, c_size_t)
listen = _declare("listen", c_char_p, POINTER(Options), POINTER(c_void_p))
accept = _declare("accept_timeout", c_void_p, *_handles, c_int64)
try_accept_if = _declare("try_accept_if", c_void_p, RULE, c_void_p, *_handles)
listener_descriptor = _declare("listener_descriptor", c_void_p)
listener_close = _declare("listener_close", c_void_p, result=None)
connect = _declare("connect_timeout", c_char_p, POINTER(Options), *_handles, c_int64)
connect_if = _declare("connect_if", c_char_p, POINTER(Options), RULE, c_void_p, *_handles, c_int64)
pair = _declare("pair", POINTER(Options), POINTER(End), POINTER(End))
from_end = _declare("from_end", POINTER(End), POINTER(Options), *_handles[:2])
send = _declare("send", c_void_p, c_void_p, c_size_t, c_int64)
sender_is_closed = _declare("sender_is_closed", c_void_p)
sender_watch = _declare("sender_watch", c_void_p, c_size_t)
sender_descriptor = _declare("sender_descriptor", c_void_p)
sender_close = _declare("sender_close", c_void_p, result=None)
recv = _declare("recv", c_void_p, c_void_p, c_size_t, POINTER(c_size_t), c_int64)
receiver_is_closed = _declare("receiver_is_closed", c_void_p)
receiver_watch = _declare("receiver_watch", c_void_p)
receiver_descriptor = _declare("receiver_descriptor", c_void_p)
receiver_close = _declare("receiver_close", c_void_p, result=None)

OK, WOULD_BLOCK, TIMED_OUT, BUFFER_TOO_SMALL, SYSTEM = 0, -1, -2, -6, -9
_EXCEPTIONS = {
    WOULD_BLOCK: TimedOut,
    TIMED_OUT: TimedOut,
    -3: Closed,
    -4: PeerDied,
    -5: TooLong,
    -7: Corrupt,
    -8: Refused,
    -10: ValueError,
    -13: TooLarge,
    -14: OtherKind,
}


def check(status: int) -> int:
    """Returns the status if it is not negative, and otherwise raises its exception."""
    if status >= 0:
        return status
    if status == SYSTEM:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    raise _EXCEPTIONS.get(status, Error)(error_text(status).decode())


SLICE_NS = 50_000_000


def wait(call: Callable[[int], int], timeout: Optional[float], growth: int = 1) -> int:
    """Waits in slices, because Python handles Ctrl-C only between two calls. Each slice is `growth` times as long as the one before."""
    slice_ns = SLICE_NS
    if timeout is None:
        while (status := call(slice_ns)) == TIMED_OUT:
            slice_ns *= growth
        return status
    end = time.monotonic_ns() + int(timeout * 1e9)
    left = int(timeout * 1e9)
    while (status := call(max(0, min(slice_ns, left)))) == TIMED_OUT:
        left = end - time.monotonic_ns()
        if left <= 0:
            break
        slice_ns *= growth
    return status
