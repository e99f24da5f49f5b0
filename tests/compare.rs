//! Snapshots side by side: judged again, compared, and as a series.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod corpus;
mod made;
mod model;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, RecordBatch, StringArray, StructArray, new_null_array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Fields};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use survey::classify::{Classifier, Row};
use survey::outcome::Cause;
use survey::snapshot::{Snapshot, rejudge, rejudge_part};
use survey::table::{Provenance, Table, columns, read_columns};

use self::made::{Seen, classifier, judge, open};
use crate::whole::{fail, path_of, run, succeed, world};

const GPTBOT: &str = "User-agent: GPTBot\nDisallow: /\n";

#[test]
fn a_snapshot_judged_again_as_before_has_the_same_columns() {
    let world = world(300);
    let folder = world.path();
    let probes = ["--probe", "repeat=50%,identity=0.3", "--www", "probe", "--connect-timeout", "2s", "--no-second-try"];
    let base = ["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--quiet"];
    succeed(folder, &[&base[..], &probes].concat());
    let snapshot = Snapshot::locate(&path_of(folder, "rehearsals/list")).unwrap();
    let classifier = classifier("rfc");
    let table = table(&classifier);
    let mut compared = 0;
    for part in snapshot.parts().unwrap() {
        let rows: Vec<Row> = rejudge_part(&part, &classifier).flat_map(Result::unwrap).collect();
        let again = table.batch(&rows).unwrap();
        let names: Vec<&str> = again.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
        let stored = whole(std::slice::from_ref(&part), &names);
        assert_eq!(stored.num_columns(), again.num_columns());
        for (field, (one, other)) in stored.schema().fields().iter().zip(stored.columns().iter().zip(again.columns())) {
            let plain = |array: &ArrayRef| -> ArrayRef { plain(array) };
            assert_eq!(&plain(one), &plain(other), "{} differs when judged again", field.name());
            compared += 1;
        }
    }
    assert!(compared > 150, "only {compared} columns compared");

    let mut rows = 0;
    let mut with_hops = 0;
    rejudge(&snapshot.parts().unwrap(), &classifier, &mut |row| {
        rows += 1;
        with_hops += u32::from(row.observation.asking.is_some_and(|asking| !asking.hops.is_empty()));
        Ok(())
    })
    .unwrap();
    assert_eq!(rows, 300);
    assert!(with_hops > 200, "{with_hops}");
}

#[test]
fn every_row_is_judged_again_once_and_a_failure_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let hosts: Vec<(String, Seen)> = (0..50).map(|number| (format!("h{number}.example"), file(GPTBOT))).collect();
    let snapshot = write(folder.path(), "2026-01-02", &classifier("rfc"), &hosts);
    let parts = snapshot.parts().unwrap();
    let root = classifier("root");
    let mut seen = Vec::new();
    rejudge(&parts, &root, &mut |row| {
        assert!(row == judge(&root, row.observation.target.index, row.observation.target.domain.as_str(), &hosts[0].1));
        seen.push(row.observation.target.index);
        Ok(())
    })
    .unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (0..50).collect::<Vec<_>>());

    let mut taken = 0;
    let stopped = rejudge(&parts, &root, &mut |_| {
        taken += 1;
        anyhow::ensure!(taken < 5, "enough");
        Ok(())
    });
    assert_eq!(stopped.unwrap_err().to_string(), "enough");
    fs::write(&parts[3], "torn").unwrap();
    let torn = rejudge(&parts, &root, &mut |_| Ok(())).unwrap_err();
    assert!(format!("{torn:#}").contains("part-00003.parquet"), "{torn:#}");
}

