"""Tests the installed package: between threads, and between processes when one of them is interrupted."""

import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from array import array
from pathlib import Path

import furlong_channel
from furlong_channel import BufferTooSmall, Channel, Closed, Listener, Options, PeerDied, Refused, TimedOut, TooLong

SERVER = """
import sys
from furlong_channel import Listener
with Listener(sys.argv[1]) as listener:
    print("listening", flush=True)
    with listener.accept() as channel:
        for message in channel:
            channel.send(message)
print("closed", flush=True)
"""
WAITS = {
    "accept": "Listener('@furlong-python-{0}').accept()",
    "recv": "pair = Channel.pair()\npair[0].recv()",
    "recv with a timeout": "pair = Channel.pair()\npair[0].recv(3600)",
    "iteration": "pair = Channel.pair()\nlist(pair[0])",
    "send": "pair = Channel.pair()\nwhile True: pair[0].send(bytes(100000))",
    "send of a message in parts": "pair = Channel.pair()\npair[0].send(bytes(8 << 20))",
    "connect": "Channel.connect('@furlong-python-none-{0}', timeout=None)",
}


def started(code, *arguments):
    # Python handles no SIGINT that was ignored at its start, as in background jobs of a shell.
    command = ["env", "--default-signal=INT", sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Messages(unittest.TestCase):
    def setUp(self):
        self.first, self.second = Channel.pair(Options(capacity=1 << 20, longest_message=4 << 20))
        self.addCleanup(self.first.close)
        self.addCleanup(self.second.close)

    def test_any_buffer_is_sent_and_bytes_are_received(self):
        for message in [b"", b"x", bytearray(b"array"), memoryview(b"0123456789")[2:5], array("i", range(5000))]:
            self.first.send(message)
            self.assertEqual(self.second.recv(), bytes(message))
        with self.assertRaises(TypeError):
            self.first.send("text")
        with self.assertRaises(BufferError):
            self.first.send(memoryview(b"0123456789")[::2])

    def test_message_in_parts_arrives_whole(self):
        message = bytes(range(256)) * 12000
        sending = threading.Thread(target=self.first.send, args=[message])
        sending.start()
        self.assertEqual(self.second.recv(), message)
        sending.join()
        buffer = bytearray(len(message) + 1)
        sending = threading.Thread(target=self.first.send, args=[message])
        sending.start()
        self.assertEqual(self.second.recv_into(buffer), len(message))
        sending.join()
        self.assertEqual(buffer[:-1], message)

    def test_message_longer_than_the_buffer_stays(self):
        self.first.send(b"0123456789")
        with self.assertRaises(BufferTooSmall) as raised:
            self.second.recv_into(bytearray(9))
        self.assertEqual(raised.exception.length, 10)
        self.assertEqual(self.second.recv(), b"0123456789")
        with self.assertRaises(BufferError):
            self.second.recv_into(b"read-only")

    def test_errors_are_exceptions(self):
        for timeout in [0, 0.01]:
            with self.assertRaises(TimeoutError):
                self.second.recv(timeout)
        with self.assertRaises(TooLong):
            self.first.send(bytes(5 << 20))
        with self.assertRaises(TimedOut):
            while True:
                self.first.send(bytes(100000), timeout=0)
        with self.assertRaises(ValueError):
            Options(waiting="busy")
        with self.assertRaises(FileNotFoundError):
            Channel.connect("/nonexistent/socket", timeout=0)
        with self.assertRaises(OSError):
            Listener("/nonexistent/socket")

    def test_close_ends_iteration_and_later_calls(self):
        for number in range(3):
            self.first.send(b"%d" % number)
        self.assertFalse(self.second.is_closed())
        self.first.close()
        self.assertEqual(list(self.second), [b"0", b"1", b"2"])
        self.assertTrue(self.second.is_closed())
        with self.assertRaises(Closed):
            self.first.send(b"late")
        with self.assertRaises(Closed):
            self.second.send(b"late")

    def test_close_ends_the_call_of_another_thread(self):
        raised = []

        def wait():
            try:
                self.second.recv()
            except Closed as error:
                raised.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.05)
        self.second.close()
        waiting.join(20)
        self.assertEqual(len(raised), 1)

    def test_poll_reports_a_message(self):
        self.assertTrue(self.second.receiver.watch())
        self.assertFalse(self.first.sender.watch(1000))
        self.first.send(b"there")
        self.assertEqual(select.select([self.second.receiver], [], [], 20)[0], [self.second.receiver])
        self.assertEqual(self.second.recv(0), b"there")


class Processes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.name = str(Path(scratch.name) / "socket")

    def test_server_answers_until_the_client_leaves(self):
        server = started(SERVER, self.name)
        with Channel.connect(self.name, timeout=20) as channel:
            self.assertEqual(channel.peer.process, server.pid)
            for length in [0, 5, 5000, 3 << 20]:
                channel.send(bytes([length % 251]) * length)
                self.assertEqual(channel.recv(20), bytes([length % 251]) * length)
        self.assertEqual(server.communicate(timeout=20), ("listening\nclosed\n", ""))

    def test_interrupt_of_the_server_closes_and_a_kill_is_reported(self):
        for sent, reported in [(signal.SIGINT, Closed), (signal.SIGKILL, PeerDied)]:
            server = started(SERVER, self.name)
            self.assertEqual(server.stdout.readline(), "listening\n")
            with Channel.connect(self.name, timeout=20) as channel:
                channel.send(b"there")
                self.assertEqual(channel.recv(20), b"there")
                server.send_signal(sent)
                with self.assertRaises(reported):
                    channel.recv(20)
            output, errors = server.communicate(timeout=20)
            self.assertEqual(output, "")
            self.assertEqual("KeyboardInterrupt" in errors, sent == signal.SIGINT)

    def test_rule_decides_about_both_processes(self):
        with Listener(self.name) as listener:
            with self.assertRaises(TimedOut):
                listener.accept(0.01, is_allowed=lambda peer: True)
            with self.assertRaises(Refused):
                Channel.connect(self.name, is_allowed=lambda peer: False)
            with self.assertRaises(PermissionError):
                listener.accept(20, is_allowed=lambda peer: False)
            server = threading.Thread(target=lambda: listener.accept(20, is_allowed=lambda peer: True).send(b"allowed"))
            server.start()
            with Channel.connect(self.name, is_allowed=lambda peer: peer.process > 0) as channel:
                self.assertEqual(channel.recv(20), b"allowed")
            server.join()

    def test_interrupt_ends_every_call_that_waits(self):
        for name, code in WAITS.items():
            code = "from furlong_channel import *\nprint('begins', flush=True)\n" + code.format(id(self))
            process = started(code)
            with self.subTest(name):
                self.assertEqual(process.stdout.readline(), "begins\n")
                time.sleep(0.1)
                self.assertIsNone(process.poll(), name)
                process.send_signal(signal.SIGINT)
                self.assertIn("KeyboardInterrupt", process.communicate(timeout=20)[1])


class Package(unittest.TestCase):
    def test_has_the_version_of_the_library(self):
        from importlib.metadata import version

        self.assertEqual(version("furlong-channel"), furlong_channel.__version__)


if __name__ == "__main__":
    unittest.main()
