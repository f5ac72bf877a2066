"""Starts a Kyanite of its own for a test class, on ports the system chooses and data that vanishes with it."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("KYANITE_BINARY", str(ROOT / "build" / "release" / "kyanite"))

# Sanitizer builds start slowly on a loaded machine.
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 60
NOTICED_S = 20  # How soon a server must have noticed that a command is gone.

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

# Every port is the system's choice, so that any number of servers run side by side.
FREE_PORTS = [word for name in ("blob", "queue", "table", "file", "smb", "admin") for word in (f"--{name}Port", "0")]


class NotStarted(RuntimeError):
    """`code` is that of the process; less than zero: a signal."""

    def __init__(self, code, why):
        super().__init__(why)
        self.code = code


class Server:
    """A running server. Flags are added to those that set ports and location. Its log is kept for log(), unless it is
    to go to `stderr`."""

    def __init__(self, *flags, location=None, env=None, binary=BINARY, stderr=None):
        self._own_location = None
        if location is None and "--inMemoryPersistence" not in flags:
            self._own_location = location = tempfile.mkdtemp(prefix="kyanite-test-")
        self.location = location
        self._log = tempfile.TemporaryFile()
        where = ["--location", location] if location else []
        self.process = subprocess.Popen(
            [binary, *FREE_PORTS, *where, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr or self._log, env={**os.environ, **(env or {})})
        self.output = self._read_until_ready()
        self.connection_string = re.search(r"^  (DefaultEndpointsProtocol=.*)$", self.output, re.MULTILINE)[1]
        self.blob_url = self.url("Blob")
        self.admin_url = self.url("Admin")

    def url(self, label):
        """Of "Blob", "Queue", "Table" or "File"; None when it is not served."""
        match = re.search(rf"^  {label} +(https?://\S+)", self.output, re.MULTILINE)
        return match and match[1]

    def _read_until_ready(self):
        watchdog = threading.Timer(START_TIMEOUT_S, self.process.kill)
        watchdog.start()
        lines = []
        for line in self.process.stdout:
            lines.append(line.decode())
            if line.startswith(b"Ready."):
                watchdog.cancel()
                return "".join(lines)
        watchdog.cancel()
        self._remove_location()
        raise NotStarted(self.process.wait(), f"kyanite did not start: {''.join(lines)}{self.log()}")

    def log(self):
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def stop(self):
        """An orderly end; a server that crashed, hung or leaked (under a sanitizer) fails the test here."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "a hang: killed after the time-out"
        self.process.stdout.close()
        self._remove_location()
        if code != 0:
            raise AssertionError(f"kyanite ended with {code}: {self.log()[-4000:]}")

    def kill(self):
        """As a power cut for the process: nothing is flushed or said. The location stays."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def until_unpinned(self):
        """The server has noticed that a command is gone, and lets go of the instant that it kept for it."""
        deadline = time.monotonic() + NOTICED_S
        while (pathlib.Path(self.location) / "pinned").exists():
            assert time.monotonic() < deadline, "the instant is still kept"
            time.sleep(0.01)

    def _remove_location(self):
        if self._own_location:
            shutil.rmtree(self._own_location, ignore_errors=True)


class ServerTestCase(unittest.TestCase):
    """Tests that share one server: self.server."""

    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.flags)
        cls.addClassCleanup(cls.server.stop)


class AzTestCase(ServerTestCase):
    """Tests through the Azure command line. Each call takes seconds to start, so few calls do much."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        directory = tempfile.TemporaryDirectory(prefix="kyanite-az-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)

    def connection_string(self):
        return self.server.connection_string

    def az(self, *arguments, fails=False):
        """What the command prints; with `fails`, what it complains of."""
        environment = dict(os.environ, AZURE_CONFIG_DIR=str(self.directory / "config"),
                           AZURE_CORE_COLLECT_TELEMETRY="false",
                           AZURE_STORAGE_CONNECTION_STRING=self.connection_string())
        done = subprocess.run(["az", "storage", *map(str, arguments), "--output", "json"], capture_output=True, text=True,
                              env=environment, timeout=300)
        if fails:
            self.assertNotEqual(done.returncode, 0, done.stdout)
            return done.stderr
        self.assertEqual(done.returncode, 0, f"az {arguments}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None
