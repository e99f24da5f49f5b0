#!/usr/bin/env python3
"""Kills a rehearsed survey again and again, and compares what it becomes with one that nobody disturbed.

    python scripts/kill.py --survey target/release/survey

A `survey rehearse` serves an invented web of --hosts names for all runs. Two undisturbed surveys say what is to be
expected, and which hosts do not behave the same each time; those are named, and left out of comparisons. Then:

* kills: SIGKILL at --kills moments of a seeded choice: at random times, at first sight of a part that is being written,
  and of a manifest that is; each time the same command goes on. After every kill, the rows that were in whole parts
  must still be there, each once. A snapshot that is complete before all kills are spent is compared, and another begun.
* disk: the folder is on a small tmpfs that fills up and is freed.
* permission: the data folder may not be written any more, and then may again.
* torn: a part is cut, one has other bytes, and a half-written one lies about.
* lock: a second survey starts while one goes on.

Each must end in a snapshot with the same targets, each once, and for each host the same in every column but times.
Prints figures; exits 1 on any fault. A variant that this machine cannot play (tmpfs needs root) is a fault too, unless
--without names it. Needs pyarrow (scripts/requirements.txt).
"""

import argparse
import collections
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet

NOBODY = 65534
# What differs between two looks at the same answer (`wire_bytes` where it is cut short), or says what others say.
VOLATILE = {"fetched_at", "elapsed_ms", "hops", "headers", "confirmed_at", "retry_after_s", "last_modified", "wire_bytes", "body"}
VARIANTS = ["kills", "disk", "permission", "torn", "lock"]


def main():
    arguments = parse_arguments()
    folder = Path(tempfile.mkdtemp(prefix="survey-kill-", dir=arguments.folder))
    folder.chmod(0o755)
    try:
        with Scene(folder, arguments) as scene:
            faults = play(scene, arguments)
    finally:
        if arguments.keep:
            print(f"kept in {folder}")
        else:
            shutil.rmtree(folder)
    for fault in faults:
        print(f"FAULT {fault}")
    print(f"{len(faults)} faults")
    return int(bool(faults))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--survey", default="target/release/survey", help="the program (default %(default)s)")
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gap", default="1ms", help="of each survey (default %(default)s)")
    parser.add_argument("--part-age", default="200ms", help="of each survey (default %(default)s)")
    parser.add_argument("--only", choices=VARIANTS, nargs="+", default=VARIANTS)
    parser.add_argument("--without", choices=VARIANTS, nargs="+", default=[])
    parser.add_argument("--folder", help="where the temporary folder is made")
    parser.add_argument("--keep", action="store_true", help="leave it there")
    return parser.parse_args()


def play(scene, arguments):
    faults = []
    calm, seconds = scene.undisturbed("calm")
    again, _ = scene.undisturbed("calm-again")
    restless = {name for name in calm if calm[name] != again.get(name)}
    parts = len(scene.parts("calm"))
    print(f"undisturbed: {len(calm)} hosts in {seconds:.1f} s, {parts} parts, {scene.size('calm')} bytes")
    print(f"hosts that two undisturbed surveys saw differently: {len(restless)} {describe(calm, again, restless)}")
    if len(restless) * 100 > len(calm):
        faults.append(f"{len(restless)} hosts differ between undisturbed surveys: nothing could be proved")
    expected = Expected(calm, restless)
    if set(calm) != set(scene.names):
        faults.append("the undisturbed survey does not have the targets of the list")
    for variant in arguments.only:
        if variant in arguments.without:
            print(f"{variant}: left out, as asked")
            continue
        began = time.monotonic()
        try:
            found = globals()[f"play_{variant}"](scene, expected, seconds, arguments)
        except (AssertionError, OSError, subprocess.SubprocessError, pyarrow.ArrowException) as error:
            found = [f"{type(error).__name__}: {error}"]
        print(f"{variant}: {len(found)} faults, {time.monotonic() - began:.1f} s")
        faults += [f"{variant}: {fault}" for fault in found]
    return faults


def describe(one, two, names):
    columns = collections.Counter()
    for name in names:
        for column, value in one[name].items():
            columns[column] += two.get(name, {}).get(column) != value
    return dict(columns.most_common(5)) if names else ""


