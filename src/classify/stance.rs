//! What a file says as a whole: whom its reservations speak to, and of which class its policy is.
//!
//! Both rest on verdicts under the snapshot's definition and on signals in the file. Hints in the head of the response,
//! a pointer to a licence, and words in comments do not count here.

use crate::classify::row::{Comparison, Restriction};
use crate::classify::signals::Stated;
use crate::classify::verdicts::{Asked, Verdicts};
use crate::robots::By;

crate::words! {
    /// Whom a reservation speaks to.
    pub enum ReservationScope {
        /// Everybody: it stands under `*`.
        Wildcard = "wildcard",
        /// Only those whom it names.
        NamedOnly = "named-only",
        /// Nobody: nothing is reserved.
        None = "none",
    }
}

crate::words! {
    /// What a file asks, as one class; the first that holds, in the order of incoherent, closed, allowlist, ai-no,
    /// training-no, hygiene, open.
    pub enum PolicyClass {
        /// Nothing is closed to anybody, and no AI use is refused.
        Open = "open",
        /// Paths are closed, or single crawlers that serve no AI are shut out; no AI agent is shut out that would not be
        /// if it were not named, and no AI use is refused.
        Hygiene = "hygiene",
        /// AI training is refused and no other AI use is: by a signal under `*`, or to agents of the set ai-v1 that serve
        /// training, data sets or an undocumented purpose, which are shut out (mostly or full) though a crawler that is
        /// not named is not.
        TrainingNo = "training-no",
        /// Other AI uses are refused: by a signal under `*`, or to agents of the set ai-v1 that serve AI search, users or
        /// agents, which are shut out though a crawler that is not named is not.
        AiNo = "ai-no",
        /// A crawler that is not named is shut out (mostly or full), and somebody who is named is not.
        Allowlist = "allowlist",
        /// A crawler that is not named is shut out, and so is everybody who is named.
        Closed = "closed",
        /// The file contradicts itself (oddity contradictory-signals): signals grant and refuse one use, or training is
        /// granted under `*` while an agent of the set core-training-v1 is fully shut out, or training is refused under
        /// `*` while such an agent is named and nothing is closed to it.
        Incoherent = "incoherent",
    }
}

/// What a file says as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stance {
    /// What its signals come to.
    pub stated: Stated,
    /// Whom rules that shut out speak to: everybody, or agents of the set ai-v1 by name.
    pub access: ReservationScope,
    /// Whom refusals of AI uses speak to: by signals in groups, or by the shutting out of opt-out tokens.
    pub usage: ReservationScope,
    /// The class of its policy.
    pub policy: PolicyClass,
    /// Whether it contradicts itself.
    pub is_contradictory: bool,
}

impl Stance {
    pub(super) fn of(stated: Stated, verdicts: &Verdicts, asked: &Asked) -> Self {
        let facts = Facts::of(verdicts, asked);
        let is_contradictory = facts.contradict(&stated);
        let access = if facts.is_closed {
            ReservationScope::Wildcard
        } else if facts.shuts_out_ai {
            ReservationScope::NamedOnly
        } else {
            ReservationScope::None
        };
        let usage = if stated.to_all.reserve() {
            ReservationScope::Wildcard
        } else if stated.to_any.reserve() || facts.shuts_out_token {
            ReservationScope::NamedOnly
        } else {
            ReservationScope::None
        };
        let policy = if is_contradictory { PolicyClass::Incoherent } else { facts.policy(&stated) };
        Self { stated, access, usage, policy, is_contradictory }
    }

    /// Whom any reservation speaks to, of access or of use: the widest of both.
    pub fn reservation(&self) -> ReservationScope {
        self.access.min(self.usage)
    }
}

/// What the verdicts of a file come to.
#[expect(clippy::struct_excessive_bools, reason = "answers that are independent of each other")]
struct Facts {
    /// A crawler that is not named is shut out.
    is_closed: bool,
    /// Somebody who is named is not.
    lets_some_in: bool,
    /// Something is closed to somebody.
    closes_something: bool,
    /// An AI agent is shut out by its own group.
    shuts_out_ai: bool,
    /// An opt-out token is shut out by its own group.
    shuts_out_token: bool,
    /// An AI agent that may serve training is shut out, though an unnamed crawler is not.
    singles_out_training: bool,
    /// An AI agent that serves something else is.
    singles_out_others: bool,
    /// A training agent is fully shut out.
    shuts_out_trainer: bool,
    /// A training agent is named, and nothing is closed to it.
    welcomes_trainer: bool,
}

