//! Answers as text for a terminal: at most 100 columns, no colour, nothing from outside unescaped.

use std::io::{self, Write};

use crate::report::Heading;
use crate::report::escape::escape;
use crate::report::table;
use crate::report::wrap::{characters, wrap};
use crate::stats::{Answer, Body, Depth, Section};

const WIDTH: usize = 100;
const INDENT: &str = "  ";

/// Writes the sections of at most this depth.
pub(super) fn write(heading: &Heading, answers: &[Answer], depth: Depth, out: &mut impl Write) -> io::Result<()> {
    write_heading(heading, out)?;
    for section in answers.iter().flat_map(|answer| &answer.sections).filter(|section| section.depth <= depth) {
        writeln!(out)?;
        write_section(heading, section, out)?;
    }
    Ok(())
}

fn write_heading(heading: &Heading, out: &mut impl Write) -> io::Result<()> {
    write_title(&format!("Survey of {}, {}", escape(&heading.list), escape(&heading.date)), heading, out)
}

/// Writes a title, and what the figures rest on.
pub(super) fn write_title(title: &str, heading: &Heading, out: &mut impl Write) -> io::Result<()> {
    let Heading { list: _, date: _, definition, definition_says, dialect, is_rehearsal } = heading;
    writeln!(out, "{title}")?;
    if *is_rehearsal {
        writeln!(out)?;
        write_prose(
            "REHEARSAL: all answers came from a web on this machine. These figures say nothing about the real hosts.",
            out,
        )?;
    }
    writeln!(out)?;
    write_prose(&format!("Definition {}: {}", escape(definition), escape(definition_says)), out)?;
    write_prose(&format!("Files are read in dialect {}.", escape(dialect)), out)
}

/// Writes one section.
pub(super) fn write_section(heading: &Heading, section: &Section, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", section.title)?;
    writeln!(out, "{}", "─".repeat(characters(section.title)))?;
    write_prose(&section.caption, out)?;
    writeln!(out)?;
    match &section.body {
        Body::Table { columns: _, rows } if rows.is_empty() => writeln!(out, "{INDENT}none")?,
        Body::Table { columns, rows } => {
            for line in table::lines(columns, rows, WIDTH - INDENT.len()) {
                writeln!(out, "{}", format!("{INDENT}{line}").trim_end())?;
            }
        }
        Body::Missing { columns } => {
            write_prose(&format!("not in this snapshot, which has no column {}", escape(&columns.join(", "))), out)?;
        }
    }
    if section.is_judged || !section.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &section.notes {
        write_prose(&escape(note).to_string(), out)?;
    }
    if section.is_judged {
        let Heading { definition, dialect, .. } = heading;
        write_prose(&format!("By definition {}, dialect {}.", escape(definition), escape(dialect)), out)?;
    }
    Ok(())
}

