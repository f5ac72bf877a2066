"""The packages for arm64, run by qemu: the program starts, writes, is killed, reads; and what it wrote the machine's own program
reads, whose checksums and parsers use other instructions."""

import base64
import hashlib
import unittest

import test_binary
import test_image
from packages import KEY, ROOT, Folder, Process, newest, run, use

BUILD = ROOT / "build" / "arm64"
PROGRAM = BUILD / "kyanite_one"
NATIVE = ROOT / "build" / "release" / "kyanite"
CROSS_LIBC = "/usr/aarch64-linux-gnu"
QEMU = ("qemu-aarch64-static", "-L", CROSS_LIBC)
UNIT_TESTS = ("http_test", "smb_test", "store_test", "wire_test")
PORTS = [word for name in ("blob", "queue", "table", "file", "smb", "admin") for word in (f"--{name}Port", "0")]
CONTENT = hashlib.shake_256(b"kyanite").digest(3_000_001)
built = unittest.skipUnless(PROGRAM.exists(), "not built: ./dev package --architecture arm64")

# The polynomial of x-ms-content-crc64, bit by bit: the plainest way there is.
POLYNOMIAL = 0x9A6C9329AC4BC9B5


def crc64(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFFFFFFFFFF


def credential():
    from azure.core.credentials import AzureNamedKeyCredential
    return AzureNamedKeyCredential("devstoreaccount1", KEY)


@built
class Served(Folder):
    def start(self, program):
        server = Process(self, [*program, "-l", self.folder / "data", *PORTS])
        server.until("^Ready")
        return server, {name: server.until(rf"^  {name} +(\S+)$")[1] for name in ("Blob", "Queue", "Table", "File")}

    def write_blobs(self, url):
        """With checksums that the server compares with its own. The name of the container."""
        from azure.core.exceptions import HttpResponseError
        box = use(url)
        blob = box.get_blob_client("large")
        right = base64.b64encode(crc64(CONTENT).to_bytes(8, "little")).decode()
        wrong = base64.b64encode(bytes(8)).decode()
        with self.assertRaises(HttpResponseError) as refused:
            blob.upload_blob(CONTENT, headers={"x-ms-content-crc64": wrong}, max_concurrency=1)
        self.assertEqual(refused.exception.error_code, "Crc64Mismatch")
        blob.upload_blob(CONTENT, headers={"x-ms-content-crc64": right}, max_concurrency=1)
        return box.container_name

    def read_blobs(self, url, name):
        from azure.storage.blob import BlobServiceClient
        box = BlobServiceClient(url, credential=credential()).get_container_client(name)
        self.assertEqual(box.download_blob("large").readall(), CONTENT)
        self.assertEqual([blob.name for blob in box.list_blobs()], ["b", "large"])

    def rows(self, url):
        from azure.data.tables import TableServiceClient
        return TableServiceClient(url, credential=credential()).create_table_if_not_exists("rows")

    def entity(self, number):
        """JSON with what vectors of a parser meet: quotes, escapes and letters of several bytes at every offset."""
        texts = {f"t{length}": "x" * length + '"\\\n\u00e9\U0001f600' for length in range(70)}
        return {"PartitionKey": "p", "RowKey": f"{number:04}", "n": number, "f": number / 3, "b": number % 2 == 0, **texts}

    def test_written_killed_and_read_by_both(self):
        from azure.storage.fileshare import ShareClient
        from azure.storage.queue import QueueClient
        boxes, written = [], 0
        for program, kill in (((*QEMU, PROGRAM), True), ((NATIVE,), False), ((*QEMU, PROGRAM), False)):
            server, urls = self.start(program)
            for name in boxes:
                self.read_blobs(urls["Blob"], name)
            rows = self.rows(urls["Table"])
            self.assertEqual([dict(row) for row in rows.list_entities()], [self.entity(number) for number in range(written)])
            queue = QueueClient(urls["Queue"], "line", credential=credential())
            share = ShareClient(urls["File"], "share", credential=credential())
            if boxes:
                self.assertEqual([message.content for message in queue.peek_messages(max_messages=32)], boxes)
                self.assertEqual(share.get_file_client("f").download_file().readall(), CONTENT[:100_000])
            else:
                queue.create_queue()
                share.create_share()
                share.get_file_client("f").upload_file(CONTENT[:100_000])
            boxes.append(self.write_blobs(urls["Blob"]))
            queue.send_message(boxes[-1])
            rows.create_entity(self.entity(written))
            written += 1
            if kill:
                server.process.kill()
                server.process.wait()
            else:
                self.assertEqual(server.stop(), 0)
        self.assertIn(": 0 damages.", run(*QEMU, PROGRAM, "check", "-l", self.folder / "data"))


@built
class Units(Folder):
    def test_what_is_computed_by_other_instructions(self):
        for name in UNIT_TESTS:
            with self.subTest(name):
                self.assertIn("[  PASSED  ]", run(*QEMU, BUILD / name, "--gtest_filter=-*DeathTest*", cwd=self.folder, timeout=600))


@built
class Tar(test_binary.Binary):
    architecture, loader, runner = "arm64", "ld-linux-aarch64.so.1", QEMU


@built
class Image(test_image.Contents):
    architecture = "arm64"

    def test_its_own_libraries_are_enough(self):
        inside = ("qemu-aarch64-static", "-L", self.root)
        program = self.root / "usr" / "bin" / "kyanite"
        server = Process(self, [*inside, program, "azurite", "-l", self.folder / "data", "--adminPort", "0", *PORTS[:6]])
        use(server.until(r"^Azurite Blob service is successfully listening at (http://\S+)$")[1] + "/devstoreaccount1")
        port = server.until(r"^  Admin +http://127\.0\.0\.1:(\d+)")[1]
        run(*inside, program, "--healthcheck", "--adminPort", port)
        self.assertEqual(server.stop(), 0)
        self.assertIn("BusyBox", run(*inside, self.root / "bin" / "busybox", "--help"))


@built
class Deb(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.package = newest("kyanite_*_arm64.deb")
        run("dpkg-deb", "-R", cls.package, cls.folder / "deb")

    def test_it_is_of_arm64_and_runs(self):
        self.assertIn("\nArchitecture: arm64\n", (self.folder / "deb" / "DEBIAN" / "control").read_text())
        program = self.folder / "deb" / "usr" / "bin" / "kyanite"
        self.assertIn("AArch64", run("readelf", "-h", program))
        self.assertRegex(run("qemu-aarch64-static", "-L", BUILD / "root", program, "--version"), r"^kyanite \d")

    def test_it_depends_on_the_same_libraries(self):
        def names(package):
            depends = run("dpkg-deb", "--field", package, "Depends")
            return sorted(each.split()[0] for each in depends.split(","))
        self.assertEqual(names(self.package), names(newest("kyanite_*_amd64.deb")))

    def test_lintian_finds_nothing(self):
        self.assertEqual(run("lintian", "--fail-on", "warning", "--allow-root", self.package), "")
