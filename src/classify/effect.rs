//! What a crawler may do at a target: by its outcome, and where that is a failure by how long it has failed.
//!
//! [`Outcome::effect_rfc`] and [`Outcome::effect_google`] know the last look only. Here its past is taken into account:
//! after 30 days a server that cannot be reached counts as one without a file (RFC 9309, section 2.3.1.4, "MAY"), and
//! Google goes by the last good file after twelve hours.
//!
//! Pure. The past is what earlier snapshots hold ([`Past`]); without one every failure has just begun.

use jiff::{SignedDuration, Timestamp};

use crate::classify::Row;
use crate::observation::{LastGood, Past};
use crate::outcome::{Effect, Outcome, OutcomeClass};

/// "A reasonably long period of time (for example, 30 days)" of RFC 9309, and what Google's documentation has too.
const LONG: SignedDuration = SignedDuration::from_hours(30 * 24);
/// So long Google's crawler stops and keeps trying.
const GOOGLE_STOPS: SignedDuration = SignedDuration::from_hours(12);

/// What is known of a target after this look at it: the past of the next one.
pub fn past_after(past: Past, outcome: Outcome, at: Option<Timestamp>, body_sha256: Option<[u8; 32]>) -> Past {
    match outcome.class() {
        OutcomeClass::Readable | OutcomeClass::Empty => {
            let read = at.zip(body_sha256).map(|(at, sha256)| LastGood { at, sha256 });
            Past { unreachable_since: None, last_good: read }
        }
        class if class.is_unreachable() => Past { unreachable_since: past.unreachable_since.or(at), ..past },
        // Nobody was asked, so that nothing new is known.
        OutcomeClass::Policy => past,
        // Redirects that lead nowhere tell that the server is there, and not what became of the file.
        OutcomeClass::Redirect => Past { unreachable_since: None, ..past },
        // A page, no file, a refusal: whatever was kept of an earlier file is out of date.
        _ => Past::default(),
    }
}

impl Row {
    /// What is known of the target after this look at it.
    pub fn past_after(&self) -> Past {
        let Self { observation, outcome, body, .. } = self;
        past_after(observation.past, *outcome, observation.fetched_at, body.as_ref().map(|body| body.sha256))
    }

    /// SHA-256 of the last good file.
    pub fn last_good_sha256(&self) -> Option<&[u8; 32]> {
        let known = self.past_after().last_good?;
        let own = self.body.as_ref().map(|body| &body.sha256);
        let earlier = self.observation.past.last_good.as_ref().map(|good| &good.sha256);
        [own, earlier].into_iter().flatten().find(|sha256| **sha256 == known.sha256)
    }

    /// What a crawler that follows RFC 9309 to the letter derives, the time of failure included.
    pub fn effect_rfc(&self) -> Effect {
        match self.outcome.effect_rfc() {
            Effect::DisallowAll if self.fails_for().is_some_and(|span| span >= LONG) => Effect::AllowAll,
            effect => effect,
        }
    }

    /// What a crawler that follows Google's documentation derives, the time of failure included: for twelve hours it
    /// stops, then it goes by the last good file, or by none where none is known; after 30 days it acts as if there
    /// were no file where the server answers, and stops where it does not.
    pub fn effect_google(&self) -> Effect {
        let effect = self.outcome.effect_google();
        let Some(span) = self.fails_for().filter(|_| effect == Effect::DisallowForNow) else { return effect };
        if span < GOOGLE_STOPS {
            return effect;
        }
        let class = self.outcome.class();
        match self.past_after().last_good {
            _ if span >= LONG && class.is_answered() => Effect::AllowAll,
            _ if span >= LONG => effect,
            Some(_) => Effect::ByRules,
            None => Effect::AllowAll,
        }
    }