impl Facts {
    fn of(verdicts: &Verdicts, asked: &Asked) -> Self {
        let level = |position: &usize| verdicts.agents[*position].restriction;
        let is_named = |position: &usize| verdicts.agents[*position].by == By::Named;
        let is_out = |position: &usize| level(position) >= Restriction::Mostly;
        let is_singled_out =
            |position: &usize| is_out(position) && verdicts.agents[*position].vs_unnamed == Comparison::Stricter;
        let is_out_by_name = |position: &usize| is_out(position) && is_named(position);
        Self {
            is_closed: verdicts.unnamed.restriction >= Restriction::Mostly,
            lets_some_in: verdicts.tokens.iter().any(|verdict| verdict.restriction < Restriction::Mostly),
            closes_something: verdicts.unnamed.restriction > Restriction::None
                || verdicts.tokens.iter().any(|verdict| verdict.restriction > Restriction::None),
            shuts_out_ai: asked.ai.iter().any(is_out_by_name),
            shuts_out_token: asked.opt_out_tokens.iter().any(is_out_by_name),
            singles_out_training: asked.ai.iter().any(|agent| is_singled_out(agent) && !asked.other_ai.contains(agent)),
            singles_out_others: asked.other_ai.iter().any(is_singled_out),
            shuts_out_trainer: asked.core_training.iter().any(|agent| level(agent) == Restriction::Full),
            welcomes_trainer: asked
                .core_training
                .iter()
                .any(|agent| is_named(agent) && level(agent) == Restriction::None),
        }
    }

    fn contradict(&self, stated: &Stated) -> bool {
        stated.to_all.contradict()
            || stated.to_all.grants_training && self.shuts_out_trainer
            || stated.to_all.reserves_training && self.welcomes_trainer
    }

