"""azcopy: trees of files to and from blobs, shares and Data Lake, between services, and what it makes of refusals."""

import base64
import datetime
import hashlib
import hmac
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request
import uuid

ACCOUNT, KEY = os.environ["KYANITE_ACCOUNT"], os.environ["KYANITE_KEY"]
VERSION = "2023-11-03"
COMMAND_TIMEOUT_S = 120
ALL = "rwdlacuptf"


def account_sas(permissions=ALL, hours=1):
    until = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = {"sp": permissions, "ss": "bqtf", "srt": "sco", "st": "", "se": until, "sip": "", "spr": "", "sv": VERSION, "ses": ""}
    signed = "".join(f"{field}\n" for field in [ACCOUNT, *fields.values()])
    signature = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
    return urllib.parse.urlencode({**{name: value for name, value in fields.items() if value},
                                   "sig": base64.b64encode(signature).decode()})


def request(method, url, body=None, **headers):
    """Status, headers and body of what a plain client is told."""
    asked = urllib.request.Request(url, body, {name.replace("_", "-"): value for name, value in headers.items()}, method=method)
    try:
        with urllib.request.urlopen(asked) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class AzcopyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kyanite-azcopy-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def place(self, service, sas=None):
        """The URL of a new container or share, and a function that gives URLs below it."""
        name = f"n{uuid.uuid4().hex}"
        root = f"{os.environ[f'KYANITE_{service}']}/{name}".replace(f"{ACCOUNT}//", f"{ACCOUNT}/")
        sas = sas or account_sas()
        kind = "share" if service == "FILE" else "container"
        self.assertEqual(request("PUT", f"{root}?restype={kind}&{account_sas()}", b"")[0], 201)

        def url(path="", token=sas):
            return f"{root}{'/' if path else ''}{urllib.parse.quote(path, safe='/*')}?{token}"
        return url

    def run_azcopy(self, *arguments):
        environment = dict(os.environ, AZCOPY_LOG_LOCATION=str(self.folder / "log"), AZCOPY_CONCURRENCY_VALUE="4",
                           AZCOPY_JOB_PLAN_LOCATION=str(self.folder / "plans"), AZCOPY_DISABLE_SYSLOG="true")
        return subprocess.run([os.environ["AZCOPY"], *map(str, arguments), "--output-type=json", "--skip-version-check"],
                              capture_output=True, text=True, env=environment, timeout=COMMAND_TIMEOUT_S)

    def azcopy(self, *arguments, status="Completed"):
        """The summary of a job, which must end like this."""
        done = self.run_azcopy(*arguments)
        for line in done.stdout.splitlines():
            message = json.loads(line)
            if message["MessageType"] == "EndOfJob":
                summary = json.loads(message["MessageContent"])
                self.assertEqual(summary["JobStatus"], status, self.complaints() + done.stdout[-1500:])
                return summary
        self.fail(f"no job: {done.stdout[-2000:]}{done.stderr[-500:]}")

    def complaints(self):
        lines = [line for log in (self.folder / "log").glob("*.log") for line in log.read_text().splitlines()]
        return "\n".join(line for line in lines if " ERR: " in line or "FAILED" in line)[-3000:]

    def tree(self, name="tree"):
        """A folder of files: empty, small, of many blocks, deep, and with names that are hard to write in a URL."""
        noise, root = random.Random(7), self.folder / name
        for path, size in {"empty": 0, "small": 10, "large": 9_000_001, "deep/er/and/deeper": 1000, "a b+c%20d": 5,
                           "späße/日本": 77, "exact": 1 << 20}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(noise.randbytes(size))
        return root

    def round_trip(self, there, back, url, *options):
        tree, copy = self.tree(), self.folder / "copy"
        up = self.azcopy("copy", f"{tree}/*", url(), f"--from-to={there}", "--recursive", "--put-md5", *options)
        self.assertEqual(up["FileTransfers"], str(len(contents(tree))))
        self.azcopy("copy", url("*") if back != "BlobFSLocal" else url(), copy, f"--from-to={back}", "--recursive",
                    "--check-md5=FailIfDifferentOrMissing")
        got = contents(copy) if back != "BlobFSLocal" else contents(next(copy.iterdir()))
        self.assertEqual(got, contents(tree))

    def test_blobs_come_back_as_they_went(self):
        url = self.place("BLOB")
        self.round_trip("LocalBlob", "BlobLocal", url, "--block-size-mb=1", "--metadata=kind=noise")
        status, headers, _ = request("HEAD", url("large"))
        self.assertEqual((status, headers["x-ms-meta-kind"], headers["Content-Length"]), (200, "noise", "9000001"))

    def test_files_come_back_as_they_went(self):
        url = self.place("FILE")
        self.round_trip("LocalFile", "FileLocal", url)

    def test_paths_of_data_lake_come_back_as_they_went(self):
        url = self.place("LAKE")
        self.round_trip("LocalBlobFS", "BlobFSLocal", url)
        self.assertEqual(request("HEAD", url("deep/er"))[1]["x-ms-resource-type"], "directory")
        self.azcopy("remove", url("deep"), "--from-to=BlobFSTrash", "--recursive")
        self.assertEqual(request("HEAD", url("deep/er"))[0], 404)

    def test_blobs_of_a_hierarchical_account_come_back(self):
        self.round_trip("LocalBlob", "BlobLocal", self.place("LAKE"))

    def test_page_and_append_blobs(self):
        url = self.place("BLOB")
        (self.folder / "disk").write_bytes(bytes(4 << 20) + random.Random(1).randbytes(1 << 20))
        for kind in ("PageBlob", "AppendBlob"):
            self.azcopy("copy", self.folder / "disk", url(kind), "--from-to=LocalBlob", f"--blob-type={kind}", "--block-size-mb=1")
            self.assertEqual(request("HEAD", url(kind))[1]["x-ms-blob-type"], kind)
            self.azcopy("copy", url(kind), self.folder / kind, "--from-to=BlobLocal")
            self.assertEqual((self.folder / kind).read_bytes(), (self.folder / "disk").read_bytes())

    def test_sync_moves_what_changed_and_removes_what_is_gone(self):
        for service, to, back in (("BLOB", "LocalBlob", "BlobLocal"), ("FILE", "LocalFile", "FileLocal")):
            with self.subTest(service):
                url, tree, copy = self.place(service), self.tree(f"tree-{service}"), self.folder / f"copy-{service}"
                copy.mkdir()
                self.azcopy("sync", tree, url(), f"--from-to={to}", "--recursive", "--delete-destination=true")
                done = self.run_azcopy("sync", tree, url(), f"--from-to={to}", "--recursive", "--delete-destination=true")
                self.assertNotIn('"TransfersCompleted":"1"', done.stdout.replace("\\", ""))
                (tree / "small").unlink()
                (tree / "large").write_bytes(b"changed")
                os.utime(tree / "large", (2_000_000_000, 2_000_000_000))
                again = self.azcopy("sync", tree, url(), f"--from-to={to}", "--recursive", "--delete-destination=true")
                self.assertEqual(again["CopyTransfers"] if "CopyTransfers" in again else 1, 1)
                self.azcopy("sync", url(), copy, f"--from-to={back}", "--recursive", "--delete-destination=true")
                self.assertEqual(contents(copy), contents(tree))

    def test_copies_between_services(self):
        blobs, others, files, share = self.place("BLOB"), self.place("BLOB"), self.place("FILE"), self.place("FILE")
        tree = self.tree()
        self.azcopy("copy", f"{tree}/*", blobs(), "--from-to=LocalBlob", "--recursive", "--metadata=kind=noise")
        self.azcopy("copy", f"{tree}/*", files(), "--from-to=LocalFile", "--recursive")
        self.azcopy("copy", blobs("*"), others(), "--from-to=BlobBlob", "--recursive", "--block-size-mb=4")
        self.azcopy("copy", files("*"), share(), "--from-to=FileFile", "--recursive")
        for name, source, back in (("blobs", others, "BlobLocal"), ("files", share, "FileLocal")):
            self.azcopy("copy", source("*"), self.folder / name, f"--from-to={back}", "--recursive")
            self.assertEqual(contents(self.folder / name), contents(tree), name)
        self.assertEqual(request("HEAD", others("small"))[1]["x-ms-meta-kind"], "noise")

    def test_list_and_remove(self):
        url = self.place("BLOB")
        for name in ("a/1", "a/2", "b"):
            request("PUT", url(name), b"12345", x_ms_blob_type="BlockBlob")
        listed = self.run_azcopy("list", url(), "--machine-readable", "--location=Blob")
        for name in ("a/1", "a/2", "b"):
            self.assertIn(name, listed.stdout)
        self.azcopy("remove", url("a"), "--from-to=BlobTrash", "--recursive")
        self.assertEqual([request("HEAD", url(name))[0] for name in ("a/1", "a/2", "b")], [404, 404, 200])

    def test_what_is_there_is_kept_when_it_shall_be(self):
        url = self.place("BLOB")
        (self.folder / "one").write_bytes(b"new")
        request("PUT", url("one"), b"old", x_ms_blob_type="BlockBlob")
        self.azcopy("copy", self.folder / "one", url("one"), "--from-to=LocalBlob", "--overwrite=false",
                    status="CompletedWithSkipped")
        self.assertEqual(request("GET", url("one"))[2], b"old")

    def test_refusals_change_nothing(self):
        url = self.place("BLOB")
        (self.folder / "one").write_bytes(b"new")
        request("PUT", url("one"), b"old", x_ms_blob_type="BlockBlob")
        self.azcopy("copy", self.folder / "one", url("one", account_sas("rl")), "--from-to=LocalBlob", status="Cancelled")
        self.assertIn("AuthorizationPermissionMismatch", self.log())
        status, headers, _ = request("PUT", url("one") + "&comp=lease", b"", x_ms_lease_action="acquire", x_ms_lease_duration="-1")
        self.assertEqual(status, 201, headers)
        self.azcopy("copy", self.folder / "one", url("one"), "--from-to=LocalBlob", status="Failed")
        self.assertIn("412", self.log())
        self.azcopy("remove", url("one"), "--from-to=BlobTrash", status="Failed")
        self.assertEqual(request("GET", url("one"))[2], b"old")

    def test_damage_on_the_way_is_noticed(self):
        url = self.place("BLOB")
        request("PUT", url("one"), b"content", x_ms_blob_type="BlockBlob")
        other = base64.b64encode(hashlib.md5(b"other").digest()).decode()
        self.assertEqual(request("PUT", url("one") + "&comp=properties", b"", x_ms_blob_content_md5=other)[0], 200)
        self.azcopy("copy", url("one"), self.folder / "one", "--from-to=BlobLocal", "--check-md5=FailIfDifferent", status="Failed")

    def log(self):
        return "\n".join(log.read_text() for log in (self.folder / "log").glob("*.log"))


if __name__ == "__main__":
    unittest.main()
