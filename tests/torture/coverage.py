"""Which operations were acknowledged under torture: the server counts them, its operation tables name them all. An operation that
writes and that no client ever uses is a promise that nobody checks."""

import asyncio
import re
import urllib.request

import harness

SERVICES = ("blob", "queue", "table", "file")
FOLDERS = {"datalake": "blob", **{service: service for service in SERVICES}}  # Of operation tables: as which service they are counted.
ROW = re.compile(r'\{\s*"[^"]+",\s*"([^"]+)",\s*"(PUT|POST|DELETE|PATCH|MERGE)",')
COUNT = re.compile(r'^kyanite_requests_total\{service="(\w+)",operation="([^"]+)",status="2xx"\}', re.MULTILINE)
SMB_COUNT = re.compile(r'^kyanite_smb_requests_total\{command="(\w+)",outcome="done"\} [1-9]', re.MULTILINE)
SMB_WRITES = ("CREATE", "CLOSE", "FLUSH", "WRITE", "IOCTL", "SET_INFO")

# By service and name: why no client does it.
LEFT_OUT = {
    ("blob", "Blob_Query"): "only reads",
    ("file", "File_CreateSymbolicLink"): "not served",
    ("file", "File_CreateHardLink"): "not served",
    ("blob", "Path_SetRootProperties"): "always refused",
    ("file", "Directory_CreateRoot"): "always refused",
    ("file", "Directory_DeleteRoot"): "always refused",
    ("file", "Directory_ForceCloseRootHandles"): "handles do not outlive the server",
    ("file", "File_ForceCloseHandles"): "handles do not outlive the server",
    ("blob", "Service_SubmitBatch"): "another address of the batches of a container",
    ("blob", "Service_SubmitBatchByPath"): "another address of the batches of a container",
    **{(service, "Service_GetUserDelegationKey"): "stores nothing" for service in SERVICES},
}


def writes():
    """Every operation that may write, by service and name."""
    return {("smb", command) for command in SMB_WRITES} | {(service, name) for folder, service in FOLDERS.items()
            for name, _ in ROW.findall((harness.ROOT / "src" / folder / "operations.cc").read_text())}


class Coverage:
    def __init__(self):
        self._done = set()

    @staticmethod
    async def metrics(server):
        def fetch():
            with urllib.request.urlopen(f"{server.admin_url}/metrics", timeout=10) as reply:
                return reply.read().decode()
        return await asyncio.to_thread(fetch)

    async def gather(self, server):
        text = await self.metrics(server)
        self._done |= set(COUNT.findall(text)) | {("smb", command) for command in SMB_COUNT.findall(text)}

    def missing(self):
        return sorted(writes() - LEFT_OUT.keys() - self._done)
