"""Compares a rehearsed wave with what was recorded: bodies by hash, labelled failures by outcome, verdicts by ingest.

    python scripts/compare-wave.py WARC LABELS SURVEYED_DATA INGESTED_DATA ORACLE

WARC and LABELS are what the wave was rehearsed from, SURVEYED_DATA and INGESTED_DATA the data folders of a survey over
sockets and of an ingest of the same WARC, ORACLE the table of Google's verdicts for the wave. Prints what was compared;
exits 1 on a body, a verdict or a label that differs. Needs pyarrow and warcio (scripts/requirements.txt).
"""

import collections
import gzip
import hashlib
import re
import sys

import pyarrow.dataset as ds
from warcio.archiveiterator import ArchiveIterator

# What each label must come back as. A listed www. twin that answers gives its own file instead, and says so.
EXPECTED = {
    "dns": {"dns-nxdomain"},
    "timeout": {"connect-timeout", "tls-timeout", "http-timeout"},
    "tls": {"tls-alert"},
    "refused": {"connect-refused"},
    "reset": {"http-reset", "tls-protocol"},
    "redirect_loop": {"redirect-loop"},
    "unreachable": {"connect-unreachable", "connect-refused", "connect-timeout"},
    "other": {"connect-unreachable", "connect-refused", "connect-timeout"},
}
STATUS = {401: "refused-401", 403: "refused-403", 404: "absent-404", 410: "absent-410", 429: "limited-429"}


def recorded_hashes(path):
    hashes = {}
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                host = re.sub(r"^https?://([^/]+)/.*$", r"\1", record.rec_headers["WARC-Target-URI"])
                hashes[host] = hashlib.sha256(record.content_stream().read()).digest()
    return hashes


def labels(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        return {line.split("\t")[0]: line.rstrip("\n").split("\t")[1:] for line in file}


def word_of_page(status):
    if 200 <= status < 300:
        return "html"
    if 300 <= status < 400:
        return "redirect-no-location" if status in (301, 302, 303, 307, 308) else "other-3xx"
    if 520 <= status <= 530:
        return "origin-down"
    return STATUS.get(status, "server-error" if status >= 500 else "other-4xx")


def rows(path, columns):
    table = ds.dataset(path, format="parquet", partitioning="hive").to_table(columns=columns)
    return {row["domain"]: row for row in table.to_pylist()}


def main():
    warc, label_file, surveyed, ingested, oracle = sys.argv[1:]
    wrong = 0
    hashes, label_of = recorded_hashes(warc), labels(label_file)
    schema = ds.dataset(surveyed, format="parquet", partitioning="hive").schema
    verdicts = [name for name in schema.names if name.startswith(("agent_", "unnamed_", "any_ai", "core_training"))]
    verdicts += ["outcome", "named_agents", "line_count", "group_count", "sitemaps", "oddities", "other_records"]
    survey = rows(surveyed, ["domain", "outcome", "authority", "body_sha256", *verdicts])
    ingest = rows(ingested, ["domain", "body_sha256", *verdicts])

    equal = sum(survey[host]["body_sha256"] == hashes[host] for host in hashes if host in survey)
    print(f"bodies: {equal} of {len(hashes)} recorded hosts have the recorded body's sha256")
    wrong += len(hashes) - equal

    counts = collections.Counter()
    for host, (kind, status, cause) in label_of.items():
        row = survey.get(host)
        if row is None:
            counts[(kind, cause or status, "no row", "", "rejected")] += 1
            continue
        authority = row["authority"] or "-"
        if kind == "text":
            expected = None
        elif kind == "html":
            expected = {word_of_page(int(status))}
        elif kind == "empty":
            expected = {"empty"}
        else:
            expected = EXPECTED[cause]
        answered_by_twin = "www" in authority and label_of.get("www." + host) is not None
        is_right = expected is None or row["outcome"] in expected or answered_by_twin
        wrong += not is_right
        mark = "as recorded" if expected is None else "the listed twin's" if answered_by_twin else "as expected"
        counts[(kind, cause or status, row["outcome"], authority, mark if is_right else "WRONG")] += 1
    print(f"\n{'label':<24}{'outcome':<24}{'authority':<14}{'hosts':>6}")
    for (kind, what, outcome, authority, mark), count in sorted(counts.items(), key=lambda item: (item[0][:2], -item[1])):
        print(f"{kind + ' ' + what:<24}{outcome:<24}{authority:<14}{count:>6}  {mark}")

    differ = [
        (host, name)
        for host in hashes
        if host in survey and host in ingest
        for name in verdicts
        if survey[host][name] != ingest[host][name]
    ]
    compared = sum(host in survey and host in ingest for host in hashes)
    print(f"\nsockets against ingest: {compared} hosts x {len(verdicts)} columns, {len(differ)} differ {differ[:10]}")
    wrong += len(differ)

    with gzip.open(oracle, "rt", encoding="utf-8") as file:
        agents = next(file).rstrip("\n").split("\t")[1].split()
        names = ["agent_" + re.sub("[^a-z0-9]", "_", agent.lower()) + "_root_allowed" for agent in agents]
        next(file)
        same, without, different = 0, 0, []
        for line in file:
            host, root = line.split("\t")[:2]
            for name, agent, letter in zip(names, agents, root, strict=True):
                allowed = survey[host][name]
                if allowed is None:
                    without += 1
                elif allowed == (letter == "A"):
                    same += 1
                else:
                    different.append((host, agent, letter, survey[host]["outcome"]))
    print(f"\nroot verdicts against Google's: {same} equal, {len(different)} differ, {without} on answers that are no")
    print("robots.txt and so have no verdict in the table (tests/oracle.rs judges those on bytes)")
    for row in different:
        print("  differs:", *row)
    print(f"\n{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
