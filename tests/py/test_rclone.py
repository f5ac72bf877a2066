"""rclone as it comes with Debian: directories there and back, byte for byte, and no more traffic than needed."""

import os
import pathlib
import subprocess
import tempfile

from azure.storage.blob import BlobServiceClient

import harness



class RcloneTest(harness.ServerTestCase):
    many = 10_000

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="kyanite-rclone-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def rclone(self, *arguments):
        environment = dict(os.environ, RCLONE_CONFIG="/dev/null", RCLONE_CONFIG_KY_TYPE="azureblob",
                           RCLONE_CONFIG_KY_USE_EMULATOR="true", RCLONE_CONFIG_KY_ENDPOINT=self.server.blob_url)
        command = ["rclone", "--retries", "1", "--low-level-retries", "1", "--transfers", "16", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
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

    def etags(self, container):
        service = BlobServiceClient.from_connection_string(self.server.connection_string)
        return {blob.name: blob.etag for blob in service.get_container_client(container).list_blobs()}

    def test_a_second_sync_moves_nothing(self):
        tree = self.directory / "many"
        for i in range(self.many):
            path = tree / f"dir {i % 7}" / f"file-{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"file {i}\n" * (i % 50))
        self.rclone("sync", tree, "ky:many")
        before = self.etags("many")
        self.assertEqual(len(before), self.many)
        self.rclone("check", tree, "ky:many")
        self.rclone("sync", tree, "ky:many")
        self.assertEqual(self.etags("many"), before)

        changed = tree / "dir 1" / "file-1.txt"
        changed.write_text("changed")
        self.rclone("sync", tree, "ky:many")
        after = self.etags("many")
        self.assertEqual([name for name in after if after[name] != before.get(name)], ["dir 1/file-1.txt"])
        self.assertEqual(set(after), set(before))
        self.rclone("sync", "ky:many", self.directory / "back")
        self.rclone("check", "--download", self.directory / "back", "ky:many")

    def test_copies_inside_the_server(self):
        tree = self.make_tree()
        self.rclone("copy", tree, "ky:first")
        self.rclone("copy", "ky:first", "ky:second")
        self.rclone("check", "--download", "ky:first", "ky:second")
        self.rclone("moveto", "ky:second/one byte", "ky:second/moved here")
        self.assertEqual(self.rclone("cat", "ky:second/moved here"), "x")
        self.assertNotIn("one byte", self.rclone("lsf", "ky:second").split("\n"))

    def test_what_is_deleted_is_gone(self):
        tree = self.make_tree()
        self.rclone("copy", tree, "ky:removed")
        self.rclone("deletefile", "ky:removed/one byte")
        self.assertNotIn("one byte", self.rclone("lsf", "ky:removed").split("\n"))
        self.rclone("delete", "ky:removed/sub")
        self.assertEqual(self.rclone("lsf", "-R", "--files-only", "ky:removed").split(), ["empty"])
        self.rclone("purge", "ky:removed")
        self.assertNotIn("removed/", self.rclone("lsf", "ky:").split("\n"))


class LakeRcloneTest(RcloneTest):
    """The same on an account with directories, which are blobs to it."""

    flags = ("--setting", "hierarchicalNamespace=true")
    many = 1_000

    def etags(self, container):
        return {name: etag for name, etag in super().etags(container).items() if not name.startswith("dir ") or "/" in name}

    def test_directories_are_seen(self):
        tree = self.make_tree()
        self.rclone("copy", tree, "ky:seen")
        self.assertEqual(sorted(self.rclone("lsf", "-R", "--dirs-only", "ky:seen").split()), ["sub/", "sub/deeper/"])
