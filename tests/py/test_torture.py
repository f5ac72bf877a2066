"""A short run of each way of ./dev torture, and the proof that each can fail."""

import pathlib
import subprocess
import sys
import unittest

from harness import BINARY, ROOT

TIMEOUT_S = 300
BUILD = pathlib.Path(BINARY).resolve().parent


def is_sanitized():
    """The fault library has no build with sanitizers."""
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and "KYANITE_SANITIZE:STRING=\n" not in cache.read_text()


class Torture(unittest.TestCase):
    def torture(self, *arguments):
        command = [sys.executable, str(ROOT / "tests" / "torture" / "torture.py"), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Kills(Torture):
    def test_what_was_acknowledged_survives_kills(self):
        self.torture("--cycles", "15", "--seconds", "40")

    def test_damage_is_noticed(self):
        self.torture("--self-test")

    @unittest.skipIf(is_sanitized(), "sanitizers keep the memory that was freed")
    def test_work_goes_on_beside_idle_and_slow_connections(self):
        self.torture("--connections", "--crowd", "600", "--cycles", "1")


@unittest.skipIf(is_sanitized(), "sanitizers intercept what the fault library intercepts")
class Faults(Torture):
    """The self-test of a way is a cycle of it and the proof that it notices what it is there to notice."""

    def test_power_cuts(self):
        self.torture("--power-cut", "--cycles", "3", "--seconds", "6")

    def test_a_disk_that_lies_about_syncs_is_noticed(self):
        self.torture("--power-cut", "--self-test")

    def test_full_disks(self):
        self.torture("--disk-full", "--self-test")

    def test_bad_disks(self):
        self.torture("--bad-disk", "--self-test")

    def test_clocks_that_jump(self):
        self.torture("--clock", "--self-test")


if __name__ == "__main__":
    unittest.main()
