//! The figures of a diff, as sections of an answer.

use std::borrow::Cow;
use std::sync::Arc;

use super::cause::{Cause, Direction};
use super::changes::{Change, Turn};
use super::diff::Counts;
use super::source::{Tracked, UNNAMED};
use super::tally::{AgentTally, Tally};
use super::turnover;
use crate::classify::row::Restriction;
use crate::stats::answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};

/// Everything that two snapshots differ in, as figures.
pub(super) fn answer(
    tally: &Tally,
    counts: &Counts,
    changes: &[Change],
    tracked: &Tracked,
    texts: &[Arc<str>],
) -> Answer {
    let sections = vec![
        hosts(tally),
        causes(counts, changes),
        directions(tally, changes),
        agents(tally, tracked),
        transitions(tally, tracked),
        turnover::tokens(tally, texts),
        turnover::signals(tally, texts),
        turnover::outcomes(tally),
        attrition(tally, tracked),
    ];
    Answer { name: "diff", sections }
}

fn hosts(tally: &Tally) -> Section {
    let Tally { before, after, in_both, panel, verdict_lost, verdict_gained, .. } = *tally;
    let either = before + after - in_both;
    let of_either = |hosts| Rate::new(hosts, Denominator::InEither, either).into();
    let of_both = |hosts| Rate::new(hosts, Denominator::InBoth, in_both).into();
    let row = |word, label, cell| Row::new(vec![Cell::Labelled { word, label }, cell]);
    let inside = |word, label, cell| Row::inside(vec![Cell::Labelled { word, label }, cell]);
    let rows = vec![
        row("only-before", "in the earlier snapshot only", of_either(before - in_both)),
        row("only-after", "in the later snapshot only", of_either(after - in_both)),
        row("in-both", "in both", of_either(in_both)),
        inside("panel", "with a verdict in both: the panel", of_both(panel)),
        inside("verdict-lost", "with a verdict in the earlier one only", of_both(verdict_lost)),
        inside("verdict-gained", "with a verdict in the later one only", of_both(verdict_gained)),
        inside("no-verdict", "with a verdict in neither", of_both(in_both - panel - verdict_lost - verdict_gained)),
    ];
    Section {
        name: "hosts",
        title: "Hosts compared",
        caption: "Policies are compared on the balanced panel: hosts with a verdict in both snapshots.".into(),
        depth: Depth::Summary,
        is_judged: false,
        body: Body::Table { columns: vec![Column::new("hosts", "hosts"), Column::new("count", "")], rows },
        notes: Vec::new(),
    }
}

fn causes(counts: &Counts, changes: &[Change]) -> Section {
    let is_recorded = counts.templates_recorded > 0;
    let of = |hosts: u64, panel: u64| -> [Cell; 2] {
        [
            Rate::new(hosts, Denominator::InBoth, counts.in_both).into(),
            Rate::new(panel, Denominator::Panel, counts.panel).into(),
        ]
    };
    let tally = |is_it: &dyn Fn(&Change) -> bool| {
        let found = changes.iter().filter(|change| is_it(change));
        let (mut hosts, mut panel) = (0, 0);
        for change in found {
            hosts += 1;
            panel += u64::from(change.is_determinable());
        }
        (hosts, panel)
    };
    let mut rows = Vec::new();
    let mut differ = (0, 0);
    for (cause, label) in LABELS {
        let (hosts, panel) = tally(&|change| change.cause == cause);
        differ = (differ.0 + hosts, differ.1 + panel);
        let name = Cell::Labelled { word: cause.word(), label };
        let is_moot = match cause {
            Cause::Own | Cause::Platform => !is_recorded && counts.files > 0,
            Cause::OwnOrPlatform => hosts == 0 && is_recorded,
            _ => false,
        };
        if cause == Cause::OwnOrPlatform && is_moot {
            continue;
        }
        let cells =
            if is_moot { [Cell::Absent(Absence::NotKnown), Cell::Absent(Absence::NotKnown)] } else { of(hosts, panel) };
        rows.push(Row::new([vec![name], cells.to_vec()].concat()));
        if cause == Cause::Outcome {
            rows.extend(TURNS.into_iter().map(|(turn, label)| {
                let (hosts, panel) = tally(&|change| change.cause == Cause::Outcome && change.turn() == turn);
                let name = Cell::Labelled { word: turn.word(), label };
                Row::inside([vec![name], of(hosts, panel).to_vec()].concat())
            }));
        }
    }
    let unchanged = Cell::Labelled { word: "unchanged", label: "nothing differs" };
    let same = of(counts.in_both - differ.0, counts.panel - differ.1);
    rows.push(Row::new([vec![unchanged], same.to_vec()].concat()));

    let mut notes: Vec<Cow<'static, str>> = Vec::new();
    if !is_recorded && counts.files > 0 {
        notes.push(
            "These snapshots do not record templates, so what a site decided and what its platform or CDN did cannot be \
             told apart."
                .into(),
        );
    } else if counts.templates_recorded < counts.files {
        notes.push(
            format!(
                "Both snapshots say who wrote the file for {} of {} hosts with a file in both; of the others it is not \
                 known who decided.",
                counts.templates_recorded, counts.files
            )
            .into(),
        );
    }
    notes.push(
        "Each host has one cause. Own decision and platform: with a file in both, whose rules, named agents or signals \
         differ. Outcome: another word for what happened, be it a file that came or went."
            .into(),
    );
    Section {
        name: "causes",
        title: "Why hosts differ",
        caption: "Each host of both snapshots once.".into(),
        depth: Depth::Summary,
        is_judged: true,
        body: Body::Table {
            columns: vec![
                Column::new("cause", "cause"),
                Column::new("hosts", "hosts"),
                Column::new("panel", "in the panel"),
            ],
            rows,
        },
        notes,
    }
}

