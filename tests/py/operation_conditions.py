"""Which conditional headers and which lease each operation takes: asked of a running server, operation by operation, with one
condition at a time that does not hold. The operations come from the tables in src/*/operations.cc; one that is neither asked
about here nor named as out of question is an error, so that none is forgotten.

An operation is said to take a condition when it answers 304 or 412, to refuse it when it answers 400, and to ignore it when it
succeeds. Of a lease it wants the id when it is refused without (LeaseIdMissing), and looks at it when only a wrong one is refused."""

import asyncio
import dataclasses
import email.utils
import itertools
import pathlib
import re
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import client  # noqa: E402
import coverage  # noqa: E402
from harness import ACCOUNT, KEY, Server  # noqa: E402

# What the operations asked about need to be served.
FLAGS = ("--inMemoryPersistence", "--copyFromPrivateAddresses", "--setting", "blobImmutability=true", "--setting", "blobExpiry=true")
LAKE_FLAGS = ("--inMemoryPersistence", "--setting", "hierarchicalNamespace=true")
OTHER_ETAG = '"0x8D0000000000000"'
BLOCK = "YmxvY2s="
PAGE = b"\7" * 512
POLICY = {"x-ms-immutability-policy-until-date": "Fri, 01 Jan 2100 00:00:00 GMT"}
QUERY = (b"<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * from BlobStorage</Expression></QueryRequest>")
CONDITIONS = ("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "x-ms-if-tags")


@dataclasses.dataclass
class Ask:
    """How an operation is asked for. `on`: the kind of object that it is about. `source`: a header with the URL of another object
    of that kind."""

    on: str
    method: str
    query: dict = dataclasses.field(default_factory=dict)
    headers: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    source: str = ""


def container(method, comp="", headers=None, body=b""):
    return Ask("container", method, {"restype": "container", **({"comp": comp} if comp else {})}, headers or {}, body)


def share(method, comp="", headers=None, body=b""):
    return Ask("share", method, {"restype": "share", **({"comp": comp} if comp else {})}, headers or {}, body)


def directory(method, comp="", headers=None):
    return Ask("directory", method, {"restype": "directory", **({"comp": comp} if comp else {})}, headers or {})


def of(kind, method, comp="", headers=None, body=b"", source=""):
    return Ask(kind, method, {"comp": comp} if comp else {}, headers or {}, body, source)


LEASE = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"}
BREAK = {"x-ms-lease-action": "break"}
NEW_FILE = {"x-ms-type": "file", "x-ms-content-length": "512"}

BLOB = {
    "Create Container": container("PUT"),
    "Get Container Properties": container("GET"),
    "Get Container Metadata": container("GET", "metadata"),
    "Set Container Metadata": container("PUT", "metadata", {"x-ms-meta-a": "b"}),
    "Get Container ACL": container("GET", "acl"),
    "Set Container ACL": container("PUT", "acl"),
    "Lease Container": container("PUT", "lease", LEASE),
    "Lease Container (break)": container("PUT", "lease", BREAK),
    "Delete Container": container("DELETE"),
    "List Blobs": container("GET", "list"),
    "Get Blob": of("block", "GET"),
    "Get Blob Properties": of("block", "HEAD"),
    "Get Blob Metadata": of("block", "GET", "metadata"),
    "Set Blob Properties": of("block", "PUT", "properties", {"x-ms-blob-content-type": "text/plain"}),
    "Set Blob Metadata": of("block", "PUT", "metadata", {"x-ms-meta-a": "b"}),
    "Lease Blob": of("block", "PUT", "lease", LEASE),
    "Lease Blob (break)": of("block", "PUT", "lease", BREAK),
    "Delete Blob": of("block", "DELETE"),
    "Set Blob Expiry": of("block", "PUT", "expiry", {"x-ms-expiry-option": "NeverExpire"}),
    "Set Blob Immutability Policy": of("block", "PUT", "immutabilityPolicies", POLICY),
    "Delete Blob Immutability Policy": of("block", "DELETE", "immutabilityPolicies"),
    "Set Blob Legal Hold": of("block", "PUT", "legalhold", {"x-ms-legal-hold": "false"}),
    "Snapshot Blob": of("block", "PUT", "snapshot"),
    "Set Blob Tier": of("block", "PUT", "tier", {"x-ms-access-tier": "Cool"}),
    "Get Blob Tags": of("block", "GET", "tags"),
    "Set Blob Tags": of("block", "PUT", "tags", body=b"<Tags><TagSet /></Tags>"),
    "Query Blob Contents": of("block", "POST", "query", body=QUERY),
    "Put Block": Ask("block", "PUT", {"comp": "block", "blockid": BLOCK}, {}, b"text"),
    "Put Block From URL": Ask("block", "PUT", {"comp": "block", "blockid": BLOCK}, {}, b"", "x-ms-copy-source"),
    "Put Block List": of("block", "PUT", "blocklist", body=b"<BlockList></BlockList>"),
    "Get Block List": of("block", "GET", "blocklist"),
    "Append Block": of("append", "PUT", "appendblock", body=b"more"),
    "Append Block From URL": of("append", "PUT", "appendblock", source="x-ms-copy-source"),
    "Append Blob Seal": of("append", "PUT", "seal"),
    "Put Page": of("page", "PUT", "page", {"x-ms-page-write": "update", "x-ms-range": "bytes=0-511"}, PAGE),
    "Put Page (clear)": of("page", "PUT", "page", {"x-ms-page-write": "clear", "x-ms-range": "bytes=0-511"}),
    "Put Page From URL": of("page", "PUT", "page", {"x-ms-page-write": "update", "x-ms-range": "bytes=0-511",
                                                    "x-ms-source-range": "bytes=0-511"}, source="x-ms-copy-source"),
    "Get Page Ranges": of("page", "GET", "pagelist"),
    "Copy Blob": of("block", "PUT", source="x-ms-copy-source"),
    "Copy Blob From URL": of("block", "PUT", "", {"x-ms-requires-sync": "true"}, source="x-ms-copy-source"),
    "Put Blob From URL": of("block", "PUT", "", {"x-ms-blob-type": "BlockBlob"}, source="x-ms-copy-source"),
    "Put Blob": of("block", "PUT", "", {"x-ms-blob-type": "BlockBlob"}, b"new"),
    "Put Blob (append)": of("append", "PUT", "", {"x-ms-blob-type": "AppendBlob"}),
    "Put Blob (page)": of("page", "PUT", "", {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512"}),
}

FILE = {
    "Create Share": share("PUT"),
    "Get Share Properties": share("GET"),
    "Get Share Metadata": share("GET", "metadata"),
    "Set Share Properties": share("PUT", "properties", {"x-ms-share-quota": "5"}),
    "Set Share Metadata": share("PUT", "metadata", {"x-ms-meta-a": "b"}),
    "Get Share ACL": share("GET", "acl"),
    "Set Share ACL": share("PUT", "acl"),
    "Get Share Stats": share("GET", "stats"),
    "Lease Share": share("PUT", "lease", LEASE),
    "Lease Share (break)": share("PUT", "lease", BREAK),
    "Snapshot Share": share("PUT", "snapshot"),
    "Delete Share": share("DELETE"),
    "Create Directory": directory("PUT"),
    "Get Directory Properties": directory("GET"),
    "Get Directory Metadata": directory("GET", "metadata"),
    "Set Directory Properties": directory("PUT", "properties"),
    "Set Directory Metadata": directory("PUT", "metadata", {"x-ms-meta-a": "b"}),
    "Delete Directory": directory("DELETE"),
    "List Directories and Files": directory("GET", "list"),
    "Rename Directory": Ask("directory", "PUT", {"restype": "directory", "comp": "rename"}, {}, b"", "x-ms-file-rename-source"),
    "Get File": of("file", "GET"),
    "Get File Properties": of("file", "HEAD"),
    "Get File Metadata": of("file", "GET", "metadata"),
    "Set File Properties": of("file", "PUT", "properties"),
    "Set File Metadata": of("file", "PUT", "metadata", {"x-ms-meta-a": "b"}),
    "Lease File": of("file", "PUT", "lease", LEASE),
    "Lease File (break)": of("file", "PUT", "lease", BREAK),
    "Delete File": of("file", "DELETE"),
    "Put Range": of("file", "PUT", "range", {"x-ms-write": "update", "x-ms-range": "bytes=0-3"}, b"text"),
    "Put Range (clear)": of("file", "PUT", "range", {"x-ms-write": "clear", "x-ms-range": "bytes=0-511"}),
    "Put Range From URL": of("file", "PUT", "range", {"x-ms-write": "update", "x-ms-range": "bytes=0-3",
                                                      "x-ms-source-range": "bytes=0-3"}, source="x-ms-copy-source"),
    "List Ranges": of("file", "GET", "rangelist"),
    "Rename File": of("file", "PUT", "rename", {"x-ms-file-rename-replace-if-exists": "true"}, source="x-ms-file-rename-source"),
    "Copy File": of("file", "PUT", source="x-ms-copy-source"),
    "Create File": of("file", "PUT", "", NEW_FILE),
    "List Handles": of("file", "GET", "listhandles"),
    "Force Close Handles": of("file", "PUT", "forceclosehandles", {"x-ms-handle-id": "*"}),
}

def on_path(method, action="", headers=None, body=b"", source="", **query):
    return Ask("path", method, {**({"action": action} if action else {}), **query}, headers or {}, body, source)


DATALAKE = {
    "Path - Create": on_path("PUT", resource="file"),
    "Path - Rename": on_path("PUT", source="x-ms-rename-source"),
    "Path - Update (append)": on_path("PATCH", "append", body=b"text", position="0"),
    "Path - Update (flush)": on_path("PATCH", "flush", position="0"),
    "Path - Update (setProperties)": on_path("PATCH", "setProperties", {"x-ms-properties": "a=Yg=="}),
    "Path - Update (setAccessControl)": on_path("PATCH", "setAccessControl", {"x-ms-permissions": "0700"}),
    "Path - Update (setAccessControlRecursive)": on_path("PATCH", "setAccessControlRecursive", {"x-ms-acl": "user::rwx"}, mode="modify"),
    "Path - Get Access Control": on_path("HEAD", "getAccessControl"),
    "Path - Get Status": on_path("HEAD", "getStatus"),
    "Path - Lease": on_path("POST", "", {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1",
                                      "x-ms-proposed-lease-id": str(uuid.UUID(int=1))}),
    "Path - Lease (break)": on_path("POST", "", {"x-ms-lease-action": "break"}),
    "Path - Delete": on_path("DELETE", recursive="true"),
}

# On no object, on what is not there, in the middle of something, or each part by itself.
BESIDE = {
    "blob": {"List Containers", "Get Blob Service Properties", "Set Blob Service Properties", "Get Blob Service Stats",
             "Get User Delegation Key", "Get Account Information", "Blob Batch", "Find Blobs by Tags",
             "Find Blobs by Tags in Container", "Restore Container", "Undelete Blob", "Abort Copy Blob", "Incremental Copy Blob"},
    "file": {"List Shares", "Get File Service Properties", "Set File Service Properties", "Get User Delegation Key",
             "Restore Share", "Create Permission", "Get Permission", "Abort Copy File"},
    # File systems are containers, and the last three are Get Blob, its properties, and what asks of nothing but rights.
    "datalake": {"Filesystem - List", "Filesystem - Create", "Filesystem - Set Properties", "Filesystem - Get Properties",
                 "Filesystem - Delete", "Path - List", "Path - Read", "Path - Get Properties", "Path - Check Access"},
}
SERVICES = {"blob": BLOB, "file": FILE, "datalake": DATALAKE}


def forgotten(service):
    """Operations that are served and about which nothing is said here; and those that are said and not served."""
    served = {re.sub(r" \(root\)$", "", name) for name, _, _, is_served in coverage.table(service) if is_served}
    return served ^ (set(SERVICES[service]) | BESIDE[service])


class Prober:
    def __init__(self, server):
        self._connections = {name: client.Connection.to(server.url(name), ACCOUNT, KEY) for name in ("Blob", "File")}
        self._numbers = itertools.count()

    def close(self):
        for connection in self._connections.values():
            connection.close()

    async def _send(self, ask, path, headers=None):
        return await self._via(ask.on).request(ask.method, path, ask.query, {**ask.headers, **(headers or {})}, ask.body)

    def _via(self, kind):
        return self._connections["File" if kind in ("share", "directory", "file") else "Blob"]

    async def _make(self, kind):
        """A fresh object of the kind, tagged where that can be: its path."""
        number = next(self._numbers)
        root, inside = f"/box{number}", f"/box{number}/thing"
        tagged = {"x-ms-tags": "colour=blue"}
        steps = {
            "container": [(container("PUT"), root, {})],
            "block": [(container("PUT"), root, {}), (BLOB["Put Blob"], inside, tagged)],
            "append": [(container("PUT"), root, {}), (BLOB["Put Blob (append)"], inside, tagged)],
            "page": [(container("PUT"), root, {}), (BLOB["Put Blob (page)"], inside, tagged)],
            "path": [(container("PUT"), root, {}), (DATALAKE["Path - Create"], inside, {})],
            "share": [(share("PUT"), root, {})],
            "directory": [(share("PUT"), root, {}), (directory("PUT"), inside, {})],
            "file": [(share("PUT"), root, {}), (FILE["Create File"], inside, {})],
        }[kind]
        for ask, path, headers in steps:
            reply = await self._send(ask, path, headers)
            assert reply.status == 201, (kind, path, reply)
        return steps[-1][1], reply

    async def _prepared(self, name, ask):
        path, made = await self._make(ask.on)
        headers = {}
        via = self._via(ask.on)
        if ask.source == "x-ms-copy-source":
            other, _ = await self._make(ask.on)
            if ask.on == "append":
                await self._send(BLOB["Append Block"], other)
            headers[ask.source] = via.signed_url(other)
        elif ask.source == "x-ms-rename-source":
            await self._send(DATALAKE["Path - Create"], path + "-source")
            headers[ask.source] = f"{path}-source"
        elif ask.source:  # Renames stay in their share.
            await self._send(FILE["Create Directory" if ask.on == "directory" else "Create File"], path + "-source")
            headers[ask.source] = via.url(path + "-source")
            path += "-new" if ask.on == "directory" else ""
        if name == "Delete Blob Immutability Policy":
            reply = await self._send(BLOB["Set Blob Immutability Policy"], path)
            assert reply.status == 200, reply
        return path, made, headers

    async def _verdict(self, name, ask, condition):
        path, made, headers = await self._prepared(name, ask)
        date = email.utils.parsedate_to_datetime(made.headers["last-modified"]).timestamp()
        fails = {"If-Match": OTHER_ETAG, "If-None-Match": made.etag,
                 "If-Modified-Since": made.headers["last-modified"],
                 "If-Unmodified-Since": email.utils.formatdate(date - 3600, usegmt=True),
                 "x-ms-if-tags": "\"colour\" = 'red'"}[condition]
        if name.endswith("(break)"):
            await self._lease(ask, path)
        reply = await self._send(ask, path, {**headers, condition: fails})
        if reply.status in (304, 412):
            return "takes"
        return "refuses" if reply.status == 400 else "ignores" if reply.status < 300 else self._own(name, condition, reply)

    def _own(self, name, condition, reply):
        """Where an operation fails by itself on what is there, it did not look at the condition before."""
        if name in ("Create Container", "Create Share", "Create Directory") and reply.status == 409:
            return "ignores"
        raise AssertionError(f"{name} with {condition}: {reply.status} {reply.code} {reply.body[:300]}")

    async def _lease(self, ask, path):
        kind = {"container": container, "share": share}.get(ask.on)
        acquire = kind("PUT", "lease", LEASE) if kind else of("block" if ask.on == "path" else ask.on, "PUT", "lease", LEASE)
        reply = await self._send(acquire, path)
        assert reply.status == 201, (ask, reply)

    async def _lease_verdict(self, name, ask):
        if ask.on == "directory":
            return "none"
        if "Lease" in name:
            return "the lease itself"
        path, _, headers = await self._prepared(name, ask)
        await self._lease(ask, path)
        reply = await self._send(ask, path, headers)
        if reply.status == 412 and reply.code == "LeaseIdMissing":
            return "wanted"
        if reply.status >= 300:
            self._own(name, "a lease", reply)
        path, _, headers = await self._prepared(name, ask)
        await self._lease(ask, path)
        reply = await self._send(ask, path, {**headers, "x-ms-lease-id": str(uuid.uuid4())})
        return "looked at" if reply.status == 412 else "none"

    async def row(self, name, ask):
        verdicts = {}
        path, _, headers = await self._prepared(name, ask)
        if name.endswith("(break)"):
            await self._lease(ask, path)
        reply = await self._send(ask, path, headers)
        if reply.status >= 300:  # Without any condition.
            self._own(name, "nothing", reply)
        for condition in CONDITIONS:
            if condition == "x-ms-if-tags" and ask.on not in ("block", "append", "page"):
                continue
            verdicts[condition] = await self._verdict(name, ask, condition)
        return verdicts, await self._lease_verdict(name, ask)


SHORT = {"If-Match": "If-Match", "If-None-Match": "If-None-Match", "If-Modified-Since": "If-Modified-Since",
         "If-Unmodified-Since": "If-Unmodified-Since", "x-ms-if-tags": "tags"}
GROUPS = {("If-Match", "If-None-Match"): "ETag", ("If-Modified-Since", "If-Unmodified-Since"): "dates"}


def words(verdicts, verdict):
    """The conditions with that verdict, in few words."""
    found = [name for name in CONDITIONS if verdicts.get(name) == verdict]
    out = []
    for pair, name in GROUPS.items():
        if all(each in found for each in pair):
            out.append(name)
        else:
            out += [SHORT[each] for each in pair if each in found]
    return ", ".join(out + (["tags"] if "x-ms-if-tags" in found else [])) or "none"


async def table(server, operations):
    """Its lines of Markdown."""
    prober = Prober(server)
    lines = ["| operation | takes | refuses (400) | lease id |", "|---|---|---|---|"]
    for name, ask in operations.items():
        verdicts, lease = await prober.row(name, ask)
        lines.append(f"| {name} | {words(verdicts, 'takes')} | {words(verdicts, 'refuses')} | {lease} |")
    prober.close()
    return lines


def tables():
    """By service, each asked of a server of its own."""
    out = {}
    for service, operations in SERVICES.items():
        server = Server(*(LAKE_FLAGS if service == "datalake" else FLAGS))
        try:
            out[service] = asyncio.run(table(server, operations))
        finally:
            server.stop()
    return out


PAGE_FILE = ROOT / "docs" / "CONCURRENCY.md"


def with_tables(page, found):
    """The page with its tables as they are found."""
    for service, lines in found.items():
        begin = f"<!-- {service}: made by tests/py/operation_conditions.py -->\n"
        before, rest = page.split(begin)
        after = rest[rest.index("<!-- end -->"):]
        page = before + begin + "\n" + "\n".join(lines) + "\n\n" + after
    return page


def main():
    page = with_tables(PAGE_FILE.read_text(), tables())
    if "--write" in sys.argv[1:]:
        PAGE_FILE.write_text(page)
    else:
        print(page, end="")


if __name__ == "__main__":
    main()