    /// How long every look has failed, this one included; nothing where it did not fail.
    fn fails_for(&self) -> Option<SignedDuration> {
        if !self.outcome.class().is_unreachable() {
            return None;
        }
        let since = self.past_after().unreachable_since?;
        Some(self.observation.fetched_at?.duration_since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Target};
    use crate::observation::{BodySource, Ending, Observation};
    use crate::outcome::{Cause, Kind};

    const START: Timestamp = Timestamp::UNIX_EPOCH;
    const GOOD: LastGood = LastGood { at: START, sha256: [1; 32] };

    fn later(hours: i64) -> Timestamp {
        START + SignedDuration::from_hours(hours)
    }

    /// The effects by the RFC and by Google of an outcome after so many hours of failure.
    fn effects(outcome: Outcome, hours: i64, last_good: Option<LastGood>) -> (Effect, Effect) {
        let observation = Observation {
            target: Target {
                index: 0,
                domain: Domain::parse("a.example").unwrap(),
                rank: None,
                weight: None,
                stratum: None,
            },
            capture_index: 0,
            fetched_at: Some(later(hours)),
            asking: None,
            ending: Ending::Failure(Cause::DnsServfail.into()),
            body_source: BodySource::Fetched,
            past: Past { unreachable_since: (hours > 0).then_some(START), last_good },
        };
        let row = Row {
            observation,
            outcome,
            body: None,
            reading: None,
            judgement: None,
            signals: None,
            stance: None,
            looks: Vec::new(),
        };
        (row.effect_rfc(), row.effect_google())
    }

    #[test]
    fn rfc9309_2_3_1_4_after_30_days_an_unreachable_file_is_an_unavailable_one() {
        let silent = Outcome::Failure(Cause::ConnectTimeout);
        for last_good in [None, Some(GOOD)] {
            assert_eq!(effects(silent, 0, last_good).0, Effect::DisallowAll);
            assert_eq!(effects(silent, 30 * 24 - 1, last_good).0, Effect::DisallowAll);
            assert_eq!(effects(silent, 30 * 24, last_good).0, Effect::AllowAll);
        }
        let limited = Outcome::Answer(Kind::Limited429);
        assert_eq!(effects(limited, 0, None).0, Effect::AllowAll);
        let circle = Outcome::Failure(Cause::RedirectLoop);
        assert_eq!(effects(circle, 90 * 24, None).0, Effect::DisallowAll, "it is no failure to be reached");
    }

    #[test]
    fn google_goes_by_the_last_good_file_between_twelve_hours_and_30_days() {
        let silent = Outcome::Failure(Cause::ConnectTimeout);
        let broken = Outcome::Answer(Kind::ServerError);
        for outcome in [silent, broken, Outcome::Answer(Kind::Limited429)] {
            assert_eq!(effects(outcome, 0, Some(GOOD)).1, Effect::DisallowForNow);
            assert_eq!(effects(outcome, 11, Some(GOOD)).1, Effect::DisallowForNow);
            assert_eq!(effects(outcome, 12, Some(GOOD)).1, Effect::ByRules);
            assert_eq!(effects(outcome, 12, None).1, Effect::AllowAll);
        }
        assert_eq!(effects(broken, 30 * 24, Some(GOOD)).1, Effect::AllowAll, "the site is there");
        assert_eq!(effects(silent, 30 * 24, Some(GOOD)).1, Effect::DisallowForNow, "it is not");
    }

    #[test]
    fn what_is_known_grows_with_failures_and_ends_with_the_first_word() {
        let known = Past { unreachable_since: Some(START), last_good: Some(GOOD) };
        let after = |outcome| past_after(known, outcome, Some(later(5)), Some([2; 32]));
        let failure = |cause| after(Outcome::Failure(cause));
        let answer = |kind| after(Outcome::Answer(kind));
        assert_eq!(failure(Cause::HttpReset), known);
        assert_eq!(failure(Cause::NotAttemptedLimited), known);
        assert_eq!(answer(Kind::Limited429), known);
        assert_eq!(failure(Cause::RedirectLoop), Past { unreachable_since: None, ..known });
        assert_eq!(answer(Kind::Absent404), Past::default());
        assert_eq!(answer(Kind::Challenge), Past::default());
        let good = LastGood { at: later(5), sha256: [2; 32] };
        assert_eq!(answer(Kind::Rules), Past { unreachable_since: None, last_good: Some(good) });
        let first = past_after(Past::default(), Outcome::Failure(Cause::HttpReset), Some(later(5)), None);
        assert_eq!(first, Past { unreachable_since: Some(later(5)), last_good: None });
        // Judging a stored row again starts from what is known after it.
        assert_eq!(
            past_after(answer(Kind::Rules), Outcome::Answer(Kind::Rules), Some(later(5)), Some([2; 32])).last_good,
            Some(good)
        );
    }
}
