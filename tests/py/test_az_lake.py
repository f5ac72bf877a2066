"""Data Lake through the Azure command line of Debian: `az storage fs`."""

import os
import pathlib
import tempfile

import harness


class AzLakeTest(harness.AzTestCase):
    flags = ("--setting", "hierarchicalNamespace=true")

    def az(self, *arguments, **how):
        return super().az("fs", *arguments, **how)

    def connection_string(self):
        """The command knows the API by an endpoint of its own."""
        return f"{self.server.connection_string}DfsEndpoint={self.server.blob_url};"

    def test_file_systems(self):
        self.az("create", "-n", "things", "--metadata", "a=1")
        self.assertEqual(self.az("show", "-n", "things")["metadata"], {"a": "1"})
        self.az("metadata", "update", "-n", "things", "--metadata", "b=2")
        self.assertEqual(self.az("metadata", "show", "-n", "things"), {"b": "2"})
        self.assertIn("things", [system["name"] for system in self.az("list")])
        self.az("delete", "-n", "things", "--yes")
        self.assertFalse(self.az("exists", "-n", "things")["exists"])

    def test_files_and_directories(self):
        self.az("create", "-n", "files")
        self.az("directory", "create", "-f", "files", "-n", "d/e", "--metadata", "kept=yes")
        with tempfile.TemporaryDirectory() as folder:
            local, back = pathlib.Path(folder, "up.bin"), pathlib.Path(folder, "back.bin")
            local.write_bytes(os.urandom(5 * 1024 * 1024))
            self.az("file", "upload", "-f", "files", "-p", "d/e/up.bin", "-s", local)
            self.az("directory", "move", "-f", "files", "-n", "d", "--new-directory", "files/moved")
            self.az("file", "download", "-f", "files", "-p", "moved/e/up.bin", "-d", back)
            self.assertEqual(back.read_bytes(), local.read_bytes())
        self.assertEqual(self.az("directory", "show", "-f", "files", "-n", "moved/e")["metadata"]["kept"], "yes")
        self.assertFalse(self.az("directory", "exists", "-f", "files", "-n", "d")["exists"])
        self.az("file", "create", "-f", "files", "-p", "log")
        self.az("file", "append", "-f", "files", "-p", "log", "--content", "one line")
        self.assertEqual(self.az("file", "show", "-f", "files", "-p", "log")["size"], len("one line"))
        self.az("file", "move", "-f", "files", "-p", "log", "--new-path", "files/moved/log")
        paths = {path["name"]: path["isDirectory"] for path in self.az("file", "list", "-f", "files")}
        self.assertEqual(paths, {"moved": True, "moved/e": True, "moved/e/up.bin": False, "moved/log": False})
        self.assertEqual([path["name"] for path in self.az("directory", "list", "-f", "files")], ["moved", "moved/e"])
        self.az("file", "set-expiry", "-f", "files", "-p", "moved/log", "--expiry-options", "RelativeToNow", "--expires-on", "1")
        self.az("directory", "delete", "-f", "files", "-n", "moved", "--yes")
        self.assertEqual(self.az("file", "list", "-f", "files"), [])

    def test_access_control(self):
        self.az("create", "-n", "guarded")
        self.az("file", "create", "-f", "guarded", "-p", "d/f")
        self.az("access", "set", "-f", "guarded", "-p", "d", "--permissions", "rwxr-x--x")
        self.assertEqual(self.az("access", "show", "-f", "guarded", "-p", "d")["permissions"], "rwxr-x--x")
        done = self.az("access", "set-recursive", "-f", "guarded", "-p", "d", "--acl", "user::rwx,group::r--,other::---")
        self.assertEqual([done["counters"][name] for name in ("directoriesSuccessful", "filesSuccessful", "failureCount")], [1, 1, 0])
        self.az("access", "update-recursive", "-f", "guarded", "-p", "d", "--acl", "user:someone:r-x")
        shown = self.az("access", "show", "-f", "guarded", "-p", "d/f")
        self.assertEqual(shown["acl"], "user::rwx,user:someone:r-x,group::r--,mask::r-x,other::---")
        self.az("access", "remove-recursive", "-f", "guarded", "-p", "d", "--acl", "user:someone")
        self.assertNotIn("someone", self.az("access", "show", "-f", "guarded", "-p", "d/f")["acl"])

    def test_what_was_deleted_comes_back(self):
        self.az("service-properties", "update", "--delete-retention", "true", "--delete-retention-period", "2")
        self.az("create", "-n", "kept")
        self.az("file", "create", "-f", "kept", "-p", "d/f")
        self.az("directory", "delete", "-f", "kept", "-n", "d", "--yes")
        deleted = self.az("list-deleted-path", "-f", "kept")
        self.assertEqual([path["name"] for path in deleted], ["d"])
        self.az("undelete-path", "-f", "kept", "--deleted-path-name", "d", "--deletion-id", deleted[0]["deletionId"])
        self.assertEqual([path["name"] for path in self.az("file", "list", "-f", "kept")], ["d", "d/f"])