    fn policy(&self, stated: &Stated) -> PolicyClass {
        if self.is_closed {
            if self.lets_some_in { PolicyClass::Allowlist } else { PolicyClass::Closed }
        } else if self.singles_out_others || stated.to_all.reserves_ai {
            PolicyClass::AiNo
        } else if self.singles_out_training || stated.to_all.reserves_training {
            PolicyClass::TrainingNo
        } else if self.closes_something {
            PolicyClass::Hygiene
        } else {
            PolicyClass::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PolicyClass::*;
    use super::*;
    use crate::classify::agents::Catalogue;
    use crate::classify::definitions::DEFINITIONS;
    use crate::classify::signals::Signals;
    use crate::robots::{Dialect, RobotsTxt};

    fn stance(text: &str) -> Stance {
        let asked = Asked::new(&Catalogue::embedded());
        let body = text.replace('|', "\n").into_bytes();
        let file = RobotsTxt::parse(&body, Dialect::Rfc9309);
        Stance::of(Signals::of_file(&file).stated, &Verdicts::of(&file, &DEFINITIONS[0], &asked), &asked)
    }

    #[test]
    fn policies_are_classed_by_who_is_shut_out_and_what_is_refused() {
        let cases = [
            ("", Open),
            ("User-agent: *|Disallow:", Open),
            ("User-agent: *|Content-Signal: search=yes,ai-train=yes|Allow: /", Open),
            ("License: https://e.com/l", Open),
            ("# AI training is prohibited.", Open),
            ("Content-Signal: ai-train=no|User-agent: *|Allow: /", Open),
            ("User-agent: *|Disallow: /admin/", Hygiene),
            ("User-agent: AhrefsBot|Disallow: /", Hygiene),
            ("User-agent: GPTBot|Disallow: /archive/", Hygiene),
            ("User-agent: GPTBot|Disallow: /", TrainingNo),
            ("User-agent: *|Disallow: /x|User-agent: Google-Extended|Disallow: /|Allow: /y", TrainingNo),
            ("User-agent: *|Content-Signal: ai-train=no|Disallow: /x", TrainingNo),
            ("User-agent: *|Content-Usage: train-ai=n|Allow: /", TrainingNo),
            ("User-agent: *|DisallowAITraining: /|Allow: /", TrainingNo),
            ("User-agent: *|DisallowAITraining: /x|Allow: /", Open),
            ("User-agent: GPTBot|User-agent: PerplexityBot|Disallow: /", AiNo),
            ("User-agent: ChatGPT-User|Disallow: /", AiNo),
            ("User-agent: *|Content-Signal: ai-input=no|Allow: /", AiNo),
            ("User-agent: *|Content-Usage: ai=n|Allow: /", AiNo),
            ("User-agent: *|Disallow: /|User-agent: Googlebot|Disallow: /x", Allowlist),
            ("User-agent: *|Disallow: /", Closed),
            ("User-agent: *|Disallow: /|Allow: /x|User-agent: GPTBot|Disallow: /", Closed),
            ("User-agent: *|Content-Signal: ai-train=yes|Allow: /|User-agent: GPTBot|Disallow: /", Incoherent),
            ("User-agent: *|Content-Signal: ai-train=yes|Disallow: /", Incoherent),
            ("User-agent: *|Content-Signal: ai-train=no|Allow: /|User-agent: GPTBot|Allow: /", Incoherent),
            ("User-agent: *|Content-Signal: ai-train=no, ai-train=yes|Allow: /", Incoherent),
            ("User-agent: *|Content-Signal: ai-train=no|Content-Usage: train-ai=y|Allow: /", Incoherent),
        ];
        for (text, expected) in cases {
            let stance = stance(text);
            assert_eq!(stance.policy, expected, "{text}");
            assert_eq!(stance.is_contradictory, expected == Incoherent, "{text}");
        }
    }

    #[test]
    fn what_goes_together_is_no_contradiction() {
        for text in [
            // A managed file: training is refused by signal and by name.
            "User-agent: *|Content-Signal: search=yes,ai-train=no|Allow: /|User-agent: GPTBot|Disallow: /",
            // Crawlers that do not train may come.
            "User-agent: *|Content-Signal: ai-train=no|Allow: /|User-agent: Googlebot|Allow: /",
            // Somebody else is granted what all others are not.
            "User-agent: *|Content-Signal: ai-train=no|Allow: /|User-agent: a|Content-Signal: ai-train=yes|Allow: /",
            // Partly closed to a trainer, and granted else.
            "User-agent: *|Content-Signal: ai-train=yes|Allow: /|User-agent: GPTBot|Disallow: /x",
        ] {
            assert!(!stance(text).is_contradictory, "{text}");
        }
    }

    #[test]
    fn reservations_of_access_and_of_use_have_their_own_scopes() {
        use ReservationScope::{NamedOnly, None, Wildcard};
        let cases = [
            ("", None, None),
            ("User-agent: *|Disallow: /x", None, None),
            ("User-agent: *|Disallow: /", Wildcard, None),
            ("User-agent: GPTBot|Disallow: /", NamedOnly, None),
            ("User-agent: AhrefsBot|Disallow: /", None, None),
            // An opt-out token has no crawler: shutting it out is about use.
            ("User-agent: Google-Extended|Disallow: /", NamedOnly, NamedOnly),
            ("User-agent: *|Content-Signal: ai-train=no|Allow: /", None, Wildcard),
            ("User-agent: *|Content-Signal: search=no|Allow: /", None, None),
            ("User-agent: GPTBot|Content-Signal: ai-train=no|Allow: /", None, NamedOnly),
            ("User-agent: *|Content-Usage: /x train-ai=n|Allow: /", None, NamedOnly),
            ("Content-Signal: ai-train=no", None, None),
            ("# AI training is prohibited.", None, None),
        ];
        for (text, access, usage) in cases {
            let stance = stance(text);
            assert_eq!((stance.access, stance.usage), (access, usage), "{text}");
            assert_eq!(stance.reservation(), access.min(usage), "{text}");
        }
    }

    /// Stored words are a public contract: a change here breaks every reader's queries.
    #[test]
    fn the_vocabularies_are_pinned() {
        let words: Vec<&str> = PolicyClass::ALL.iter().map(|class| class.word()).collect();
        assert_eq!(words, ["open", "hygiene", "training-no", "ai-no", "allowlist", "closed", "incoherent"]);
        let words: Vec<&str> = ReservationScope::ALL.iter().map(|scope| scope.word()).collect();
        assert_eq!(words, ["wildcard", "named-only", "none"]);
    }
}
