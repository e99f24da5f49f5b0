"""Counts templates and who decided in WARC files of robots.txt, by other code than the survey's.

    python scripts/count-templates.py WARC... [--data SNAPSHOT_DATA]

Recognises the templates by regular expressions over lines, each file alone, and prints for each archive the hosts by
template, by decision, and those that name CCBot and GPTBot. With --data, the folder that `survey ingest` left of one
archive, compares host by host and lists where the two differ; exits 1 if they do. Only those templates are counted that
stand in files of 2017 to 2024. Needs warcio, and with --data pyarrow (scripts/requirements.txt).
"""

import argparse
import collections
import pathlib
import re
import sys
import tomllib

from warcio.archiveiterator import ArchiveIterator

LIMIT = 512 * 1024
CATALOGUE = pathlib.Path(__file__).parent.parent / "inputs" / "agents.toml"


def files(path):
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                host = re.sub(r"^https?://([^/]+)/.*$", r"\1", record.rec_headers["WARC-Target-URI"])
                yield host, record.content_stream().read()[:LIMIT].decode("latin-1")


class File:
    """A body cut into lines; agents with the rules of the group that they stand in, as written."""

    def __init__(self, body):
        self.body = body
        self.groups = []
        # Rules before the first group belong to nobody, and still tell who wrote them.
        self.closed, self.opened = set(), set()
        open_run = False
        for line in re.split(r"\r\n|\r|\n", body.removeprefix("\xef\xbb\xbf")):
            match = re.match(r"[ \t]*(user-agent|allow|disallow)[ \t]*:[ \t]*([^#]*)", line.replace("\0", ""), re.I)
            if not match:
                continue
            key, value = match[1].lower(), match[2].strip().lower()
            if key == "user-agent":
                if not open_run:
                    self.groups.append(([], []))
                open_run = True
                if value:
                    self.groups[-1][0].append(value)
            else:
                open_run = False
                if value:
                    (self.closed if key == "disallow" else self.opened).add(value)
                if self.groups and value:
                    self.groups[-1][1].append((key[0], value))
        self.agents = collections.Counter(agent for agents, _ in self.groups for agent in agents)

    def is_page(self):
        start = self.body.removeprefix("\xef\xbb\xbf").lstrip().lower()
        return start.startswith(("<!doctype html", "<html"))

    def rules(self, agent):
        return {rule for agents, rules in self.groups if agent in agents for rule in rules}


FIVE = ["googlebot", "bingbot", "facebookbot", "linkedinbot/1.0", "twitterbot"]

TEMPLATES = {
    "squarespace": lambda f: "# Squarespace Robots Txt" in f.body and "/config" in f.closed,
    "wix": lambda f: "/pro-gallery-webapp/v1/galleries/" in f.body or "SEO Tools > Robots.txt Editor" in f.body,
    "wordpress-com": lambda f: "If you are regularly crawling WordPress.com sites" in f.body,
    "blogger": lambda f: "Mediapartners-Google" in f.body
    and f.agents["mediapartners-google"] > 0
    and not f.rules("mediapartners-google")
    and f.rules("*") in ({("d", "/search"), ("a", "/")}, {("d", "/search"), ("d", "/share-widget"), ("a", "/")}),
    "civicplus": lambda f: "/activedit" in f.closed,
    "govoffice": lambda f: {"/admin/", "/manager/", "/*design*", "/*guestbook*"} <= f.closed,
    "five-let-in": lambda f: all(f.agents[agent] and f.rules(agent) == {("a", "/")} for agent in FIVE) and "/" in f.closed,
    "wordpress": lambda f: "/wp-admin/admin-ajax.php" in f.opened and "/wp-admin/" in f.closed,
    "drupal": lambda f: {"/node/add/", "/comment/reply/"} <= f.closed and bool({"/core/", "/includes/"} & f.closed),
    "joomla": lambda f: {"/administrator/", "/components/", "/language/", "/modules/"} <= f.closed,
    "yoast": lambda f: "# START YOAST BLOCK" in f.body,
}


def decide(file, templates, ai):
    """Who decided: tokens of the AI agents, each as often as it stands, less those that a template wrote."""
    named = collections.Counter({agent: n for agent, n in file.agents.items() if agent.split("/")[0].strip() in ai})
    if not named:
        return "none"
    wrote, by = set(), "default"
    if "squarespace" in templates:
        stack = {agent for agents, _ in file.groups if "*" in agents for agent in agents}
        if "gptbot" not in stack and file.rules("gptbot") == {("d", "/")}:
            stack |= {agent for agents, _ in file.groups if "gptbot" in agents for agent in agents}
            by = "switch"
        wrote |= stack
    if "govoffice" in templates and file.rules("ccbot") == {("d", "/admin/"), ("d", "/manager/")}:
        wrote.add("ccbot")
    if "five-let-in" in templates:
        wrote.add("facebookbot")
    own = [agent for agent, count in named.items() if count > (agent in wrote)]
    return "own" if own else by


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archives", nargs="+")
    parser.add_argument("--data")
    arguments = parser.parse_args()
    with open(CATALOGUE, "rb") as file:
        sets = {one["name"]: {token.lower() for token in one["tokens"]} for one in tomllib.load(file)["set"]}
    stored = {}
    if arguments.data:
        import pyarrow.dataset as ds

        data = ds.dataset(arguments.data, format="parquet", partitioning="hive")
        for row in data.to_table(columns=["domain", "templates", "decision"]).to_pylist():
            if row["templates"] is not None:
                stored[row["domain"]] = ({item["template"] for item in row["templates"]}, row["decision"])
    wrong = 0
    for archive in arguments.archives:
        counts = collections.Counter()
        for host, body in files(archive):
            file = File(body)
            if file.is_page():
                counts["page"] += 1
                continue
            found = {name for name, is_it in TEMPLATES.items() if is_it(file)}
            decision = decide(file, found, sets["ai-v1"])
            counts.update(f"template {name}" for name in found)
            counts[f"decision {decision}"] += 1
            counts.update(f"names {token}" for token in ("ccbot", "gptbot") if file.agents[token])
            if host in stored and stored[host] != (found, decision):
                templates, decided = stored[host]
                differ = (templates & set(TEMPLATES)) ^ found
                if differ or decided != decision:
                    wrong += 1
                    print(f"{host}: the survey says {sorted(templates)}, {decided}; here {sorted(found)}, {decision}")
        print(archive)
        for word, count in sorted(counts.items()):
            print(f"{count:>7}  {word}")
    if arguments.data:
        print(f"{wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
