"""Damages data on purpose, as a server that loses or garbles writes would, and sees that verification notices. A check that
cannot fail proves nothing."""

import pathlib

from verify import verify

CYCLES = 2


async def self_test(run):
    """What went unnoticed, one sentence each."""
    run.start()
    await run.prepare()
    problems = []
    while run.report.cycles < CYCLES:
        problems += await run.cycle()
    if problems:
        return problems
    for damage in (forget_a_write, swap_two_blobs, flip_a_byte, cut_the_log):
        noticed = await damage(run)
        print(f"   {damage.__name__}: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        if not noticed:
            problems.append(f"{damage.__name__} went unnoticed")
    return problems


async def check(run):
    return await verify(run.connect, run.blobs, [run.counter, run.log])


def pick(run, least_bytes):
    return next(blob for blob in run.blobs
                if blob.kind == "block" and blob.state.content is not None and len(blob.state.content) >= least_bytes)


async def forget_a_write(run):
    """The server does as told, but nobody was told: the model knows an older version."""
    blob = pick(run, 1)
    right, blob.state = blob.state, blob.state.but(content=blob.next_content(4096))
    noticed = await check(run)
    blob.state = right
    return noticed


async def swap_two_blobs(run):
    first, second = [blob for blob in run.blobs if blob.kind == "block" and blob.state.content is not None][:2]
    first.state, second.state = second.state, first.state
    noticed = await check(run)
    first.state, second.state = second.state, first.state
    return noticed


async def flip_a_byte(run):
    """One bit of one byte in the middle of a run, with the server down."""
    blob = pick(run, 1024 * 1024)
    page = blob.state.content[256 * 1024:256 * 1024 + 4096]
    run.server.kill()
    for path in sorted(pathlib.Path(run.location, "extents").iterdir()):
        data = bytearray(path.read_bytes())
        at = data.find(page)
        if at < 0:
            continue
        data[at + 2000] ^= 1
        with path.open("r+b") as file:
            file.seek(at + 2000)
            file.write(data[at + 2000:at + 2001])
        run.start()
        noticed = [complaint for complaint in await check(run) if blob.name in complaint]
        with path.open("r+b") as file:
            file.seek(at + 2000)
            file.write(bytes([data[at + 2000] ^ 1]))
        return noticed
    return []


async def cut_the_log(run):
    """The last acknowledged commits vanish, as they would if the log were not synced before replies and the power failed."""
    await run.load_and_kill()
    newest = max(pathlib.Path(run.location, "records").glob("*.log"), key=lambda path: path.stat().st_mtime_ns)
    written = len(newest.read_bytes().rstrip(b"\0"))
    with newest.open("r+b") as file:
        file.truncate(written * 3 // 4)
    run.start()
    return await check(run)
