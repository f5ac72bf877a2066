"""kyanite backup and restore through the command line: what is copied again and what not, what a backup survives, and what is refused.
./dev torture --backup does it under load of all services."""

import asyncio
import datetime
import fcntl
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import fault_library
from azure.storage.blob import generate_container_sas
from client import Connection
from harness import ACCOUNT, BINARY, KEY, Server

COPIED = re.compile(r"Backed up (\d+) files, (\d+) MiB, of which (\d+) files, (\d+) MiB, were copied now")
MIB = 1 << 20


def kyanite(*words):
    done = subprocess.run([BINARY, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def crc32c(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


class Fixture(unittest.TestCase):
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


class Backups(Fixture):
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
        self.server.until_unpinned()
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
                           (("backup", "ftp://host/container?sig=x", "-l", self.location), "this is no URL of http or https"),
                           (("restore", "http://127.0.0.1:9/account/container", self.scratch / "new"), "has a SAS with the permissions"),
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

    def test_a_copy_that_was_lost_is_made_again(self):
        self.start()
        self.put("first", 3 * MIB)
        self.back_up()  # The server makes a table for it.
        self.stop()
        self.back_up()
        self.assertEqual(self.back_up()[1], 0)
        extents = sorted((self.target / "files").glob("extents_*"))
        extents[0].unlink()
        self.assertGreater(self.back_up()[1], 0)
        table = next((self.target / "files").glob("records_*.sst.*"))
        with table.open("r+b") as file:
            file.truncate(100)
        self.back_up()
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_backups_of_another_directory_are_not_replaced(self):
        self.start()
        self.put("first", 1000)
        self.back_up()
        self.stop()
        before = (self.target / "BACKUP").read_bytes()
        self.start(self.scratch / "other")
        code, text = kyanite("backup", self.target, "-l", self.scratch / "other")
        self.assertEqual((code, "it holds backups of another data directory" in text), (1, True), text)
        self.assertEqual((self.target / "BACKUP").read_bytes(), before)
        self.stop()
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_after_an_accepted_loss_everything_is_copied(self):
        self.start()
        self.put("first", 1000)
        self.stop()
        self.back_up()
        shutil.rmtree(self.location / "records")
        (self.location / "ACCEPT_LOSS").touch()
        self.start()
        self.blobs = {}
        self.put("second", 1000)
        self.stop()
        # Tables are counted from the beginning again.
        self.start()
        self.stop()
        whole, copied = self.back_up()
        self.assertEqual(copied, whole)
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_an_extent_that_may_have_been_made_since_is_copied_again(self):
        self.start()
        self.put("first", MIB)
        self.assertEqual(self.request("DELETE", "/box/first").status, 202)
        self.stop()
        # A server that kept an instant before the last extent, which no record lists, had a file; it is there by now.
        pinned = self.location / "pinned"
        pinned.mkdir()
        shutil.copytree(self.location / "records", pinned / "records")
        for name in ("FORMAT", "IDENTITY", "LOGS"):
            shutil.copy(self.location / name, pinned)
        (pinned / "OPEN").write_text("")
        with (self.location / "lock").open() as lock, socket.socket(socket.AF_UNIX) as listener:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (self.location / "control").unlink(missing_ok=True)
            listener.bind(str(self.location / "control"))
            listener.listen()
            backup = subprocess.Popen([BINARY, "backup", str(self.target), "-l", str(self.location)], stdout=subprocess.DEVNULL)
            peer = listener.accept()[0]
            self.assertEqual(peer.recv(100), b"pin\n")
            peer.sendall(b"pinned pinned\n")
            self.assertEqual(backup.wait(60), 0)
            peer.close()
        listed = re.findall(r"^file extents/\S+ .* (\w+)$", (self.target / "BACKUP").read_text(), re.MULTILINE)
        self.assertIn("open", listed[-1:])

    def test_one_at_a_time(self):
        self.start()
        self.put("first", 1000)
        self.back_up()
        for place, words, why in ((self.target, ("backup", self.target, "-l", self.location), "another backup to it is under way"),
                                  (self.scratch / "new", ("restore", self.target, self.scratch / "new"), "a server or another command uses")):
            place.mkdir(exist_ok=True)
            with (place / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                code, text = kyanite(*words)
                self.assertEqual((code, why in text), (1, True), text)
        self.assertEqual([path.name for path in (self.scratch / "new").iterdir()], ["lock"])
        # Killed at its very beginning.
        (self.scratch / "new" / "RESTORING.new").touch()
        self.stop()
        self.start(self.restored("new"))
        self.assert_blobs(self.blobs)

    def test_nobody_else_may_read_it(self):
        self.start()
        self.put("first", 1000)
        former = os.umask(0o022)
        self.addCleanup(os.umask, former)
        self.back_up()
        for root in (self.target, self.restored()):
            for path in (root, *root.rglob("*")):
                self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_what_root_notes_is_the_owners(self):
        self.start()
        self.put("first", 1000)
        os.chown(self.location, 4711, 4711)
        self.back_up()
        noted = (self.location / "BACKUPS").stat()
        self.assertEqual((noted.st_uid, noted.st_gid, noted.st_mode & 0o777), (4711, 4711, 0o600))

    def test_a_full_disk_leaves_the_former_one(self):
        if not fault_library.LIBRARY.exists():
            self.skipTest("the fault library is not built with sanitizers")
        self.start()
        self.put("first", 1000)
        self.back_up()
        before = dict(self.blobs)
        self.put("second", 5 * MIB)
        faults = fault_library.Control(self.scratch)
        faults["full"] = 1
        for words in (("backup", self.target, "-l", self.location), ("restore", self.target, self.scratch / "new")):
            environment = {**os.environ, **faults.environment, "KYANITE_FAULTS_DATA": str(words[1 if words[0] == "backup" else 2])}
            done = subprocess.run([BINARY, *map(str, words)], env=environment, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, "No space left" in done.stderr), (1, True), done.stderr)
        self.stop()
        self.start(self.restored("new"))
        self.assert_blobs(before)
        self.assertEqual(self.request("GET", "/box/second").status, 404)

    def test_a_backup_that_the_directory_does_not_know_of_is_not_gone_on_from(self):
        self.start()
        self.put("first", MIB)
        self.stop()
        self.back_up()
        known = (self.location / "BACKUPS").read_bytes()
        self.back_up()
        # As after a kill before it was noted.
        (self.location / "BACKUPS").write_bytes(known)
        whole, copied = self.back_up()
        self.assertEqual((copied, copied > 0), (whole, True))

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
        # One without anything in it, for which the records need not be of that time.
        early = self.scratch / "early"
        early.mkdir()
        (early / "FORMAT").write_text("kyanite 1\n")
        (early / "lock").touch()
        code, text = kyanite("migrate", "-l", early)
        self.assertEqual((code, (early / "FORMAT").read_text()), (0, "kyanite 2\n"), text)
        self.blobs = {}
        self.start(early)
        self.put("first", 100)
        self.stop()
        (self.location / "FORMAT").write_text("kyanite 99\n")
        code, text = kyanite("migrate", "-l", self.location)
        self.assertEqual((code, "made by a newer Kyanite" in text), (1, True), text)


class InContainers(Fixture):
    """In a container of another server, by a URL with a SAS."""

    def setUp(self):
        super().setUp()
        self.other = Server()
        self.addCleanup(self.other.stop)
        self.assertEqual(self.at_other("PUT", "", {"restype": "container"}).status, 201)
        self.target = self.url()

    def url(self, container="backups", permission="racwdl"):
        expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        token = generate_container_sas(ACCOUNT, container, account_key=KEY, permission=permission, expiry=expiry)
        return f"{self.other.blob_url}/{container}?{token}"

    def at_other(self, method, name, *rest):
        async def once():
            connection = Connection.to(self.other.blob_url, ACCOUNT, KEY)
            reply = await connection.request(method, f"/backups{name}", *rest)
            connection.close()
            return reply
        return asyncio.run(once())

    def stored(self):
        listed = self.at_other("GET", "", {"restype": "container", "comp": "list"}).body.decode()
        return re.findall("<Name>([^<]*)</Name>", listed)

    def lease(self, action, **headers):
        return self.at_other("PUT", "/lock", {"comp": "lease"}, {"x-ms-lease-action": action, **headers}).status

    def test_what_is_finished_goes_there_once(self):
        self.start()
        for number in range(3):
            self.put(f"blob-{number}", 9 * MIB)
        whole, copied = self.back_up()
        self.assertGreaterEqual(whole, 27)
        self.assertEqual(copied, whole)
        self.stop()
        self.back_up()  # All are finished by now.
        self.assertEqual(self.back_up()[1], 0)
        self.assertEqual(len(self.stored()) - 2, len(re.findall("^file ", self.at_other("GET", "/BACKUP").body.decode(), re.MULTILINE)))
        code, text = kyanite("check", self.target)
        self.assertEqual((code, "0 damaged" in text), (0, True), text)
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_the_sas_is_not_shown_and_comes_from_the_environment(self):
        self.start()
        self.put("first", 20 * MIB)
        process = subprocess.Popen([BINARY, "backup", self.target, "-l", str(self.location), "--rate", "10"], stdout=subprocess.PIPE)
        self.assertIn(b"Keeping", process.stdout.readline())
        shown = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
        self.assertEqual(process.wait(60), 0)
        process.stdout.close()
        self.assertIn(b"/backups?***", shown)
        self.assertNotIn(b"sig", shown)
        place, sas = self.target.split("?")
        for prefix, words in (("", ("backup", place, "-l", self.location)), ("?", ("check", place)),
                              ("", ("restore", place, self.scratch / "restored"))):
            with unittest.mock.patch.dict(os.environ, KYANITE_BACKUP_SAS=prefix + sas):
                code, text = kyanite(*words)
            self.assertEqual((code, "sig=" in text), (0, False), text)
        # That of the URL comes first.
        with unittest.mock.patch.dict(os.environ, KYANITE_BACKUP_SAS="sig=wrong"):
            self.assertEqual(kyanite("check", self.target)[0], 0)
            code, text = kyanite("check", place)
        self.assertEqual((code, "refuses with 403" in text), (1, True), text)
        self.stop()
        self.start(self.scratch / "restored")
        self.assert_blobs(self.blobs)

    def test_a_list_of_any_length_is_read(self):
        self.start()
        self.put("first", 1000)
        self.back_up()
        # As many bytes as a quarter of a million files make, in one number.
        before = self.at_other("GET", "/BACKUP").body
        text = before[:before.rindex(b"sum ")].replace(b"number 1\n", b"number " + b"0" * (17 * MIB) + b"1\n", 1)
        text += b"sum %d\n" % crc32c(text)
        parts = [text[at:at + 8 * MIB] for at in range(0, len(text), 8 * MIB)]
        for number, part in enumerate(parts):
            self.assertEqual(self.at_other("PUT", "/BACKUP", {"comp": "block", "blockid": f"AAA{number}"}, {}, part).status, 201)
        blocks = "".join(f"<Latest>AAA{number}</Latest>" for number in range(len(parts)))
        listed = f"<BlockList>{blocks}</BlockList>".encode()
        self.assertEqual(self.at_other("PUT", "/BACKUP", {"comp": "blocklist"}, {}, listed).status, 201)
        location = self.restored()
        self.back_up()
        self.assertLess(len(self.at_other("GET", "/BACKUP").body), MIB)
        self.stop()
        self.start(location)
        self.assert_blobs(self.blobs)

    def test_damage_is_found(self):
        self.start()
        self.put("first", MIB)
        self.back_up()
        name = next(name for name in self.stored() if name.startswith("files/extents_"))
        content = bytearray(self.at_other("GET", f"/{name}").body)
        content[10_000] ^= 4
        self.at_other("PUT", f"/{name}", None, {"x-ms-blob-type": "BlockBlob"}, bytes(content))
        code, text = kyanite("check", self.target)
        self.assertEqual((code, "extents/" in text), (2, True), text)
        code, text = kyanite("restore", self.target, self.scratch / "never")
        self.assertEqual((code, "is damaged" in text), (1, True), text)
        # One of another length is not relied on.
        self.at_other("PUT", f"/{name}", None, {"x-ms-blob-type": "BlockBlob"}, b"short")
        self.stop()
        self.back_up()
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_one_at_a_time(self):
        self.start()
        self.put("first", 20 * MIB)
        self.back_up()
        self.assertEqual(self.lease("acquire", **{"x-ms-lease-duration": "-1"}), 201)
        code, text = kyanite("backup", self.target, "-l", self.location)
        self.assertEqual((code, "another backup to it is under way" in text), (1, True), text)
        self.assertEqual(self.lease("break"), 202)
        # Whoever gets past that is seen by the list.
        process = subprocess.Popen([BINARY, "backup", self.target, "-l", str(self.location), "--rate", "10"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        while not any(name.endswith(".2") for name in self.stored()):
            time.sleep(0.01)
        before = self.at_other("GET", "/BACKUP").body
        self.at_other("PUT", "/BACKUP", None, {"x-ms-blob-type": "BlockBlob"}, before)
        self.assertIn(b"another backup to it was made meanwhile", process.communicate(timeout=60)[1])
        self.assertEqual(self.at_other("GET", "/BACKUP").body, before)
        self.stop()
        self.start(self.restored())
        self.assert_blobs(self.blobs)

    def test_one_that_is_killed_leaves_the_former_one(self):
        self.start()
        self.put("first", MIB)
        self.back_up()
        before = dict(self.blobs)
        self.put("second", 20 * MIB)
        process = subprocess.Popen([BINARY, "backup", self.target, "-l", str(self.location), "--rate", "10"], stdout=subprocess.DEVNULL)
        while not any(name.endswith(".2") for name in self.stored()):
            time.sleep(0.01)
        process.kill()
        process.wait()
        location = self.restored()
        self.assertEqual(self.lease("break", **{"x-ms-lease-break-period": "0"}), 202)
        self.back_up()
        self.assertFalse([name for name in self.stored() if name.endswith(".1") and "extents" not in name])
        self.stop()
        self.start(location)
        self.assert_blobs(before)
        self.assertEqual(self.request("GET", "/box/second").status, 404)

    def test_what_is_refused(self):
        self.start()
        self.put("first", 100)
        for url, why in ((self.url(permission="rl"), "403 AuthorizationPermissionMismatch"),
                         (self.url().replace("sig=", "sig=x"), "403 AuthenticationFailed"),
                         (self.url("others"), "404 ContainerNotFound"),
                         ("http://127.0.0.1:1/account/container?sig=secret", "it cannot be connected to")):
            code, text = kyanite("backup", url, "-l", self.location)
            self.assertEqual((code, why in text, "sig=" in text), (1, True, False), text)
        self.at_other("PUT", "/holiday.jpg", None, {"x-ms-blob-type": "BlockBlob"}, b"x")
        code, text = kyanite("backup", self.target, "-l", self.location)
        self.assertEqual((code, "is not empty and holds no backup" in text), (1, True), text)
        self.assertEqual(self.stored(), ["holiday.jpg"])
