"""kyanite backup and restore through the command line: what is copied again and what not, what a backup survives, and what is refused.
./dev torture --backup does it under load of all services."""

import asyncio
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from client import Connection
from harness import ACCOUNT, BINARY, KEY, Server

COPIED = re.compile(r"Backed up (\d+) files, (\d+) MiB, of which (\d+) files, (\d+) MiB, were copied now")
MIB = 1 << 20
NOTICED_S = 20  # How soon the server must have noticed that a command is gone.


def kyanite(*words):
    done = subprocess.run([BINARY, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


class Backups(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="kyanite-backup-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.location, self.target = self.scratch / "data", self.scratch / "backup"
        self.random = random.Random(5)
        self.blobs = {}
        self.server = None
        self.addCleanup(lambda: self.server and self.server.stop())

    def start(self, location=None):
        self.server = Server(location=str(location or self.location))

    def stop(self):
        self.server.stop()
        self.server = None

    def request(self, *call):
        async def once():
            connection = Connection.to(self.server.blob_url, ACCOUNT, KEY)
            reply = await connection.request(*call)
            connection.close()
            return reply
        return asyncio.run(once())

    def put(self, name, length):
        if not self.blobs:
            self.assertEqual(self.request("PUT", "/box", {"restype": "container"}).status, 201)
        self.blobs[name] = self.random.randbytes(length)
        self.assertEqual(self.request("PUT", f"/box/{name}", None, {"x-ms-blob-type": "BlockBlob"}, self.blobs[name]).status, 201)

    def assert_blobs(self, blobs):
        for name, content in blobs.items():
            self.assertEqual(self.request("GET", f"/box/{name}").body, content, name)

    def back_up(self):
        """How many bytes it had, and how many it copied."""
        code, text = kyanite("backup", self.target, "-l", self.location)
        self.assertEqual(code, 0, text)
        found = COPIED.search(text)
        return int(found[2]), int(found[4])

    def restored(self, name="restored"):
        code, text = kyanite("restore", self.target, self.scratch / name)
        self.assertEqual(code, 0, text)
        code, text = kyanite("check", "-l", self.scratch / name)
        self.assertEqual(code, 0, text)
        return self.scratch / name

    def test_finished_extents_are_copied_once(self):
        self.start()
        for number in range(4):
            self.put(f"blob-{number}", 50 * MIB)
        whole, copied = self.back_up()
        self.assertGreaterEqual(whole, 200)
        self.assertEqual(copied, whole)
        self.put("small", 100)
        whole, copied = self.back_up()
        self.assertLess(copied, 140)
        self.stop()
        # With the server stopped all are finished: one last time those that were being written.
        self.back_up()
        self.assertEqual(self.back_up()[1], 0)
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_what_is_restored_has_a_history_of_its_own(self):
        self.start()
        self.put("first", 3 * MIB)
        self.back_up()
        early = self.restored("early")
        self.put("second", 3 * MIB)
        self.back_up()
        self.stop()
        # The directory is put back to the earlier state and goes on from there with equal numbers for other bytes.
        shutil.rmtree(self.location)
        early.rename(self.location)
        self.start()
        del self.blobs["second"]
        self.put("other", 3 * MIB)
        whole, copied = self.back_up()
        self.assertEqual(copied, whole)
        self.stop()
        self.start(self.restored())
        self.assert_blobs(self.blobs)
        self.assertEqual(self.request("GET", "/box/second").status, 404)

    def test_a_backup_that_fails_leaves_the_former_one(self):
        self.start()
        self.put("first", MIB)
        self.back_up()
        before = dict(self.blobs)
        self.put("second", 80 * MIB)
        process = subprocess.Popen([BINARY, "backup", str(self.target), "-l", str(self.location), "--rate", "20"], stdout=subprocess.PIPE)
        self.assertIn(b"Keeping", process.stdout.readline())
        # The instant is kept for one at a time.
        code, text = kyanite("check", "-l", self.location)
        self.assertEqual((code, "another backup or check is under way" in text), (1, True), text)
        process.kill()
        process.wait()
        process.stdout.close()
        location = self.restored()
        self.back_up()
        # The server lets go of it when it notices that the command is gone.
        deadline = time.monotonic() + NOTICED_S
        while (self.location / "pinned").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.stop()
        self.start(location)
        self.assert_blobs(before)
        self.assertEqual(self.request("GET", "/box/second").status, 404)

    def test_the_server_ends_while_it_is_copied(self):
        self.start()
        self.put("first", 60 * MIB)
        process = subprocess.Popen([BINARY, "backup", str(self.target), "-l", str(self.location), "--rate", "20"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.readline()
        self.server.kill()
        _, complaint = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"the server was stopped meanwhile", complaint)
        self.assertFalse((self.target / "BACKUP").exists())
        self.start()
        self.assertFalse((self.location / "pinned").exists())
        self.assert_blobs(self.blobs)

    def test_damage_in_a_backup_is_found(self):
        self.start()
        self.put("first", MIB)
        self.back_up()
        extent = next((self.target / "files").glob("extents_*"))
        content = bytearray(extent.read_bytes())
        content[10_000] ^= 4
        extent.write_bytes(content)
        code, text = kyanite("check", self.target)
        self.assertEqual(code, 2, text)
        self.assertIn("extents/", text)
        code, text = kyanite("restore", self.target, self.scratch / "never")
        self.assertEqual(code, 1, text)
        self.assertIn("is damaged", text)
        # Nobody takes it for a data directory, and it can be done again.
        code, text = kyanite("--location", self.scratch / "never", "--blobPort", "0")
        self.assertEqual((code, "was not restored to its end" in text), (1, True), text)
        content[10_000] ^= 4
        extent.write_bytes(content)
        self.stop()
        self.start(self.restored("never"))
        self.assert_blobs(self.blobs)

    def test_what_is_refused(self):
        self.start()
        self.put("first", 100)
        full = self.scratch / "full"
        full.mkdir()
        (full / "something").write_text("x")
        for words, why in ((("backup", full, "-l", self.location), "is not empty and holds no backup"),
                           (("backup", "https://host/account/container?sig=x", "-l", self.location), "backups go to directories"),
                           (("backup", self.target, "-l", self.scratch / "none"), "was not made by Kyanite"),
                           (("restore", full, self.scratch / "new"), "There is no backup"),
                           (("migrate", "-l", self.location), "A server uses the directory"),
                           (("backup",), "too few or too many words"), (("check", "--nonsense"), "unknown flag --nonsense")):
            code, text = kyanite(*words)
            self.assertEqual((code, why in text), (1, True), text)
        self.back_up()
        code, text = kyanite("restore", self.target, full)
        self.assertEqual((code, "the directory is not empty" in text), (1, True), text)
        self.assertEqual([path.name for path in full.iterdir()], ["something"])

    def test_migrate_says_what_there_is(self):
        self.start()
        self.put("first", 100)
        self.stop()
        code, text = kyanite("migrate", "-l", self.location, "--dryRun")
        self.assertEqual((code, "has format 2. That is the newest" in text), (0, True), text)
        # As the first version wrote it.
        for name in ("IDENTITY", "LOGS"):
            (self.location / name).unlink()
        (self.location / "FORMAT").write_text("kyanite 1\n")
        code, text = kyanite("migrate", "-l", self.location, "--dryRun")
        self.assertEqual((code, "has format 1. It would be brought to format 2" in text), (0, True), text)
        self.assertEqual((self.location / "FORMAT").read_text(), "kyanite 1\n")
        (self.location / "FORMAT").write_text("kyanite 99\n")
        code, text = kyanite("migrate", "-l", self.location)
        self.assertEqual((code, "made by a newer Kyanite" in text), (1, True), text)
