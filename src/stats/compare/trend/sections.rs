//! The figures of a series, as sections of an answer.

use std::borrow::Cow;

use super::tally::{AgentTally, PanelTally, RANKS, SetTally, WaveTally};
use super::{CAUSES, Missing};
use crate::classify::row::Restriction;
use crate::outcome::OutcomeClass;
use crate::stats::answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::compare::cause::Cause;
use crate::stats::compare::diff::Counts;
use crate::stats::compare::source::{Tracked, UNNAMED};
use crate::stats::headline::SETS as SETS_SAY;

/// How a series went.
pub(super) fn answer(
    dates: &[&str],
    tallies: &[WaveTally],
    steps: &[Counts],
    tracked: &Tracked,
    missing: Missing,
) -> Answer {
    let series = Series { dates, tallies, tracked, missing };
    let mut sections = vec![series.waves(), series.outcomes(), series.sets()];
    sections.push(series.agents(
        "agents",
        "Agents, all hosts with a verdict",
        series.handling(),
        series.denominator(),
        |tally| &tally.full,
    ));
    sections.push(series.agents(
        "agents_balanced",
        "Agents, balanced panel",
        "The same hosts in every wave: those that are determinable in all of them, so nothing is carried.",
        Denominator::Balanced,
        |tally| &tally.balanced,
    ));
    sections.extend(series.cohorts());
    sections.extend(series.ranks());
    sections.push(changes(dates, steps));
    Answer { name: "trend", sections }
}

struct Series<'s> {
    dates: &'s [&'s str],
    tallies: &'s [WaveTally],
    tracked: &'s Tracked,
    missing: Missing,
}

/// A question, its words, and its words for people.
const QUESTIONS: [(&str, &str); 3] = [
    ("core-training-stricter", "stricter for an AI training agent"),
    ("any-ai", "closed to some AI agent"),
    ("any-ai-named", "closed to some AI agent by name"),
];

