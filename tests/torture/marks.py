"""Changes to what a blob has beside its content: properties, tags, tier, holds, expiry, leases. What can be seen of them are the
blob's marks in the model."""

import email.utils
import time
import uuid

PLAIN_TYPE = "application/octet-stream"
TIERS = ("Hot", "Cool", "Cold")
DAY_S = 24 * 3600
TAG, TAGS = "tag", 3  # Keys of tags are this and a number below that.


def fresh_marks(kind, content_type=PLAIN_TYPE):
    """Those of a blob that was just created."""
    return {"type": content_type, "tags": {}, "tier": None, "sealed": False, "held": False, "kept": False,
            "sequence": "0" if kind == "page" else None}


def fresh_tags(blob, random):
    """Up to three, which the blob never had before."""
    return {f"{TAG}{n}": str(blob.version) for n in range(random.randrange(TAGS + 1))}


class MarkChanges:
    """A part of workload.Client."""

    async def _mark(self, blob, status, query, headers, body=b"", method="PUT", keeps_etag=True, **marks):
        after = blob.state.but(marks={**blob.state.marks, **marks})
        if not keeps_etag:
            after = after.but(etag=None)
        await self._change(blob, after, status, method, query, headers, body)

    async def set_properties(self, blob):
        blob.version += 1
        kind = f"text/version-{blob.version}"
        await self._mark(blob, 200, {"comp": "properties"}, {"x-ms-blob-content-type": kind}, keeps_etag=False, type=kind)

    async def set_tags(self, blob):
        blob.version += 1
        tags = fresh_tags(blob, self._random)
        listed = "".join(f"<Tag><Key>{key}</Key><Value>{value}</Value></Tag>" for key, value in tags.items())
        body = f"<Tags><TagSet>{listed}</TagSet></Tags>".encode()
        await self._mark(blob, 204, {"comp": "tags"}, {}, body, tags=tags)

    async def set_tier(self, blob):
        tier = self._random.choice(TIERS)
        await self._mark(blob, 200, {"comp": "tier"}, {"x-ms-access-tier": tier}, tier=tier)

    async def set_expiry(self, blob):
        await self._mark(blob, 200, {"comp": "expiry"}, {"x-ms-expiry-option": "RelativeToNow",
                                                         "x-ms-expiry-time": str(DAY_S * 1000)})

    async def seal(self, blob):
        await self._mark(blob, 200, {"comp": "seal"}, {}, keeps_etag=False, sealed=True)

    async def set_sequence_number(self, blob):
        number = str(self._random.randrange(1 << 62))
        headers = {"x-ms-sequence-number-action": "update", "x-ms-blob-sequence-number": number}
        await self._mark(blob, 200, {"comp": "properties"}, headers, keeps_etag=False, sequence=number)

    # While one of these is set nothing else can be done to the blob: `hold` and `keep` are followed by their end.

    async def hold(self, blob):
        await self._mark(blob, 200, {"comp": "legalhold"}, {"x-ms-legal-hold": "true"}, held=True)

    async def end_hold(self, blob):
        await self._mark(blob, 200, {"comp": "legalhold"}, {"x-ms-legal-hold": "false"}, held=False)

    async def keep(self, blob):
        until = email.utils.formatdate(time.time() + DAY_S, usegmt=True)
        headers = {"x-ms-immutability-policy-until-date": until, "x-ms-immutability-policy-mode": "unlocked"}
        await self._mark(blob, 200, {"comp": "immutabilityPolicies"}, headers, kept=True)

    async def end_keep(self, blob):
        await self._mark(blob, 200, {"comp": "immutabilityPolicies"}, {}, method="DELETE", kept=False)

    # Leases.

    async def acquire(self, blob):
        lease = self._new_lease()
        headers = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", "x-ms-proposed-lease-id": lease}
        await self._change(blob, blob.state.but(lease=lease), 201, "PUT", {"comp": "lease"}, headers)

    async def release(self, blob):
        headers = {"x-ms-lease-action": "release"}
        await self._change(blob, blob.state.but(lease=None), 200, "PUT", {"comp": "lease"}, headers)

    async def renew_lease(self, blob):
        await self._change(blob, blob.state, 200, "PUT", {"comp": "lease"}, {"x-ms-lease-action": "renew"})

    async def break_lease(self, blob):
        headers = {"x-ms-lease-action": "break", "x-ms-lease-break-period": "0"}
        await self._change(blob, blob.state.but(lease=None), 202, "PUT", {"comp": "lease"}, headers)

    def _new_lease(self):
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
