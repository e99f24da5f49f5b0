//! Which targets are looked at once more, and how: what tells a change on the web from noise.
//!
//! Pure. Which kinds a target gets is a function of its observation, given by whoever starts the crawl, so that a
//! sample is the same whenever it is drawn. Deliberately absent: what a probe's answer means.

use std::fmt;
use std::sync::Arc;

use crate::observation::{Observation, ProbeKind};

/// Says of a finished target which extra looks it gets.
#[derive(Clone)]
pub struct Probing(Option<Arc<Plan>>);

type Plan = dyn Fn(&Observation) -> Vec<ProbeKind> + Send + Sync;

impl Probing {
    /// No extra looks.
    pub const NONE: Self = Self(None);

    /// The looks that a function of the observation names; it must not depend on the probes that the observation holds.
    pub fn new(plan: impl Fn(&Observation) -> Vec<ProbeKind> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(plan)))
    }

    /// The next look at a target, if one is due that it has not had.
    pub(crate) fn next(&self, observation: &Observation) -> Option<ProbeKind> {
        let asking = observation.asking.as_ref()?;
        let kinds = self.0.as_ref()?(observation);
        kinds.into_iter().find(|kind| asking.probes.iter().all(|probe| probe.kind != *kind))
    }
}

impl fmt::Debug for Probing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Probing").field(&self.0.is_some()).finish()
    }
}

crate::words! {
    /// What the `www.` twin of a listed name is for.
    pub enum Www {
        /// It is asked where the listed name has no address or does not answer, and what it says is the answer.
        Fallback = "fallback",
        /// It is looked at where the listed name gave a page, no file or a failure; that is a probe, never the answer.
        Probe = "probe",
        /// It is not asked.
        Never = "never",
    }
}
