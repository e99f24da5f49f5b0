//! Whether the resolver tells the truth: a name that must exist, and one that cannot.
//!
//! Some resolvers answer for names that do not exist, with the address of a page of their own; some block. Behind the
//! one every dead domain would look alive, behind the other living ones would look dead.

use std::time::Duration;

use thiserror::Error;
use tokio::time::sleep;

use super::Fault;
use super::network::Names;
use super::resolve::Resolver;
use crate::outcome::Cause;

/// A resolver that cannot be believed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Lie {
    /// A name that must exist has no address.
    #[error("the resolver says {cause} for {name}, which exists; it filters, or it does not reach the Internet")]
    Filtered {
        /// The name.
        name: String,
        /// What was said.
        cause: Cause,
    },
    /// A name that cannot exist has an address.
    #[error("the resolver gives an address for {name}, which does not exist; dead domains would look alive")]
    Rewritten {
        /// The name.
        name: String,
    },
}

/// How often it is asked while a crawl goes on.
const INTERVAL: Duration = Duration::from_secs(300);
/// An answer that is lost is no lie; so many are asked for, with a pause between them.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(3);

/// Asks for both names once; silence and faults of our own are not for this to judge.
pub(crate) async fn check(resolver: &Resolver, existing: &str, names: &Names) -> Result<(), Lie> {
    let mut answer = settle(resolver, existing).await;
    for _ in 1..TRIES {
        if !matches!(answer, Some(Err(Cause::DnsTimeout | Cause::DnsServfail))) {
            break;
        }
        sleep(PAUSE).await;
        answer = settle(resolver, existing).await;
    }
    if let Some(Err(cause)) = answer {
        return Err(Lie::Filtered { name: existing.to_owned(), cause });
    }
    let absent = names.next();
    match settle(resolver, &absent).await {
        Some(Ok(())) => Err(Lie::Rewritten { name: absent }),
        _ => Ok(()),
    }
}

/// Asks again and again, and ends with the first lie.
pub(crate) async fn watch(resolver: &Resolver, existing: &str, names: &Names) -> Lie {
    loop {
        sleep(INTERVAL).await;
        // While the resolver is silent the crawl itself pauses, and ends if that does not pass.
        match check(resolver, existing, names).await {
            Err(Lie::Filtered { cause: Cause::DnsTimeout | Cause::DnsServfail, .. }) | Ok(()) => {}
            Err(lie) => return lie,
        }
    }
}

async fn settle(resolver: &Resolver, name: &str) -> Option<Result<(), Cause>> {
    match resolver.resolve(name).await {
        Ok(lookup) => Some(lookup.result.map(|_| ()).map_err(|failure| failure.cause)),
        Err(Fault::NoResolver | Fault::SilentResolver) => Some(Err(Cause::DnsTimeout)),
        Err(_) => None,
    }
}
