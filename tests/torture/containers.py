"""Containers under torture: each client owns one name. What was acknowledged of it is there: that it exists, its metadata, its
access policies, its lease."""

import uuid
import xml.etree.ElementTree

from client import Disconnected
from workload import Wrong

ABSENT = None


class ContainerClient:
    def __init__(self, number, report):
        self.path = f"/box{number:02}"
        self._report = report
        self._version = 0
        self.state = ABSENT  # Or a dict: metadata, policy, lease.
        self.pending = []  # What the state is if the change in flight has happened.

    async def run(self, connection, random):
        try:
            while True:
                await self._step(connection, random)
                self._report.acknowledged += 1
        except Disconnected:
            pass

    async def _step(self, connection, random):
        self._version += 1
        if self.state is ABSENT:
            after = {"metadata": str(self._version), "policy": None, "lease": None}
            headers = {"x-ms-meta-version": str(self._version)}
            return await self._change(connection, after, 201, "PUT", {}, headers)
        changes = [self._set_metadata, self._set_policy, self._delete]
        changes.append(self._release if self.state["lease"] else self._acquire)
        return await random.choice(changes)(connection, random)

    async def _set_metadata(self, connection, random):
        after = {**self.state, "metadata": str(self._version)}
        await self._change(connection, after, 200, "PUT", {"comp": "metadata"}, {"x-ms-meta-version": str(self._version)})

    async def _set_policy(self, connection, random):
        policy = f"policy{self._version}"
        body = (f"<SignedIdentifiers><SignedIdentifier><Id>{policy}</Id><AccessPolicy><Permission>r</Permission></AccessPolicy>"
                "</SignedIdentifier></SignedIdentifiers>").encode()
        await self._change(connection, {**self.state, "policy": policy}, 200, "PUT", {"comp": "acl"}, {}, body)

    async def _delete(self, connection, random):
        await self._change(connection, ABSENT, 202, "DELETE", {}, {})

    async def _acquire(self, connection, random):
        lease = str(uuid.UUID(int=random.getrandbits(128), version=4))
        headers = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", "x-ms-proposed-lease-id": lease}
        await self._change(connection, {**self.state, "lease": lease}, 201, "PUT", {"comp": "lease"}, headers)

    async def _release(self, connection, random):
        await self._change(connection, {**self.state, "lease": None}, 200, "PUT", {"comp": "lease"},
                           {"x-ms-lease-action": "release"})

    async def _change(self, connection, after, status, method, query, headers, body=b""):
        if self.state and self.state["lease"]:
            headers = {**headers, "x-ms-lease-id": self.state["lease"]}
        self.pending = [after]
        reply = await connection.request(method, self.path, {"restype": "container", **query}, headers, body)
        self.pending = []
        if reply.status != status:
            raise Wrong(f"{method} {self.path} {query}: {reply.status} {reply.code}, not {status}")
        self.state = after

    async def check(self, connection):
        """What is wrong with it, or None."""
        seen = await self._observe(connection)
        for state in [self.state, *self.pending]:
            if shown(state) == seen:
                self.state, self.pending = state, []
                return None
        return f"{self.path} is {seen}, should be {shown(self.state)} or {[shown(state) for state in self.pending]}"

    async def _observe(self, connection):
        reply = await connection.request("GET", self.path, {"restype": "container"})
        if reply.status == 404:
            return ABSENT
        policies = await connection.request("GET", self.path, {"restype": "container", "comp": "acl"})
        identifier = xml.etree.ElementTree.fromstring(policies.body).find("SignedIdentifier")
        return {"metadata": reply.headers.get("x-ms-meta-version"),
                "policy": None if identifier is None else identifier.findtext("Id"),
                "lease": reply.headers.get("x-ms-lease-state") == "leased"}


def shown(state):
    """As reads show it: of a lease only that there is one."""
    return state and {**state, "lease": state["lease"] is not None}
