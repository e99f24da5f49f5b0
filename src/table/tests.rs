//! The registry is whole and in order, and rows come back from Parquet as they went in.

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Int64Type, TimestampMillisecondType};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bytes::Bytes;
use parquet::file::metadata::RowGroupMetaData;
use proptest::prelude::*;

use self::rows::{any_row, empty_row, full_row, panel, provenance, response, table};
use super::*;
use crate::classify::Row;
use crate::domain::Domain;
use crate::observation::{Ending, Response};

#[test]
fn names_are_unique_and_every_column_says_what_it_means() {
    fn check_field(field: &Field) {
        let doc = field.metadata().get("doc").unwrap_or_else(|| panic!("{} has no doc", field.name()));
        assert!(doc.ends_with('.') && !doc.contains("  "), "{}: {doc:?}", field.name());
        assert!(!field.data_type().is_unsigned_integer(), "{} is unsigned", field.name());
        match field.data_type() {
            DataType::List(element) => check_field(element),
            DataType::Struct(fields) => fields.iter().for_each(|field| check_field(field)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    for column in columns(&panel()) {
        assert!(names.insert(column.name.to_string()), "{} stands twice", column.name);
        check_field(&column.field());
    }
}

#[test]
fn agents_that_differ_in_punctuation_only_are_refused() {
    let panel = ["Some-Bot".to_owned(), "some bot".to_owned()];
    let error = Table::new(columns(&panel), provenance()).err().unwrap();
    assert!(error.to_string().contains("agent_some_bot"), "{error}");
}

/// Names, types and order are a public contract: a change here breaks every reader's queries.
#[test]
fn the_schema_is_pinned() {
    let lines: Vec<String> = columns(&panel())
        .iter()
        .map(Description::from)
        .map(|column| format!("{} {}", column.name, column.type_word))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    target_index i64
    capture_index i32
    domain text
    rank i64?
    weight f64?
    stratum word?
    labels list of {name, value}?
    registrable_domain text?
    tld word
    fetched_at timestamp ms UTC?
    elapsed_ms i32?
    attempts i32?
    requested_url text?
    final_url text?
    authority word?
    hops list of {url, ip, status, failure, tls_verdict, elapsed_ms}?
    redirected_off_site bool?
    resolved_ips list of text?
    dns_cname text?
    dns_a word?
    dns_aaaa word?
    server_ip text?
    front word?
    http_version word?
    tls_version word?
    tls_verdict word?
    outcome word
    outcome_class word
    failure_detail text?
    status i32?
    effect_rfc word
    effect_google word
    retry_after_s i64?
    etag text?
    last_modified text?
    server text?
    content_type text?
    content_encoding text?
    headers list of {name, value}?
    probes list of {kind, outcome, body_sha256, verdicts_changed}?
    body_sha256 fixed 32?
    body_bytes i64?
    wire_bytes i64?
    body_source word?
    confirmed_at timestamp ms UTC?
    is_truncated bool?
    is_html bool?
    charset word?
    normalised_sha256 fixed 32?
    line_count i32?
    group_count i32?
    allow_rule_count i32?
    disallow_rule_count i32?
    sitemaps list of text?
    oddities list of word?
    other_records list of {key, count}?
    named_agents list of {token, as_written, restriction, root_allowed, unnamed_allowed, allow_rules, disallow_rules, crawl_delay_s, line}?
    unnamed_restriction word?
    unnamed_root_allowed bool?
    core_training_stricter bool?
    any_ai bool?
    any_ai_named bool?
    policy_class word?
    agent_gptbot word?
    agent_gptbot_by word?
    agent_gptbot_vs_unnamed word?
    agent_gptbot_root_allowed bool?
    agent_google_extended word?
    agent_google_extended_by word?
    agent_google_extended_vs_unnamed word?
    agent_google_extended_root_allowed bool?
    signals list of {kind, scope, path, key, value, line, source}?
    content_signal_search word?
    content_signal_ai_input word?
    content_signal_ai_train word?
    content_signal_use word?
    content_usage_train_ai word?
    content_usage_search word?
    has_license bool?
    has_prose_reservation bool?
    reservation_scope word?
    access_reservation_scope word?
    use_reservation_scope word?
    template word?
    template_version word?
    decision word?
    own_named_agents list of text?
    extra_files list of {kind, outcome, status, sha256, bytes, body}?
    body binary?
    "#);
}

#[test]
fn the_dictionary_comes_in_three_formats() {
    let columns = columns(&panel());
    assert!(describe(&columns, Format::Text).starts_with("target_index  i64\n    Position among"));
    assert!(describe(&columns, Format::Markdown).contains("\n| `hops.status` | i32? | Status of the response. |\n"));
    let json: serde_json::Value = serde_json::from_str(&describe(&columns, Format::Json)).unwrap();
    assert_eq!(json.as_array().unwrap().len(), columns.len());
    assert_eq!(json[0]["type"], "i64");
}

#[expect(clippy::too_many_lines, reason = "the table has as many columns")]
#[test]
fn a_full_row_fills_every_built_column() {
    let batch = table().batch(&[full_row(7)]).unwrap();
    let options = FormatOptions::default().with_null("-");
    let lines: Vec<String> = std::iter::zip(batch.schema().fields(), batch.columns())
        .map(|(field, array)| {
            // The formatter knows zones by their offset only.
            let in_utc = |array: &PrimitiveArray<TimestampMillisecondType>| array.clone().with_timezone("+00:00");
            let array: ArrayRef =
                array.as_primitive_opt().map_or_else(|| Arc::clone(array), |times| Arc::new(in_utc(times)) as ArrayRef);
            let value = ArrayFormatter::try_new(&array, &options).unwrap().value(0).to_string();
            format!("{}: {value}", field.name())
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    target_index: 7
    capture_index: 0
    domain: www.example.co.uk
    rank: 5
    weight: 0.25
    stratum: head
    labels: -
    registrable_domain: example.co.uk
    tld: uk
    fetched_at: 2026-11-30T14:05:33.250Z
    elapsed_ms: 345
    attempts: 2
    requested_url: https://www.example.co.uk/robots.txt
    final_url: https://www.example.net/robots.txt
    authority: https-apex
    hops: [{url: https://www.example.co.uk/robots.txt, ip: 192.0.2.1, status: -, failure: connect-refused, tls_verdict: -, elapsed_ms: 12}, {url: https://www.example.net/robots.txt, ip: 2001:db8::1, status: 200, failure: -, tls_verdict: expired, elapsed_ms: 12}]
    redirected_off_site: true
    resolved_ips: [192.0.2.1, 2001:db8::2]
    dns_cname: edge.example.net
    dns_a: addresses
    dns_aaaa: -
    server_ip: 2001:db8::1
    front: -
    http_version: 1.1
    tls_version: 1.3
    tls_verdict: expired
    outcome: rules
    outcome_class: readable
    failure_detail: -
    status: 200
    effect_rfc: by-rules
    effect_google: by-rules
    retry_after_s: 120
    etag: "a"
    last_modified: Mon, 30 Nov 2026 00:00:00 GMT
    server: café
    content_type: text/plain
    content_encoding: gzip
    headers: [{name: etag, value: "a"}, {name: last-modified, value: Mon, 30 Nov 2026 00:00:00 GMT}, {name: server, value: café}, {name: content-type, value: text/plain}, {name: content-encoding, value: gzip}, {name: retry-after, value: 120}]
    probes: [{kind: repeat, outcome: empty, body_sha256: cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd, verdicts_changed: true}]
    body_sha256: abababababababababababababababababababababababababababababababab
    body_bytes: 26
    wire_bytes: 46
    body_source: fetched
    confirmed_at: 2026-11-30T14:05:33.250Z
    is_truncated: false
    is_html: false
    charset: ascii
    normalised_sha256: -
    line_count: 2
    group_count: 1
    allow_rule_count: 0
    disallow_rule_count: 1
    sitemaps: [https://www.example.net/sitemap.xml]
    oddities: [bom]
    other_records: [{key: host, count: 2}]
    named_agents: [{token: gptbot, as_written: GPTBot, restriction: full, root_allowed: false, unnamed_allowed: false, allow_rules: 0, disallow_rules: 1, crawl_delay_s: 1.5, line: 1}]
    unnamed_restriction: partial
    unnamed_root_allowed: true
    core_training_stricter: true
    any_ai: true
    any_ai_named: false
    policy_class: training-no
    agent_gptbot: full
    agent_gptbot_by: named
    agent_gptbot_vs_unnamed: stricter
    agent_gptbot_root_allowed: false
    agent_google_extended: full
    agent_google_extended_by: named
    agent_google_extended_vs_unnamed: stricter
    agent_google_extended_root_allowed: false
    signals: [{kind: content-usage, scope: *, gptbot, path: /x, key: train-ai, value: n, line: 3, source: body}, {kind: tdm-reservation, scope: response, path: -, key: -, value: 1, line: -, source: header}]
    content_signal_search: yes
    content_signal_ai_input: nonstandard
    content_signal_ai_train: no
    content_signal_use: reference
    content_usage_train_ai: n
    content_usage_search: y
    has_license: true
    has_prose_reservation: false
    reservation_scope: wildcard
    access_reservation_scope: named-only
    use_reservation_scope: wildcard
    template: -
    template_version: -
    decision: -
    own_named_agents: -
    extra_files: -
    body: 557365722d6167656e743a202a0a446973616c6c6f773a202f0a
    "#);
}

#[test]
fn an_empty_row_is_null_wherever_nothing_is_known() {
    let batch = table().batch(&[empty_row(0)]).unwrap();
    let known: Vec<&str> = std::iter::zip(columns(&panel()), batch.columns())
        .filter(|(_, array)| array.is_valid(0))
        .map(|(column, _)| batch.schema_ref().field_with_name(&column.name).unwrap().name().as_str())
        .collect();
    assert_eq!(
        known,
        [
            "target_index",
            "capture_index",
            "domain",
            "registrable_domain",
            "tld",
            "outcome",
            "outcome_class",
            "effect_rfc",
            "effect_google"
        ]
    );
}

#[test]
fn suffixes_follow_the_full_list() {
    #[track_caller]
    fn check(domain: &str, registrable: Option<&str>, tld: &str) {
        let mut row = empty_row(0);
        row.observation.target.domain = Domain::parse(domain).unwrap();
        let batch = table().batch(&[row]).unwrap();
        let text = batch.column_by_name("registrable_domain").unwrap().as_string::<i32>();
        assert_eq!(text.is_valid(0).then(|| text.value(0)), registrable);
        let words = batch.column_by_name("tld").unwrap().as_dictionary::<arrow::datatypes::Int32Type>();
        assert_eq!(words.values().as_string::<i32>().value(0), tld);
    }
    check("www.example.co.uk", Some("example.co.uk"), "uk");
    check("co.uk", None, "uk");
    check("user.github.io", Some("user.github.io"), "io");
    check("github.io", None, "io");
    check("a.b.unlisted-tld", Some("b.unlisted-tld"), "unlisted-tld");
    check("www.xn--bcher-kva.xn--p1ai", Some("xn--bcher-kva.xn--p1ai"), "xn--p1ai");
}

#[test]
fn a_redirect_leaves_the_site_when_the_registrable_domain_changes() {
    #[track_caller]
    fn check(domain: &str, last: &str, expected: Option<bool>) {
        let mut row = full_row(0);
        row.observation.target.domain = Domain::parse(domain).unwrap();
        row.observation.asking.as_mut().unwrap().hops.last_mut().unwrap().url = last.to_owned();
        let batch = table().batch(&[row]).unwrap();
        let flags = batch.column_by_name("redirected_off_site").unwrap().as_boolean();
        assert_eq!(flags.is_valid(0).then(|| flags.value(0)), expected, "{domain} {last}");
    }
    check("example.org", "https://www.example.org/robots.txt", Some(false));
    check("example.org", "https://example.net/robots.txt", Some(true));
    check("a.github.io", "https://b.github.io/robots.txt", Some(true));
    check("github.io", "https://www.github.io/robots.txt", Some(false));
    check("github.io", "https://github.com/robots.txt", Some(true));
    check("example.org", "no url", None);
}

#[test]
fn rows_come_back_sorted_and_equal() {
    let rows = vec![full_row(9), empty_row(4), full_row(2), empty_row(0)];
    let (read, metadata) = round_trip(&rows);
    let mut sorted = rows;
    sorted.sort_by_key(|row| row.observation.target.index);
    assert_eq!(read, table().batch(&sorted).unwrap());

    for (key, value) in [
        ("survey.schema_version", "3"),
        ("survey.tool_version", env!("CARGO_PKG_VERSION")),
        ("survey.parser_version", "1"),
        ("survey.definition", "rfc"),
        ("survey.dialect", "rfc9309"),
        ("survey.catalogue_sha256", "cc"),
        ("survey.list_sha256", "11"),
        ("survey.date", "2026-11-30"),
        ("survey.rehearsal", "true"),
        ("survey.part", "3"),
    ] {
        assert_eq!(metadata[key], value, "{key}");
    }
}

#[test]
fn large_bodies_are_written_in_bounded_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let body = Bytes::from(vec![b'#'; 1 << 20]);
    let rows = (0..150).map(|index| {
        let mut row = full_row(index);
        row.observation.ending = Ending::Response(Response { body: body.clone(), ..response() });
        row
    });
    let written = table().write_part(&path, 0, rows.collect()).unwrap();
    assert_eq!(written.rows, 150);
    assert_eq!(written.bytes, path.metadata().unwrap().len());
    let file = std::fs::File::open(&path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).collect();
    assert!(groups.len() == 3 && groups.iter().all(|rows| *rows < 64), "{groups:?}");

    let batches = read_columns(std::slice::from_ref(&path), &["target_index", "body"]);
    let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(rows.iter().sum::<usize>(), 150);
    assert!(rows.iter().all(|rows| *rows <= 16), "{rows:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_come_back_equal(rows in prop::collection::vec(any_row(), 0..20)) {
        let mut rows = rows;
        for (index, row) in (0..).zip(&mut rows) {
            row.observation.target.index = index * 3;
        }
        let expected = table().batch(&rows).unwrap();
        rows.reverse();
        let (read, _) = round_trip(&rows);
        prop_assert_eq!(&read, &expected);
        let indexes = read.column_by_name("target_index").unwrap().as_primitive::<Int64Type>();
        prop_assert!(indexes.values().is_sorted());
        for (place, row) in rows.iter().rev().enumerate() {
            let bodies = read.column_by_name("body").unwrap().as_binary::<i32>();
            let body = row.observation.response().map(|response| response.body.as_ref());
            prop_assert_eq!(bodies.is_valid(place).then(|| bodies.value(place)), body.filter(|_| row.body.is_some()));
        }
    }
}

/// Writes the rows as a part and reads all of it back, with its key-value metadata.
fn round_trip(rows: &[Row]) -> (RecordBatch, BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let table = table();
    table.write_part(&path, 3, rows.to_vec()).unwrap();
    let names: Vec<&str> = table.schema().fields().iter().map(|field| field.name().as_str()).collect();
    let parts = [path.clone()];
    let batches: Vec<RecordBatch> = read_columns(&parts, &names).map(Result::unwrap).collect();
    let metadata = read_metadata(&path).unwrap();
    (concat_batches(&Arc::clone(table.schema()), &batches).unwrap(), metadata)
}