/// Writes prose, indented and wrapped.
pub(super) fn write_prose(text: &str, out: &mut impl Write) -> io::Result<()> {
    wrap(text, WIDTH - INDENT.len()).iter().try_for_each(|line| writeln!(out, "{INDENT}{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::heading;
    use crate::report::{Format, write};
    use crate::stats::sample::{Layout, answers, batch, dozen, population};

    fn written(format: Format, heading: &Heading, answers: &[Answer]) -> String {
        let mut out = Vec::new();
        write(format, heading, answers, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_summary_of_a_small_survey() {
        let text = written(Format::Summary, &heading(), &answers(&[batch(&dozen(), Layout::Dictionary)]));
        insta::assert_snapshot!(text, @r"
        Survey of top10k, 2026-11-30

          Definition rfc: a site is fully closed to an agent where its rules let it fetch no path that the
          file mentions and no other.
          Files are read in dialect rfc9309.

        From the list to a verdict
        ──────────────────────────
          How far the survey came with each listed host.

          stage                                        hosts            of the stage before
                                                of 12 listed
          listed                                  12  100.0%
          resolved: has an address                10   83.3%   10 of 12 listed        83.3%
          answered: an HTTP response came          9   75.0%    9 of 10 resolved      90.0%
          determinable: a verdict is possible      8   66.7%    8 of  9 answered      88.9%
            readable: a robots.txt file            5   41.7%    5 of  8 determinable  62.5%
            empty: a file that says nothing        1    8.3%    1 of  8 determinable  12.5%
            absent: no such file (404, 410)        2   16.7%    2 of  8 determinable  25.0%
          no verdict: all others                   4   33.3%

        Why there is no verdict
        ───────────────────────
          Hosts that count neither as open nor as closed, by cause.

          Hosts, and their share of 12 listed hosts:
          class     outcome              hosts   what it means
          dns       dns-nxdomain      2  16.7%   The name does not exist (RCODE 3).
          connect   connect-timeout   1   8.3%   The TCP connection did not open in time.
          refused   refused-403       1   8.3%   Status 403.

        Stricter for AI training than for a crawler that is not named
        ─────────────────────────────────────────────────────────────
          Hosts that close more of their site to at least one AI training agent than to a crawler that their
          robots.txt does not name.

                                                                  ─ bounds over all hosts ───
          hosts that are                         with a verdict       at least        at most
                                              of 8 determinable   of 12 listed   of 12 listed
          stricter for an AI training agent            2  25.0%       2  16.7%       6  50.0%
          closed to some AI agent                      3  37.5%       3  25.0%       7  58.3%
          closed to some AI agent by name              2  25.0%       2  16.7%       6  50.0%

          AI training agents (set core-training-v1): GPTBot, ClaudeBot, Google-Extended, CCBot, Bytespider,
          Applebot-Extended, meta-externalagent, Amazonbot. Stricter: the agent's level (none, partial,
          mostly, full) is higher than that of a crawler no group names. Closed: full or mostly.
          AI agents (set ai-v1): those that the catalogue marks so, whatever they serve.
          Bounds: at least, if no host without a verdict were so; at most, if all of them were.
          By definition rfc, dialect rfc9309.

        Ten agents: how much is closed to them
        ──────────────────────────────────────
          How much of a site its robots.txt closes to each agent, whether it names the agent or not.

          Hosts, and their share of 8 determinable hosts:
                               ─ closed to the agent ───────────────────   ─ than if not named ─
          agent                    full     mostly    partial       none     stricter     looser
          GPTBot               2  25.0%   0   0.0%   1  12.5%   5  62.5%     2  25.0%   1  12.5%
          ClaudeBot            0   0.0%   0   0.0%   2  25.0%   6  75.0%     0   0.0%   1  12.5%
          Google-Extended      0   0.0%   0   0.0%   2  25.0%   6  75.0%     0   0.0%   1  12.5%
          CCBot                2  25.0%   0   0.0%   2  25.0%   4  50.0%     1  12.5%   0   0.0%
          Bytespider           1  12.5%   0   0.0%   2  25.0%   5  62.5%     0   0.0%   0   0.0%
          Applebot-Extended    1  12.5%   0   0.0%   2  25.0%   5  62.5%     0   0.0%   0   0.0%
          meta-externalagent   1  12.5%   0   0.0%   2  25.0%   5  62.5%     0   0.0%   0   0.0%
          Amazonbot            1  12.5%   0   0.0%   2  25.0%   5  62.5%     0   0.0%   0   0.0%
          PerplexityBot        1  12.5%   1  12.5%   2  25.0%   4  50.0%     1  12.5%   0   0.0%
          Googlebot            0   0.0%   0   0.0%   2  25.0%   6  75.0%     0   0.0%   1  12.5%

          full: closed to the agent. mostly: closed, with exceptions. partial: some paths are closed. none:
          nothing is. Stricter and looser: than a crawler that the file does not name.
          Googlebot is a control: a search crawler, no AI agent.
          By definition rfc, dialect rfc9309.

        Ten agents: by name, or inherited
        ─────────────────────────────────
          The same hosts, by whether the file names the agent.

          Hosts, and their share of 8 determinable hosts:
                               ─ full ─────────────   ─ mostly ───────────   ─ partial ─────────
          agent                 by name   inherited    by name   inherited   by name   inherited
          GPTBot               2  25.0%    0   0.0%   0   0.0%     0  0.0%   0  0.0%    1  12.5%
          ClaudeBot            0   0.0%    0   0.0%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          Google-Extended      0   0.0%    0   0.0%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          CCBot                1  12.5%    1  12.5%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          Bytespider           0   0.0%    1  12.5%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          Applebot-Extended    0   0.0%    1  12.5%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          meta-externalagent   0   0.0%    1  12.5%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          Amazonbot            0   0.0%    1  12.5%   0   0.0%     0  0.0%   0  0.0%    2  25.0%
          PerplexityBot        0   0.0%    1  12.5%   1  12.5%     0  0.0%   0  0.0%    2  25.0%
          Googlebot            0   0.0%    0   0.0%   0   0.0%     0  0.0%   0  0.0%    2  25.0%

          by name: a group of the file names the agent. inherited: none does, so the rules for every crawler
          (*) apply, or none do.
          By definition rfc, dialect rfc9309.

        AI preferences beside Allow and Disallow
        ────────────────────────────────────────
          Hosts with at least one signal of the kind, whatever it says.

          not in this snapshot, which has no column signals

          file: in robots.txt itself. head: in the head of the last response, which speaks of that response
          only.

        Who wrote the files
        ───────────────────
          Hosts with a text that stands in many files; a file may have several.

          not in this snapshot, which has no column templates

          `survey templates` explains them.

        Who decided the AI rules
        ────────────────────────
          Hosts by who decided the groups that name AI agents, and the signals.

          not in this snapshot, which has no column decision

          own: the site. switch: a platform's or CDN's toggle. default: they came with the platform. none:
          there are none.
        ");
    }

    #[test]
    fn a_snapshot_that_others_made_says_what_it_lacks() {
        let batch = batch(&dozen(), Layout::Plain);
        let kept = ["outcome", "agent_gptbot", "agent_ccbot", "agent_ccbot_by", "any_ai"];
        let kept: Vec<usize> = kept.iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
        let mut answers = answers(&[batch.project(&kept).unwrap()]);
        answers.retain(|answer| answer.name != "funnel");
        let text = written(Format::Summary, &heading(), &answers);
        insta::assert_snapshot!(text, @r"
        Survey of top10k, 2026-11-30

          Definition rfc: a site is fully closed to an agent where its rules let it fetch no path that the
          file mentions and no other.
          Files are read in dialect rfc9309.

        Stricter for AI training than for a crawler that is not named
        ─────────────────────────────────────────────────────────────
          Hosts that close more of their site to at least one AI training agent than to a crawler that their
          robots.txt does not name.

                                                                  ─ bounds over all hosts ───
          hosts that are                         with a verdict       at least        at most
                                              of 8 determinable   of 12 listed   of 12 listed
          stricter for an AI training agent   not in this snapshot
          closed to some AI agent                      3  37.5%       3  25.0%       7  58.3%
          closed to some AI agent by name     not in this snapshot

          AI training agents (set core-training-v1): GPTBot, ClaudeBot, Google-Extended, CCBot, Bytespider,
          Applebot-Extended, meta-externalagent, Amazonbot. Stricter: the agent's level (none, partial,
          mostly, full) is higher than that of a crawler no group names. Closed: full or mostly.
          AI agents (set ai-v1): those that the catalogue marks so, whatever they serve.
          Bounds: at least, if no host without a verdict were so; at most, if all of them were.
          By definition rfc, dialect rfc9309.

        Ten agents: how much is closed to them
        ──────────────────────────────────────
          How much of a site its robots.txt closes to each agent, whether it names the agent or not.

          Hosts, and their share of 8 determinable hosts:
                               ─ closed to the agent ──────────────────   ─ than if not named ─
          agent                    full    mostly    partial       none       stricter   looser
          GPTBot               2  25.0%   0  0.0%   1  12.5%   5  62.5%              –        –
          ClaudeBot            not in this snapshot
          Google-Extended      not in this snapshot
          CCBot                2  25.0%   0  0.0%   2  25.0%   4  50.0%              –        –
          Bytespider           not in this snapshot
          Applebot-Extended    not in this snapshot
          meta-externalagent   not in this snapshot
          Amazonbot            not in this snapshot
          PerplexityBot        not in this snapshot
          Googlebot            not in this snapshot
          – not in this snapshot

          full: closed to the agent. mostly: closed, with exceptions. partial: some paths are closed. none:
          nothing is. Stricter and looser: than a crawler that the file does not name.
          Googlebot is a control: a search crawler, no AI agent.
          By definition rfc, dialect rfc9309.

        Ten agents: by name, or inherited
        ─────────────────────────────────
          The same hosts, by whether the file names the agent.

          Hosts, and their share of 8 determinable hosts:
                               ─ full ─────────────   ─ mostly ──────────   ─ partial ─────────
          agent                 by name   inherited   by name   inherited   by name   inherited
          GPTBot               not in this snapshot
          ClaudeBot            not in this snapshot
          Google-Extended      not in this snapshot
          CCBot                1  12.5%    1  12.5%   0  0.0%     0  0.0%   0  0.0%    2  25.0%
          Bytespider           not in this snapshot
          Applebot-Extended    not in this snapshot
          meta-externalagent   not in this snapshot
          Amazonbot            not in this snapshot
          PerplexityBot        not in this snapshot
          Googlebot            not in this snapshot

          by name: a group of the file names the agent. inherited: none does, so the rules for every crawler
          (*) apply, or none do.
          By definition rfc, dialect rfc9309.

        AI preferences beside Allow and Disallow
        ────────────────────────────────────────
          Hosts with at least one signal of the kind, whatever it says.

          not in this snapshot, which has no column signals

          file: in robots.txt itself. head: in the head of the last response, which speaks of that response
          only.

        Who wrote the files
        ───────────────────
          Hosts with a text that stands in many files; a file may have several.

          not in this snapshot, which has no column templates

          `survey templates` explains them.

        Who decided the AI rules
        ────────────────────────
          Hosts by who decided the groups that name AI agents, and the signals.

          not in this snapshot, which has no column decision

          own: the site. switch: a platform's or CDN's toggle. default: they came with the platform. none:
          there are none.
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for size in [0, 1, 20_000] {
            let text = written(Format::Text, &heading(), &answers(&[batch(&population(size), Layout::Dictionary)]));
            for line in text.lines() {
                assert!(characters(line) <= WIDTH, "{line}");
                assert_eq!(line.trim_end(), line);
            }
        }
    }

    #[test]
    fn a_list_name_cannot_steer_the_terminal() {
        let heading = Heading { list: "top\u{1b}[2J\n".to_owned(), is_rehearsal: true, ..heading() };
        let text = written(Format::Summary, &heading, &[]);
        insta::assert_snapshot!(text, @r"
        Survey of top\u{1b}[2J\n, 2026-11-30

          REHEARSAL: all answers came from a web on this machine. These figures say nothing about the real
          hosts.

          Definition rfc: a site is fully closed to an agent where its rules let it fetch no path that the
          file mentions and no other.
          Files are read in dialect rfc9309.
        ");
    }
}
