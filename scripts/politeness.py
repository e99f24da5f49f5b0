#!/usr/bin/env python3
"""Proves from a rehearsal's log that a survey was polite.

Reads the CSV that `survey rehearse --log` writes, and checks, over all HTTP
and HTTPS connections:

* to one address, no connection starts before the gap has passed since the end
  of the one before, so none overlap; an address with more than 256 hosts may
  be asked five times as often, as a giant in good health is;
* after a 429 or 503 none starts before the time that it named, or else a
  back-off, has passed;
* to one /24, never more than eight are open at once;
* for one listed host, never more than so many connections; a `www.` name
  counts as its apex.

Prints what was compared. Exits 1 with the offending rows if a promise was
broken, 2 if the log cannot be read or proves nothing. Connections that the
kernel refuses or loses by itself are in no log, so they are not judged here.
"""

import argparse
import collections
import csv
import sys

COLUMNS = {"opened_ms", "closed_ms", "kind", "local", "host", "path",
           "status", "note"}
SHOWN = 20
GIANT = 256
GROWTH = 5
RETRY_AFTER = "retry-after "


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
    results = [check_gaps(connections, arguments.gap_ms),
               check_refusals(connections, arguments.backoff_ms),
               check_networks(connections, arguments.max_network),
               check_requests(connections, arguments.max_requests)]
    return 0 if all(results) else 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", help="CSV written by `survey rehearse --log`")
    parser.add_argument("--gap-ms", type=float, required=True,
                        help="least time from the end of one to the next")
    parser.add_argument("--backoff-ms", type=float, default=1000,
                        help="least time after a refusal that names none "
                             "(default 1000, as in a rehearsal)")
    parser.add_argument("--max-network", type=int, default=8,
                        help="most open at once to one /24 (default 8)")
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
    compared, closest, offences, giants = 0, None, [], 0
    for rows in by_address.values():
        is_giant = len({row["host"] for row in rows}) > GIANT
        giants += is_giant
        least = gap / GROWTH if is_giant else gap
        rows.sort(key=lambda row: (row["opened"], row["closed"]))
        # The one that ended last need not be the one that began last.
        last = rows[0]
        for row in rows[1:]:
            pause = row["opened"] - last["closed"]
            compared += 1
            if not is_giant:
                closest = pause if closest is None else min(closest, pause)
            if pause < least:
                offences.append((pause, last, row))
            if row["closed"] >= last["closed"]:
                last = row
    busiest = max(len(rows) for rows in by_address.values())
    seen = "none" if closest is None else f"{closest:.3f} ms"
    print(f"{len(by_address)} addresses, {len(connections)} connections, "
          f"at most {busiest} to one address")
    print(f"{compared} pauses of at least {gap:g} ms expected "
          f"({gap / GROWTH:g} ms at {giants} giants); "
          f"closest seen: {seen}; too close: {len(offences)}")
    offences.sort(key=lambda offence: offence[0])
    for pause, before, after in offences[:SHOWN]:
        print(f"  {pause:.3f} ms at {after['local']}:")
        print(f"    {show(before)}\n    {show(after)}")
    return not offences


def check_refusals(connections, backoff):
    """Nobody is asked again before the time that they named is over."""
    by_address = collections.defaultdict(list)
    for row in connections:
        by_address[row["local"]].append(row)
    refusals, named, offences = 0, 0, []
    for rows in by_address.values():
        rows.sort(key=lambda row: row["opened"])
        for number, row in enumerate(rows):
            if row["status"] not in {"429", "503"}:
                continue
            refusals += 1
            wanted = backoff
            if row["note"].startswith(RETRY_AFTER):
                named += 1
                wanted = 1000 * float(row["note"].removeprefix(RETRY_AFTER))
            after = [later for later in rows[number + 1:]
                     if later["opened"] > row["closed"]]
            if after and after[0]["opened"] - row["closed"] < wanted:
                offences.append((row, after[0]))
    print(f"{refusals} refusals, {named} of them with a time; asked again "
          f"too early: {len(offences)}")
    for before, after in offences[:SHOWN]:
        print(f"    {show(before)}\n    {show(after)}")
    return not offences


def check_networks(connections, most):
    """Connections open at once to each /24."""
    events = collections.defaultdict(list)
    for row in connections:
        network = row["local"].rsplit(".", 1)[0]
        events[network].append((row["opened"], 1))
        events[network].append((row["closed"], -1))
    busiest, offences = 0, []
    for network, changes in events.items():
        is_open = most_open = 0
        # What closes at the moment at which another opens has made room.
        for _, change in sorted(changes):
            is_open += change
            most_open = max(most_open, is_open)
        busiest = max(busiest, most_open)
        if most_open > most:
            offences.append((network, most_open))
    print(f"{len(events)} networks, at most {busiest} connections open at "
          f"once to one; over {most}: {len(offences)}")
    for network, most_open in offences[:SHOWN]:
        print(f"  {most_open} to {network}.0/24")
    return not offences


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
