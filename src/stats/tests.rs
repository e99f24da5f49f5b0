//! What holds for all statistics: counts by hand, what is missing, files of others, the order of parts.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, new_null_array};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;

use super::*;
use crate::stats::sample::{Host, Layout, answers, batch, dozen, population};

fn rates(answers: &[Answer]) -> impl Iterator<Item = Rate> {
    answers.iter().flat_map(|answer| &answer.sections).flat_map(rows).flat_map(|row| {
        row.cells.iter().filter_map(|cell| if let Cell::Rate(rate) = cell { Some(*rate) } else { None })
    })
}

fn rows(section: &Section) -> &[Row] {
    match &section.body {
        Body::Table { columns: _, rows } => rows,
        Body::Missing { columns: _ } => &[],
    }
}

fn section<'a>(answers: &'a [Answer], name: &str) -> &'a Section {
    answers.iter().flat_map(|answer| &answer.sections).find(|section| section.name == name).unwrap()
}

/// The count in the first share of the row that starts with this word.
#[track_caller]
fn count(answers: &[Answer], name: &str, first: &str) -> u64 {
    let starts_so = |row: &&Row| match &row.cells[0] {
        Cell::Word(word) => word == first,
        Cell::Labelled { word, label: _ } => *word == first,
        _ => false,
    };
    let row = rows(section(answers, name)).iter().find(starts_so).unwrap();
    let mut rates = row.cells.iter().filter_map(|cell| if let Cell::Rate(rate) = cell { Some(rate) } else { None });
    rates.next().unwrap().numerator()
}