class Expected:
    """What an undisturbed survey saw."""

    def __init__(self, rows, restless):
        self.rows = rows
        self.restless = restless

    def compare(self, scene, name):
        """Faults of a snapshot that should be complete."""
        faults = []
        manifest = scene.manifest(name)
        if manifest["state"] != "complete":
            faults.append(f"{name} is {manifest['state']}")
        counts = collections.Counter(index for part in scene.parts(name) for index in scene.indexes(part))
        lost = len(scene.names) - len(counts)
        doubled = sum(count > 1 for count in counts.values())
        if lost or doubled or set(counts) != set(range(len(scene.names))):
            faults.append(f"{name}: {lost} targets lost, {doubled} doubled")
        rows = scene.rows(name)
        compared = [host for host in self.rows if host not in self.restless]
        differing = [host for host in compared if rows.get(host) != self.rows[host]]
        for host in differing[:5]:
            other = rows.get(host, {})
            columns = {key: (value, other.get(key)) for key, value in self.rows[host].items() if other.get(key) != value}
            faults.append(f"{name}: {host} differs: {str(columns)[:400]}")
        if differing:
            faults.append(f"{name}: {len(differing)} of {len(compared)} hosts differ")
        faults += scene.check_manifest(name)
        torn = len(list((scene.run(name) / "torn").glob("*")))
        print(
            f"  {name}: {len(counts)} targets, {lost} lost, {doubled} doubled; {len(compared)} hosts compared in "
            f"{len(next(iter(rows.values())))} columns, {len(differing)} differ; {len(manifest['sessions'])} sessions, "
            f"{len(manifest['parts'])} parts, {torn} files put aside"
        )
        return faults


class Scene:
    """The web, and surveys of it."""

    def __init__(self, folder, arguments):
        self.folder = folder
        self.arguments = arguments
        self.seed = arguments.seed
        self.names = [f"host-{number}.example" for number in range(1, arguments.hosts + 1)]
        # A name of its own, where anybody may start it: one variant is played by a user without rights.
        self.program = folder / "survey"
        shutil.copy(arguments.survey, self.program)
        (folder / "list.txt").write_text("\n".join(self.names) + "\n")

    def __enter__(self):
        command = [self.program, "rehearse", "--domains", "list.txt", "--seed", str(self.seed), "--until-stdin-closes"]
        pipe = subprocess.PIPE
        self.web = subprocess.Popen(command, cwd=self.folder, stdin=pipe, stdout=pipe, text=True)
        line = self.web.stdout.readline()
        assert line, "the rehearsal ended before it began"
        (self.folder / "web.json").write_text(line)
        return self

    def __exit__(self, *_):
        self.web.stdin.close()
        self.web.wait()

    def start(self, name, out=None, user=None):
        """A survey, always by the same command for the same name."""
        command = [self.program, "--domains", self.folder / "list.txt", "--rehearse", f"@{self.folder}/web.json"]
        command += ["--name", name, "--out", out or self.folder / "out", "--date", "2026-01-02", "--no-second-try"]
        command += ["--gap", self.arguments.gap, "--part-age", self.arguments.part_age, "--quiet"]
        # Longer than any host of the rehearsal that answers at all takes, on a machine that does other things too.
        command += ["--connect-timeout", "3s", "--read-timeout", "3s", "--total-timeout", "8s"]
        who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.folder, stdin=null, stdout=null, stderr=pipe, text=True, errors="replace", **who
        )

    def finish(self, name, out=None, user=None):
        """Runs a survey to its end; what it said."""
        survey = self.start(name, out, user)
        said = survey.communicate()[1]
        return survey.returncode, said

    def undisturbed(self, name):
        began = time.monotonic()
        code, said = self.finish(name)
        assert code == 0, said
        return self.rows(name), time.monotonic() - began

    def list(self, name, out=None):
        return (out or self.folder / "out") / name

    def run(self, name, out=None):
        return self.list(name, out) / "runs/2026-01-02"

    def data(self, name, out=None):
        return self.list(name, out) / "data/date=2026-01-02"

    def parts(self, name, out=None):
        return sorted(self.data(name, out).glob("*.parquet"))

    def size(self, name):
        return sum(part.stat().st_size for part in self.parts(name))

    def manifest(self, name, out=None):
        path = self.run(name, out) / "manifest.json"
        return json.loads(path.read_text()) if path.exists() else None

    def indexes(self, part):
        return pyarrow.parquet.read_table(part, columns=["target_index"], partitioning=None)["target_index"].to_pylist()

    def done(self, name, out=None):
        """The targets in whole parts, each of which must be there once; reading fails on a part that is not whole."""
        indexes = [index for part in self.parts(name, out) for index in self.indexes(part)]
        assert len(indexes) == len(set(indexes)), f"{name}: {len(indexes) - len(set(indexes))} targets doubled"
        return set(indexes)

    def rows(self, name):
        """Each host's row without what differs each time; the body stands there by its hash, which is checked."""
        rows = {}
        for part in self.parts(name):
            table = pyarrow.parquet.read_table(part, partitioning=None)
            for row in table.to_pylist():
                body, sha256 = row["body"], row["body_sha256"]
                assert body is None or hashlib.sha256(body).digest() == sha256, f"{row['domain']}: another body"
                rows[row["domain"]] = {key: value for key, value in row.items() if key not in VOLATILE}
        return rows

    def check_manifest(self, name):
        """The manifest speaks of the files that are there, and of nothing else."""
        manifest, faults = self.manifest(name), []
        files = {path.name: path for path in self.parts(name)}
        if set(files) != {part["file"] for part in manifest["parts"]}:
            faults.append(f"{name}: the manifest has other parts than the folder")
        for part in manifest["parts"]:
            path = files.get(part["file"])
            if path and hashlib.sha256(path.read_bytes()).hexdigest() != part["sha256"]:
                faults.append(f"{name}: {part['file']} is not what the manifest says")
        rows = sum(part["rows"] for part in manifest["parts"])
        if not rows == manifest["rows"] == sum(manifest["outcomes"].values()) == len(self.names):
            faults.append(f"{name}: the manifest counts {manifest['rows']} rows, its parts {rows}")
        if list((self.run(name) / "writing").glob("*")):
            faults.append(f"{name}: something was left half-written")
        return faults


