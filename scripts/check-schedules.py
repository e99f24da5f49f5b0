#!/usr/bin/env python3
"""Has those who will read a printed timetable read it: systemd, a shell as cron calls it, and a schema of Kubernetes.

    VENV/bin/python scripts/check-schedules.py --survey target/release/survey

Prints schedules of `survey schedule` for a list and arguments whose names hold what each of the three treats as special.
systemd must accept the units without a word and, as its log of what it read shows, start the program with exactly the
arguments that were given; so must a POSIX shell, after cron's own way with per cent signs; the CronJob must satisfy
scripts/cronjob.schema.json and hold the same arguments. Exits 1 where one does not. Needs systemd-analyze, PyYAML and
jsonschema (scripts/requirements.txt).
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import yaml

NAME = "my 100% list's $HOME $$ %h \"q\" ;.txt"
SPANS = {
    "systemd": ["daily", "weekly", "monthly", "7d", "1h", "6h", "12h"],
    "crontab": ["daily", "weekly", "monthly", "7d"],
    "kubernetes": ["daily", "weekly", "monthly", "7d", "1h", "6h", "12h"],
}
REFUSED = ["3d", "14d", "5h", "90m", "36h"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--survey", default="target/release/survey", help="the program (default %(default)s)")
    survey = Path(parser.parse_args().survey).resolve()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_systemd, check_crontab, check_kubernetes, check_refusals):
            try:
                print(f"ok    {check.__name__.removeprefix('check_')}: {check(survey, Path(folder))}")
            except (AssertionError, jsonschema.ValidationError, yaml.YAMLError, OSError) as error:
                faults += 1
                print(f"FAIL  {check.__name__.removeprefix('check_')}: {type(error).__name__}: {error}")
    return int(bool(faults))


def schedule(survey, folder, scheduler, every, more=(), vantage="a 'lab' at 100% of $HOME, `id`, $(id); \"x\" #1 ä"):
    """What the program prints for a nasty list in a nasty folder, and the arguments that must come out of it."""
    here = folder / "a b%c$d"
    here.mkdir(exist_ok=True)
    (here / NAME).write_text("host-1.example\nhost-2.example\n")
    given = ["--domains", NAME, "--contact", "mailto:you@example.org", "--vantage", vantage, "--gap", "5s"]
    command = [survey, "schedule", "--every", every, "--for", scheduler, *given, *more]
    printed = subprocess.run(command, cwd=here, capture_output=True, text=True)
    base = "/data" if scheduler == "kubernetes" else str(here)
    expected = {f"--domains={base}/{NAME}", f"--out={base}/snapshots", "--contact=mailto:you@example.org"}
    expected |= {f"--vantage={vantage}", "--gap=5s", "--again", "--quiet"}
    return printed, expected, here


def compare(arguments, expected, where):
    within = {word for word in arguments if word.startswith("--resume-within=")}
    assert len(within) == 1, f"{where}: no --resume-within: {arguments}"
    assert set(arguments) - within == expected and len(arguments) == len(expected) + 1, (
        f"{where}:\n  got      {sorted(arguments)}\n  expected {sorted(expected)}"
    )


def check_systemd(survey, folder):
    environment = os.environ | {"SYSTEMD_LOG_LEVEL": "debug"}
    for every in SPANS["systemd"]:
        units = folder / f"units-{every}"
        printed, expected, here = schedule(survey, folder, "systemd", every, ["--into", units, "--user", "root"],
                                           "a 'lab' at 100% of $HOME, \\n; \"x\" #1 ä")
        assert printed.returncode == 0, printed.stderr
        files = sorted(units.iterdir())
        verify = ["systemd-analyze", "verify", *files]
        said = subprocess.run(verify, capture_output=True, text=True)
        assert said.returncode == 0 and not said.stderr.strip(), f"{every}: {said.stderr}"
        read = subprocess.run(verify, capture_output=True, text=True, env=environment).stdout
        line = re.search(r"^\s*Command Line: (.*)$", read, re.MULTILINE)
        assert line, "systemd-analyze does not say what it read"
        # It shows the words as a shell would quote them; dollars are still doubled, variables are looked at later.
        words = [word.replace("$$", "$") for word in shlex.split(re.sub(r"\\([$`])", r"\1", line[1]))]
        assert words[0] == str(survey), words[0]
        compare(words[1:], expected, f"systemd, {every}")
        assert f"WorkingDirectory: {here}\n" in read, f"{every}: another working directory"
        timer = next(file for file in files if file.suffix == ".timer").read_text()
        calendar = re.search(r"^OnCalendar=(.*)$", timer, re.MULTILINE)[1]
        subprocess.run(["systemd-analyze", "calendar", calendar], check=True, capture_output=True)
    return f"{len(SPANS['systemd'])} services and timers verified, their arguments as given"


def check_crontab(survey, folder):
    echo = folder / "echo.py"
    echo.write_text("import json, os, sys; print(json.dumps([os.getcwd(), sys.argv[1:]]))")
    for every in SPANS["crontab"]:
        printed, expected, here = schedule(survey, folder, "crontab", every)
        assert printed.returncode == 0, printed.stderr
        *comments, line = printed.stdout.splitlines()
        assert all(comment.startswith("# ") for comment in comments), comments
        *fields, command = line.split(" ", 5)
        assert all(re.fullmatch(r"\*|\d+", field) for field in fields), fields
        # Cron ends the command at a per cent sign without a backslash, and takes the backslash of one that has it.
        command = re.sub(r"\\%", "\0", command)
        assert "%" not in command, command
        command = command.replace("\0", "%").replace(f"exec {survey} ", f"exec {sys.executable} {echo} ")
        said = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env={"HOME": "/nowhere"})
        assert said.returncode == 0, said.stderr
        where, arguments = json.loads(said.stdout)
        assert where == str(here), where
        compare(arguments, expected, f"crontab, {every}")
    return f"{len(SPANS['crontab'])} lines run by sh, their arguments as given"


def check_kubernetes(survey, folder):
    schema = json.loads((Path(__file__).parent / "cronjob.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    more = ["--image", "registry.example/survey:1", "--claim", "survey-data"]
    for every in SPANS["kubernetes"]:
        printed, expected, _ = schedule(survey, folder, "kubernetes", every, more,
                                        "a 'lab' at 100% of $(HOME), $$(x) \\n: - \"x\" #1 ä \U0001f916")
        assert printed.returncode == 0, printed.stderr
        job = yaml.safe_load(printed.stdout)
        jsonschema.validate(job, schema, jsonschema.Draft202012Validator)
        assert job["spec"]["concurrencyPolicy"] == "Forbid"
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        # Two dollars are one, and one alone begins a variable.
        arguments = [word.replace("$$", "$") for word in container["args"]]
        assert all("$" not in word.replace("$$", "") for word in container["args"]), container["args"]
        compare(arguments, expected, f"kubernetes, {every}")
        broken = json.loads(json.dumps(job))
        broken["spec"]["concurencyPolicy"] = "Forbid"
        assert not jsonschema.Draft202012Validator(schema).is_valid(broken), "the schema takes anything"
    return f"{len(SPANS['kubernetes'])} CronJobs satisfy the schema, their arguments as given"


def check_refusals(survey, folder):
    for every in REFUSED:
        for scheduler in SPANS:
            more = ["--image", "i", "--claim", "c"] if scheduler == "kubernetes" else []
            printed, _, _ = schedule(survey, folder, scheduler, every, more)
            assert printed.returncode == 1 and not printed.stdout, f"{scheduler} cannot keep {every}: {printed.stdout}"
            assert "error: " in printed.stderr, printed.stderr
    return f"{len(REFUSED)} spans that no timetable has are refused"


if __name__ == "__main__":
    sys.exit(main())
