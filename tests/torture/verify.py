"""Reads everything back after a crash and holds it against the model."""

import asyncio
import xml.etree.ElementTree

from client import Disconnected
from marks import TAG, TAGS
from model import State
from owner import Wrong
from workload import CONTAINER, path_of

READERS = 8


class Unreadable(Exception):
    pass


async def get(connection, path, query=None, missing_ok=False):
    reply = await connection.request("GET", path, query)
    if reply.status == 404 and missing_ok:
        return None
    if reply.status != 200:
        raise Unreadable(f"GET {path} {query or ''}: {reply.status} {reply.code}")
    return reply


async def list_blobs(connection):
    """Of every blob what the listing says: (name, snapshot or None): its properties."""
    entries, marker = {}, ""
    while True:
        query = {"restype": "container", "comp": "list", "include": "snapshots,metadata", "maxresults": "500"}
        if marker:
            query["marker"] = marker
        root = xml.etree.ElementTree.fromstring((await get(connection, f"/{CONTAINER}", query)).body)
        for blob in root.iter("Blob"):
            properties = {child.tag: child.text for child in blob.find("Properties")}
            metadata = blob.find("Metadata")
            properties["metadata"] = {child.tag: child.text for child in metadata} if metadata is not None else {}
            key = (blob.findtext("Name"), blob.findtext("Snapshot"))
            if key in entries:
                raise Unreadable(f"the listing names {key} twice")
            entries[key] = properties
        marker = root.findtext("NextMarker")
        if not marker:
            return entries


async def find_by_tags(connection, quiet=True):
    """Of every blob that Find Blobs by Tags shows, its tags. By one comparison for each key, so every entry of the index counts.
    `quiet`: nobody changes tags meanwhile, so that no blob can move from one page to the next."""
    found = {}
    for key in (f"{TAG}{number}" for number in range(TAGS)):
        marker = ""
        while True:
            query = {"restype": "container", "comp": "blobs", "where": f"\"{key}\">='0'", "maxresults": "50",
                     **({"marker": marker} if marker else {})}
            root = xml.etree.ElementTree.fromstring((await get(connection, f"/{CONTAINER}", query)).body)
            for blob in root.iter("Blob"):
                tags = found.setdefault(blob.findtext("Name"), {})
                if quiet and key in tags:
                    raise Unreadable(f"the find by {key} shows {blob.findtext('Name')} twice")
                tags[key] = blob.findtext("Tags/TagSet/Tag/Value")
            marker = root.findtext("NextMarker")
            if not marker:
                break
    return found


class Finder:
    """Looks for tags while others change them, which must not lose any: what it sees then is anybody's guess."""

    @staticmethod
    async def run(connection):
        try:
            while True:
                await find_by_tags(connection, quiet=False)
        except Disconnected:
            pass
        except Unreadable as error:
            raise Wrong(str(error)) from error


async def observe(connection, blob, snapshots):
    """The state of a blob as reads show it."""
    seen = State()
    reply = await get(connection, path_of(blob), missing_ok=True)
    if reply is not None:
        prefix = "x-ms-meta-"
        seen.content, seen.etag = reply.body, reply.etag
        seen.metadata = {name.removeprefix(prefix): value for name, value in reply.headers.items() if name.startswith(prefix)}
        seen.lease = "some" if reply.headers.get("x-ms-lease-state") == "leased" else None
        seen.marks = await observe_marks(connection, blob)
    if blob.kind == "staged":
        blocks = await get(connection, path_of(blob), {"comp": "blocklist", "blocklisttype": "all"}, missing_ok=True)
        if blocks is not None:
            root = xml.etree.ElementTree.fromstring(blocks.body)
            seen.blocks = sizes_of(root.find("CommittedBlocks"))
            seen.staged = sizes_of(root.find("UncommittedBlocks"))
    for instant in snapshots:
        seen.snapshots[instant] = (await get(connection, path_of(blob), {"snapshot": instant})).body
    return seen


async def observe_marks(connection, blob):
    reply = await connection.request("HEAD", path_of(blob))
    if reply.status != 200:
        raise Unreadable(f"HEAD {path_of(blob)}: {reply.status} {reply.code}")
    headers, tags = reply.headers, {}
    if "x-ms-tag-count" in headers:
        listed = await get(connection, path_of(blob), {"comp": "tags"})
        tags = {tag.findtext("Key"): tag.findtext("Value") for tag in xml.etree.ElementTree.fromstring(listed.body).iter("Tag")}
    return {"type": headers.get("content-type"), "tags": tags, "sealed": headers.get("x-ms-blob-sealed") == "true",
            "tier": None if "x-ms-access-tier-inferred" in headers else headers.get("x-ms-access-tier"),
            "held": headers.get("x-ms-legal-hold") == "true", "kept": "x-ms-immutability-policy-until-date" in headers,
            "sequence": headers.get("x-ms-blob-sequence-number")}


def sizes_of(blocks):
    if blocks is None:
        return {}
    return {block.findtext("Name"): int(block.findtext("Size")) for block in blocks.iter("Block")}


def listing_differences(blob, seen, entry):
    """None, or what the listing says other than the reads."""
    if (entry is None) != (seen.content is None):
        return "the listing names it but it cannot be read" if entry else "the listing does not name it"
    if entry is None:
        return None
    if entry["Etag"].strip('"') != seen.etag.strip('"'):
        return f"the listing says ETag {entry['Etag']}, a read {seen.etag}"
    if int(entry["Content-Length"]) != len(seen.content):
        return f"the listing says {entry['Content-Length']} bytes, a read {len(seen.content)}"
    if entry["metadata"] != seen.metadata:
        return f"the listing says metadata {entry['metadata']}, a read {seen.metadata}"
    if (entry["LeaseState"] == "leased") != (seen.lease is not None):
        return f"the listing says lease {entry['LeaseState']}, a read {seen.lease}"
    return None


async def verify(connect, blobs, shared):
    """Settles every blob and returns what is wrong, one sentence each. `shared`: things with a check() of their own and a
    path."""
    wrong = []
    connection = connect()
    try:
        listed = await list_blobs(connection)
        found = await find_by_tags(connection)
        for thing in shared:
            if complaint := await thing.check(connection):
                wrong.append(complaint)
    except (Unreadable, Disconnected) as error:
        return [str(error)]
    finally:
        connection.close()

    known = {blob.name for blob in blobs} | {thing.path.rpartition("/")[2] for thing in shared}
    wrong += [f"{name}: nobody wrote this blob" for name, _ in listed if name not in known]
    left = list(blobs)

    async def read_some():
        reader = connect()
        while left:
            blob = left.pop()
            snapshots = [instant for name, instant in listed if name == blob.name and instant is not None]
            try:
                seen = await observe(reader, blob, snapshots)
                complaint = listing_differences(blob, seen, listed.get((blob.name, None))) or blob.settle(seen)
                tags = seen.marks["tags"] if seen.content is not None else {}
                if not complaint and tags != found.get(blob.name, {}):
                    complaint = f"it is found by {found.get(blob.name, {})}, has the tags {tags}"
            except (Unreadable, Disconnected) as error:
                complaint = str(error)
            if complaint:
                wrong.append(f"{blob.name}: {complaint}")
        reader.close()

    await asyncio.gather(*(read_some() for _ in range(READERS)))
    return wrong