/// One host for each thing that can happen.
fn two_snapshots(folder: &Path) {
    let before = [
        ("same.example", file(GPTBOT)),
        ("tightened.example", file("User-agent: *\nDisallow: /a\n")),
        ("loosened.example", file("User-agent: CCBot\nDisallow: /\nUser-agent: *\nDisallow: /x\n")),
        ("noise.example", file("User-agent: *\nDisallow: /a\nSitemap: https://noise.example/1\n")),
        ("other-path.example", file("User-agent: *\nDisallow: /a\n")),
        ("appeared.example", Seen::Status(404, "not here".to_owned())),
        ("vanished.example", file("User-agent: GPTBot\nDisallow: /\n")),
        ("lost.example", file("User-agent: *\nDisallow: /\n")),
        ("gained.example", Seen::Failed(Cause::ConnectTimeout)),
        ("page.example", Seen::Status(403, "error 17 at 0x7f0a".to_owned())),
        ("other-failure.example", Seen::Failed(Cause::DnsNxdomain)),
        ("gone.example", file(GPTBOT)),
        ("renamed.example", file("User-agent: *\nDisallow: /a\n")),
    ];
    let after = [
        ("new.example", file("")),
        ("same.example", file(GPTBOT)),
        (
            "tightened.example",
            file("User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nUser-agent: \u{1b}[2JBot\nDisallow: /\n"),
        ),
        ("loosened.example", file("User-agent: *\nDisallow: /x\n")),
        ("noise.example", file("User-agent: *\nDisallow: /a\nSitemap: https://noise.example/2\n")),
        ("other-path.example", file("User-agent: *\nDisallow: /b\n")),
        ("appeared.example", file(GPTBOT)),
        ("vanished.example", Seen::Status(410, "gone".to_owned())),
        ("lost.example", Seen::Failed(Cause::TlsAlert)),
        ("gained.example", file("")),
        ("page.example", Seen::Status(403, "error 18 at 0x7f0b".to_owned())),
        ("other-failure.example", Seen::Failed(Cause::DnsServfail)),
        ("renamed.example", file("User-agent: *\nUser-agent: FooBot\nDisallow: /a\n")),
    ];
    write(folder, "2026-01-02", &classifier("rfc"), &before);
    write(folder, "2026-01-09", &classifier("rfc"), &after);
}

/// Writes what the commands can be tried on.
#[test]
#[ignore = "writes into the folder that SURVEY_TEST_SNAPSHOT names"]
fn two_snapshots_to_look_at() {
    let root = std::env::var_os("SURVEY_TEST_SNAPSHOT").expect("SURVEY_TEST_SNAPSHOT names a folder");
    two_snapshots(Path::new(&root));
}