def play_kills(scene, expected, seconds, arguments):
    dice = random.Random(arguments.seed)
    faults, aimed, left, early = [], collections.Counter(), collections.Counter(), 0
    wave, name, before = 0, "killed-0", set()
    mean = max(0.5, seconds / arguments.kills)
    kills = 0
    while kills < arguments.kills:
        survey = scene.start(name)
        moment = dice.choice(["time", "time", "time", "part", "manifest"])
        await_moment(scene, name, survey, moment, dice.uniform(0, 2 * mean))
        if survey.poll() is None:
            survey.send_signal(signal.SIGKILL)
        said = survey.communicate()[1]
        if survey.returncode == -signal.SIGKILL:
            kills += 1
            aimed[moment] += 1
            early += scene.manifest(name) is None
            left["part"] += any((scene.run(name) / "writing").glob("part-*"))
            left["manifest"] += (scene.run(name) / "manifest.json.new").exists()
        elif survey.returncode != 0:
            faults.append(f"{name}: exit code {survey.returncode}: {said.strip()[-300:]}")
            break
        after = scene.done(name)
        if before - after:
            faults.append(f"{name}: {len(before - after)} rows of whole parts are gone after kill {kills}")
        before = after
        manifest = scene.manifest(name)
        if manifest and manifest["state"] == "complete":
            faults += expected.compare(scene, name)
            wave, before = wave + 1, set()
            name = f"killed-{wave}"
    if scene.manifest(name):
        code, said = scene.finish(name)
        if code:
            faults.append(f"{name}: exit code {code}: {said.strip()[-300:]}")
        faults += expected.compare(scene, name)
    print(f"  {kills} kills: {dict(aimed)}, {early} of them before there was a manifest")
    print(f"  after them lay about: {left['part']} half-written parts, {left['manifest']} half-written manifests")
    if arguments.kills >= 50 and not (left["part"] and left["manifest"]):
        faults.append("no kill met a part, or none a manifest, while it was being written")
    return faults


def await_moment(scene, name, survey, moment, span):
    """Waits for a random time, and from then on for the sight of what is aimed at."""
    writing, fresh = scene.run(name) / "writing", scene.run(name) / "manifest.json.new"
    until = time.monotonic() + span
    while time.monotonic() < until and survey.poll() is None:
        time.sleep(0.005)
    while moment != "time" and survey.poll() is None:
        if moment == "manifest" and os.path.exists(fresh):
            return
        if moment == "part" and os.path.isdir(writing) and any(entry.startswith("part-") for entry in os.listdir(writing)):
            return


