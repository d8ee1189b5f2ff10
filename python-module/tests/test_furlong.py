"""What the module says of a run, against the command that is installed or in PATH: ``python -m unittest`` in this folder's parent."""

import os
import subprocess
import tempfile
import unittest

import furlong

SHORT = {"trials": 2, "budget": "2ms"}


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.environ.get("XDG_DATA_HOME")
        os.environ["XDG_DATA_HOME"] = folder.name
        self.addCleanup(lambda: os.environ.pop("XDG_DATA_HOME") if before is None else os.environ.update(XDG_DATA_HOME=before))

    def test_rows_have_what_the_command_says(self) -> None:
        run = furlong.run("pipe", "posix-shm/spin", size=[1, "4KiB"], place="other-core", **SHORT)
        self.assertEqual({(row.name, row.size_bytes) for row in run.rows}, {(n, s) for n in ("pipe/block", "posix-shm/spin") for s in (1, 4096)})
        for row in run.rows:
            self.assertEqual(row.unit, "round-trip")
            self.assertTrue(row.verified)
            self.assertLess(0, row.median_ns)
            self.assertLessEqual(row.median_ns, row.p99_ns)
            self.assertLess(0, row.per_second)
            self.assertLess(0, row.cpu_ns)
        self.assertIn(run.noise, ("quiet", "noisy", "unreliable"))
        self.assertFalse(run.partial)
        self.assertEqual(run.machine["system"], "Linux")

    def test_messages_and_links_are_counted_too(self) -> None:
        for pattern, unit in (("one-way", "message"), ("connect", "link")):
            [row] = furlong.run("pipe", pattern=pattern, place="other-core" if unit == "message" else "one-process", **SHORT).rows
            self.assertEqual((row.pattern, row.unit), (pattern, unit))

    def test_an_interval_needs_trials(self) -> None:
        [few] = furlong.run("pipe", place="other-core", **SHORT).rows
        self.assertIsNone(few.interval_ns)
        [many] = furlong.run("pipe", place="other-core", trials=9, budget="2ms").rows
        low, high = many.interval_ns or (0, 0)
        self.assertTrue(0 < low <= many.median_ns <= high)

    def test_what_is_skipped_says_why(self) -> None:
        run = furlong.run("pipe", "udp", size="1MiB", place="other-core", **SHORT)
        [udp] = [row for row in run.skipped if row.name == "udp/block"]
        self.assertEqual(udp.status, "refused")
        self.assertTrue(udp.reason)

    def test_saved_runs_are_read(self) -> None:
        saved = furlong.run("pipe", save="one", **SHORT)
        [read] = furlong.read("one")
        self.assertEqual([row.data for row in read.rows], [row.data for row in saved.rows])

    def test_nothing_is_saved_that_is_not_named(self) -> None:
        furlong.run("pipe", **SHORT)
        with self.assertRaises(furlong.FurlongError) as raised:
            furlong.read("@last")
        self.assertEqual(raised.exception.code, 2)

    def test_a_mistake_is_code_2_and_is_said(self) -> None:
        with self.assertRaises(furlong.FurlongError) as raised:
            furlong.run("pip")
        self.assertEqual(raised.exception.code, 2)
        self.assertIn("pip", str(raised.exception))

    def test_another_schema_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "schema 9"):
            furlong.Run({"schema": 9})

    def test_frames_need_their_package(self) -> None:
        with self.assertRaises(ValueError):
            furlong.frame([], "numpy")
        rows = furlong.run("pipe", place="other-core", **SHORT).rows
        for package in ("pandas", "polars"):
            try:
                frame = furlong.frame(rows, package)
            except ImportError:
                continue
            self.assertEqual(list(frame["name"]), ["pipe/block"])
            self.assertEqual(list(frame["median_ns"]), [rows[0].median_ns])

    def test_it_is_the_command_that_was_installed(self) -> None:
        version = subprocess.run([furlong.command(), "--version"], check=True, capture_output=True, text=True).stdout
        self.assertTrue(version.startswith("furlong "))


if __name__ == "__main__":
    unittest.main()
