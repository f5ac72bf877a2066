"""Writes an OCI image from nothing but files, so that it needs no registry and no container tools: one tar with an OCI layout,
and beside it the manifest by which `docker load` and `podman load` find what is in it.

It holds the program, the parts of Debian's libc6 it needs, root certificates for copies from https, and dash, busybox and netcat, for
those who ask Azurite's image for a shell, nc or wget. All files have one time, so the same files give the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import time

USER = 10001  # Not root, and nobody's on the machine.
LOADERS = {"amd64": ("x86_64-linux-gnu", "lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2"),
           "arm64": ("aarch64-linux-gnu", "lib/ld-linux-aarch64.so.1", "ld-linux-aarch64.so.1")}
PACKAGES = ["libc6", "dash", "busybox-static", "netcat-traditional", "ca-certificates"]
LIBRARIES = ["libc.so.6", "libm.so.6"]
NAMES = ["azurite", "azurite-blob", "azurite-queue", "azurite-table"]
APPLETS = ["cat", "echo", "ls", "wget", "sleep", "test", "env", "id", "ps", "kill", "true", "false"]
FOLDERS = ["data", "workspace"]  # Where volumes are put: a new one is its user's, as this folder is. The second one is of Azurite's README.
PORTS = [10000, 10001, 10002, 10003, 10445, 10010]
ENVIRONMENT = ["PATH=/usr/local/bin:/usr/bin:/bin", "KYANITE_LOCATION=/data", "KYANITE_INSECURE_OFF_LOOPBACK=true"]
ENVIRONMENT += [f"KYANITE_{service}_HOST=0.0.0.0" for service in ("BLOB", "QUEUE", "TABLE", "FILE", "SMB", "ADMIN")]
SECOND = 1_000_000_000


def unpacked(architecture, cache):
    """The files of Debian packages by their names, fetched once."""
    folder = cache / architecture
    complete, wanted = folder / "complete", " ".join(PACKAGES)
    if not complete.exists() or complete.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([pathlib.Path(__file__).parent / "fetch", architecture, folder, *PACKAGES], check=True)
        for name in PACKAGES:
            [archive] = folder.glob(f"{name}_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, folder / name], check=True)
        complete.write_text(wanted)
    return {name: folder / name for name in PACKAGES}


class Layer:
    """A tar that is made of files in the order of their names."""

    def __init__(self):
        self.entries = {}

    def add(self, name, content=b"", mode=0o644, owner=0, link=None, folder=False):
        for parent in list(pathlib.PurePosixPath(name).parents)[-2::-1]:
            if str(parent) not in self.entries:
                self.add(str(parent), folder=True, mode=0o755)
        kind = tarfile.DIRTYPE if folder else tarfile.SYMTYPE if link else tarfile.REGTYPE
        self.entries[name] = (kind, content, mode, owner, link)

    def tar(self, epoch):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, (kind, content, mode, owner, link) in sorted(self.entries.items()):
                info = tarfile.TarInfo(name)
                info.type, info.mode, info.uid, info.gid, info.mtime = kind, mode, owner, owner, epoch
                if link:
                    info.linkname = link
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return packed.getvalue()


def certificates(folder):
    found = sorted(folder.glob("usr/share/ca-certificates/mozilla/*.crt"))
    return b"".join(path.read_bytes() for path in found)


def files(program, architecture, cache):
    layer = Layer()
    debian = unpacked(architecture, cache)
    triplet, loader, loader_file = LOADERS[architecture]
    for library in LIBRARIES + [loader_file]:
        layer.add(f"lib/{triplet}/{library}", (debian["libc6"] / "lib" / triplet / library).resolve().read_bytes(), 0o755)
    layer.add(loader, link=os.path.relpath(f"lib/{triplet}/{loader_file}", os.path.dirname(loader)))
    layer.add("usr/bin/kyanite", program.read_bytes(), 0o755)
    for name in NAMES:
        layer.add(f"usr/bin/{name}", link="kyanite")
    layer.add("bin/busybox", (debian["busybox-static"] / "bin" / "busybox").read_bytes(), 0o755)
    for name in APPLETS:
        layer.add(f"bin/{name}", link="busybox")
    # The netcat of busybox has no -z, which is how people ask whether a port is open, and the shell of busybox knows no other netcat.
    layer.add("bin/sh", (debian["dash"] / "bin" / "dash").read_bytes(), 0o755)
    layer.add("bin/nc", (debian["netcat-traditional"] / "bin" / "nc.traditional").read_bytes(), 0o755)
    layer.add("etc/ssl/certs/ca-certificates.crt", certificates(debian["ca-certificates"]))
    layer.add("usr/lib/ssl/cert.pem", link="/etc/ssl/certs/ca-certificates.crt")
    layer.add("etc/passwd", b"root:x:0:0:root:/:/bin/sh\nkyanite:x:%d:%d:Kyanite:/data:/bin/sh\n" % (USER, USER))
    layer.add("etc/group", b"root:x:0:\nkyanite:x:%d:\n" % USER)
    layer.add("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
    for name, folder in debian.items():
        layer.add(f"usr/share/doc/{name}/copyright", (folder / "usr" / "share" / "doc" / name / "copyright").read_bytes())
    for folder in FOLDERS:
        layer.add(folder, folder=True, mode=0o700, owner=USER)
    layer.add("tmp", folder=True, mode=0o1777)
    return layer


def configuration(architecture, version, created, layer_digest):
    return {
        "created": created, "architecture": architecture, "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "Env": ENVIRONMENT, "Cmd": ["azurite"], "WorkingDir": "/data", "Volumes": {"/data": {}},
            "ExposedPorts": {f"{port}/tcp": {} for port in PORTS}, "StopSignal": "SIGTERM",
            "Healthcheck": {"Test": ["CMD", "kyanite", "--healthcheck"], "Interval": 10 * SECOND, "Timeout": 6 * SECOND,
                            "StartPeriod": 30 * SECOND, "Retries": 3},
            "Labels": {"org.opencontainers.image.title": "kyanite", "org.opencontainers.image.version": version,
                       "org.opencontainers.image.licenses": "Apache-2.0"}},
        "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        "history": [{"created": created, "created_by": "packaging/image.py"}]}


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def make(path, program, architecture, version, epoch, cache):
    tar = files(program, architecture, cache).tar(epoch)
    layer = gzip.compress(tar, compresslevel=9, mtime=0)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    config = json.dumps(configuration(architecture, version, created, digest(tar)), sort_keys=True).encode()

    def descriptor(media_type, content, **more):
        return {"mediaType": media_type, "digest": digest(content), "size": len(content), **more}

    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", layer)]}, sort_keys=True).encode()
    tag = "kyanite:latest"
    index = {"schemaVersion": 2, "manifests": [descriptor(
        "application/vnd.oci.image.manifest.v1+json", manifest, platform={"os": "linux", "architecture": architecture},
        annotations={"org.opencontainers.image.ref.name": "latest", "io.containerd.image.name": "docker.io/library/" + tag})]}
    docker = [{"Config": blob_name(config), "RepoTags": [tag], "Layers": [blob_name(layer)]}]
    archive = Layer()
    archive.add("oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
    archive.add("index.json", json.dumps(index, sort_keys=True).encode())
    archive.add("manifest.json", json.dumps(docker, sort_keys=True).encode())
    for content in (config, layer, manifest):
        archive.add(blob_name(content), content)
    path.write_bytes(archive.tar(epoch))


def blob_name(content):
    return "blobs/sha256/" + hashlib.sha256(content).hexdigest()