def play_disk(scene, expected, seconds, arguments):
    small = scene.folder / "small"
    small.mkdir()
    # Room for the whole, of which something else takes most.
    room = scene.size("calm") * 3 + (8 << 20)
    free = scene.size("calm") // 3
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", small], capture_output=True, text=True)
    assert mount.returncode == 0, f"no tmpfs can be mounted here: {mount.stderr.strip()}"
    try:
        ballast = small / "ballast"
        with open(ballast, "wb") as file:
            status = os.statvfs(small)
            file.truncate(0)
            left = status.f_bavail * status.f_frsize - free
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 20)))
        faults = []
        code, said = scene.finish("full", small)
        whole = scene.done("full", small)
        if code != 1 or "No space left" not in said:
            faults.append(f"a full disk ended with exit code {code}: {said.strip()[-300:]}")
        again, said_again = scene.finish("full", small)
        if again != 1 or scene.done("full", small) < whole:
            faults.append(f"a second try on the full disk ended with exit code {again}: {said_again.strip()[-300:]}")
        print(f"  full after {len(whole)} rows: {said.strip().splitlines()[-1]}")
        ballast.unlink()
        code, said = scene.finish("full", small)
        if code:
            faults.append(f"the freed disk: exit code {code}: {said.strip()[-300:]}")
        shutil.copytree(small / "full", scene.list("full"))
        return faults + expected.compare(scene, "full")
    finally:
        subprocess.run(["umount", small], check=True)


def play_permission(scene, expected, seconds, arguments):
    user = NOBODY if os.geteuid() == 0 else None
    out = scene.folder / "guarded"
    out.mkdir()
    if user:
        os.chown(out, user, user)
    survey = scene.start("guarded", out, user)
    await_parts(scene, "guarded", survey, 2, out)
    data = scene.data("guarded", out)
    data.chmod(0o555)
    said = survey.communicate()[1]
    faults = []
    whole = scene.done("guarded", out)
    if survey.returncode != 1 or "Permission denied" not in said:
        faults.append(f"exit code {survey.returncode}: {said.strip()[-300:]}")
    print(f"  refused after {len(whole)} rows: {said.strip().splitlines()[-1]}")
    data.chmod(0o755)
    code, said = scene.finish("guarded", out, user)
    if code:
        faults.append(f"permission given back: exit code {code}: {said.strip()[-300:]}")
    if whole - scene.done("guarded", out):
        faults.append("rows of whole parts are gone")
    shutil.copytree(out / "guarded", scene.list("guarded"))
    return faults + expected.compare(scene, "guarded")


def play_torn(scene, expected, seconds, arguments):
    survey = scene.start("torn")
    await_parts(scene, "torn", survey, 3)
    survey.kill()
    survey.communicate()
    first, second, third = scene.parts("torn")[:3]
    first.write_bytes(first.read_bytes()[: first.stat().st_size // 2])
    other = bytearray(second.read_bytes())
    other[len(other) // 3] ^= 0xFF
    second.write_bytes(other)
    torn = {first.read_bytes(), second.read_bytes(), b"half a part"}
    (scene.run("torn") / "writing").mkdir(exist_ok=True)
    (scene.run("torn") / "writing/part-99999.parquet").write_bytes(b"half a part")
    kept = set(scene.indexes(third))
    code, said = scene.finish("torn")
    faults = []
    if code or said.count("is torn") != 2:
        faults.append(f"exit code {code}: {said.strip()[-500:]}")
    aside = {path.read_bytes() for path in (scene.run("torn") / "torn").iterdir()}
    if torn - aside:
        faults.append(f"{len(torn - aside)} torn files were not kept as they were")
    if kept - set(scene.indexes(third)):
        faults.append("a whole part has changed")
    return faults + expected.compare(scene, "torn")


def play_lock(scene, expected, seconds, arguments):
    first = scene.start("locked")
    await_parts(scene, "locked", first, 1)
    code, said = scene.finish("locked")
    faults = []
    if code != 1 or "another run is writing" not in said:
        faults.append(f"the second survey ended with exit code {code}: {said.strip()[-300:]}")
    if first.poll() is not None:
        faults.append("the first survey ended before the second one did: nothing is proved")
    said = first.communicate()[1]
    if first.returncode:
        faults.append(f"the first survey ended with exit code {first.returncode}: {said.strip()[-300:]}")
    return faults + expected.compare(scene, "locked")


def await_parts(scene, name, survey, count, out=None):
    while len(scene.parts(name, out)) < count:
        assert survey.poll() is None, f"{name} ended before it had {count} parts: {survey.communicate()[1][-300:]}"
        time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(main())
