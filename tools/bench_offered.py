"""The section of ./dev bench that offers load at fixed rates: what a request waits when requests come whether or not the last
ones were answered. Latencies count from when a request was due."""

import os

from bench_calls import AT, SIGNED, SMALL, put, timed, write_arguments
from bench_servers import Kyanite

CONNECTIONS = 128
SHARES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)  # of what a closed loop of as many connections gets


def offered(bench):
    with Kyanite(bench.binary) as kyanite:
        put(kyanite.port, "small", os.urandom(SMALL))
        for what, arguments in (("Get Blob 4 KiB", lambda _: ["--get", f"{AT}/small"]),
                                ("Put Blob 4 KiB", lambda turn: write_arguments("blob", turn, "offered"))):
            most = bench.load(kyanite.port, CONNECTIONS, *SIGNED, *arguments(0))["rate"]
            for turn, share in enumerate(SHARES, 1):
                rate = round(most * share)
                result = timed(bench, kyanite, kyanite.port, CONNECTIONS, *SIGNED, *arguments(turn), "--rate", rate)
                bench.row(f"{what} offered at {rate:,}/s", "req/s", [result["rate"]], [rate], "offered",
                          costs=([result], [result]))
                bench.rows[-1].update(offered=rate, operation=what, rival_costs={})
