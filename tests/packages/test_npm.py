"""The npm package, installed from its tarball: each of its names runs, signals get through, and an older system is told why not."""

import json
import os
import pathlib
import signal
import subprocess
import time

from packages import WAIT_S, Folder, Process, made_again, newest, run, use

PORTS = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"]


OTHERS = ["--filePort", "0", "--smbPort", "0", "--adminPort", "0"]


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parent(pid):
    """0 once it has ended, even if nobody has asked how yet."""
    try:
        state, number = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return 0
    return 0 if state == "Z" else int(number)


def descends(pid, ancestor):
    while pid not in (0, ancestor):
        pid = parent(pid)
    return pid == ancestor


def runs(pid, name):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == name
    except OSError:
        return False


def wait_for_end(pid):
    deadline = time.monotonic() + WAIT_S
    while parent(pid) != 0:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"process {pid} goes on")
        time.sleep(0.05)


class Npm(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tarball = newest("kyanite-*.tgz")
        (cls.folder / "package.json").write_text("{}")
        run("npm", "install", "--offline", "--no-audit", "--no-fund", cls.tarball, cwd=cls.folder)
        cls.bin = cls.folder / "node_modules" / ".bin"

    def test_npx_kyanite_is_used(self):
        server = Process(self, ["npx", "--offline", "kyanite", "azurite", "-l", self.folder / "data", *PORTS, *OTHERS], cwd=self.folder,
                         start_new_session=True)
        use(server.until(r"^  Blob +(\S+)$")[1])
        server.until("Ready")
        # As a terminal does: npx and whatever it has started get it, and each passes it on. The server must take it for one.
        os.killpg(server.process.pid, signal.SIGINT)
        server.process.wait(30)
        server.until("Azurite Table service successfully closed", running=False)

    def test_a_signal_to_one_process_ends_all(self):
        def launcher(pid):
            return next(each for each in processes() if each != pid and runs(each, "node") and descends(each, pid))

        cases = [  # how it is started, whom of it the signal is meant for, the signal, and the exit code of what was started
            (["npx", "--offline", "kyanite"], lambda pid: pid, signal.SIGTERM, None),
            (["npx", "--offline", "kyanite"], lambda pid: pid, signal.SIGHUP, None),
            (["npx", "--offline", "kyanite"], lambda pid: pid, signal.SIGKILL, None),
            (["npx", "--offline", "kyanite"], launcher, signal.SIGKILL, None),
            ([self.bin / "kyanite"], lambda pid: pid, signal.SIGTERM, 0),
            ([self.bin / "kyanite"], lambda pid: pid, signal.SIGINT, 0),
            ([self.bin / "kyanite"], lambda pid: pid, signal.SIGHUP, 0),
            ([self.bin / "kyanite"], lambda pid: pid, signal.SIGKILL, -signal.SIGKILL),
        ]
        for command, meant, number, code in cases:
            with self.subTest(command=command[0], signal=number):
                server = Process(self, [*command, "--inMemoryPersistence", *OTHERS, *PORTS], cwd=self.folder)
                server.until("Ready")
                served = next(each for each in processes() if descends(each, server.process.pid) and runs(each, "kyanite"))
                os.kill(meant(server.process.pid), number)
                self.assertIn(server.process.wait(30), [code] if code is not None else range(-64, 256))
                wait_for_end(served)

    def test_azurite_is_azurite(self):
        server = Process(self, [self.bin / "azurite", "--silent", "--inMemoryPersistence", *PORTS], cwd=self.folder)
        use(server.until(r"^Azurite Blob service is successfully listening at (http://\S+)$")[1] + "/devstoreaccount1")
        server.until(r"^Azurite Table service is successfully listening")
        self.assertEqual(server.stop(), 0)
        self.assertIn("Azurite Queue service successfully closed", server.output())

    def test_the_others_and_the_exit_code(self):
        for name in ("blob", "queue", "table"):
            server = Process(self, [self.bin / f"azurite-{name}", "--silent", "--inMemoryPersistence", *PORTS])
            server.until(rf"^Azurite {name.title()} service successfully")
            self.assertEqual(server.stop(), 0)
        wrong = subprocess.run([self.bin / "kyanite", "--nosuch"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("unknown flag --nosuch", wrong.stderr)

    def test_an_older_system_gets_a_sentence(self):
        cases = [
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "2.36"}}, None),
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "3.0"}}, None),
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "2.35"}}, "glibc 2.35"),
            ({"platform": "linux", "arch": "x64", "header": {"glibcVersionRuntime": "2.4"}}, "glibc 2.4,"),
            ({"platform": "linux", "arch": "x64", "header": {}}, "musl"),
            ({"platform": "linux", "arch": "mips", "header": {"glibcVersionRuntime": "2.36"}}, "processor mips"),
            ({"platform": "darwin", "arch": "arm64", "header": {}}, "darwin"),
        ]
        script = ("const {obstacle} = require(process.argv[1]);"
                  "console.log(obstacle({...JSON.parse(process.argv[2]), exists: require('fs').existsSync}) ?? '')")
        for case, part in cases:
            said = run("node", "-e", script, self.folder / "node_modules" / "kyanite" / "run.js", json.dumps(case)).strip()
            self.assertIn(part, said) if part else self.assertEqual(said, "")

    def test_made_again_it_is_the_same(self):
        both = (self.folder / "node_modules" / "kyanite" / "linux-arm64").exists()
        made_again(self, "npm", self.tarball, architecture="arm64" if both else "amd64")
