"""A short run of ./dev torture: kill -9 under load, and the proof that its verification can fail."""

import subprocess
import sys
import unittest

from harness import ROOT

TIMEOUT_S = 300


class Torture(unittest.TestCase):
    def torture(self, *arguments):
        command = [sys.executable, str(ROOT / "tests" / "torture" / "torture.py"), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_was_acknowledged_survives_kills(self):
        self.torture("--cycles", "15", "--seconds", "40")

    def test_damage_is_noticed(self):
        self.torture("--self-test")


if __name__ == "__main__":
    unittest.main()