#[test]
fn each_host_that_differs_has_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    two_snapshots(&folder.path().join("s"));
    let (old, new) = ("s@2026-01-02", "s@2026-01-09");
    let csv = succeed(folder.path(), &["diff", old, new, "--format", "csv", "--agents", "GPTBot,CCBot"]);
    insta::assert_snapshot!(csv, @r"
    host,cause,direction,change,subject,from,to,from_by,to_by
    appeared.example,outcome,tightened,level,GPTBot,none,full,default,named
    appeared.example,outcome,tightened,named,gptbot,,,,
    appeared.example,outcome,tightened,outcome,,absent-404,rules,,
    gained.example,outcome,,outcome,,connect-timeout,empty,,
    gone.example,only-before,,outcome,,rules,,,
    loosened.example,own,loosened,level,CCBot,full,partial,named,wildcard
    loosened.example,own,loosened,no-longer-named,ccbot,,,,
    lost.example,outcome,,outcome,,rules,tls-alert,,
    new.example,only-after,,outcome,,,empty,,
    noise.example,noise,,bytes,,,,,
    other-failure.example,outcome,,outcome,,dns-nxdomain,dns-servfail,,
    other-path.example,own,,rules,,,,,
    page.example,noise,,bytes,,,,,
    renamed.example,own,,named,foobot,,,,
    tightened.example,own,tightened,level,GPTBot,partial,full,wildcard,named
    tightened.example,own,tightened,named,\u{1b}[2jbot,,,,
    tightened.example,own,tightened,named,gptbot,,,,
    vanished.example,outcome,loosened,level,GPTBot,full,none,named,default
    vanished.example,outcome,loosened,no-longer-named,gptbot,,,,
    vanished.example,outcome,loosened,outcome,,rules,absent-410,,
    ");
}

#[test]
fn figures_stand_with_their_denominators_and_hosts_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    two_snapshots(&folder.path().join("s"));
    let (old, new) = ("s@2026-01-02", "s@2026-01-09");
    let text = succeed(folder.path(), &["diff", old, new, "--agents", "GPTBot,CCBot"]);
    let from = |start: &str| text.find(start).unwrap();
    insta::assert_snapshot!(text[from("Why hosts differ")..from("From level to level")], @r"
    Why hosts differ
    ────────────────
      Each host of both snapshots once.

      cause                                    hosts   in the panel
                                       of 12 in-both     of 8 panel
      own decision of the site              4  33.3%       4  50.0%
      template of a platform or CDN         0   0.0%       0   0.0%
      another outcome                       5  41.7%       2  25.0%
        a file came                         1   8.3%       1  12.5%
        a file went                         1   8.3%       1  12.5%
        other word, verdict in both         0   0.0%       0   0.0%
        verdict lost                        1   8.3%       0   0.0%
        verdict gained                      1   8.3%       0   0.0%
        no verdict in either                1   8.3%       0   0.0%
      catalogue or definition only          0   0.0%       0   0.0%
      noise: other bytes, same rules        2  16.7%       1  12.5%
      nothing differs                       1   8.3%       1  12.5%

      Each host has one cause. Own decision and platform: with a file in both, whose rules, named agents
      or signals differ. Outcome: another word for what happened, be it a file that came or went.
      By definition rfc, dialect rfc9309.

    Hosts that tightened or loosened
    ────────────────────────────────
      Hosts whose level changed for at least one of the agents below, the unnamed crawler included.

      Hosts, and their share of 8 panel hosts:
      hosts that                                 all   with a file in both   a file came or went
      tightened: more is closed             2  25.0%              1  12.5%              1  12.5%
      loosened: less is closed              2  25.0%              1  12.5%              1  12.5%
      mixed: more to some, less to others   0   0.0%              0   0.0%              0   0.0%

      Levels are ordered none, partial, mostly, full.
      By definition rfc, dialect rfc9309.

    Agent by agent
    ──────────────
      Hosts that closed more or less of their site to each agent, and that began or ceased to name it.

      Hosts, and their share of 8 panel hosts:
      agent           tightened   loosened   now named   no longer named
      GPTBot           2  25.0%   1  12.5%    2  25.0%          1  12.5%
      CCBot            0   0.0%   1  12.5%    0   0.0%          1  12.5%
      * (not named)    0   0.0%   0   0.0%    0   0.0%          0   0.0%

      By definition rfc, dialect rfc9309.
    ");
    insta::assert_snapshot!(text[from("Hosts that tightened\n────────────────────\n")..], @r"
    Hosts that tightened
    ────────────────────
      2 of 8 panel hosts.

      appeared.example  (outcome: absent-404 → rules)
        GPTBot: none → full
        +    1  User-agent: GPTBot
        +    2  Disallow: /
      tightened.example  (own)
        GPTBot: partial → full
        +    4  User-agent: GPTBot
        +    5  User-agent: \u{1b}[2JBot
        +    6  Disallow: /

    Hosts that loosened
    ───────────────────
      2 of 8 panel hosts.

      loosened.example  (own)
        CCBot: full → partial
        -    1  User-agent: CCBot
        -    2  Disallow: /
      vanished.example  (outcome: rules → absent-410)
        GPTBot: full → none
        -    1  User-agent: GPTBot
        -    2  Disallow: /

    Own decision of the site
    ────────────────────────
      4 of 12 in-both hosts.

      loosened.example, other-path.example, renamed.example, tightened.example

    Another outcome
    ───────────────
      5 of 12 in-both hosts.

      appeared.example (absent-404 → rules), gained.example (connect-timeout → empty), lost.example
      (rules → tls-alert), other-failure.example (dns-nxdomain → dns-servfail), vanished.example (rules
      → absent-410)

    Noise: other bytes, same rules
    ──────────────────────────────
      2 of 12 in-both hosts.

      noise.example, page.example

    In the earlier snapshot only
    ────────────────────────────
      1 of 14 in-either hosts.

      gone.example

    In the later snapshot only
    ──────────────────────────
      1 of 14 in-either hosts.

      new.example
    ");
}

#[test]
fn json_has_every_figure_and_lists_as_many_hosts_as_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    two_snapshots(&folder.path().join("s"));
    let (old, new) = ("s@2026-01-02", "s@2026-01-09");
    let json: Value =
        serde_json::from_str(&succeed(folder.path(), &["diff", old, new, "--json", "--list", "1"])).unwrap();
    let groups = json["hosts"].as_array().unwrap();
    let loosened = groups.iter().find(|group| group["group"] == "loosened").unwrap();
    assert_eq!((&loosened["count"]["numerator"], &loosened["listed"]), (&2.into(), &1.into()), "{loosened:#}");
    assert_eq!(loosened["hosts"][0]["lines"][0]["change"], "removed");
    assert!(json["answers"]["diff"]["transitions"]["rows"].as_array().unwrap().len() == 44);
}

#[test]
fn a_snapshot_does_not_differ_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    two_snapshots(&folder.path().join("s"));
    for date in ["s@2026-01-02", "s@2026-01-09"] {
        let csv = succeed(folder.path(), &["diff", date, date, "--format", "csv", "--fail-on", "any"]);
        assert_eq!(csv.lines().count(), 1, "{csv}");
    }
}

#[test]
fn a_gate_ends_with_code_3_for_what_it_is_told_to_find() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("s");
    let week = |date, text| write(&list, date, &classifier("rfc"), &[("a.example", file(text))]);
    week("2026-01-02", "User-agent: *\nDisallow: /a\n");
    week("2026-01-03", "# hello\nUser-agent: *\nDisallow: /a\n");
    week("2026-01-04", "User-agent: *\nDisallow: /b\n");
    week("2026-01-05", GPTBOT);
    let code = |old: &str, new: &str, what: &str| {
        let (old, new) = (format!("s@2026-01-0{old}"), format!("s@2026-01-0{new}"));
        run(folder.path(), &["diff", &old, &new, "--fail-on", what]).status.code()
    };
    assert_eq!((code("2", "3", "tighten"), code("2", "3", "any")), (Some(0), Some(0)));
    assert_eq!((code("2", "4", "tighten"), code("2", "4", "any")), (Some(0), Some(3)));
    assert_eq!((code("2", "5", "tighten"), code("5", "2", "tighten")), (Some(3), Some(3)));
    let only_googlebot = ["diff", "s@2026-01-02", "s@2026-01-05", "--agents", "Googlebot", "--fail-on", "tighten"];
    assert_eq!(run(folder.path(), &only_googlebot).status.code(), Some(0));
    assert_eq!(run(folder.path(), &["diff", "s", "s", "--fail-on", "nothing"]).status.code(), Some(2));
    assert!(fail(folder.path(), &["diff", "s@2026-01-02", "s@2026-02-02"]).contains("2026-02-02"));
}

