"""Copies between the blobs of one client: their sources are read by anybody, as the container is public."""

import base64

from marks import fresh_marks

PAGE = 512
KIB = 1024


class CopyChanges:
    """A part of workload.Client."""

    def _source(self, blob):
        """Another blob with content, or None."""
        others = [other for other in self._blobs if other is not blob and other.kind == "block" and other.state.content]
        return self._random.choice(others) if others else None

    def _part(self, source, most):
        length = min(self._random.choice((1, 700, 4 * KIB, 30 * KIB)), most, len(source.state.content))
        begin = self._random.randrange(len(source.state.content) - length + 1)
        return source.state.content[begin:begin + length], f"bytes={begin}-{begin + length - 1}"

    async def _copy(self, blob, status, more):
        source = self._source(blob)
        if source is None:
            return
        headers = {"x-ms-copy-source": self._connection.url(f"/{self.container}/{source.name}"), **more}
        after = blob.state.but(content=source.state.content, etag=None, metadata=source.state.metadata, blocks={}, staged={},
                               marks=fresh_marks(blob.kind, source.state.marks["type"]))
        await self._change(blob, after, status, "PUT", headers=headers)

    async def copy(self, blob):
        await self._copy(blob, 202, {})

    async def copy_from_url(self, blob):
        await self._copy(blob, 202, {"x-ms-requires-sync": "true"})

    async def put_from_url(self, blob):
        await self._copy(blob, 201, {"x-ms-blob-type": "BlockBlob"})

    async def put_block_from_url(self, blob):
        source = self._source(blob)
        if source is None:
            return
        block = base64.b64encode(b"block-%04d" % self._random.randrange(8)).decode()
        content, part = self._part(source, 30 * KIB)
        if len(blob.state.staged.get(block, b"")) == len(content):
            return  # Of an uncommitted block only the size can be seen.
        headers = {"x-ms-copy-source": self._connection.url(f"/{self.container}/{source.name}"), "x-ms-source-range": part}
        after = blob.state.but(staged={**blob.state.staged, block: content})
        await self._change(blob, after, 201, "PUT", {"comp": "block", "blockid": block}, headers)

    async def append_from_url(self, blob):
        source = self._source(blob)
        if source is None:
            return
        content, part = self._part(source, 30 * KIB)
        headers = {"x-ms-copy-source": self._connection.url(f"/{self.container}/{source.name}"), "x-ms-source-range": part}
        after = blob.state.but(content=blob.state.content + content, etag=None)
        await self._change(blob, after, 201, "PUT", {"comp": "appendblock"}, headers)

    async def put_page_from_url(self, blob):
        source = self._source(blob)
        if source is None:
            return
        begin = self._random.randrange(len(blob.state.content) // PAGE) * PAGE
        end = min(begin + 4 * KIB, len(blob.state.content))
        content = source.state.content[:end - begin]
        headers = {"x-ms-copy-source": self._connection.url(f"/{self.container}/{source.name}"), "x-ms-page-write": "update",
                   "x-ms-range": f"bytes={begin}-{end - 1}", "x-ms-source-range": f"bytes=0-{end - begin - 1}"}
        after = blob.state.but(content=blob.state.content[:begin] + content + blob.state.content[end:], etag=None)
        await self._change(blob, after, 201, "PUT", {"comp": "page"}, headers)
