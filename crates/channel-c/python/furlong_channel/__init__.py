"""Messages between two processes on one machine, through shared memory.

    from furlong_channel import Channel, Listener

    with Listener("/tmp/talk") as listener, listener.accept() as channel:
        for message in channel:
            channel.send(message)

    with Channel.connect("/tmp/talk") as channel:
        channel.send(b"hello")
        print(channel.recv(timeout=1.0))

Every call that waits accepts a `timeout` in seconds: None waits without limit, and 0 does not wait. Ctrl-C interrupts these calls. The
sender and the receiver of a channel may be used in two threads.
"""

import ctypes
import threading
import time
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Callable, Iterator, Optional, Tuple

from . import _library as _c
from ._library import (
    BufferTooSmall,
    Closed,
    Corrupt,
    Error,
    OtherKind,
    Peer,
    PeerDied,
    Refused,
    TimedOut,
    TooLarge,
    TooLong,
)

__all__ = [
    "BufferTooSmall",
    "Channel",
    "Closed",
    "Corrupt",
    "Error",
    "Listener",
    "Options",
    "OtherKind",
    "Peer",
    "PeerDied",
    "Receiver",
    "Refused",
    "Sender",
    "TimedOut",
    "TooLarge",
    "TooLong",
]
__version__ = _c.version().decode()

Rule = Callable[[Peer], bool]
_WAITING = {"adaptive": 0, "spin": 1, "park": 2}


class Options:
    """The properties of a channel. A listener decides on `capacity` and `longest_message`."""

    def __init__(
        self,
        *,
        capacity: int = 0,
        longest_message: int = 0,
        waiting: str = "adaptive",
        membarrier: bool = True,
        coalescing: bool = True,
    ) -> None:
        """`capacity`: bytes in each direction [2 MiB]. `longest_message`: bytes [16 MiB]. `waiting`: adaptive, spin or park."""
        if waiting not in _WAITING:
            raise ValueError(f"waiting must be one of {', '.join(_WAITING)}, got {waiting!r}")
        self._c = _c.Options(capacity, longest_message, _WAITING[waiting], 0, not membarrier, not coalescing)

    @classmethod
    def for_messages(cls, length: int, count: int, **others: Any) -> "Options":
        """Returns options for rings that hold `count` messages of `length` bytes. A stream is fast if a ring holds at least 4."""
        options = cls(**others)
        _c.check(_c.options_for_messages(byref(options._c), length, count))
        return options

    @property
    def capacity(self) -> int:
        """Bytes in each direction; 0 means the default."""
        return int(self._c.capacity)


def _pointer(options: Optional[Options]) -> Any:
    return byref(options._c) if options else None


class _Handle:
    """A handle of the library, used by one thread at a time."""

    _close_handle: Any
    _descriptor: Any

    def __init__(self, handle: c_void_p) -> None:
        self._handle: Optional[c_void_p] = handle
        self._lock = threading.Lock()
        self._is_closing = False

    def _opened(self) -> c_void_p:
        if self._handle is None or self._is_closing:
            raise Closed("this end is closed")
        return self._handle

    def close(self) -> None:
        """Closes the handle. If another thread waits in a call, that call raises `Closed`."""
        self._is_closing = True
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            self._close_handle(handle)

    def fileno(self) -> int:
        """The file descriptor to wait for with select, poll or asyncio, after `watch` of an end has returned True."""
        with self._lock:
            return _c.check(self._descriptor(self._opened()))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


class Sender(_Handle):
    """The sending end of a direction."""

    _close_handle = _c.sender_close
    _descriptor = _c.sender_descriptor

    def send(self, message: Any, timeout: Optional[float] = None) -> None:
        """Sends bytes, or another object with a contiguous buffer. Copies the buffer once, into the shared memory."""
        buffer = _c.Buffer()
        _c.get_buffer(message, byref(buffer), _c.SIMPLE)
        try:
            with self._lock:
                address, length = buffer.address, buffer.length
                # A long message that was not sent within a slice starts again, so slices grow.
                _c.check(_c.wait(lambda limit: _c.send(self._opened(), address, length, limit), timeout, growth=2))
        finally:
            _c.release_buffer(byref(buffer))

    def watch(self, length: int) -> bool:
        """Prepares a wait with select or poll. Returns True if `fileno()` becomes readable once `length` bytes may have room."""
        with self._lock:
            return bool(_c.check(_c.sender_watch(self._opened(), length)))

    def is_closed(self) -> bool:
        """Returns whether the other end was closed or its process has died."""
        with self._lock:
            return bool(_c.check(_c.sender_is_closed(self._opened())))


