"""Files through the Azure command line of Debian."""

import os
import pathlib
import tempfile

import harness


class AzFileTest(harness.AzTestCase):
    def test_shares(self):
        self.assertTrue(self.az("share", "create", "-n", "things", "--quota", "7", "--metadata", "a=1")["created"])
        shown = self.az("share", "show", "-n", "things")
        self.assertEqual((shown["properties"]["quota"], shown["metadata"]), (7, {"a": "1"}))
        self.assertEqual([share["name"] for share in self.az("share", "list", "--prefix", "thi")], ["things"])
        snapshot = self.az("share", "snapshot", "-n", "things")["snapshot"]
        self.assertIn(snapshot, [share["snapshot"] for share in self.az("share", "list", "--include-snapshots")])
        self.assertTrue(self.az("share", "delete", "-n", "things", "--delete-snapshots", "include")["deleted"])
        self.assertFalse(self.az("share", "exists", "-n", "things")["exists"])

    def test_directories_and_files(self):
        self.az("share", "create", "-n", "files")
        self.assertTrue(self.az("directory", "create", "-s", "files", "-n", "d")["created"])
        with tempfile.TemporaryDirectory() as folder:
            local = pathlib.Path(folder, "up.txt")
            local.write_bytes(os.urandom(5 * 1024 * 1024))
            self.az("file", "upload", "-s", "files", "--source", str(local), "-p", "d/up.txt", "--no-progress")
            self.assertEqual(self.az("file", "show", "-s", "files", "-p", "d/up.txt")["properties"]["contentLength"],
                             local.stat().st_size)
            back = pathlib.Path(folder, "back.txt")
            self.az("file", "download", "-s", "files", "-p", "d/up.txt", "--dest", str(back), "--no-progress")
            self.assertEqual(back.read_bytes(), local.read_bytes())
        self.assertEqual([entry["name"] for entry in self.az("file", "list", "-s", "files", "-p", "d")], ["up.txt"])
        # Without a URL the command would look for the source in Azure.
        self.az("file", "copy", "start", "--source-uri", f"{self.server.url('File')}/files/d/up.txt", "--destination-share",
                "files", "--destination-path", "copy.txt")
        self.assertEqual(sorted(entry["name"] for entry in self.az("file", "list", "-s", "files")), ["copy.txt", "d"])
        self.az("file", "resize", "-s", "files", "-p", "copy.txt", "--size", "10")
        self.az("file", "delete", "-s", "files", "-p", "d/up.txt")
        self.assertTrue(self.az("directory", "delete", "-s", "files", "-n", "d")["deleted"])
        self.assertFalse(self.az("file", "exists", "-s", "files", "-p", "d/up.txt")["exists"])
