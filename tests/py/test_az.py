"""The Azure command line as it comes with Debian."""

import os
import pathlib

import harness


class AzTest(harness.AzTestCase):
    def test_container_and_blob_there_and_back(self):
        self.assertTrue(self.az("container", "create", "-n", "box")["created"])
        self.assertFalse(self.az("container", "create", "-n", "box")["created"])
        source, target = self.directory / "source", self.directory / "target"
        source.write_bytes(os.urandom(100_000))
        self.az("blob", "upload", "-c", "box", "-n", "a/b.bin", "-f", source, "--metadata", "colour=blue", "--no-progress")
        self.az("blob", "download", "-c", "box", "-n", "a/b.bin", "-f", target, "--no-progress")
        self.assertEqual(target.read_bytes(), source.read_bytes())
        shown = self.az("blob", "show", "-c", "box", "-n", "a/b.bin")
        self.assertEqual(shown["properties"]["contentLength"], 100_000)
        self.assertEqual(shown["metadata"], {"colour": "blue"})
        self.assertEqual([blob["name"] for blob in self.az("blob", "list", "-c", "box")], ["a/b.bin"])
        self.az("blob", "delete", "-c", "box", "-n", "a/b.bin")
        self.assertEqual(self.az("blob", "list", "-c", "box"), [])
        self.assertTrue(self.az("container", "delete", "-n", "box")["deleted"])

    def test_leases_keep_others_out(self):
        self.az("container", "create", "-n", "leased")
        source = self.directory / "leased-source"
        source.write_text("x")
        self.az("blob", "upload", "-c", "leased", "-n", "x", "-f", source, "--no-progress")
        lease = self.az("blob", "lease", "acquire", "-c", "leased", "-b", "x", "--lease-duration", "60")
        self.assertIn("LeaseIdMissing", self.az("blob", "delete", "-c", "leased", "-n", "x", fails=True))
        self.az("blob", "delete", "-c", "leased", "-n", "x", "--lease-id", lease)

    def test_directories_go_up_and_come_down_in_batches(self):
        source, target = self.directory / "tree", self.directory / "tree-back"
        (source / "sub dir").mkdir(parents=True)
        for i in range(5):
            (source / f"file {i}").write_bytes(os.urandom(1000 * i))
            (source / "sub dir" / f"grüße-{i}").write_text(str(i))
        target.mkdir()
        self.az("container", "create", "-n", "batches", "--metadata", "purpose=test")
        self.az("blob", "upload-batch", "-s", source, "-d", "batches", "--no-progress")
        self.az("blob", "download-batch", "-s", "batches", "-d", target, "--no-progress")
        for path in filter(pathlib.Path.is_file, source.rglob("*")):
            self.assertEqual((target / path.relative_to(source)).read_bytes(), path.read_bytes(), path)
        listed = self.az("blob", "list", "-c", "batches", "--prefix", "sub dir/", "--num-results", "3")
        self.assertEqual(len(listed), 3)
        self.assertEqual(self.az("container", "metadata", "show", "-n", "batches"), {"purpose": "test"})

    def test_errors_carry_their_code(self):
        message = self.az("blob", "show", "-c", "nowhere", "-n", "x", fails=True)
        self.assertRegex(message, "ContainerNotFound|BlobNotFound|ResourceNotFound|does not exist")