#[test]
fn snapshots_that_were_judged_differently_are_judged_again_and_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("s");
    // Partial under rfc, full under named-root: `Allow: /` has the last word by RFC 9309 only.
    let odd = "User-agent: GPTBot\nDisallow: /\nAllow: /\n";
    let hosts = [
        ("odd.example", file(odd)),
        ("plain.example", file(GPTBOT)),
        ("gone.example", Seen::Status(404, String::new())),
    ];
    write(&list, "2026-01-02", &classifier("named-root"), &hosts);
    write(&list, "2026-01-09", &classifier("rfc"), &hosts);
    let (old, new) = ("s@2026-01-02", "s@2026-01-09");
    let csv = succeed(folder.path(), &["diff", old, new, "--format", "csv"]);
    assert_eq!(
        csv,
        "host,cause,direction,change,subject,from,to,from_by,to_by\nodd.example,catalogue,,stored-verdict,,,,,\n"
    );
    let text = succeed(folder.path(), &["diff", old, new]);
    assert!(text.contains("were judged differently: definition named-root and rfc."), "{text}");
    assert!(text.contains("s@2026-01-02 is judged again from its bodies by definition rfc"), "{text}");
    assert!(!text.contains("s@2026-01-09 is judged again"), "{text}");
    assert_eq!(run(folder.path(), &["diff", old, new, "--fail-on", "any"]).status.code(), Some(0));

    let both = succeed(folder.path(), &["diff", old, new, "--definition", "root"]);
    assert!(both.contains("s@2026-01-09 is judged again from its bodies by definition root"), "{both}");
    let trend = succeed(folder.path(), &["trend", "s", "--agents", "GPTBot", "--format", "csv"]);
    let full: Vec<&str> =
        trend.lines().filter(|line| line.starts_with("agents,GPTBot,") && line.contains(",full,")).collect();
    assert_eq!(full.len(), 2, "{trend}");
    assert!(full.iter().all(|line| line.contains(",full,1,determinable,3,")), "{full:?}");
}

