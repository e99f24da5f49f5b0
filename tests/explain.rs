//! `survey explain` as people run it: of a file, of standard input, of a host in a snapshot, of a host asked now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::process::Stdio;

use arrow::array::{AsArray, StringArray};
use arrow::datatypes::Int32Type;
use serde_json::Value;
use survey::snapshot::Snapshot;
use survey::table::read_columns;

use crate::whole::{command, fail, succeed, world};

const FILE: &str =
    "User-agent: *\nDisallow: /\n\nUser-agent: GPTBot\nAllow: /blog/ # nice\nDisalow: /blog/x\nDisallow: /\n";

#[test]
fn a_file_is_explained_with_the_deciding_line_and_the_one_that_came_second() {
    let world = world(1);
    fs::write(world.path().join("robots.txt"), FILE).unwrap();
    let text = succeed(world.path(), &["explain", "robots.txt", "gptbot", "/blog/y?z"]);
    insta::assert_snapshot!(text, @r"
    robots.txt, agent gptbot, path /blog/y?z
    Source      a file, judged as if a server had sent it with status 200
    Outcome     rules: A file with at least one Allow or Disallow rule in a group.

    Verdict     allow, in dialect rfc9309
    Group       named: the file names the agent; the group at line 4, 2 rules
                line 4: User-agent: GPTBot
    Decided by  line 5: Allow: /blog/ # nice   (6 octets)
    Second      line 7: Disallow: /   (1 octet)

    Verdict     allow, in dialect google
    Group       named: the file names the agent; the group at line 4, 3 rules
                line 4: User-agent: GPTBot
    Decided by  line 5: Allow: /blog/ # nice   (6 octets)
    Second      line 7: Disallow: /   (1 octet)

    Restriction under each definition (`survey definitions` explains them)
                  rfc9309   google
      rfc         mostly    mostly
      root        full      full
      named-root  full      full
      mention     full      full
      imc25       -         partial
      cic         partial   partial
      cic-2024    full by its own parser
      cc-2025     partial   partial

    Who wrote the file (`survey templates` explains them)
      AI rules decided by: own. The site: at least one of them stands outside managed blocks and
      templates, or in a list that it copied.
      Named by the site itself: gptbot

    Oddities of the file
      misspelt-key, line 6: Disalow: /blog/x
        A key that only Google's parser takes for user-agent, allow or disallow.
    ");
}

const SIGNALS: &str = "\
Content-Signal: search=yes
User-agent: *
Content-Signal: search=yes, ai-train=no
Content-Usage: /open/ train-ai=y, ai=n
Disallow: /private/

License: https://example.com/l.xml
# No AI training.
";

#[test]
fn signals_are_shown_with_their_lines_and_what_they_come_to() {
    let world = world(1);
    fs::write(world.path().join("robots.txt"), SIGNALS).unwrap();
    let text = succeed(world.path(), &["explain", "robots.txt", "gptbot"]);
    let signals = text.split_once("\nSignals in the file").unwrap().1;
    insta::assert_snapshot!(signals, @r"
     (`survey signals` explains them)
      line 1: Content-Signal: search=yes
        content-signal search=yes, to nobody: before the first group: neutral
      line 3: Content-Signal: search=yes, ai-train=no
        content-signal search=yes, to *: neutral
        content-signal ai-train=no, to *: reserves-training
      line 4: Content-Usage: /open/ train-ai=y, ai=n
        content-usage train-ai=y (label of draft 02 to 07) for /open/, to *: grants-training
        content-usage ai=n (label of draft 01) for /open/, to *: reserves-ai
      line 7: License: https://example.com/l.xml
        license https://example.com/l.xml, to all: neutral
      line 8: # No AI training.
        prose-reservation No AI training., to all: reserves-ai

    Who wrote the file (`survey templates` explains them)
      AI rules decided by: own. The site: at least one of them stands outside managed blocks and
      templates, or in a list that it copied.
    ");
    let found = succeed(world.path(), &["explain", "robots.txt", "gptbot", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let lines: Vec<u64> = found["signals"].as_array().unwrap().iter().filter_map(|one| one["line"].as_u64()).collect();
    assert_eq!(lines, [1, 3, 3, 4, 4, 7, 8]);
    assert_eq!(found["signals"][3]["path"], "/open/");
    assert_eq!(found["signals"][2]["meaning"], "reserves-training");
}

#[test]
fn who_wrote_a_file_is_shown_with_lines_and_the_verdict_behind_a_managed_block() {
    let world = world(1);
    let text = "# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n\
                # END Cloudflare Managed Content\n\nUser-agent: *\nDisallow: /wp-admin/\n\
                Allow: /wp-admin/admin-ajax.php\nDisallow: /\n\nUser-agent: Zao\nDisallow: /\n";
    fs::write(world.path().join("robots.txt"), text).unwrap();
    let shown = succeed(world.path(), &["explain", "robots.txt", "GPTBot", "/x"]);
    let author = shown.split_once("\nWho wrote the file").unwrap().1;
    insta::assert_snapshot!(author, @r"
     (`survey templates` explains them)
      cloudflare-managed 2025-09, line 1: # BEGIN Cloudflare Managed content, to line 5
      wordpress, line 9: Allow: /wp-admin/admin-ajax.php
      AI rules decided by: unknown. A template wrote them, and it is not known at whose wish.
      Named by the site itself: zao
      Without the managed blocks: disallow, line 10: Disallow: /
    ");
    let found: Value =
        serde_json::from_str(&succeed(world.path(), &["explain", "robots.txt", "GPTBot", "/x", "--json"])).unwrap();
    assert_eq!(found["dialects"][0]["verdict"], "allow");
    let author = &found["author"];
    assert_eq!((&author["decision"], &author["own_named_agents"][0]), (&"unknown".into(), &"zao".into()));
    assert_eq!((&author["templates"][0]["line"], &author["templates"][0]["last_line"]), (&1.into(), &5.into()));
    assert_eq!((&author["unmanaged"]["verdict"], &author["unmanaged"]["line"]), (&"disallow".into(), &10.into()));
}

#[test]
fn json_says_the_same_for_each_dialect() {
    let world = world(1);
    fs::write(world.path().join("robots.txt"), FILE).unwrap();
    let explain = |path| -> Value {
        serde_json::from_str(&succeed(world.path(), &["explain", "robots.txt", "GPTBot", path, "--json"])).unwrap()
    };
    let found = explain("https://example.com/blog/x#there");
    assert_eq!(found["path"], "/blog/x");
    let [rfc, google] = &found["dialects"].as_array().unwrap()[..] else { panic!("two dialects") };
    assert_eq!((&rfc["verdict"], &rfc["line"]), (&"allow".into(), &5.into()));
    assert_eq!((&google["verdict"], &google["line"]), (&"disallow".into(), &6.into()));
    assert_eq!(google["second"]["text"], "Allow: /blog/ # nice");
    assert_eq!(found["oddities"][0]["oddity"], "misspelt-key");
    let definitions = found["definitions"].as_array().unwrap();
    assert_eq!(definitions.len(), survey::classify::DEFINITIONS.len());
    assert_eq!(definitions[0]["restriction"]["rfc9309"], "mostly");
}

#[test]
fn standard_input_is_a_file_too_and_its_bytes_cannot_steer_the_terminal() {
    let world = world(1);
    let mut child = command(world.path(), &["explain", "-", "\u{1b}[31mX", "/\u{1b}[2J"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"User-agent: *\nDisallow: /\x1b[2J # \xff\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("line 2: Disallow: /\\u{1b}[2J # \u{fffd}"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_page_is_no_file_and_gets_no_verdict() {
    let world = world(1);
    fs::write(world.path().join("page"), "<!DOCTYPE html>\nUser-agent: *\nDisallow: /\n").unwrap();
    let found: Value = serde_json::from_str(&succeed(world.path(), &["explain", "page", "GPTBot", "--json"])).unwrap();
    assert_eq!(found["outcome"], "html");
    assert_eq!(found["dialects"], Value::Null);
    let text = succeed(world.path(), &["explain", "page", "GPTBot"]);
    assert!(text.contains("unknown") && !text.contains("Decided"), "{text}");
}

#[test]
fn a_host_in_a_snapshot_is_explained_as_its_row_says() {
    let world = world(40);
    let folder = world.path();
    succeed(folder, &["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--quiet"]);
    let snapshot = Snapshot::locate(folder.join("rehearsals/list").to_str().unwrap()).unwrap();
    let mut levels = BTreeMap::new();
    for batch in read_columns(&snapshot.parts().unwrap(), &["domain", "agent_gptbot"]) {
        let batch = batch.unwrap();
        let domains = batch.column(0).as_string::<i32>().clone();
        let words = batch.column(1).as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap();
        let rows =
            domains.iter().zip(words).map(|(domain, word)| (domain.unwrap().to_owned(), word.map(str::to_owned)));
        levels.extend(rows);
    }
    let mut seen = BTreeSet::new();
    for (host, level) in levels.iter().take(12) {
        let found = succeed(folder, &["explain", "--snapshot", "rehearsals/list", host, "GPTBot", "/x", "--json"]);
        let found: Value = serde_json::from_str(&found).unwrap();
        assert!(found["source"].as_str().unwrap().contains("rehearsals/list@2026-01-02"), "{found:#}");
        assert_eq!(found["definitions"][0]["restriction"]["rfc9309"].as_str(), level.as_deref(), "{found:#}");
        seen.insert(level.clone());
    }
    assert!(seen.len() > 2, "{seen:?}");
    let error = fail(folder, &["explain", "--snapshot", "rehearsals/list", "elsewhere.example", "GPTBot"]);
    assert!(error.contains("elsewhere.example is none of the 40 targets"), "{error}");
}

#[test]
fn a_host_is_asked_now_and_a_rehearsal_says_that_it_is_one() {
    let world = world(1);
    let live = ["explain", "--live", "host-9.example", "GPTBot", "/x", "--json", "--rehearse"];
    let live: Value = serde_json::from_str(&succeed(world.path(), &live)).unwrap();
    assert!(live["source"].as_str().unwrap().contains("REHEARSAL"), "{live:#}");
    assert_eq!(live["url"], "https://host-9.example/robots.txt");
    assert_eq!(live["outcome_class"], "readable");
}

#[test]
fn a_host_without_a_source_is_refused_with_the_way_out() {
    let world = world(1);
    let error = fail(world.path(), &["explain", "example.com", "GPTBot"]);
    assert!(error.contains("--snapshot") && error.contains("--live"), "{error}");
}
