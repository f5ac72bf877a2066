"""What tests of packages share: the packages that ./dev package has made, a server in a folder that is a root, a client."""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ROOT / "build" / "packages"
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "tests" / "py")]

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
WAIT_S = 60


def newest(pattern):
    """The package that was made last; the test cannot do without it."""
    found = sorted(PACKAGES.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found:
        raise AssertionError(f"no {pattern} in build/packages: run ./dev package")
    return found[-1]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def made_again(test, kind, *packages, architecture="amd64"):
    """Packs once more, into another folder and at another time: it must be the same bytes. What is left there of another version goes."""
    again = test.folder / "again"
    again.mkdir()
    former = [again / re.sub(r"\d+\.\d+\.\d+(~|-dev\.)?[0-9a-z.]*?(?=[_-]|\.tgz)", "0.0.1", package.name) for package in packages]
    for path in former:
        path.write_text("")
    run("python3", ROOT / "packaging" / "package.py", "--only", kind, "--architecture", architecture, "--out", again)
    for package in packages:
        test.assertEqual(sha256(again / package.name), sha256(package), package.name)
    test.assertEqual([path for path in former if path.exists() and path.name not in {package.name for package in packages}], [])


class Folder(unittest.TestCase):
    """Tests with a folder of their own, self.folder, in build/ where there is room."""

    @classmethod
    def setUpClass(cls):
        (ROOT / "build" / "package-tests").mkdir(parents=True, exist_ok=True)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="test-", dir=ROOT / "build" / "package-tests"))
        cls.addClassCleanup(cls.remove, cls.folder)

    @staticmethod
    def remove(folder):
        """Never a tree with something mounted in it."""
        if str(folder) in pathlib.Path("/proc/self/mountinfo").read_text():
            raise AssertionError(f"something is mounted in {folder}")
        shutil.rmtree(folder)


class Process:
    """A program and what it prints. Ended with the test at the latest."""

    def __init__(self, test, command, **options):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, **options)
        test.addCleanup(self.log.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def output(self):
        # Another position than the program's, which writes to the same file.
        return os.pread(self.log.fileno(), 1 << 20, 0).decode(errors="replace")

    def until(self, pattern, running=True):
        end = time.monotonic() + WAIT_S
        while not (found := re.search(pattern, self.output(), re.MULTILINE)):
            if (running and self.process.poll() is not None) or time.monotonic() > end:
                raise AssertionError(f"no {pattern} in: {self.output()}")
            time.sleep(0.02)
        return found

    def stop(self):
        self.process.terminate()
        return self.process.wait(WAIT_S)


def use(blob_url, account="devstoreaccount1", key=KEY):
    """Writes and reads by Microsoft's client for Python."""
    from azure.storage.blob import BlobServiceClient
    service = BlobServiceClient(blob_url, credential={"account_name": account, "account_key": key}, retry_total=0)
    name = f"box{time.monotonic_ns()}"
    box = service.create_container(name)
    box.upload_blob("b", b"content" * 10000)
    assert box.download_blob("b").readall() == b"content" * 10000
    return box