const LABELS: [(Cause, &str); 6] = [
    (Cause::Own, "own decision of the site"),
    (Cause::Platform, "template of a platform or CDN"),
    (Cause::OwnOrPlatform, "site or platform, not known which"),
    (Cause::Outcome, "another outcome"),
    (Cause::Catalogue, "catalogue or definition only"),
    (Cause::Noise, "noise: other bytes, same rules"),
];

const TURNS: [(Turn, &str); 6] = [
    (Turn::FileAppeared, "a file came"),
    (Turn::FileVanished, "a file went"),
    (Turn::OtherWord, "other word, verdict in both"),
    (Turn::VerdictLost, "verdict lost"),
    (Turn::VerdictGained, "verdict gained"),
    (Turn::NoVerdict, "no verdict in either"),
];

fn directions(tally: &Tally, changes: &[Change]) -> Section {
    let count = |direction: Option<Direction>, is_it: fn(Cause) -> bool| -> Cell {
        let hosts = changes
            .iter()
            .filter(|change| change.is_determinable() && change.direction() == direction && is_it(change.cause));
        Rate::new(hosts.count() as u64, Denominator::Panel, tally.panel).into()
    };
    let rows = [
        (Direction::Tightened, "tightened: more is closed"),
        (Direction::Loosened, "loosened: less is closed"),
        (Direction::Mixed, "mixed: more to some, less to others"),
    ];
    let rows = rows.into_iter().map(|(direction, label)| {
        let direction_cell = Cell::Labelled { word: direction.word(), label };
        let direction = Some(direction);
        let cells = [
            direction_cell,
            count(direction, |_| true),
            count(direction, Cause::is_policy),
            count(direction, |cause| cause == Cause::Outcome),
        ];
        Row::new(cells.to_vec())
    });
    Section {
        name: "directions",
        title: "Hosts that tightened or loosened",
        caption: "Hosts whose level changed for at least one of the agents below, the unnamed crawler included.".into(),
        depth: Depth::Summary,
        is_judged: true,
        body: Body::Table {
            columns: vec![
                Column::new("direction", "hosts that"),
                Column::new("hosts", "all"),
                Column::new("by_rules", "with a file in both"),
                Column::new("by_outcome", "a file came or went"),
            ],
            rows: rows.collect(),
        },
        notes: vec!["Levels are ordered none, partial, mostly, full.".into()],
    }
}

