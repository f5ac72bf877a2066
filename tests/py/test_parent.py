"""--parent: a server ends with the process that started it, however that ends."""

import os
import signal
import subprocess
import sys
import unittest

from harness import BINARY, FREE_PORTS, STOP_TIMEOUT_S

# Starts a server, with its own number or another one, and waits for it.
START = """
import os, subprocess, sys
subprocess.run([*sys.argv[2:], "--parent", str(int(sys.argv[1]) or os.getpid())])
"""


class Parent(unittest.TestCase):
    def start(self, parent=0):
        """A process that has a server; the server's lines end when both are gone."""
        command = [sys.executable, "-c", START, str(parent), BINARY, *FREE_PORTS, "--inMemoryPersistence"]
        between = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(between.stdout.close)
        self.addCleanup(between.wait)
        self.addCleanup(between.kill)
        return between

    def test_a_killed_parent_is_the_end(self):
        between = self.start()
        lines = []
        for line in between.stdout:
            lines.append(line)
            if line.startswith(b"Ready."):
                between.send_signal(signal.SIGKILL)
        self.assertTrue(any(line.startswith(b"Ready.") for line in lines), lines)
        self.assertEqual(between.wait(STOP_TIMEOUT_S), -signal.SIGKILL)

    def test_another_one_has_ended_already(self):
        between = self.start(parent=os.getpid())
        between.communicate(timeout=STOP_TIMEOUT_S)
        self.assertEqual(between.returncode, 0)


if __name__ == "__main__":
    unittest.main()
