"""A short run of each way of ./dev torture, and the proof that each can fail."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from harness import BINARY, ROOT

TIMEOUT_S = 300
BUILD = pathlib.Path(BINARY).resolve().parent


def sanitizer():
    """Of this build; "" for none."""
    cache = BUILD / "CMakeCache.txt"
    named = re.search(r"^KYANITE_SANITIZE:STRING=(.*)$", cache.read_text(), re.MULTILINE) if cache.exists() else None
    return named[1] if named else ""


class Torture(unittest.TestCase):
    def torture(self, *arguments, environment=None):
        command = [sys.executable, str(ROOT / "tests" / "torture" / "torture.py"), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Kills(Torture):
    def test_what_was_acknowledged_survives_kills(self):
        self.torture("--cycles", "15", "--seconds", "40")

    def test_damage_is_noticed(self):
        self.torture("--self-test")

    def test_lost_parts(self):
        self.torture("--lost-parts", "--self-test")

    def test_backups(self):
        self.torture("--backup", "--cycles", "3", "--seconds", "60")
        self.torture("--far-backup", "--cycles", "2", "--seconds", "60")

    def test_backups_that_are_not_right_are_noticed(self):
        self.torture("--backup", "--self-test")
        self.torture("--far-backup", "--self-test")

    def test_descriptors(self):
        self.torture("--descriptors", "--self-test")

    @unittest.skipIf("thread" in sanitizer(), "memory has shadows several times its size")
    def test_work_goes_on_beside_idle_and_slow_connections(self):
        # What was freed is not kept for long where memory is measured.
        options = f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=16"
        self.torture("--connections", "--crowd", "600", "--cycles", "1", environment=dict(os.environ, ASAN_OPTIONS=options))


@unittest.skipIf(sanitizer(), "sanitizers intercept what the fault library intercepts")
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
