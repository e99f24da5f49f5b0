//! `--probe KIND=SHARE` and `--www probe`: from what was typed to which targets are looked at once more.

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

use crate::classify::outcome_of;
use crate::crawl::{Probing, Www};
use crate::domain::Domain;
use crate::observation::{BodySource, Ending, Observation, ProbeKind};
use crate::outcome::{Kind, Outcome, OutcomeClass};
use crate::robots::Dialect;

/// One kind of probe and the share of targets that get it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sampled {
    pub(super) kind: ProbeKind,
    share: f64,
}

impl std::str::FromStr for Sampled {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (kind, share) = text.split_once('=').context("expected KIND=SHARE, such as repeat=0.01 or repeat=1%")?;
        let Some(kind) = ProbeKind::from_word(kind) else {
            let kinds: Vec<&str> = ProbeKind::ALL.iter().map(|kind| kind.word()).collect();
            bail!("no probe is called {kind:?}; there are {}", kinds.join(", "));
        };
        let (number, unit) = share.strip_suffix('%').map_or((share, 1.0), |number| (number, 100.0));
        let share = number.parse::<f64>().with_context(|| format!("{share:?} is no share"))? / unit;
        if !(0.0..=1.0).contains(&share) {
            bail!("a share lies between 0 and 1, or 0% and 100%");
        }
        Ok(Self { kind, share })
    }
}

impl std::fmt::Display for Sampled {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}={}", self.kind, self.share)
    }
}

/// Of the answers that a 304 gave so many are checked: a validator that lies makes a change look like stability.
const CHECKED: Sampled = Sampled { kind: ProbeKind::Unconditional, share: 0.02 };

/// Adds the check of what conditions bring, unless another share was asked for.
pub(super) fn check_conditions(probes: &mut Vec<Sampled>) {
    if probes.iter().all(|probe| probe.kind != CHECKED.kind) {
        probes.push(CHECKED);
    }
}

/// The looks that each target gets.
///
/// The sample is a function of seed, kind and name, so that the same names are looked at in each wave of a list.
pub(super) fn plan(probes: &[Sampled], www: Www, seed: u64) -> Probing {
    if probes.is_empty() && www != Www::Probe {
        return Probing::NONE;
    }
    let probes = probes.to_vec();
    Probing::new(move |observation| {
        let domain = &observation.target.domain;
        let mut kinds: Vec<ProbeKind> = Vec::new();
        for probe in &probes {
            let is_possible = match probe.kind {
                ProbeKind::Authority => domain.twin().is_some(),
                ProbeKind::Unconditional => observation.body_source == BodySource::NotModified,
                ProbeKind::Repeat | ProbeKind::Identity => true,
            };
            if is_possible && was_asked(observation) && draw(seed, probe.kind, domain) < probe.share {
                kinds.push(probe.kind);
            }
        }
        let wants_twin = www == Www::Probe && domain.www().is_some() && is_in_doubt(observation);
        if wants_twin && !kinds.contains(&ProbeKind::Authority) {
            kinds.push(ProbeKind::Authority);
        }
        kinds
    })
}

/// A number from 0 to 1 that only these three decide.
fn draw(seed: u64, kind: ProbeKind, domain: &Domain) -> f64 {
    let digest = Sha256::digest(format!("{seed} {kind} {domain}"));
    let [a, b, c, d, ..]: [u8; 32] = digest.into();
    f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
}

fn was_asked(observation: &Observation) -> bool {
    observation.failure().is_none_or(|failure| failure.cause.class() != OutcomeClass::Policy)
}

/// Whether the listed name gave a page, no file or a failure, so that its twin may know better.
fn is_in_doubt(observation: &Observation) -> bool {
    match &observation.ending {
        Ending::Failure(failure) => failure.cause.class() != OutcomeClass::Policy,
        // The dialect decides for files of misspelt rules only, which are no pages.
        Ending::Response(response) => matches!(
            outcome_of(response, Dialect::Rfc9309),
            Outcome::Answer(Kind::Html | Kind::Absent404 | Kind::Absent410)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_kind_and_a_share() {
        let read = |text: &str| text.parse::<Sampled>().map(|sampled| (sampled.kind, sampled.share));
        assert_eq!(read("repeat=0.01").unwrap(), (ProbeKind::Repeat, 0.01));
        assert_eq!(read("authority=5%").unwrap(), (ProbeKind::Authority, 0.05));
        assert_eq!(read("identity=1").unwrap(), (ProbeKind::Identity, 1.0));
        for text in ["repeat", "repeat=", "repeat=2", "repeat=-1%", "again=1", "repeat=NaN"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_sample_has_its_share_and_is_the_same_when_drawn_again() {
        let domains: Vec<Domain> =
            (0..10_000).map(|number| Domain::parse(&format!("host-{number}.example")).unwrap()).collect();
        let sample = |seed, kind| -> Vec<usize> {
            let drawn = domains.iter().enumerate().filter(|(_, domain)| draw(seed, kind, domain) < 0.05);
            drawn.map(|(index, _)| index).collect()
        };
        let one = sample(1, ProbeKind::Repeat);
        assert!((400..600).contains(&one.len()), "{}", one.len());
        assert_eq!(one, sample(1, ProbeKind::Repeat));
        assert_ne!(one, sample(2, ProbeKind::Repeat));
        assert_ne!(one, sample(1, ProbeKind::Identity));
    }
}
