//! The real network behind the loop, and the doubt that each of its failures must pass.
//!
//! A failure that our own machine could have caused is believed only when that is ruled out: a time-out when the
//! processor had time to look ([`Health`]), silence when somebody else was heard meanwhile, or answers now. A name that
//! does not exist is asked for to find out, since no cache can hold the answer.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Fault;
use super::fetch::{Exchange, Fetcher, Request};
use super::health::Health;
use super::resolve::{Lookup, Resolver};
use super::run::Web;
use crate::outcome::Cause;

/// The real network.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    resolver: Resolver,
    fetcher: Fetcher,
    health: Arc<Health>,
    /// Held while one task finds out whether the resolver is alive; the others wait for what it hears.
    finding_out: Arc<Mutex<Names>>,
}

impl Network {
    pub(crate) fn new(resolver: Resolver, fetcher: Fetcher, health: Arc<Health>) -> Self {
        Self { resolver, fetcher, health, finding_out: Arc::default() }
    }

    /// Whether any name can be resolved, or found not to exist, after `since`.
    async fn does_resolve(&self, since: Instant) -> Result<bool, Fault> {
        let names = self.finding_out.lock().await;
        if self.health.has_resolved_since(since) {
            return Ok(true);
        }
        let lookup = self.resolver.resolve(&names.next()).await?;
        let is_alive = match lookup.result {
            Ok(_) => true,
            Err(failure) => matches!(failure.cause, Cause::DnsNxdomain | Cause::DnsNoAddress),
        };
        if is_alive {
            self.health.note_resolved();
        }
        Ok(is_alive)
    }
}

impl Web for Network {
    async fn resolve(&self, host: &str) -> Result<Lookup, Fault> {
        let (asked, lateness) = (Instant::now(), self.health.lateness());
        let lookup = self.resolver.resolve(host).await?;
        match lookup.result.as_ref().map_err(|failure| failure.cause) {
            Err(Cause::DnsTimeout) if self.health.was_starved(asked, lateness) => Err(Fault::Starved),
            Err(Cause::DnsTimeout | Cause::DnsServfail | Cause::DnsRefused) => {
                if self.health.has_resolved_since(asked) || self.does_resolve(asked).await? {
                    return Ok(lookup);
                }
                Err(Fault::SilentResolver)
            }
            Err(Cause::DnsMalformed) => Ok(lookup),
            _ => {
                self.health.note_resolved();
                Ok(lookup)
            }
        }
    }

    async fn ask(&self, request: Request<'_>) -> Result<Exchange, Fault> {
        let (asked, lateness) = (Instant::now(), self.health.lateness());
        let exchange = self.fetcher.ask(request).await?;
        let cause = exchange.result.as_ref().err().map(|failure| failure.cause);
        let is_time_out =
            matches!(cause, Some(Cause::ConnectTimeout | Cause::TlsTimeout | Cause::HttpTimeout | Cause::HttpTooSlow));
        if is_time_out && self.health.was_starved(asked, lateness) {
            return Err(Fault::Starved);
        }
        if matches!(cause, Some(Cause::ConnectTimeout | Cause::ConnectUnreachable)) {
            if !self.health.has_heard_since(asked) && !self.does_resolve(asked).await? {
                return Err(Fault::NoNetwork);
            }
        } else if !is_time_out {
            self.health.note_answered();
        }
        Ok(exchange)
    }

    fn lateness(&self) -> std::time::Duration {
        self.health.lateness()
    }
}

/// Names that do not exist, another one each time.
#[derive(Debug, Default)]
pub(crate) struct Names {
    keys: RandomState,
    given: AtomicU64,
}

impl Names {
    pub(crate) fn next(&self) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}.com", self.keys.hash_one(number))
    }
}

#[cfg(test)]
mod tests;
