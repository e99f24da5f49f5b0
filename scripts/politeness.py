#!/usr/bin/env python3
"""Proves from a rehearsal's log that a survey was polite.

Reads the CSV that `survey rehearse --log` writes, and checks, over all HTTP
and HTTPS connections:

* to one address, no connection starts before the gap has passed since the end
  of the one before, so none overlap;
* to one /24 (of IPv6: /48), never more than eight connections are open at once;
* after an answer 429 or 503 that names a time, no connection to that address
  starts before the time is over;
* for one listed host, never more than so many connections; a `www.` name
  counts as its apex.

The log's `closed_ms` is never later than the peer's own end, so a pause that
is measured here is never shorter than the one that was kept, and connections
that only seem to overlap are not counted.

Prints what was compared. Exits 1 with the offending rows if a promise was
broken, 2 if the log cannot be read or proves nothing. Connections that the
kernel refuses or loses by itself are in no log, so they are not judged here.
"""

import argparse
import bisect
import collections
import csv
import heapq
import ipaddress
import sys

COLUMNS = {"opened_ms", "closed_ms", "kind", "local", "host", "path",
           "status", "note"}
SHOWN = 20


def main():
    arguments = parse_arguments()
    try:
        connections = read_connections(arguments.log)
    except (OSError, ValueError, KeyError) as error:
        print(f"{arguments.log}: {error}", file=sys.stderr)
        return 2
    if not connections:
        print(f"{arguments.log}: no HTTP connection, nothing is proved",
              file=sys.stderr)
        return 2
    held = [
        check_gaps(connections, arguments.gap_ms),
        check_networks(connections, arguments.per_network),
        check_refusals(connections),
        check_requests(connections, arguments.max_requests),
    ]
    return 0 if all(held) else 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", help="CSV written by `survey rehearse --log`")
    parser.add_argument("--gap-ms", type=float, required=True,
                        help="least time from the end of one to the next")
    parser.add_argument("--per-network", type=int, default=8,
                        help="most connections open to one /24 (default 8)")
    parser.add_argument("--max-requests", type=int, default=8,
                        help="most connections for one host (default 8)")
    return parser.parse_args()


def read_connections(path):
    """All HTTP(S) rows, each with its times as numbers."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = COLUMNS - set(reader.fieldnames or ())
        if missing:
            names = ", ".join(sorted(missing))
            raise ValueError(f"no log of a rehearsal: without {names}")
        rows = [row for row in reader if row["kind"] in {"http", "https"}]
    for row in rows:
        row["opened"] = float(row["opened_ms"])
        row["closed"] = float(row["closed_ms"])
    return rows


def check_gaps(connections, gap):
    by_address = collections.defaultdict(list)
    for row in connections:
        by_address[row["local"]].append(row)
    compared, closest, offences = 0, None, []
    for rows in by_address.values():
        rows.sort(key=lambda row: (row["opened"], row["closed"]))
        # The one that ended last need not be the one that began last.
        last = rows[0]
        for row in rows[1:]:
            pause = row["opened"] - last["closed"]
            compared += 1
            closest = pause if closest is None else min(closest, pause)
            if pause < gap:
                offences.append((pause, last, row))
            if row["closed"] >= last["closed"]:
                last = row
    busiest = max(len(rows) for rows in by_address.values())
    seen = "none" if closest is None else f"{closest:.3f} ms"
    print(f"{len(by_address)} addresses, {len(connections)} connections, "
          f"at most {busiest} to one address")
    print(f"{compared} pauses of at least {gap:g} ms expected; "
          f"closest seen: {seen}; too close: {len(offences)}")
    offences.sort(key=lambda offence: offence[0])
    for pause, before, after in offences[:SHOWN]:
        print(f"  {pause:.3f} ms at {after['local']}:")
        print(f"    {show(before)}\n    {show(after)}")
    return not offences


def check_networks(connections, most):
    """Counts, at each start, what is open in the same network."""
    by_network = collections.defaultdict(list)
    for row in connections:
        by_network[network_of(row["local"])].append(row)
    busiest, offences = 0, []
    for network, rows in by_network.items():
        rows.sort(key=lambda row: row["opened"])
        ends = []
        for row in rows:
            while ends and ends[0] <= row["opened"]:
                heapq.heappop(ends)
            heapq.heappush(ends, row["closed"])
            busiest = max(busiest, len(ends))
            if len(ends) > most:
                offences.append((len(ends), network, row))
    print(f"{len(by_network)} networks, at most {busiest} connections open to "
          f"one; over {most}: {len(offences)}")
    for count, network, row in offences[:SHOWN]:
        print(f"  {count} open to {network}:\n    {show(row)}")
    return not offences


def network_of(address):
    length = 48 if ":" in address else 24
    return ipaddress.ip_network(f"{address}/{length}", strict=False)


def check_refusals(connections):
    """After a refusal that names a time, the address is left alone so long."""
    by_address = collections.defaultdict(list)
    for row in connections:
        by_address[row["local"]].append(row)
    refusals, closest, offences = 0, None, []
    for rows in by_address.values():
        rows.sort(key=lambda row: row["opened"])
        starts = [row["opened"] for row in rows]
        for row in rows:
            wait = retry_after(row)
            if wait is None:
                continue
            refusals += 1
            place = bisect.bisect_left(starts, row["closed"])
            if place == len(rows):
                continue
            spare = starts[place] - row["closed"] - wait
            closest = spare if closest is None else min(closest, spare)
            if spare < 0:
                offences.append((spare, row, rows[place]))
    seen = "nobody came back" if closest is None else (
        f"closest return: {closest:.3f} ms after the time was over")
    print(f"{refusals} refusals that named a time; {seen}; "
          f"too early: {len(offences)}")
    offences.sort(key=lambda offence: offence[0])
    for spare, before, after in offences[:SHOWN]:
        print(f"  {-spare:.3f} ms too early at {after['local']}:")
        print(f"    {show(before)}\n    {show(after)}")
    return not offences


def retry_after(row):
    """Milliseconds, where the row is a refusal that names a time."""
    word, _, seconds = row["note"].partition(" ")
    if row["status"] not in {"429", "503"} or word != "retry-after":
        return None
    return 1000 * float(seconds)


def check_requests(connections, most):
    by_host = collections.defaultdict(list)
    for row in connections:
        by_host[row["host"].removeprefix("www.")].append(row)
    # Nobody can say for whom a connection came that named no host; it still
    # counts for its address.
    unnamed = len(by_host.pop("", []))
    offences = {host: rows for host, rows in by_host.items()
                if len(rows) > most}
    busiest = max(map(len, by_host.values()), default=0)
    print(f"{len(by_host)} hosts, at most {busiest} connections for one; "
          f"over {most}: {len(offences)}; unnamed: {unnamed}")
    for host, rows in sorted(offences.items())[:SHOWN]:
        print(f"  {len(rows)} for {host}:")
        for row in rows:
            print(f"    {show(row)}")
    return not offences


def show(row):
    columns = ("opened_ms", "closed_ms", "kind", "local", "host", "path",
               "status", "note")
    return " ".join(row[column] for column in columns)


if __name__ == "__main__":
    sys.exit(main())