fn replace(batch: &RecordBatch, column: &str, array: &ArrayRef) -> RecordBatch {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, old)| {
        let new = if field.name() == column { Arc::clone(array) } else { Arc::clone(old) };
        (field.name().clone(), new, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn without(batch: &RecordBatch, column: &str) -> RecordBatch {
    let mut batch = batch.clone();
    batch.remove_column(batch.schema().index_of(column).unwrap());
    batch
}

fn nulls(batch: &RecordBatch, column: &str) -> RecordBatch {
    let array = batch.column_by_name(column).unwrap();
    replace(batch, column, &new_null_array(array.data_type(), array.len()))
}

#[test]
fn the_registry_is_in_order() {
    let mut names = BTreeSet::new();
    for entry in STATISTICS {
        assert!(names.insert(entry.name), "{} stands twice", entry.name);
        assert!(entry.doc.ends_with('.'), "{}", entry.name);
        assert!(!(entry.columns)().is_empty(), "{}", entry.name);
        assert_eq!((entry.start)().finish().name, entry.name);
    }
}

#[test]
fn a_dozen_hosts_counted_by_hand() {
    let answers = answers(&[batch(&dozen(), Layout::Dictionary)]);
    assert_eq!(count(&answers, "stages", "resolved"), 10);
    assert_eq!(count(&answers, "stages", "answered"), 9);
    assert_eq!(count(&answers, "stages", "determinable"), 8);
    assert_eq!(count(&answers, "stages", "no-verdict"), 4);
    assert_eq!(count(&answers, "unknown", "dns"), 2);
    assert_eq!(count(&answers, "headline", "core-training-stricter"), 2);
    assert_eq!(count(&answers, "headline", "any-ai"), 3);
    assert_eq!(count(&answers, "headline", "any-ai-named"), 2);
    assert_eq!(count(&answers, "levels", "GPTBot"), 2);
    assert_eq!(count(&answers, "levels", "Amazonbot"), 1);
    assert_eq!(count(&answers, "origin", "Amazonbot"), 0);
}

#[test]
fn words_written_by_others_as_plain_text_count_alike() {
    let hosts = population(500);
    assert_eq!(answers(&[batch(&hosts, Layout::Plain)]), answers(&[batch(&hosts, Layout::Dictionary)]));
}

#[test]
fn an_empty_snapshot_has_no_shares_and_lacks_nothing() {
    let answers = answers(&[]);
    assert!(rates(&answers).all(|rate| rate.share().is_none()));
    assert!(rates(&answers).count() > 10);
}

#[test]
fn an_archive_cannot_know_who_has_an_address() {
    let hosts: Vec<Host> = dozen().into_iter().take(8).collect();
    let archive = nulls(&nulls(&batch(&hosts, Layout::Dictionary), "attempts"), "resolved_ips");
    let answers = answers(&[archive]);
    let stages = rows(section(&answers, "stages"));
    assert_eq!(stages[1].cells[1..], [Cell::Absent(Absence::NotInArchive), Cell::Absent(Absence::NotInArchive)]);
    assert_eq!(stages[2].cells[2], Rate::new(8, Denominator::Listed, 8).into());
}

#[test]
fn a_host_whose_addresses_are_all_private_has_an_address_if_the_table_says_so() {
    let hosts = [Host::ending("dns-private"), Host::ending("dns-nxdomain")];
    let plain = batch(&hosts, Layout::Dictionary);
    let stored = arrow::array::ListArray::from_iter_primitive::<arrow::datatypes::Int32Type, _, _>([
        Some(vec![Some(1)]),
        Some(vec![]),
    ]);
    assert_eq!(count(&answers(slice::from_ref(&plain)), "stages", "resolved"), 0);
    assert_eq!(
        count(&answers(&[replace(&plain, "resolved_ips", &(Arc::new(stored) as ArrayRef))]), "stages", "resolved"),
        1
    );
}

#[test]
fn what_is_not_in_the_snapshot_is_never_zero() {
    let batch = batch(&dozen(), Layout::Dictionary);
    let answers = answers(&[without(&without(&batch, "core_training_stricter"), "agent_gptbot")]);
    let absent = Cell::Absent(Absence::NotInSnapshot);
    assert!(rows(section(&answers, "headline"))[0].cells[1..].iter().all(|cell| *cell == absent));
    assert!(rows(section(&answers, "levels"))[0].cells[1..5].iter().all(|cell| *cell == absent));
    assert!(rows(section(&answers, "origin"))[0].cells[1..].iter().all(|cell| *cell == absent));
    assert_eq!(count(&answers, "levels", "CCBot"), 2);

    let answers = sample::answers(&[without(&without(&batch, "outcome"), "outcome_class")]);
    assert_eq!(
        section(&answers, "headline").body,
        Body::Missing { columns: vec!["outcome_class".into(), "outcome".into()] }
    );
    assert_eq!(count(&answers, "stages", "listed"), 12);
    assert_eq!(rows(section(&answers, "stages"))[3].cells[1], absent);
}

#[test]
fn rows_without_a_value_are_left_out_of_the_denominator_and_counted_in_the_bounds() {
    let whole = batch(&dozen(), Layout::Dictionary);
    let answers =
        answers(&[whole.clone(), nulls(&whole, "core_training_stricter"), without(&whole, "core_training_stricter")]);
    let headline = section(&answers, "headline");
    let expected = [
        Rate::new(2, Denominator::Determinable, 8),
        Rate::new(2, Denominator::Listed, 36),
        Rate::new(30, Denominator::Listed, 36),
    ];
    assert_eq!(rows(headline)[0].cells[1..], expected.map(Cell::Rate));
    assert_eq!(
        headline.notes.last().unwrap(),
        "16 determinable hosts have no value in core_training_stricter and are left out."
    );
}

#[test]
fn an_unknown_word_is_shown_and_gives_no_verdict() {
    let hosts = batch(&dozen()[..2], Layout::Plain);
    let words: ArrayRef = Arc::new(arrow::array::StringArray::from(vec!["rules", "spilt-milk"]));
    let hosts = replace(&replace(&hosts, "outcome", &words), "outcome_class", &words);
    let answers = answers(&[hosts]);
    assert_eq!(count(&answers, "stages", "determinable"), 0);
    assert_eq!(count(&answers, "outcomes", "spilt-milk"), 1);
}

#[test]
fn parts_are_read_from_files_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = population(3_000);
    let whole = batch(&hosts, Layout::Dictionary);
    let parts: Vec<PathBuf> = hosts
        .chunks(700)
        .enumerate()
        .map(|(number, hosts)| {
            let path = folder.path().join(format!("part-{number:05}.parquet"));
            write(&path, &batch(hosts, if number % 2 == 0 { Layout::Plain } else { Layout::Dictionary }));
            path
        })
        .collect();
    assert_eq!(summarise(&parts).unwrap(), answers(&[whole]));
}

#[test]
fn a_part_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part-00000.parquet");
    write(&part, &RecordBatch::try_from_iter([("outcome", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap());
    let error = summarise(&[part]).unwrap_err();
    assert!(format!("{error:#}").contains("part-00000.parquet: column outcome is Int32"), "{error:#}");
    assert!(summarise(&[folder.path().join("absent.parquet")]).is_err());
}

fn write(path: &Path, batch: &RecordBatch) {
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn tallies(hosts: &[Host]) -> Tallies {
    let mut tallies = Tallies::start(STATISTICS);
    tallies.add(&batch(hosts, Layout::Dictionary)).unwrap();
    tallies
}

fn merged(mut mine: Tallies, other: Tallies) -> Tallies {
    mine.merge(other);
    mine
}

fn hosts() -> impl Strategy<Value = Vec<Host>> {
    let population = population(2_000);
    prop::collection::vec(prop::sample::select(population), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn parts_may_come_in_any_order_and_grouping(a in hosts(), b in hosts(), c in hosts()) {
        let whole = tallies(&[&a[..], &b, &c].concat()).finish();
        let left = merged(merged(tallies(&a), tallies(&b)), tallies(&c)).finish();
        let right = merged(tallies(&c), merged(tallies(&b), tallies(&a))).finish();
        let with_nothing = merged(Tallies::start(STATISTICS), merged(tallies(&[&a[..], &b].concat()), tallies(&c)));
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(&right, &whole);
        prop_assert_eq!(&with_nothing.finish(), &whole);
    }

    #[test]
    fn no_share_is_above_one(hosts in hosts()) {
        let answers = tallies(&hosts).finish();
        for rate in rates(&answers) {
            prop_assert!(rate.numerator() <= rate.size());
            prop_assert!(rate.share().is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
    }
}

/// The ten and the set that a note spells out are frozen in the catalogue; here they are only repeated.
#[test]
fn the_agents_and_sets_are_the_catalogues() {
    let catalogue = crate::classify::Catalogue::embedded();
    let core = catalogue.set("core-training-v1").unwrap();
    assert_eq!(core, &agents::AGENTS[..core.len()]);
    let panel: Vec<&str> = catalogue.panel().map(|agent| agent.token.as_str()).collect();
    assert!(agents::AGENTS.iter().all(|token| panel.contains(token)), "each of the ten has columns");
    assert!(headline::SETS.contains(&core.join(", ")), "{}", headline::SETS);
}