#[test]
fn an_agent_outside_the_panel_is_found_among_the_named_ones() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("s");
    let open = ("a.example", file("User-agent: *\nDisallow: /x\n"));
    write(&list, "2026-01-02", &classifier("rfc"), &[open]);
    let closed = ("a.example", file("User-agent: *\nDisallow: /x\nUser-agent: NewBot\nDisallow: /\n"));
    write(&list, "2026-01-09", &classifier("rfc"), &[closed]);
    let diff = ["diff", "s@2026-01-02", "s@2026-01-09", "--format", "csv", "--agents", "newbot"];
    let csv = succeed(folder.path(), &diff);
    assert!(csv.contains("a.example,own,tightened,level,newbot,partial,full,,named\n"), "{csv}");
    assert!(csv.contains(",named,newbot,"), "{csv}");
}

#[test]
fn signals_and_templates_are_compared_where_they_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let classifier = classifier("rfc");
    let hosts =
        |text: &str| [("site.example", file(text)), ("cdn.example", file(text)), ("signal.example", file(GPTBOT))];
    let open = "User-agent: *\nDisallow: /x\n";
    let recorded = |name: &str, text: &str, templates: [&str; 3], signals: [&[&str]; 3]| {
        let plain = write(&folder.path().join("plain"), name, &classifier, &hosts(text));
        let parts = plain.parts().unwrap();
        let batch = record(&whole(&parts, &all_names(&classifier)), &templates, &signals);
        let to = folder.path().join(name);
        fs::create_dir(&to).unwrap();
        let mut writer =
            ArrowWriter::try_new(File::create(to.join("part.parquet")).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    };
    recorded("2026-01-02", open, ["none", "block 1", "none"], [&[], &[], &[]]);
    recorded("2026-01-09", GPTBOT, ["none", "block 2", "none"], [&[], &[], &["content-signal ai-train no"]]);
    let csv = succeed(folder.path(), &["diff", "2026-01-02", "2026-01-09", "--format", "csv", "--agents", "GPTBot"]);
    let causes: Vec<&str> = csv.lines().filter(|line| line.contains(",level,GPTBot,")).collect();
    assert_eq!(causes.len(), 2, "{csv}");
    assert!(causes[0].starts_with("cdn.example,platform,") && causes[1].starts_with("site.example,own,"), "{csv}");
    assert!(csv.contains("signal.example,own,,signal-came,content-signal ai-train no,"), "{csv}");
    let json: Value =
        serde_json::from_str(&succeed(folder.path(), &["diff", "2026-01-02", "2026-01-09", "--json"])).unwrap();
    let signals = &json["answers"]["diff"]["signals"]["rows"][0];
    assert_eq!(signals["came"]["numerator"], 1);
    assert_eq!((&signals["came"]["denominator"], &signals["came"]["size"]), (&"signals-recorded".into(), &3.into()));

    // An older version had the columns, and nothing in them.
    recorded("2026-01-16", GPTBOT, ["", "", ""], [&[], &[], &[]]);
    let older = succeed(folder.path(), &["diff", "2026-01-02", "2026-01-16"]);
    assert!(older.contains("do not record templates") && !older.contains("Signals are not recorded"), "{older}");
}

