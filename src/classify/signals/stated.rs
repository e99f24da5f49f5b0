//! What was found → what it comes to: a word for each question that the columns ask.
//!
//! Only what stands in the file counts; hints in the head of a response speak of that response. *Under `*`* means in a
//! group that applies to a crawler which no group names. Where several lines answer one question, the most restrictive
//! one counts, whatever their order; a value that is not of the definition counts only where there is no other.

use super::{Found, Meaning, Scope, Source, content_signal, content_usage, license, prose};

crate::words! {
    /// What Content-Signal says of a use, the most restrictive word first.
    pub enum ContentSignal {
        /// Not wanted.
        No = "no",
        /// Granted.
        Yes = "yes",
        /// Something that is neither yes nor no.
        Nonstandard = "nonstandard",
        /// Nothing.
        Unset = "unset",
    }
}

crate::words! {
    /// How much may be reused by Content-Signal's `use`, the most restrictive word first.
    pub enum Reuse {
        /// For an answer of the moment.
        Immediate = "immediate",
        /// As a reference.
        Reference = "reference",
        /// In full.
        Full = "full",
        /// Something else.
        Nonstandard = "nonstandard",
        /// Nothing is said.
        Unset = "unset",
    }
}

crate::words! {
    /// What Content-Usage says of a use, the most restrictive word first.
    pub enum Usage {
        /// Denied.
        N = "n",
        /// Granted.
        Y = "y",
        /// Nothing, or nothing that can be known.
        Unset = "unset",
    }
}

/// What all signals of a file come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Content-Signal `search` under `*`.
    pub content_signal_search: ContentSignal,
    /// Content-Signal `ai-input` under `*`.
    pub content_signal_ai_input: ContentSignal,
    /// Content-Signal `ai-train` under `*`.
    pub content_signal_ai_train: ContentSignal,
    /// Content-Signal `use` under `*`.
    pub content_signal_use: Reuse,
    /// Content-Usage `train-ai` under `*`, for the whole site.
    pub content_usage_train_ai: Usage,
    /// Content-Usage `search` under `*`, for the whole site.
    pub content_usage_search: Usage,
    /// Whether a License record points to terms.
    pub has_license: bool,
    /// Whether comments reserve rights in prose.
    pub has_prose_reservation: bool,
    /// What is said to everybody about the whole site, in groups for `*`.
    pub to_all: Wishes,
    /// What is said to somebody, by name or not, about any part of the site.
    pub to_any: Wishes,
}

/// Wishes about the use of content.
#[expect(clippy::struct_excessive_bools, reason = "four answers that are independent of each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Training is not wanted.
    pub reserves_training: bool,
    /// AI uses other than training, or all, are not wanted.
    pub reserves_ai: bool,
    /// Training is granted.
    pub grants_training: bool,
    /// AI uses other than training, or all, are granted.
    pub grants_ai: bool,
}

impl Wishes {
    /// Whether some AI use is not wanted.
    pub const fn reserve(self) -> bool {
        self.reserves_training || self.reserves_ai
    }

    /// Whether one use is granted and not wanted at the same time.
    pub const fn contradict(self) -> bool {
        self.reserves_training && self.grants_training || self.reserves_ai && self.grants_ai
    }

    fn take(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::ReservesTraining => self.reserves_training = true,
            Meaning::ReservesAi => self.reserves_ai = true,
            Meaning::GrantsTraining => self.grants_training = true,
            Meaning::GrantsAi => self.grants_ai = true,
            Meaning::Neutral | Meaning::Unknown => {}
        }
    }
}

impl Default for Stated {
    fn default() -> Self {
        Self {
            content_signal_search: ContentSignal::Unset,
            content_signal_ai_input: ContentSignal::Unset,
            content_signal_ai_train: ContentSignal::Unset,
            content_signal_use: Reuse::Unset,
            content_usage_train_ai: Usage::Unset,
            content_usage_search: Usage::Unset,
            has_license: false,
            has_prose_reservation: false,
            to_all: Wishes::default(),
            to_any: Wishes::default(),
        }
    }
}

impl Stated {
    /// Takes one more statement into account.
    pub(super) fn take(&mut self, found: &Found) {
        if found.source != Source::Body {
            return;
        }
        self.has_license |= found.kind == license::KIND && found.meaning != Meaning::Unknown;
        self.has_prose_reservation |= found.kind == prose::KIND;
        let Scope::Group { is_wildcard, .. } = found.scope else { return };
        self.to_any.take(found.meaning);
        if !is_wildcard || !is_about_all(found.path.as_deref()) {
            return;
        }
        self.to_all.take(found.meaning);
        let value = found.value.as_deref();
        match (found.kind, found.key.as_deref()) {
            (content_signal::KIND, Some("search")) => lower(&mut self.content_signal_search, yes_or_no(value)),
            (content_signal::KIND, Some("ai-input")) => lower(&mut self.content_signal_ai_input, yes_or_no(value)),
            (content_signal::KIND, Some("ai-train")) => lower(&mut self.content_signal_ai_train, yes_or_no(value)),
            (content_signal::KIND, Some("use")) => {
                let known = value.and_then(Reuse::from_word).filter(|word| *word < Reuse::Nonstandard);
                lower(&mut self.content_signal_use, known.unwrap_or(Reuse::Nonstandard));
            }
            (content_usage::KIND, Some("train-ai")) => lower(&mut self.content_usage_train_ai, y_or_n(value)),
            (content_usage::KIND, Some("search")) => lower(&mut self.content_usage_search, y_or_n(value)),
            _ => {}
        }
    }
}

