"""What holds things: containers, shares, queues and tables. Each client owns one name. What was acknowledged of it is there:
that it exists, its metadata, its access policies, its lease; and what was deleted can be restored where it is kept."""

import json
import uuid
import xml.etree.ElementTree

from owner import Owner, Wrong, expect

ABSENT = None
UNKNOWN = "unknown"  # A lease whose change was not answered: it has one of two ids.
JSON = "application/json;odata=fullmetadata"
PERMISSION = "O:BAG:BAD:(A;;FA;;;BA)"


def policy_body(policy, permission):
    return (f"<SignedIdentifiers><SignedIdentifier><Id>{policy}</Id><AccessPolicy><Permission>{permission}</Permission>"
            "</AccessPolicy></SignedIdentifier></SignedIdentifiers>").encode()


async def policy_of(connection, path, query):
    reply = await expect(connection, 200, "GET", path, {**query, "comp": "acl"})
    identifier = xml.etree.ElementTree.fromstring(reply.body).find("SignedIdentifier")
    return None if identifier is None else identifier.findtext("Id")


class Box(Owner):
    """`query` addresses it, beside its path; `shows` asks for everything of it but its policies."""

    query = {}
    shows = {"comp": "metadata"}
    created, changed, deleted, permission = 201, 200, 202, "r"

    def __init__(self, name, report):
        super().__init__(name, report, ABSENT)
        self.path = f"/{name}"

    async def step(self, connection, random):
        if self.state is ABSENT:
            return await self.begin(connection, random)
        return await random.choice(self.changes())(connection, random)

    def changes(self):
        return [self.set_metadata, self.set_policy, self.delete]

    async def begin(self, connection, random):
        version = self.next_version()
        await self._change(connection, {"metadata": version, "policy": None, "lease": None}, self.created, "PUT", {},
                           {"x-ms-meta-version": version})

    async def set_metadata(self, connection, random):
        version = self.next_version()
        await self._change(connection, {**self.state, "metadata": version}, self.changed, "PUT", {"comp": "metadata"},
                           {"x-ms-meta-version": version})

    async def set_policy(self, connection, random):
        policy = f"policy{self.next_version()}"
        await self._change(connection, {**self.state, "policy": policy}, self.changed, "PUT", {"comp": "acl"}, {},
                           policy_body(policy, self.permission))

    async def delete(self, connection, random):
        await self._change(connection, ABSENT, self.deleted, "DELETE", {}, {})

    async def _change(self, connection, after, status, method, query, headers, body=b""):
        if self.state and self.state["lease"] and self.state["lease"] is not UNKNOWN:
            headers = {**headers, "x-ms-lease-id": self.state["lease"]}
        return await self.change(connection, after, status, method, self.path, {**self.query, **query}, headers, body)

    async def observe(self, connection):
        reply = await connection.request("GET", self.path, self.shows)
        if reply.status == 404:
            return ABSENT
        return {"metadata": reply.headers.get("x-ms-meta-version"), "policy": await policy_of(connection, self.path, self.query),
                "lease": reply.headers.get("x-ms-lease-state") == "leased"}

    def shown(self, state):
        """Of a lease only that there is one."""
        return state and {**state, "lease": state["lease"] is not None}


class Queue(Box):
    created, changed, deleted = 201, 204, 204


