//! A file → its templates, what is left of it without them, and who decided its AI rules.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::found::{Decision, Found, Kind, Seen, Template};
use super::lines::without;
use super::sheet::Sheet;
use super::templates;
use crate::classify::row::Judgement;
use crate::classify::signals;
use crate::classify::stance::PolicyClass;
use crate::classify::verdicts::Asked;
use crate::robots::{Dialect, RobotsTxt};

/// Who wrote a file, as a row has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Authorship {
    /// The templates found, in order of rank.
    pub found: Vec<Found>,
    /// Who decided the AI rules.
    pub decision: Decision,
    /// Tokens named outside managed blocks and templates, lower-case, `*` not among them, in order of first appearance.
    pub own_named_agents: Vec<String>,
    /// What the file without its managed blocks asks, and the class of that; nothing where it has no such block.
    pub unmanaged: Option<Box<(Judgement, PolicyClass)>>,
    /// SHA-256 of the file without what differs between copies of one text; nothing where there is no file.
    pub cluster: Option<[u8; 32]>,
}

/// The templates of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Templates {
    /// Those found, in order of rank.
    pub found: Vec<Found>,
    /// The file without its managed blocks, lines in their places; nothing where it has none.
    pub unmanaged: Option<Vec<u8>>,
    /// User-agent lines that templates wrote, each with the place of its template in `found`.
    agent_lines: Vec<(u32, usize)>,
}

impl Authorship {
    /// Of a site without a file.
    pub(in crate::classify) const NOBODY: Self = Self {
        found: Vec::new(),
        decision: Decision::None,
        own_named_agents: Vec::new(),
        unmanaged: None,
        cluster: None,
    };
}

impl Templates {
    /// Looks for templates in a file, which must have been read by RFC 9309, and the head that came with it.
    pub fn of_file(file: &RobotsTxt<'_>, headers: &[(String, String)]) -> Self {
        let marked = MARKS.entries_in(file.body());
        let mut all = Self::default();
        if marked.is_empty() {
            return all;
        }
        let (managed, others): (Vec<Marked>, Vec<Marked>) =
            marked.into_iter().partition(|(template, _)| template.kind == Kind::ManagedBlock);
        for marked in managed {
            all.look(file, headers, marked);
        }
        let blocks: Vec<RangeInclusive<u32>> = all.found.iter().filter_map(block).collect();
        if blocks.is_empty() {
            for marked in others {
                all.look(file, headers, marked);
            }
            return all;
        }
        let rest = without(file.body(), blocks);
        let unmanaged = RobotsTxt::parse(&rest, Dialect::Rfc9309);
        for marked in others {
            all.look(&unmanaged, headers, marked);
        }
        all.unmanaged = Some(rest);
        all
    }

    fn look(&mut self, file: &RobotsTxt<'_>, headers: &[(String, String)], (template, at): Marked) {
        let Some(seen) = (template.read)(&Sheet { file, headers, at }) else { return };
        let Seen { version, decision, last_line, line, agent_lines } = seen;
        let place = self.found.len();
        self.agent_lines.extend(agent_lines.into_iter().map(|line| (line, place)));
        self.found.push(Found { template: template.name, kind: template.kind, version, decision, line, last_line });
    }

    /// The template that wrote a line, by its place.
    fn author(&self, line: u32) -> Option<usize> {
        let of_block = |found: &Found| block(found).is_some_and(|block| block.contains(&line));
        let by_name = || self.agent_lines.iter().find(|(by_template, _)| *by_template == line).map(|(_, place)| *place);
        self.found.iter().position(of_block).or_else(by_name)
    }

    /// Tokens named outside managed blocks and templates.
    fn own_tokens(&self, file: &RobotsTxt<'_>) -> Vec<Vec<u8>> {
        let names = |file: &RobotsTxt<'_>| -> Vec<Vec<u8>> {
            let named = file.tokens().filter(|token| token.name != b"*");
            named.map(|token| token.name.to_ascii_lowercase()).collect()
        };
        if self.unmanaged.is_none() && self.agent_lines.is_empty() {
            return names(file);
        }
        let rest = self.unmanaged.as_deref().unwrap_or_else(|| file.body());
        let lines: Vec<RangeInclusive<u32>> = self.agent_lines.iter().map(|(line, _)| *line..=*line).collect();
        names(&RobotsTxt::parse(&without(rest, lines), Dialect::Rfc9309))
    }

    /// Who decided the AI rules of the file, and which tokens are its own; `signals` are those that were found in it.
    pub(in crate::classify) fn weigh(
        &self,
        file: &RobotsTxt<'_>,
        signals: &[signals::Found],
        asked: &Asked,
    ) -> (Decision, Vec<String>) {
        let own = self.own_tokens(file);
        let tokens = file.tokens().filter(|token| asked.is_ai(token.name)).map(|token| token.line);
        let signals = signals.iter().filter(|found| found.is_of_ai()).filter_map(|found| found.line);
        let authors: Vec<Option<usize>> = tokens.chain(signals).map(|line| self.author(line)).collect();
        let is_by = |decision: Decision| authors.iter().flatten().any(|place| self.found[*place].decision == decision);
        // A token may be the template's in one line and the site's own in another.
        let is_own = authors.contains(&None) || own.iter().any(|token| asked.is_ai(token));
        let decision = if authors.is_empty() {
            Decision::None
        } else if is_own {
            Decision::Own
        } else if is_by(Decision::Switch) {
            Decision::Switch
        } else if is_by(Decision::Unknown) {
            Decision::Unknown
        } else {
            Decision::Default
        };
        (decision, own.iter().map(|token| String::from_utf8_lossy(token).into_owned()).collect())
    }
}

/// The lines of a managed block.
fn block(found: &Found) -> Option<RangeInclusive<u32>> {
    found.last_line.filter(|_| found.kind == Kind::ManagedBlock).map(|last| found.line..=last)
}

/// An entry, and where the first of its marks stands.
type Marked = (&'static Template, usize);

/// The marks of all entries, searched at once.
struct Marks {
    search: AhoCorasick,
    /// The entries that have each mark, by their places in the registry.
    owners: Vec<Vec<usize>>,
    /// How many entries there are.
    entries: usize,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks: Vec<&str> = Vec::new();
    let mut owners: Vec<Vec<usize>> = Vec::new();
    for (entry, template) in templates().enumerate() {
        for mark in template.marks {
            if let Some(known) = marks.iter().position(|known| known == mark) {
                owners[known].push(entry);
            } else {
                marks.push(mark);
                owners.push(vec![entry]);
            }
        }
    }
    let search = AhoCorasick::builder()
        // Leftmost matches are those that vector instructions can look for; marks do not overlap.
        .match_kind(MatchKind::LeftmostFirst)
        .build(&marks)
        .expect("a few dozen short texts fit into any automaton");
    Marks { search, owners, entries: templates().count() }
});

impl Marks {
    /// The entries that have a mark in the body, in order of rank.
    fn entries_in(&self, body: &[u8]) -> Vec<Marked> {
        let mut first: Vec<Option<usize>> = Vec::new();
        for found in self.search.find_iter(body) {
            first.resize(self.entries, None);
            for entry in &self.owners[found.pattern().as_usize()] {
                first[*entry].get_or_insert_with(|| found.start());
            }
        }
        templates().zip(first).filter_map(|(template, at)| Some((template, at?))).collect()
    }
}
