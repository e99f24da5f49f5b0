"""Compares a diff of two surveyed waves with what was recorded, by other code than the diff's.

    survey diff OLD NEW --format csv > changes.csv
    survey diff OLD NEW --json > diff.json
    python scripts/compare-waves.py OLD_WARC NEW_WARC OLD_DATA NEW_DATA changes.csv diff.json

The WARC files are what the two waves were rehearsed from, the data folders what a survey of them left. Checks that the
hosts with a recorded file in both of which the diff says that something differs are those whose recorded bodies differ;
that hosts without one differ where outcome or bytes in the tables do; and that every transition matrix equals one that is
counted here from the tables. Prints the matrices; exits 1 where something differs. Needs pyarrow and warcio
(scripts/requirements.txt).
"""

import collections
import csv
import hashlib
import json
import re
import sys

import pyarrow.dataset as ds
from warcio.archiveiterator import ArchiveIterator

LEVELS = ["none", "partial", "mostly", "full"]
LIMIT = 512 * 1024


def recorded_hashes(path):
    hashes = {}
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                host = re.sub(r"^https?://([^/]+)/.*$", r"\1", record.rec_headers["WARC-Target-URI"])
                hashes[host] = hashlib.sha256(record.content_stream().read()[:LIMIT]).digest()
    return hashes


def rows(path):
    dataset = ds.dataset(path, format="parquet", partitioning="hive")
    agents = [name for name in dataset.schema.names if re.fullmatch("agent_[a-z0-9_]+", name)]
    agents = [name for name in agents if not name.endswith(("_by", "_vs_unnamed", "_root_allowed"))]
    table = dataset.to_table(columns=["domain", "outcome", "outcome_class", "body_sha256", *agents])
    return {row["domain"]: row for row in table.to_pylist()}


def main():
    old_warc, new_warc, old_data, new_data, changes, figures = sys.argv[1:]
    wrong = 0
    old_hashes, new_hashes = recorded_hashes(old_warc), recorded_hashes(new_warc)
    old, new = rows(old_data), rows(new_data)
    with open(changes, newline="", encoding="utf-8") as file:
        cause_of = {line["host"]: line["cause"] for line in csv.DictReader(file)}
    with open(figures, encoding="utf-8") as file:
        answer = json.load(file)["answers"]["diff"]

    both = [host for host in old if host in new]
    recorded = {host for host in both if host in old_hashes and host in new_hashes}
    expected = {host for host in recorded if old_hashes[host] != new_hashes[host]}
    found = {host for host in recorded if host in cause_of}
    print(f"hosts with a recorded file in both: {len(recorded)}; bodies differ: {len(expected)}; ", end="")
    print(f"the diff says: {len(found)}; not the same: {len(expected ^ found)} {sorted(expected ^ found)[:10]}")
    wrong += len(expected ^ found)

    seen = lambda row: (row["outcome"], row["body_sha256"])
    expected = {host for host in both if seen(old[host]) != seen(new[host])}
    found = {host for host, cause in cause_of.items() if not cause.startswith("only-")}
    print(f"hosts in both: {len(both)}; outcome or bytes differ: {len(expected)}; ", end="")
    print(f"the diff says: {len(found)}; not the same: {len(expected ^ found)} {sorted(expected ^ found)[:10]}")
    wrong += len(expected ^ found)
    print("causes:", dict(collections.Counter(cause_of.values()).most_common()))

    is_determinable = lambda row: row["outcome_class"] in ("readable", "empty", "absent")
    panel = [host for host in both if is_determinable(old[host]) and is_determinable(new[host])]
    matrices = collections.defaultdict(dict)
    for row in answer["transitions"]["rows"]:
        matrices[row["agent"]][row["from"]] = row
    for agent, matrix in matrices.items():
        if agent == "*":
            continue
        column = "agent_" + re.sub("[^a-z0-9]", "_", agent.lower())
        counts = collections.Counter((old[host][column], new[host][column]) for host in panel)
        print(f"\n{agent}, {len(panel)} hosts of the panel, earlier level down, later level across")
        print(f"{'':>10}" + "".join(f"{level:>10}" for level in LEVELS))
        for before in LEVELS:
            cells = [matrix[before][after] for after in LEVELS]
            print(f"{before:>10}" + "".join(f"{cell['numerator']:>10}" for cell in cells))
            for after, cell in zip(LEVELS, cells, strict=True):
                is_right = cell["numerator"] == counts[before, after] and cell["size"] == len(panel)
                wrong += not is_right
                if not is_right:
                    print(f"  WRONG: {before} to {after} is {counts[before, after]} of {len(panel)}")
    print(f"\n{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