impl Series<'_> {
    fn waves_with_dates(&self) -> impl Iterator<Item = (Cell, &WaveTally)> {
        self.dates.iter().zip(self.tallies).map(|(date, tally)| (word(date), tally))
    }

    /// What the hosts without a verdict count as, in words.
    fn handling(&self) -> &'static str {
        match self.missing {
            Missing::AsObserved => "Missing as-observed: a host without a verdict in a wave is left out of that wave.",
            Missing::CarryForward => {
                "Missing carry-forward: a listed host without a verdict in a wave counts by its last one; files that were \
                 deleted and hosts that fail stay hidden so."
            }
        }
    }

    fn denominator(&self) -> Denominator {
        match self.missing {
            Missing::AsObserved => Denominator::Determinable,
            Missing::CarryForward => Denominator::WithVerdict,
        }
    }

    fn waves(&self) -> Section {
        let rows = self.waves_with_dates().map(|(date, tally)| {
            let of = |hosts| Rate::new(hosts, Denominator::Listed, tally.listed).into();
            let balanced = tally.balanced.sets.listed;
            let mut cells = vec![date, of(tally.determinable)];
            if self.missing == Missing::CarryForward {
                cells.push(of(tally.carried));
            }
            cells.extend([of(balanced), of(tally.entered), of(tally.stayed)]);
            Row::new(cells)
        });
        let mut columns = vec![Column::new("date", "date"), Column::new("determinable", "determinable")];
        if self.missing == Missing::CarryForward {
            columns.push(Column::new("carried", "carried forward"));
        }
        columns.extend([
            Column::new("balanced", "in the balanced panel"),
            Column::new("entered", "listed for the first time"),
            Column::new("stayed", "listed in the wave before"),
        ]);
        section("waves", "Waves", "The snapshots of the series, and how many of their hosts allow a verdict.".into())
            .shown(Depth::Summary, columns, rows.collect())
            .noted([self.handling().into()])
    }

    fn outcomes(&self) -> Section {
        let mut rows = Vec::new();
        for class in OutcomeClass::ALL {
            let count = |tally: &WaveTally| tally.classes[*class as usize];
            if self.tallies.iter().all(|tally| count(tally) == 0) {
                continue;
            }
            rows.extend(self.waves_with_dates().map(|(date, tally)| {
                let hosts = Rate::new(count(tally), Denominator::Listed, tally.listed);
                Row::new(vec![word(class.word()), date, hosts.into()])
            }));
        }
        let unknown: u64 = self.tallies.iter().map(|tally| tally.unknown_outcomes).sum();
        let columns = vec![Column::new("class", "class"), Column::new("date", "date"), Column::new("hosts", "hosts")];
        let notes =
            (unknown > 0).then(|| format!("{unknown} rows have an outcome that this version does not know.").into());
        section("outcomes", "What happened", "Hosts by the class of their outcome, as observed in each wave.".into())
            .shown(Depth::Detail, columns, rows)
            .noted(notes)
    }

    fn sets(&self) -> Section {
        let mut rows = Vec::new();
        for (number, (word, label)) in QUESTIONS.into_iter().enumerate() {
            rows.extend(self.waves_with_dates().map(|(date, tally)| {
                let full = tally.full.sets.rate(number, self.denominator());
                let balanced = tally.balanced.sets.rate(number, Denominator::Balanced);
                Row::new(vec![Cell::Labelled { word, label }, date, full, balanced])
            }));
        }
        let columns = vec![
            Column::new("set", "hosts that are"),
            Column::new("date", "date"),
            Column::new("full", "all with a verdict"),
            Column::new("balanced", "balanced panel"),
        ];
        section("sets", "AI agents as a whole", "Hosts that answer each question with yes.".into())
            .shown(Depth::Summary, columns, rows)
            .judged()
            .noted([SETS_SAY.into(), self.handling().into()])
    }

    fn agents(
        &self,
        name: &'static str,
        title: &'static str,
        caption: &'static str,
        denominator: Denominator,
        panel: impl Fn(&WaveTally) -> &PanelTally,
    ) -> Section {
        let mut rows = Vec::new();
        let tokens = self.tracked.tokens();
        for (place, token) in (1..tokens.len()).chain([0]).map(|place| (place, &tokens[place])) {
            let agent = match token.as_str() {
                UNNAMED => Cell::Labelled { word: UNNAMED, label: "* (not named)" },
                _ => word(token),
            };
            rows.extend(self.waves_with_dates().map(|(date, tally)| {
                let AgentTally { levels, closed_by_name, stricter, looser } = panel(tally).agents[place];
                let known = panel(tally).agents[place].known();
                let of = |hosts: u64| Cell::Rate(Rate::new(hosts, denominator, known));
                let levels = Restriction::ALL.iter().rev().map(|level| of(levels[*level as usize]));
                let more = [of(closed_by_name), of(stricter), of(looser)];
                Row::new([agent.clone(), date].into_iter().chain(levels).chain(more).collect())
            }));
        }
        let columns = vec![
            Column::new("agent", "agent"),
            Column::new("date", "date"),
            Column::new("full", "full"),
            Column::new("mostly", "mostly"),
            Column::new("partial", "partial"),
            Column::new("none", "none"),
            Column::new("closed_by_name", "full or mostly by name"),
            Column::new("stricter", "stricter than unnamed"),
            Column::new("looser", "looser than unnamed"),
        ];
        section(name, title, caption.into()).shown(Depth::Detail, columns, rows).judged()
    }

    /// By wave of entry, where hosts came in later than with the first one.
    fn cohorts(&self) -> Option<Section> {
        let first = self.tallies.iter().skip(1).all(|tally| tally.entered == 0);
        let strata = self.dates.iter().enumerate().map(|(entry, date)| (word(date), entry));
        let rows = self.strata(strata, |tally, entry| &tally.cohorts[entry]);
        let section = section(
            "cohorts",
            "By cohort",
            "Hosts by the wave in which they were listed for the first time, fixed for good.".into(),
        );
        (!first).then(|| section.shown(Depth::Detail, strata_columns("entry", "listed since"), rows).judged())
    }

    /// By rank at entry, where hosts have one.
    fn ranks(&self) -> Option<Section> {
        let ranked = &RANKS[..RANKS.len() - 1];
        let has_ranks = self.tallies.iter().any(|tally| tally.ranks[..ranked.len()].iter().any(|rank| rank.listed > 0));
        let strata = RANKS.iter().enumerate().map(|(place, (_, name))| (word(name), place));
        let rows = self.strata(strata, |tally, place| &tally.ranks[place]);
        let section = section(
            "ranks",
            "By rank",
            "Hosts by the rank with which they were listed for the first time, fixed for good.".into(),
        );
        has_ranks.then(|| section.shown(Depth::Detail, strata_columns("rank", "rank at entry"), rows).judged())
    }

    fn strata<'t>(
        &'t self,
        strata: impl Iterator<Item = (Cell, usize)>,
        tally: impl Fn(&'t WaveTally, usize) -> &'t SetTally,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for (name, place) in strata {
            for (date, wave) in self.waves_with_dates().filter(|(_, wave)| tally(wave, place).listed > 0) {
                let stratum = tally(wave, place);
                let (known, _) = stratum.answers[0];
                let mut cells = vec![name.clone(), date, Rate::new(known, Denominator::Listed, stratum.listed).into()];
                cells.extend((0..QUESTIONS.len()).map(|number| stratum.rate(number, self.denominator())));
                rows.push(Row::new(cells));
            }
        }
        rows
    }
}

