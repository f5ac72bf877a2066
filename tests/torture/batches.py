"""Blob batches: the reply to a batch is no promise, those to its parts are. Each part is a change of its own."""

from marks import TIERS
from owner import Wrong

HEAD = b"--part\r\ncontent-type: application/http\r\ncontent-transfer-encoding: binary\r\ncontent-id: %d\r\n\r\n"
MOST = 3


class BatchChanges:
    """A part of workload.Client."""

    def _batchable(self, blob, possible):
        """The blob and a few others of the same client that may be changed at the same time."""
        others = [other for other in self._blobs if other is not blob and other.state.content is not None
                  and not other.state.marks["held"] and not other.state.marks["kept"] and possible(other)]
        return [blob, *self._random.sample(others, min(len(others), MOST - 1))]

    async def _batch(self, blobs, afters, status, method, query, headers):
        for blob, after in zip(blobs, afters):
            blob.pending = after

        def body():
            """Each part is signed, and dated, by itself."""
            parts = b""
            for number, blob in enumerate(blobs):
                lease = {"x-ms-lease-id": blob.state.lease} if blob.state.lease is not None else {}
                path = f"/{self.container}/{blob.name}"
                parts += HEAD % number + self._connection.head(method, path, query, {**headers, **lease}, b"")
            return parts + b"--part--\r\n"

        reply = await self._connection.request("POST", f"/{self.container}", {"restype": "container", "comp": "batch"},
                                               {"content-type": "multipart/mixed; boundary=part"}, body)
        self._connection.gate.look_at(reply, reply.body)
        if reply.status != 202 or reply.body.count(b"HTTP/1.1 %d" % status) != len(blobs):
            raise Wrong(f"{method} {query} of {[blob.name for blob in blobs]} in a batch: {reply.status} {reply.body[-300:]}")
        for blob, after in zip(blobs, afters):
            blob.pending = None
            if after.content is None:
                blob.old_etag = blob.state.etag
            blob.state = after
            self._report.acknowledged += 1

    async def delete_by_batch(self, blob):
        blobs = self._batchable(blob, lambda other: not other.state.staged)
        afters = [each.state.but(content=None, etag=None, metadata={}, lease=None, blocks={}, snapshots={}) for each in blobs]
        await self._batch(blobs, afters, 202, "DELETE", {}, {"x-ms-delete-snapshots": "include"})

    async def set_tiers_by_batch(self, blob):
        tier = self._random.choice(TIERS)
        blobs = self._batchable(blob, lambda other: other.kind in ("block", "staged"))
        afters = [each.state.but(marks={**each.state.marks, "tier": tier}) for each in blobs]
        await self._batch(blobs, afters, 200, "PUT", {"comp": "tier"}, {"x-ms-access-tier": tier})
