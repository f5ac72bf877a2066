"""rclone as it comes with Debian: a directory there and back, byte for byte."""

import os
import pathlib
import subprocess
import tempfile

import harness


class RcloneTest(harness.ServerTestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kyanite-rclone-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def rclone(self, *arguments):
        environment = dict(os.environ, RCLONE_CONFIG="/dev/null", RCLONE_CONFIG_KY_TYPE="azureblob",
                           RCLONE_CONFIG_KY_USE_EMULATOR="true", RCLONE_CONFIG_KY_ENDPOINT=self.server.blob_url)
        command = ["rclone", "--retries", "1", "--low-level-retries", "1", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        return done.stdout

    def make_tree(self):
        tree = self.directory / "tree"
        (tree / "sub" / "deeper").mkdir(parents=True)
        (tree / "empty").write_bytes(b"")
        (tree / "one byte").write_bytes(b"x")
        (tree / "sub" / "grüße.txt").write_text("hello\n")
        (tree / "sub" / "deeper" / "large.bin").write_bytes(os.urandom(9 * 1024 * 1024 + 1))
        return tree

    def test_tree_there_and_back(self):
        tree = self.make_tree()
        self.rclone("copy", tree, "ky:tree")
        self.rclone("check", "--download", tree, "ky:tree")
        self.rclone("copy", "ky:tree", self.directory / "back")
        for path in tree.rglob("*"):
            if path.is_file():
                self.assertEqual((self.directory / "back" / path.relative_to(tree)).read_bytes(), path.read_bytes(), path)

    def test_sync_removes_and_replaces(self):
        tree = self.make_tree()
        self.rclone("sync", tree, "ky:synced")
        (tree / "empty").unlink()
        (tree / "one byte").write_bytes(b"now more")
        self.rclone("sync", tree, "ky:synced")
        listed = self.rclone("lsf", "-R", "--files-only", "ky:synced").split("\n")
        self.assertEqual(sorted(filter(None, listed)), ["one byte", "sub/deeper/large.bin", "sub/grüße.txt"])
        self.assertEqual(self.rclone("cat", "ky:synced/one byte"), "now more")

    def test_containers_are_directories(self):
        self.rclone("mkdir", "ky:box")
        self.assertIn("box/", self.rclone("lsf", "ky:").split("\n"))
        self.rclone("rmdir", "ky:box")
        self.assertNotIn("box/", self.rclone("lsf", "ky:").split("\n"))
