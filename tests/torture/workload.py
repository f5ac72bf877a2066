"""What the clients do to their blobs. Each operation notes what the state becomes before it sends the request, so that a
crash at any moment leaves the state before and the state after, and nothing else, as right answers."""

import base64

from batches import BatchChanges
from client import Disconnected
from copies import CopyChanges
from marks import MarkChanges, fresh_marks, fresh_tags
from owner import Wrong

CONTAINER = "torture"
KIB = 1024
SIZES = (4 * KIB, 4 * KIB, 4 * KIB, 100 * KIB, 100 * KIB, 1024 * KIB)
PAGE_BLOB_SIZE = 64 * KIB
PAGE = 512
MOST_SNAPSHOTS = 3
MOST_APPENDED = 64 * KIB
KINDS = ("block", "block", "block", "staged", "append", "page")


def path_of(blob):
    return f"/{CONTAINER}/{blob.name}"


class Client(MarkChanges, CopyChanges, BatchChanges):
    """One connection and the blobs that only it writes."""

    container = CONTAINER

    def __init__(self, connection, blobs, random, report):
        self._connection, self._blobs, self._random, self._report = connection, blobs, random, report

    async def run(self):
        """Until the server is gone."""
        try:
            while True:
                await self.step()
        except Disconnected:
            pass

    async def step(self):
        blob = self._random.choice(self._blobs)
        operations = next((ends for mark, ends in ENDS.items() if there(blob.state) and blob.state.marks[mark]),
                          OPERATIONS[blob.kind])
        choices = [(operation, weight) for operation, weight, possible in operations if possible(blob.state)]
        [operation] = self._random.choices([o for o, _ in choices], [w for _, w in choices])
        await operation(self, blob)

    async def _change(self, blob, after, status, method, query=None, headers=None, body=b""):
        """Sends a change that must be accepted. `after` lacks what only the server knows: the ETag, unless it stays."""
        headers = dict(headers or {})
        if blob.state.lease is not None:
            headers.setdefault("x-ms-lease-id", blob.state.lease)
        blob.pending = after
        reply = await self._connection.request(method, path_of(blob), query, headers, body)
        if reply.status != status:
            blob.pending = None
            raise Wrong(f"{method} {blob.name} {query or ''}: {reply.status} {reply.code}, not {status}; state {blob.state.etag}")
        blob.pending = None
        if after.content is not None and after.etag is None:
            after = after.but(etag=reply.etag)
            if after.etag in blob.etags:
                raise Wrong(f"{method} {blob.name} {query or ''}: it had the ETag {after.etag} before")
            blob.etags.add(after.etag)
        if blob.state.etag is not None and blob.state.etag != after.etag:
            blob.old_etag = blob.state.etag
        blob.state = after
        self._report.acknowledged += 1
        return reply

    async def _refused(self, blob, why, method, query=None, headers=None, body=b""):
        """Sends a change that must not be accepted; one that is in flight at a crash must not have happened either."""
        reply = await self._connection.request(method, path_of(blob), query, headers, body)
        if reply.status != 412:
            raise Wrong(f"{method} {blob.name} {query or ''} with {why}: {reply.status} {reply.code}, not 412")
        self._report.refused += 1

    # Block blobs.

    async def put(self, blob):
        content = blob.next_content(self._random.choice(SIZES))
        metadata = {"version": str(blob.version)}
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-meta-version": metadata["version"]}
        if blob.state.content is None:
            headers["If-None-Match"] = "*"
        elif self._random.random() < 0.5:
            headers["If-Match"] = blob.state.etag
        tags = fresh_tags(blob, self._random)
        if tags:
            headers["x-ms-tags"] = "&".join(f"{key}={value}" for key, value in tags.items())
        after = blob.state.but(content=content, etag=None, metadata=metadata, blocks={}, staged={},
                               marks={**fresh_marks(blob.kind), "tags": tags})
        await self._change(blob, after, 201, "PUT", headers=headers, body=content)

    async def put_stale(self, blob):
        if blob.old_etag is None:
            return
        content = blob.next_content(4 * KIB)
        headers = {"x-ms-blob-type": "BlockBlob", "If-Match": blob.old_etag}
        if blob.state.lease is not None:
            headers["x-ms-lease-id"] = blob.state.lease
        await self._refused(blob, "an old ETag", "PUT", headers=headers, body=content)

    async def set_metadata(self, blob):
        blob.version += 1
        metadata = {"version": str(blob.version), "other": "x" * self._random.randrange(1, 200)}
        headers = {f"x-ms-meta-{name}": value for name, value in metadata.items()}
        await self._change(blob, blob.state.but(etag=None, metadata=metadata), 200, "PUT", {"comp": "metadata"}, headers)

    async def delete(self, blob):
        headers = {"x-ms-delete-snapshots": "include"} if blob.state.snapshots else {}
        after = blob.state.but(content=None, etag=None, metadata={}, lease=None, blocks={}, snapshots={})
        await self._change(blob, after, 202, "DELETE", headers=headers)

    async def snapshot(self, blob):
        after = blob.state.but(snapshots={**blob.state.snapshots, None: blob.state.content})
        reply = await self._change(blob, after, 201, "PUT", {"comp": "snapshot"})
        blob.state.snapshots[reply.headers["x-ms-snapshot"]] = blob.state.snapshots.pop(None)

    async def put_without_lease(self, blob):
        headers = {"x-ms-blob-type": "BlockBlob"}
        await self._refused(blob, "no lease id", "PUT", headers=headers, body=blob.next_content(4 * KIB))

    # Staged blocks.

    async def put_block(self, blob):
        block = base64.b64encode(b"block-%04d" % self._random.randrange(8)).decode()
        size = self._random.choice(SIZES)
        # Of an uncommitted block only the size can be seen, so one staged again must differ in it.
        size += len(blob.state.staged.get(block, b"")) == size
        content = blob.next_content(size)
        after = blob.state.but(staged={**blob.state.staged, block: content})
        await self._change(blob, after, 201, "PUT", {"comp": "block", "blockid": block}, body=content)

    async def put_block_list(self, blob):
        known = {**blob.state.blocks, **blob.state.staged}
        chosen = self._random.sample(sorted(known), self._random.randint(1, len(known)))
        xml = "<BlockList>" + "".join(f"<Latest>{block}</Latest>" for block in chosen) + "</BlockList>"
        blocks = {block: known[block] for block in chosen}
        after = blob.state.but(content=b"".join(blocks.values()), etag=None, metadata={}, blocks=blocks, staged={},
                               marks=fresh_marks(blob.kind))
        await self._change(blob, after, 201, "PUT", {"comp": "blocklist"}, body=xml.encode())

    # Append blobs.

    async def create_append(self, blob):
        after = blob.state.but(content=b"", etag=None, metadata={}, marks=fresh_marks(blob.kind))
        await self._change(blob, after, 201, "PUT", headers={"x-ms-blob-type": "AppendBlob"})

    async def append(self, blob):
        content = blob.next_content(self._random.choice((100, 512, 4 * KIB, 20 * KIB)))
        offset = len(blob.state.content)
        headers = {"x-ms-blob-condition-appendpos": str(offset)} if self._random.random() < 0.5 else {}
        after = blob.state.but(content=blob.state.content + content, etag=None)
        reply = await self._change(blob, after, 201, "PUT", {"comp": "appendblock"}, headers, content)
        if reply.headers.get("x-ms-blob-append-offset") != str(offset):
            raise Wrong(f"append to {blob.name} at {reply.headers.get('x-ms-blob-append-offset')}, not {offset}")

    # Page blobs.

    async def create_page(self, blob):
        headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": str(PAGE_BLOB_SIZE)}
        after = blob.state.but(content=bytes(PAGE_BLOB_SIZE), etag=None, metadata={}, marks=fresh_marks(blob.kind))
        await self._change(blob, after, 201, "PUT", headers=headers)

    def _page_range(self, blob):
        pages = self._random.randint(1, min(32, len(blob.state.content) // PAGE))
        begin = self._random.randrange(len(blob.state.content) // PAGE - pages + 1) * PAGE
        return begin, begin + pages * PAGE

    async def resize(self, blob):
        size = self._random.randint(1, 2 * PAGE_BLOB_SIZE // PAGE) * PAGE
        content = blob.state.content[:size] + bytes(max(0, size - len(blob.state.content)))
        headers = {"x-ms-blob-content-length": str(size)}
        await self._change(blob, blob.state.but(content=content, etag=None), 200, "PUT", {"comp": "properties"}, headers)

    async def put_page(self, blob):
        begin, end = self._page_range(blob)
        content = blob.next_content(end - begin)
        headers = {"x-ms-page-write": "update", "x-ms-range": f"bytes={begin}-{end - 1}"}
        after = blob.state.but(content=blob.state.content[:begin] + content + blob.state.content[end:], etag=None)
        await self._change(blob, after, 201, "PUT", {"comp": "page"}, headers, content)

    async def clear_page(self, blob):
        begin, end = self._page_range(blob)
        headers = {"x-ms-page-write": "clear", "x-ms-range": f"bytes={begin}-{end - 1}"}
        after = blob.state.but(content=blob.state.content[:begin] + bytes(end - begin) + blob.state.content[end:], etag=None)
        await self._change(blob, after, 201, "PUT", {"comp": "page"}, headers)


def always(state):
    return True


def there(state):
    return state.content is not None


def absent(state):
    return state.content is None


def appendable(state):
    return there(state) and len(state.content) < MOST_APPENDED and not state.marks["sealed"]


# By kind of blob: what may be done, how often, and when it is possible.
COMMON = [
    (Client.set_metadata, 2, there),
    # Whether uncommitted blocks outlive their blob is not a question of durability.
    (Client.delete, 1, lambda state: there(state) and not state.staged),
    (Client.delete_by_batch, 0.5, lambda state: there(state) and not state.staged),
    (Client.snapshot, 1, lambda state: there(state) and len(state.snapshots) < MOST_SNAPSHOTS),
    (Client.acquire, 1, lambda state: there(state) and state.lease is None),
    (Client.release, 1, lambda state: there(state) and state.lease is not None),
    (Client.renew_lease, 1, lambda state: there(state) and state.lease is not None),
    (Client.break_lease, 1, lambda state: there(state) and state.lease is not None),
    (Client.set_properties, 1, there),
    (Client.set_tags, 1, there),
    (Client.set_expiry, 0.5, there),
    (Client.hold, 0.3, there),
    (Client.keep, 0.3, there),
]
# What a blob with such a mark still allows.
ENDS = {"held": [(Client.end_hold, 1, always)], "kept": [(Client.end_keep, 1, always)]}
OPERATIONS = {
    "block": [
        *COMMON,
        (Client.put, 8, always),
        (Client.put_stale, 1, there),
        (Client.put_without_lease, 1, lambda state: there(state) and state.lease is not None),
        (Client.set_tier, 1, there),
        (Client.set_tiers_by_batch, 0.5, there),
        (Client.copy, 2, always),
        (Client.copy_from_url, 1, always),
        (Client.put_from_url, 1, always),
    ],
    "staged": [
        *COMMON,
        (Client.put_block, 6, always),
        (Client.put_block_from_url, 2, always),
        (Client.put_block_list, 3, lambda state: bool(state.blocks or state.staged)),
        (Client.set_tier, 1, there),
    ],
    "append": [
        *COMMON,
        (Client.create_append, 1, absent),
        (Client.append, 8, appendable),
        (Client.append_from_url, 2, appendable),
        (Client.seal, 0.3, lambda state: there(state) and not state.marks["sealed"]),
    ],
    "page": [
        *COMMON,
        (Client.create_page, 1, absent),
        (Client.put_page, 6, there),
        (Client.clear_page, 2, there),
        (Client.put_page_from_url, 2, there),
        (Client.resize, 1, there),
        (Client.set_sequence_number, 1, there),
    ],
}