class Kept(Box):
    """One that has leases and that can be restored. Of all its deletions the last is known."""

    kind = None

    def __init__(self, name, report):
        super().__init__(name, report)
        self.query = self.shows = {"restype": self.kind}
        self.buried = None

    def changes(self):
        if self.state["lease"] is UNKNOWN:
            return [self.break_lease]
        ends = [self.release, self.renew, self.change_lease, self.break_lease]
        return super().changes() + (ends if self.state["lease"] else [self.acquire])

    async def begin(self, connection, random):
        if self.buried is None or random.random() < 0.2:
            await super().begin(connection, random)
        else:
            await self.restore(connection)

    async def delete(self, connection, random):
        self.buried = {**self.state, "lease": None}
        await super().delete(connection, random)

    async def restore(self, connection):
        """Which one it is tells its metadata: it changes with every life."""
        version = await self._grave(connection)
        if version is None:
            raise Wrong(f"{self.name} was deleted and cannot be restored")
        names = {f"x-ms-deleted-{self.kind}-name": self.name, f"x-ms-deleted-{self.kind}-version": version}
        await self._change(connection, self.buried, 201, "PUT", {"comp": "undelete"}, names)

    async def _grave(self, connection):
        query = {"comp": "list", "prefix": self.name, "include": "deleted,metadata"}
        reply = await expect(connection, 200, "GET", "/", query)
        for entry in xml.etree.ElementTree.fromstring(reply.body).iter(self.kind.capitalize()):
            if entry.findtext("Deleted") == "true" and entry.findtext("Metadata/version") == self.buried["metadata"]:
                return entry.findtext("Version")
        return None

    async def check(self, connection):
        leases = {state["lease"] for state in [self.state, *self.pending] if state} - {None}
        complaint = await super().check(connection)
        if complaint is None and self.state and self.state["lease"] and len(leases) > 1:
            self.state = {**self.state, "lease": UNKNOWN}
        if complaint is None and self.state is ABSENT and self.buried is not None and await self._grave(connection) is None:
            return f"{self.name} was deleted and cannot be restored"
        return complaint

    # Leases.

    async def _lease(self, connection, lease, status, **headers):
        headers = {f"x-ms-{name.replace('_', '-')}": value for name, value in headers.items()}
        await self._change(connection, {**self.state, "lease": lease}, status, "PUT", {"comp": "lease"}, headers)

    async def acquire(self, connection, random):
        lease = new_lease(random)
        await self._lease(connection, lease, 201, lease_action="acquire", lease_duration="-1", proposed_lease_id=lease)

    async def renew(self, connection, random):
        await self._lease(connection, self.state["lease"], 200, lease_action="renew")

    async def change_lease(self, connection, random):
        lease = new_lease(random)
        await self._lease(connection, lease, 200, lease_action="change", proposed_lease_id=lease)

    async def release(self, connection, random):
        await self._lease(connection, None, 200, lease_action="release")

    async def break_lease(self, connection, random):
        await self._lease(connection, None, 202, lease_action="break", lease_break_period="0")


class Container(Kept):
    kind = "container"


class Share(Kept):
    kind = "share"
    permission = "r"

    def changes(self):
        return super().changes() + [self.set_quota, self.add_permission]

    async def set_quota(self, connection, random):
        quota = int(self.next_version()) % 5000 + 1
        await self._change(connection, {**self.state, "quota": str(quota)}, 200, "PUT", {"comp": "properties"},
                           {"x-ms-share-quota": str(quota)})

    async def add_permission(self, connection, random):
        """Permissions have no state of their own that changes: once there, they stay."""
        reply = await expect(connection, 201, "PUT", self.path, {**self.query, "comp": "filepermission"},
                             {"content-type": "application/json"}, json.dumps({"permission": PERMISSION}).encode())
        key = reply.headers["x-ms-file-permission-key"]
        self._report.acknowledged += 1
        self.state = {**self.state, "permission": key}

    async def observe(self, connection):
        seen = await super().observe(connection)
        if seen is ABSENT:
            return seen
        reply = await expect(connection, 200, "GET", self.path, self.shows)
        return {**seen, "quota": reply.headers["x-ms-share-quota"]}

    async def check(self, connection):
        complaint = await super().check(connection)
        if complaint is None and self.state and "permission" in self.state:
            await expect(connection, 200, "GET", self.path, {**self.query, "comp": "filepermission"},
                         {"x-ms-file-permission-key": self.state["permission"]})
        return complaint

    def shown(self, state):
        state = super().shown(state)
        if state is ABSENT:
            return state
        return {"quota": "5120", **{name: value for name, value in state.items() if name != "permission"}}


def new_lease(random):
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


class Table(Owner):
    """Its name is all of it that can change beside its policies."""

    def __init__(self, name, report):
        super().__init__(name, report, ABSENT)

    async def step(self, connection, random):
        if self.state is ABSENT:
            return await self.change(connection, {"policy": None}, 201, "POST", "/Tables", headers={
                "Content-Type": "application/json", "Accept": JSON}, body=json.dumps({"TableName": self.name}).encode())
        if random.random() < 0.3:
            return await self.change(connection, ABSENT, 204, "DELETE", f"/Tables('{self.name}')")
        policy = f"policy{self.next_version()}"
        return await self.change(connection, {"policy": policy}, 204, "PUT", f"/{self.name}", {"comp": "acl"}, {},
                                 policy_body(policy, "r"))

    async def observe(self, connection):
        reply = await expect(connection, 200, "GET", "/Tables", {"$filter": f"TableName eq '{self.name}'"}, {"Accept": JSON})
        if not json.loads(reply.body)["value"]:
            return ABSENT
        return {"policy": await policy_of(connection, f"/{self.name}", {})}