/// Each tracked agent with its counts, the unnamed crawler last.
fn each_agent<'t>(tally: &'t Tally, tracked: &'t Tracked) -> impl Iterator<Item = (Cell, &'t AgentTally)> {
    let name = |token: &str| match token {
        UNNAMED => Cell::Labelled { word: UNNAMED, label: "* (not named)" },
        _ => Cell::Word(token.to_owned().into()),
    };
    let named = tracked.tokens().iter().zip(&tally.agents).skip(1);
    named.chain(tracked.tokens().iter().zip(&tally.agents).take(1)).map(move |(token, tally)| (name(token), tally))
}

fn agents(tally: &Tally, tracked: &Tracked) -> Section {
    let rows = each_agent(tally, tracked).map(|(name, agent)| {
        let of = |hosts| Rate::new(hosts, Denominator::Panel, agent.known()).into();
        let [tightened, loosened] = agent.moved();
        let [came, went] = agent.named;
        Row::new(vec![name, of(tightened), of(loosened), of(came), of(went)])
    });
    Section {
        name: "agents",
        title: "Agent by agent",
        caption: "Hosts that closed more or less of their site to each agent, and that began or ceased to name it."
            .into(),
        depth: Depth::Summary,
        is_judged: true,
        body: Body::Table {
            columns: vec![
                Column::new("agent", "agent"),
                Column::new("tightened", "tightened"),
                Column::new("loosened", "loosened"),
                Column::new("named", "now named"),
                Column::new("no_longer_named", "no longer named"),
            ],
            rows: rows.collect(),
        },
        notes: unknown_levels(tally, tracked),
    }
}

/// Agents for which a snapshot has no level on some hosts of the panel.
fn unknown_levels(tally: &Tally, tracked: &Tracked) -> Vec<Cow<'static, str>> {
    let mut notes = Vec::new();
    for (token, agent) in tracked.tokens().iter().zip(&tally.agents) {
        let missing = tally.panel - agent.known();
        if missing > 0 {
            notes.push(format!("{missing} hosts of the panel have no level for {token} in one of the two.").into());
        }
    }
    notes
}

fn transitions(tally: &Tally, tracked: &Tracked) -> Section {
    let mut rows = Vec::new();
    for (name, agent) in each_agent(tally, tracked) {
        for from in Restriction::ALL {
            let to = |to: &Restriction| {
                let hosts = agent.transitions[*from as usize][*to as usize];
                Cell::Rate(Rate::new(hosts, Denominator::Panel, agent.known()))
            };
            let cells = [vec![name.clone(), Cell::Word(from.word().into())], Restriction::ALL.iter().map(to).collect()];
            rows.push(Row::new(cells.concat()));
        }
    }
    let to = "later level";
    Section {
        name: "transitions",
        title: "From level to level",
        caption: "Hosts of the panel by their earlier level (down) and their later one (across).".into(),
        depth: Depth::Detail,
        is_judged: true,
        body: Body::Table {
            columns: vec![
                Column::new("agent", "agent"),
                Column::new("from", "earlier"),
                Column::grouped("none", to, "none"),
                Column::grouped("partial", to, "partial"),
                Column::grouped("mostly", to, "mostly"),
                Column::grouped("full", to, "full"),
            ],
            rows,
        },
        notes: unknown_levels(tally, tracked),
    }
}

fn attrition(tally: &Tally, tracked: &Tracked) -> Section {
    let mut rows = Vec::new();
    for (name, agent) in each_agent(tally, tracked) {
        for level in Restriction::ALL {
            let fates = agent.fates[*level as usize];
            let all = fates.iter().sum();
            let of = |hosts| Cell::Rate(Rate::new(hosts, Denominator::AtThisLevel, all));
            let cells = [vec![name.clone(), Cell::Word(level.word().into())], fates.map(of).to_vec()];
            rows.push(Row::new(cells.concat()));
        }
    }
    Section {
        name: "attrition",
        title: "Who fell out of the panel, by earlier level",
        caption: "Hosts with a verdict in the earlier snapshot: a panel that loses those of one level more often than others \
                  drifts by itself."
            .into(),
        depth: Depth::Detail,
        is_judged: true,
        body: Body::Table {
            columns: vec![
                Column::new("agent", "agent"),
                Column::new("level", "earlier"),
                Column::new("still", "still in the panel"),
                Column::new("no_verdict", "no verdict any more"),
                Column::new("gone", "not in the later snapshot"),
            ],
            rows,
        },
        notes: Vec::new(),
    }
}