class Receiver(_Handle):
    """The receiving end of a direction. Iteration ends when the other end is closed."""

    _close_handle = _c.receiver_close
    _descriptor = _c.receiver_descriptor

    # Messages up to this length are received in one call, and copied into a separate bytes object.
    _SHORT = 4096

    def __init__(self, handle: c_void_p) -> None:
        super().__init__(handle)
        self._short = ctypes.create_string_buffer(self._SHORT)
        self._length = c_size_t()

    def _recv(self, address: Any, room: int, timeout: Optional[float]) -> int:
        length = byref(self._length)
        return _c.wait(lambda limit: _c.recv(self._opened(), address, room, length, limit), timeout)

    def recv(self, timeout: Optional[float] = None) -> bytes:
        """Returns the next message. A message of more than 4 KiB is copied once: out of the shared memory."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            status = self._recv(self._short, self._SHORT, timeout)
            while status == _c.BUFFER_TOO_SMALL:
                room = self._length.value
                message: bytes = _c.new_bytes(None, room)
                left = None if end is None else max(0.0, end - time.monotonic())
                status = self._recv(ctypes.cast(ctypes.c_char_p(message), c_void_p), room, left)
                if status == _c.OK:
                    # The sender may have abandoned the announced message, and sent a shorter one.
                    return message if self._length.value == room else message[: self._length.value]
            _c.check(status)
            return ctypes.string_at(self._short, self._length.value)

    def recv_into(self, buffer: Any, timeout: Optional[float] = None) -> int:
        """Copies the next message into a bytearray, an array or another writable buffer, and returns its length."""
        view = _c.Buffer()
        _c.get_buffer(buffer, byref(view), _c.WRITABLE)
        try:
            with self._lock:
                status = self._recv(view.address, view.length, timeout)
                if status == _c.BUFFER_TOO_SMALL:
                    raise BufferTooSmall(self._length.value)
                _c.check(status)
                return self._length.value
        finally:
            _c.release_buffer(byref(view))

    def __iter__(self) -> Iterator[bytes]:
        while True:
            try:
                message = self.recv()
            except Closed:
                return
            yield message

    def watch(self) -> bool:
        """Prepares a wait with select or poll. Returns False if a message is available, True if `fileno()` becomes readable with it."""
        with self._lock:
            return bool(_c.check(_c.receiver_watch(self._opened())))

    def is_closed(self) -> bool:
        """Returns whether the other end was closed or its process has died. Messages may still be available."""
        with self._lock:
            return bool(_c.check(_c.receiver_is_closed(self._opened())))


class Channel:
    """One end of a channel: a sender, a receiver, and the process at the other end."""

    def __init__(self, sender: Sender, receiver: Receiver, peer: Optional[Peer]) -> None:
        self.sender, self.receiver, self.peer = sender, receiver, peer

    @classmethod
    def connect(
        cls,
        name: str,
        options: Optional[Options] = None,
        *,
        timeout: Optional[float] = 5.0,
        is_allowed: Optional[Rule] = None,
    ) -> "Channel":
        """Connects with a listener of the same user or of root, or of any process that `is_allowed` accepts.

        Waits until a process listens at the name and accepts, but not longer than `timeout`.
        """
        encoded, pointer, rule = name.encode(), _pointer(options), is_allowed and _rule(is_allowed)

        def connect(handles: Any, limit: int) -> int:
            if rule:
                return int(_c.connect_if(encoded, pointer, rule, None, *handles, limit))
            return int(_c.connect(encoded, pointer, *handles, limit))

        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                return cls._made(lambda handles: _c.wait(lambda limit: connect(handles, limit), left))
            except (FileNotFoundError, ConnectionRefusedError):
                if left is not None and left <= 0:
                    raise
                time.sleep(0.01)

    @classmethod
    def _made(cls, make: Callable[[Any], int]) -> "Channel":
        sender, receiver, peer = c_void_p(), c_void_p(), Peer()
        _c.check(make((byref(sender), byref(receiver), byref(peer))))
        return cls(Sender(sender), Receiver(receiver), peer)

    @classmethod
    def pair(cls, options: Optional[Options] = None) -> Tuple["Channel", "Channel"]:
        """Both ends in this process, for two threads."""
        first, second = _c.End(), _c.End()
        _c.check(_c.pair(_pointer(options), byref(first), byref(second)))

        def made(end: Any) -> "Channel":
            channel = cls._made(lambda handles: int(_c.from_end(byref(end), _pointer(options), *handles[:2])))
            channel.peer = None
            return channel

        return made(first), made(second)

    def send(self, message: Any, timeout: Optional[float] = None) -> None:
        """See `Sender.send`."""
        self.sender.send(message, timeout)

    def recv(self, timeout: Optional[float] = None) -> bytes:
        """See `Receiver.recv`."""
        return self.receiver.recv(timeout)

    def recv_into(self, buffer: Any, timeout: Optional[float] = None) -> int:
        """See `Receiver.recv_into`."""
        return self.receiver.recv_into(buffer, timeout)

    def is_closed(self) -> bool:
        """See `Receiver.is_closed`."""
        return self.receiver.is_closed()

    def close(self) -> None:
        """Closes both directions."""
        self.sender.close()
        self.receiver.close()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.receiver)

    def __enter__(self) -> "Channel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _rule(is_allowed: Rule) -> Any:
    return _c.RULE(lambda _, peer: bool(is_allowed(peer.contents)))


class Listener(_Handle):
    """Accepts clients that connect to a name. A name is a path, or begins with `@` and is not in the file system."""

    _close_handle = _c.listener_close
    _descriptor = _c.listener_descriptor

    def __init__(self, name: str, options: Optional[Options] = None) -> None:
        handle = c_void_p()
        _c.check(_c.listen(name.encode(), _pointer(options), byref(handle)))
        super().__init__(handle)

    def accept(self, timeout: Optional[float] = None, *, is_allowed: Optional[Rule] = None) -> Channel:
        """Waits for a client of the same user or of root, or of any process that `is_allowed` accepts, and returns its channel.

        Raises `Refused` if another process has connected. That process gets no channel.
        """
        rule = is_allowed and _rule(is_allowed)
        with self._lock:
            return Channel._made(lambda handles: _c.wait(lambda limit: self._accept(rule, handles, limit), timeout))

    def _accept(self, rule: Any, handles: Any, limit: int) -> int:
        if not rule:
            return int(_c.accept(self._opened(), *handles, limit))
        end = time.monotonic_ns() + limit
        while True:
            status = int(_c.try_accept_if(self._opened(), rule, None, *handles))
            if status != _c.WOULD_BLOCK or limit == 0:
                return status
            if time.monotonic_ns() >= end:
                return _c.TIMED_OUT
            time.sleep(0.002)
