//! What is odd in a file, with line numbers.

crate::words! {
    /// Something odd in a file that a reader of its verdicts should know.
    pub enum Oddity {
        /// The file starts with a byte order mark, whole or in part.
        Bom = "bom",
        /// A line ends with CR alone.
        CrOnly = "cr-only",
        /// A NUL byte; Google's parser drops the rest of such a line.
        Nul = "nul",
        /// A line longer than 16,663 bytes; Google's parser drops the rest of it.
        LongLine = "long-line",
        /// A known key and one value, without a colon between them; only Google's parser takes it.
        MissingColon = "missing-colon",
        /// A key that only Google's parser takes for user-agent, allow or disallow.
        MisspeltKey = "misspelt-key",
        /// An Allow or Disallow before the first user-agent line; it applies to nobody (RFC 9309, section 2.2.2).
        RuleBeforeGroup = "rule-before-group",
        /// A rule that starts with neither `/` nor `*`, so that it matches no path.
        NoLeadingSlash = "no-leading-slash",
        /// A user-agent line without a value.
        EmptyUserAgent = "empty-user-agent",
        /// A user-agent line with several names and commas between them; it names one agent or none.
        CommaList = "comma-list",
        /// A token with a character that looks like a letter or hyphen and is another one (such as U+2011).
        LookAlike = "look-alike",
        /// A token with a character outside `A-Z a-z _ -` (RFC 9309, section 2.2.1).
        TokenOutsideAlphabet = "token-outside-alphabet",
        /// Another record stands between user-agent lines: one group by RFC 9309 (section 2.2.4), two to whoever takes
        /// that record for a rule, and some verdict or signal would be another then.
        AmbiguousGrouping = "ambiguous-grouping",
        /// Signals say yes and no to the same use, or training is granted to all crawlers and the file closes itself to
        /// those that train, or the reverse.
        ContradictorySignals = "contradictory-signals",
        /// More signals than are kept of one file; those that are not kept still count where a word sums them up.
        ManySignals = "many-signals",
        /// So many rules and wildcards that not every witness path was judged; levels under `rfc` are by those that were.
        JudgedInPart = "judged-in-part",
    }
}

/// An oddity and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is odd.
    pub oddity: Oddity,
    /// The first such line, from 1.
    pub line: u32,
    /// How many lines are odd in this way.
    pub count: u32,
}

/// The findings of one file: first line and count of each oddity.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Findings([(u32, u32); Oddity::ALL.len()]);

impl Findings {
    /// Notes an oddity of a line.
    #[cold]
    pub(super) fn note(&mut self, oddity: Oddity, line: u32) {
        let (first, count) = &mut self.0[oddity as usize];
        if *count == 0 {
            *first = line;
        }
        *count = count.saturating_add(1);
    }

    /// Those found, in the order of the vocabulary.
    pub(super) fn iter(&self) -> impl Iterator<Item = Finding> + '_ {
        Oddity::ALL.iter().zip(self.0).filter(|(_, (_, count))| *count > 0).map(|(oddity, (line, count))| Finding {
            oddity: *oddity,
            line,
            count,
        })
    }
}

/// Whether a token holds a character that is easily taken for one of the alphabet.
///
/// Dashes other than `-`, invisible and no-break spaces, full-width forms, and Cyrillic or Greek letters beside Latin
/// ones. Seen in the wild: `Perplexity-User` with U+2011 for the hyphen, shipped by a plugin and copied from there.
pub(super) fn has_look_alike(token: &[u8]) -> bool {
    if token.is_ascii() {
        return false;
    }
    let text = String::from_utf8_lossy(token);
    let has_latin = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    has_latin
        && text.chars().any(|letter| {
            matches!(letter,
                '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
                | '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202f}' | '\u{2060}' | '\u{feff}'
                | '\u{ff21}'..='\u{ff5a}'
                | '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{4ff}')
        })
}