#[test]
fn a_managed_block_that_came_is_the_platforms_change_and_what_the_site_added_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let own = "User-agent: *\nDisallow: /x\n";
    let block = "# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n\
                 User-agent: GPTBot\nDisallow: /\n# END Cloudflare Managed Content\n";
    let govoffice = "User-agent: Googlebot\nDisallow: /admin/\nDisallow: /manager/\nDisallow: /*Design*\n\
                     Disallow: /*GUESTBOOK*\nUser-agent: *\nDisallow: /\n";
    let let_in = "User-agent: CCBot\nDisallow: /admin/\nDisallow: /manager/\n";
    let hosts = |texts: [String; 4]| {
        let names = ["block.example", "vendor.example", "both.example", "site.example"];
        std::iter::zip(names, texts).map(|(name, text)| (name, file(&text))).collect::<Vec<_>>()
    };
    let before = [own.to_owned(), govoffice.to_owned(), own.to_owned(), format!("{block}{own}")];
    let after = [
        format!("{block}{own}"),
        format!("{govoffice}{let_in}"),
        format!("{block}{own}{GPTBOT}User-agent: Zao\nDisallow: /\n"),
        format!("{block}{own}User-agent: Zao\nDisallow: /\n"),
    ];
    write(&folder.path().join("s"), "2026-01-02", &classifier("rfc"), &hosts(before));
    write(&folder.path().join("s"), "2026-01-09", &classifier("rfc"), &hosts(after));
    let arguments = ["diff", "s@2026-01-02", "s@2026-01-09", "--format", "csv"];
    let csv = succeed(folder.path(), &arguments);
    let causes: BTreeSet<(&str, &str)> = csv
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',');
            (cells.next().unwrap(), cells.next().unwrap())
        })
        .collect();
    let expected = [
        ("block.example", "platform"),
        ("both.example", "own"),
        ("site.example", "own"),
        ("vendor.example", "platform"),
    ];
    assert_eq!(causes, BTreeSet::from(expected), "{csv}");
}

