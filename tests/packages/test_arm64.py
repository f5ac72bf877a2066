"""The program for arm64, run by qemu: it starts, writes, is killed, reads; and what it wrote the machine's own program reads, whose
checksums are computed by other instructions."""

import base64
import hashlib
import unittest

from packages import KEY, ROOT, Folder, Process, newest, run, use

PROGRAM = ROOT / "build" / "arm64" / "kyanite_one"
NATIVE = ROOT / "build" / "release" / "kyanite"
QEMU = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]
PORTS = [word for name in ("blob", "queue", "table", "file", "smb", "admin") for word in (f"--{name}Port", "0")]
CONTENT = hashlib.shake_256(b"kyanite").digest(3_000_001)

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


@unittest.skipUnless(PROGRAM.exists(), "not built: ./dev package --architecture arm64")
class Arm64(Folder):
    def start(self, program):
        server = Process(self, [*program, "-l", self.folder / "data", *PORTS])
        url = server.until(r"^  Blob +(\S+)$")[1]
        server.until("^Ready")
        return server, url

    def test_written_killed_and_read_by_both(self):
        from azure.core.exceptions import HttpResponseError
        from azure.storage.blob import BlobServiceClient
        arm, native = [*QEMU, PROGRAM], [NATIVE]
        boxes = []
        for program, kill in ((arm, True), (native, False), (arm, False)):
            server, url = self.start(program)
            for name in boxes:
                box = BlobServiceClient(url, credential={"account_name": "devstoreaccount1", "account_key": KEY}).get_container_client(name)
                self.assertEqual(box.download_blob("large").readall(), CONTENT)
                self.assertEqual([blob.name for blob in box.list_blobs()], ["b", "large"])
            box = use(url)
            boxes.append(box.container_name)
            right = base64.b64encode(crc64(CONTENT).to_bytes(8, "little")).decode()
            wrong = base64.b64encode(bytes(8)).decode()
            blob = box.get_blob_client("large")
            with self.assertRaises(HttpResponseError) as refused:
                blob.upload_blob(CONTENT, headers={"x-ms-content-crc64": wrong}, max_concurrency=1)
            self.assertEqual(refused.exception.error_code, "Crc64Mismatch")
            blob.upload_blob(CONTENT, headers={"x-ms-content-crc64": right}, max_concurrency=1)
            if kill:
                server.process.kill()
                server.process.wait()
            else:
                self.assertEqual(server.stop(), 0)

    def test_packages(self):
        run("dpkg-deb", "-R", newest("kyanite_*_arm64.deb"), self.folder / "deb")
        self.assertIn("\nArchitecture: arm64\n", (self.folder / "deb" / "DEBIAN" / "control").read_text())
        self.assertIn("AArch64", run("readelf", "-h", self.folder / "deb" / "usr" / "bin" / "kyanite"))
        self.assertLess(newest("kyanite-*-arm64.image.tar").stat().st_size, 60_000_000)