/// Whether a statement speaks of the whole site.
fn is_about_all(path: Option<&str>) -> bool {
    matches!(path, None | Some("/" | "/*" | "*"))
}

fn lower<T: Ord>(word: &mut T, other: T) {
    if other < *word {
        *word = other;
    }
}

fn yes_or_no(value: Option<&str>) -> ContentSignal {
    match value {
        Some("yes") => ContentSignal::Yes,
        Some("no") => ContentSignal::No,
        _ => ContentSignal::Nonstandard,
    }
}

fn y_or_n(value: Option<&str>) -> Usage {
    match value {
        Some("y") => Usage::Y,
        Some("n") => Usage::N,
        _ => Usage::Unset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::signals::Signals;
    use crate::robots::{Dialect, RobotsTxt};

    fn stated(text: &str) -> Stated {
        Signals::of_file(&RobotsTxt::parse(text.replace('|', "\n").as_bytes(), Dialect::Rfc9309)).stated
    }

    #[track_caller]
    fn check_signal(text: &str, ai_train: ContentSignal) {
        assert_eq!(stated(text).content_signal_ai_train, ai_train, "{text}");
    }

    #[test]
    fn content_signal_counts_under_the_star_only() {
        check_signal("User-agent: *|Content-Signal: ai-train=no|Allow: /", ContentSignal::No);
        check_signal("User-agent: a|User-agent: *|Content-Signal: ai-train=yes|Allow: /", ContentSignal::Yes);
        check_signal("User-agent: a|Content-Signal: ai-train=no|Allow: /", ContentSignal::Unset);
        check_signal("Content-Signal: ai-train=no|User-agent: *|Allow: /", ContentSignal::Unset);
        check_signal("User-agent: *|Content-Signal: search=yes|Allow: /", ContentSignal::Unset);
        check_signal("User-agent: *|Content-Signal: ai-train=maybe", ContentSignal::Nonstandard);
        // Of several groups for `*`, and of several lines, the most restrictive counts.
        let both = "User-agent: *|Content-Signal: ai-train=no|Allow: /|User-agent: *|Content-Signal: ai-train=yes";
        check_signal(both, ContentSignal::No);
        check_signal("User-agent: *|Content-Signal: ai-train=x, ai-train=yes", ContentSignal::Yes);
        // One group by RFC 9309, though its author may have meant two.
        check_signal("User-agent: a|Content-Signal: ai-train=no||User-agent: *|Disallow:", ContentSignal::No);
    }

    #[test]
    fn the_other_keys_have_their_own_columns() {
        let all = stated("User-agent: *|Content-Signal: search=yes,ai-input=no,use=full,use=reference");
        assert_eq!(all.content_signal_search, ContentSignal::Yes);
        assert_eq!(all.content_signal_ai_input, ContentSignal::No);
        assert_eq!(all.content_signal_use, Reuse::Reference);
        assert_eq!(all.content_signal_ai_train, ContentSignal::Unset);
        for odd in ["unset", "nonstandard", "yes", "Full"] {
            let odd = stated(&format!("User-agent: *|Content-Signal: use={odd}"));
            assert_eq!(odd.content_signal_use, Reuse::Nonstandard);
        }
    }

    #[test]
    fn content_usage_counts_for_the_whole_site_and_the_most_restrictive_line_wins() {
        let check = |text: &str, train_ai: Usage| {
            assert_eq!(stated(text).content_usage_train_ai, train_ai, "{text}");
        };
        check("User-agent: *|Content-Usage: train-ai=n", Usage::N);
        check("User-agent: *|Content-Usage: / train-ai=y", Usage::Y);
        check("User-agent: *|Content-Usage: /x train-ai=n", Usage::Unset);
        check("User-agent: *|Content-Usage: train-ai=y|Content-Usage: train-ai=n", Usage::N);
        check("User-agent: *|Content-Usage: train-ai=n|Content-Usage: train-ai=y", Usage::N);
        check("User-agent: *|Content-Usage: train-ai=no", Usage::Unset);
        check("User-agent: *|Content-Usage: ai=n", Usage::Unset);
        check("User-agent: *|Content-Usage: ai=n train-ai=n", Usage::Unset);
        check("User-agent: a|Content-Usage: train-ai=n", Usage::Unset);
        assert_eq!(stated("User-agent: *|Content-Usage: search=y").content_usage_search, Usage::Y);
    }

    #[test]
    fn wishes_to_all_are_told_from_wishes_to_somebody() {
        let all = stated("User-agent: *|DisallowAITraining: /|User-agent: a|Content-Signal: ai-input=yes");
        assert!(all.to_all.reserves_training && !all.to_any.contradict() && all.to_any.grants_ai);
        let named = stated("User-agent: a|Content-Usage: ai=n");
        assert!(!named.to_all.reserve() && named.to_any.reserve());
        let part = stated("User-agent: *|DisallowAITraining: /x");
        assert!(!part.to_all.reserve() && part.to_any.reserve());
        assert!(stated("User-agent: *|Content-Signal: ai-train=yes|Content-Usage: train-ai=n").to_all.contradict());
        assert_eq!(stated("Content-Signal: ai-train=no").to_any, Wishes::default());
    }

    #[test]
    fn a_licence_counts_where_it_points_to_terms() {
        assert!(stated("License: https://e.com/l").has_license);
        assert!(!stated("License: MIT").has_license);
    }
}