#[test]
fn a_rehearsed_list_surveyed_twice_does_not_differ() {
    let world = world(200);
    let folder = world.path();
    for date in ["2026-01-02", "2026-01-09"] {
        let base = ["--domains", "list.csv", "--rehearse", "--connect-timeout", "2s", "--no-second-try", "--quiet"];
        succeed(folder, &[&base[..], &["--date", date]].concat());
    }
    let (old, new) = ("rehearsals/list@2026-01-02", "rehearsals/list@2026-01-09");
    let csv = succeed(folder, &["diff", old, new, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 1, "{csv}");
    let text = succeed(folder, &["trend", "rehearsals/list"]);
    assert!(text.contains("REHEARSAL") && text.contains("2 waves, 2026-01-02 to 2026-01-09"), "{text}");

    write(&folder.join("real"), "2026-01-02", &classifier("rfc"), &[("a.example", file(""))]);
    assert!(fail(folder, &["diff", "real", new]).contains("is a rehearsal"));
}

fn file(text: &str) -> Seen {
    Seen::File(text.to_owned())
}

/// Writes a snapshot of these hosts, three to a part.
fn write<S: AsRef<str>>(folder: &Path, date: &str, classifier: &Classifier, hosts: &[(S, Seen)]) -> Snapshot {
    let mut writer = open(folder, date, classifier, 3);
    for (index, (host, seen)) in (0..).zip(hosts) {
        writer.push(judge(classifier, index, host.as_ref(), seen)).expect("a row can be written");
    }
    let snapshot = writer.snapshot().clone();
    writer.finish("2026-11-30T15:00:00Z".parse().expect("a point in time")).expect("a snapshot can be finished");
    snapshot
}

/// All rows of these parts as one batch.
fn whole(parts: &[std::path::PathBuf], names: &[&str]) -> RecordBatch {
    let batches: Vec<RecordBatch> = read_columns(parts, names).map(Result::unwrap).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn all_names(classifier: &Classifier) -> Vec<&'static str> {
    let panel: Vec<String> = classifier.catalogue().panel().map(|agent| agent.token.clone()).collect();
    columns(&panel).into_iter().map(|column| &*Box::leak(column.name.into_owned().into_boxed_str())).collect()
}

fn table(classifier: &Classifier) -> Table {
    let panel: Vec<String> = classifier.catalogue().panel().map(|agent| agent.token.clone()).collect();
    let provenance = Provenance {
        parser_version: String::new(),
        definition: String::new(),
        dialect: String::new(),
        catalogue_sha256: String::new(),
        list_sha256: None,
        date: String::new(),
        is_rehearsal: true,
    };
    Table::new(columns(&panel), provenance).unwrap()
}

/// The same words in the same rows, however their dictionaries are laid out.
fn plain(array: &ArrayRef) -> ArrayRef {
    arrow::compute::cast(array, &plain_type(array.data_type())).unwrap()
}

fn plain_type(data_type: &DataType) -> DataType {
    let field = |field: &Arc<Field>| Field::new(field.name(), plain_type(field.data_type()), true);
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::List(element) => DataType::List(Arc::new(field(element))),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect::<Fields>()),
        other => other.clone(),
    }
}

/// The same rows with signals and templates, as a later version records them.
fn record(batch: &RecordBatch, templates: &[&str], signals: &[&[&str]]) -> RecordBatch {
    let word = |place: usize| -> ArrayRef {
        let words = templates.iter().map(|text| text.split(' ').nth(place).filter(|word| !word.is_empty()));
        Arc::new(words.collect::<StringArray>())
    };
    let items: Vec<Vec<&str>> =
        signals.iter().flat_map(|row| row.iter().map(|text| text.split(' ').collect())).collect();
    let fields = Fields::from(vec![
        Field::new("kind", DataType::Utf8, true),
        Field::new("key", DataType::Utf8, true),
        Field::new("value", DataType::Utf8, true),
    ]);
    let column = |at: usize| -> ArrayRef { Arc::new(items.iter().map(|item| Some(item[at])).collect::<StringArray>()) };
    let lists = ListArray::new(
        Arc::new(Field::new("element", DataType::Struct(fields.clone()), true)),
        OffsetBuffer::from_lengths(signals.iter().map(|row| row.len())),
        Arc::new(StructArray::new(fields, vec![column(0), column(1), column(2)], None)),
        None,
    );
    let own = batch.column_by_name("own_named_agents").unwrap();
    let named = [
        ("template", word(0)),
        ("template_version", word(1)),
        ("own_named_agents", new_null_array(own.data_type(), own.len())),
        ("signals", Arc::new(lists) as ArrayRef),
    ];
    let mut arrays: Vec<(String, ArrayRef, bool)> = Vec::new();
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        let replaced = named.iter().find(|(name, _)| name == field.name()).map(|(_, array)| Arc::clone(array));
        arrays.push((field.name().clone(), replaced.unwrap_or_else(|| Arc::clone(array)), true));
    }
    RecordBatch::try_from_iter_with_nullable(arrays).unwrap()
}