/// What changed from wave to wave, by cause.
fn changes(dates: &[&str], steps: &[Counts]) -> Section {
    let is_recorded = steps.iter().any(|step| step.templates_recorded > 0);
    let rows = steps.iter().zip(dates.windows(2)).map(|(step, dates)| {
        let cells = CAUSES.iter().map(|cause| {
            let is_moot =
                matches!(cause, Cause::Own | Cause::Platform) && step.templates_recorded == 0 && step.files > 0;
            if is_moot {
                return Cell::Absent(Absence::NotKnown);
            }
            Rate::new(step.causes[*cause as usize], Denominator::InBoth, step.in_both).into()
        });
        Row::new([word(dates[0]), word(dates[1])].into_iter().chain(cells).collect())
    });
    let mut notes: Vec<Cow<'static, str>> = vec![
        "Site: rules, named agents or signals changed, and not with a template. Platform: they changed with the template of a \
         platform or CDN. Outcome: another word for what happened. Noise: other bytes, same rules."
            .into(),
    ];
    if !is_recorded {
        notes.push("Templates are not recorded in these snapshots, so site and platform cannot be told apart.".into());
    }
    let columns = vec![
        Column::new("from", "from"),
        Column::new("to", "to"),
        Column::new("own", "site"),
        Column::new("platform", "platform"),
        Column::new("own_or_platform", "site or platform"),
        Column::new("outcome", "outcome"),
        Column::new("catalogue", "catalogue"),
        Column::new("noise", "noise"),
    ];
    section(
        "changes",
        "What changed from wave to wave",
        "Hosts of both waves that differ, each by its one cause.".into(),
    )
    .shown(Depth::Detail, columns, rows.collect())
    .judged()
    .noted(notes)
}

fn strata_columns(name: &'static str, title: &'static str) -> Vec<Column> {
    vec![
        Column::new(name, title),
        Column::new("date", "date"),
        Column::new("with_verdict", "with a verdict"),
        Column::new("core_training_stricter", "stricter for AI training"),
        Column::new("any_ai", "closed to some AI"),
        Column::new("any_ai_named", "so by name"),
    ]
}

fn section(name: &'static str, title: &'static str, caption: Cow<'static, str>) -> Section {
    let body = Body::Table { columns: Vec::new(), rows: Vec::new() };
    Section { name, title, caption, depth: Depth::Detail, is_judged: false, body, notes: Vec::new() }
}

impl Section {
    fn shown(self, depth: Depth, columns: Vec<Column>, rows: Vec<Row>) -> Self {
        Self { depth, body: Body::Table { columns, rows }, ..self }
    }

    fn judged(self) -> Self {
        Self { is_judged: true, ..self }
    }

    fn noted(mut self, notes: impl IntoIterator<Item = Cow<'static, str>>) -> Self {
        self.notes.extend(notes);
        self
    }
}

impl SetTally {
    fn rate(&self, question: usize, denominator: Denominator) -> Cell {
        let (known, yes) = self.answers[question];
        Rate::new(yes, denominator, known).into()
    }
}

fn word(text: &str) -> Cell {
    Cell::Word(text.to_owned().into())
}
