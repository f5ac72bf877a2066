"""Damages data on purpose, as a server that loses or garbles writes would, and sees that verification notices. A check that
cannot fail proves nothing."""

import collections
import pathlib

import files
import lakes
import smb_client
from crew import LAKE
from owner import Owner, expect
from storms import PASTURES

CYCLES = 2
MOST_TRIES = 5  # A kill may come when everything was flushed.


async def self_test(run):
    """What went unnoticed, one sentence each."""
    problems = []
    while run.report.cycles < CYCLES:
        problems += await run.cycle()
    if problems:
        return problems
    for damage in (forget_a_write, swap_two_blobs, swap_states_of_owners, lose_a_file, move_a_shuffled_file, halve_a_tree,
                   copy_a_tree, tear_a_hole, promise_every_write, flip_a_byte, cut_the_log):
        noticed = await damage(run)
        print(f"   {damage.__name__}: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        if not noticed:
            problems.append(f"{damage.__name__} went unnoticed")
    return problems


def pick(run, least_bytes):
    return next(blob for blob in run.crew.blobs
                if blob.kind == "block" and blob.state.content is not None and len(blob.state.content) >= least_bytes)


async def forget_a_write(run):
    """The server does as told, but nobody was told: the model knows an older version."""
    blob = pick(run, 1)
    right, blob.state = blob.state, blob.state.but(content=blob.next_content(4096))
    noticed = await run.verify()
    blob.state = right
    return noticed


async def swap_two_blobs(run):
    first, second = [blob for blob in run.crew.blobs if blob.kind == "block" and blob.state.content is not None][:2]
    first.state, second.state = second.state, first.state
    noticed = await run.verify()
    first.state, second.state = second.state, first.state
    return noticed


async def swap_states_of_owners(run):
    """Of each kind of thing that one client owns two are exchanged, as far as the model knows. Tells of all or of nothing."""
    kinds = collections.defaultdict(list)
    for service, account, client in run.crew.members:
        if isinstance(client, Owner):
            kinds[type(client).__name__, service, account].append(client)
    noticed = []
    for kind, clients in kinds.items():
        first, second = clients[0], next((other for other in clients if other.state != clients[0].state), None)
        if second is None:
            continue
        first.state, second.state = second.state, first.state
        complaints = [complaint for complaint in await run.verify() if first.name in complaint or second.name in complaint]
        first.state, second.state = second.state, first.state
        if not complaints:
            print(f"   two of {kind} were exchanged and nobody noticed")
            return []
        noticed += complaints
    return noticed


async def lose_a_file(run):
    """The model knows a file in a place where none is."""
    client = run.crew.files[0]
    right, client.tree = client.tree, {**client.tree, f"{client.root}/lost": b"content"}
    noticed = await run.verify()
    client.tree = right
    return noticed


async def move_a_shuffled_file(run):
    """One of the files that are always there somewhere is not."""
    connection = run.connect("File")
    directories = run.crew.shuffle.DIRECTORIES
    names = {directory: [name for name, _, _ in await files.listing(connection, directory)] for directory in directories}
    directory, name = next((directory, name) for directory in directories for name in names[directory])

    async def move(source, target):
        headers = {"x-ms-file-rename-source": connection.url(f"/{files.SHARE}/{source}")}
        await expect(connection, 200, "PUT", f"/{files.SHARE}/{target}", {"comp": "rename"}, headers)

    await move(f"{directory}/{name}", "elsewhere")
    noticed = await run.verify()
    await move("elsewhere", f"{directory}/{name}")
    return noticed


async def herd_of(connection):
    """Where the tree of the storm is."""
    for place in PASTURES:
        if (await connection.request("HEAD", f"/{place}")).status == 200:
            return place
    raise RuntimeError("the tree of the storm is nowhere")


async def halve_a_tree(run):
    """A part of a renamed tree is left behind."""
    connection = run.connect("Blob", LAKE)
    part = f"{await herd_of(connection)}/b/c"
    behind = f"{lakes.FILE_SYSTEMS[0]}/left"
    await expect(connection, 201, "PUT", f"/{behind}", {"mode": "legacy"}, lakes.rename_headers(part))
    noticed = await run.verify()
    await expect(connection, 201, "PUT", f"/{part}", {"mode": "legacy"}, lakes.rename_headers(behind))
    connection.close()
    return noticed


async def copy_a_tree(run):
    """A renamed tree is in two places."""
    connection = run.connect("Blob", LAKE)
    herd = await herd_of(connection)
    other = next(place for place in PASTURES if place != herd)
    await expect(connection, 201, "PUT", f"/{other}", {"resource": "directory"})
    noticed = await run.verify()
    await expect(connection, 200, "DELETE", f"/{other}", {"recursive": "true"})
    connection.close()
    return noticed


async def tear_a_hole(run):
    """A later write over SMB is there without an earlier one of the same file."""
    client = next(client for service, _, client in run.crew.members if service == "Drive")
    path, ends = f"{client.name}/holed", run.connect("Drive")
    opened = await ends.drive.create(path, disposition=smb_client.CREATE_NEW)
    await ends.drive.write(opened.file, 8, b"second")
    await ends.drive.close_file(opened.file)
    right, client.state = client.state, {**client.state, path: (b"", b"first", b"first\0\0\0second")}
    run.crew.promises.crashed = True
    noticed = [complaint for complaint in await run.verify() if path in complaint]
    await expect(ends.rest, 202, "DELETE", f"/{files.SHARE}/{path}")
    ends.close()
    client.state = right
    return noticed


async def promise_every_write(run):
    """Clients of SMB take writes for durable that nobody has flushed."""
    for _ in range(MOST_TRIES):
        run.end()
        run.start(write_behind_ms=60_000)
        run.crew.promises.every_write = True
        await run.load_and_kill()
        run.start()
        noticed = [complaint for complaint in await run.verify() if complaint.startswith("drive")]
        if noticed:
            return noticed
    return []


async def flip_a_byte(run):
    """One bit of one byte in a blob's first run, with the server down."""
    blob = pick(run, 100 * 1024)
    run.server.kill()
    for path in sorted(pathlib.Path(run.location, "extents").iterdir()):
        at = path.read_bytes().find(blob.state.content[:4096])
        if at >= 0:
            flip(path, at + 2000)
            run.start()
            noticed = [complaint for complaint in await run.verify() if blob.name in complaint]
            flip(path, at + 2000)
            return noticed
    raise RuntimeError(f"the bytes of {blob.name} are in no extent")


def flip(path, at):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


async def cut_the_log(run):
    """The last acknowledged commits vanish, as they would if the log were not synced before replies and the power failed."""
    await run.load_and_kill()
    newest = max(pathlib.Path(run.location, "records").glob("*.log"), key=lambda path: path.stat().st_mtime_ns)
    written = len(newest.read_bytes().rstrip(b"\0"))
    with newest.open("r+b") as file:
        file.truncate(written * 3 // 4)
    (run.location / "ACCEPT_LOSS").touch()  # The server itself would notice; here the tool has to.
    run.start()
    return await run.verify()
