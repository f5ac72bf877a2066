"""One event loop of several hangs: the health check says so, and systemd is not told any more that the server lives."""

import ctypes
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from harness import BINARY, Server

WATCHDOG_S = 0.6
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000  # __WALL of wait: threads of other processes as well.
LIBC = ctypes.CDLL(None, use_errno=True)


def trace(request, thread):
    if LIBC.ptrace(request, thread, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


class StoppedThread:
    """Holds up one thread of another process as long as it is entered."""

    def __init__(self, thread):
        self.thread = thread

    def __enter__(self):
        trace(PTRACE_SEIZE, self.thread)
        trace(PTRACE_INTERRUPT, self.thread)
        os.waitpid(self.thread, WALL)

    def __exit__(self, *_):
        trace(PTRACE_DETACH, self.thread)


class HangingLoop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kyanite-hanging-")
        self.addCleanup(folder.cleanup)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)
        self.notify.bind(f"{folder.name}/notify")
        self.server = Server("--threads", "2", "--inMemoryPersistence", env={
            "NOTIFY_SOCKET": f"{folder.name}/notify", "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6))})
        self.addCleanup(self.server.stop)

    def loops(self):
        tasks = pathlib.Path(f"/proc/{self.server.process.pid}/task")
        return sorted(int(task.name) for task in tasks.iterdir() if (task / "comm").read_text() == "net\n")

    def health(self):
        """The page as an outsider sees it: its status, or nothing when nobody answers."""
        try:
            with urllib.request.urlopen(self.server.admin_url.rstrip("/") + "/healthz", timeout=3) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None, ""

    def health_check(self):
        port = self.server.admin_url.rstrip("/").rsplit(":", 1)[1]
        return subprocess.run([BINARY, "--healthcheck", "--adminPort", port], capture_output=True, text=True, check=False, timeout=60)

    def told(self, seconds):
        """What systemd hears in this time."""
        heard = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.notify.settimeout(left)
            try:
                heard.append(self.notify.recv(100))
            except TimeoutError:
                break
        return heard

    def test_each_loop_counts(self):
        loops = self.loops()
        self.assertEqual(len(loops), 2)
        self.assertEqual(self.health(), (200, "ok\n"))
        self.assertEqual(self.health_check().returncode, 0)
        self.assertIn(b"WATCHDOG=1", self.told(2 * WATCHDOG_S))
        for loop in loops:
            with StoppedThread(loop):
                self.told(WATCHDOG_S)  # What was under way.
                self.assertNotIn(b"WATCHDOG=1", self.told(2 * WATCHDOG_S))
                # Answered by the loop that is well, if the kernel gives it the connection, else by nobody.
                seen = [self.health() for _ in range(2)]
                self.assertLessEqual(set(seen), {(503, "an event loop hangs\n"), (None, "")})
                self.assertEqual(self.health_check().returncode, 1)
            self.assertEqual(self.health(), (200, "ok\n"))
            self.assertIn(b"WATCHDOG=1", self.told(2 * WATCHDOG_S))


if __name__ == "__main__":
    unittest.main()
