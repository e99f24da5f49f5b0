//! Plays what no server in good health says: bytes as they are, then silence, a reset, an end, or more for ever.
//!
//! May touch: the stream it is given. What never ends is one small piece, sent again and again, so it costs no memory.
//! Deliberately absent: what is played (`behaviour`, `faults`).

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::sleep;

use crate::rehearsal::behaviour::{Play, Then};
use crate::rehearsal::log::Entry;

/// The last piece of a response: small enough to be handed to the kernel in one go.
const LAST_PIECE: usize = 16 * 1024;

/// Long enough for a peer to take what was sent before a reset throws the rest away.
const BEFORE_RESET: Duration = Duration::from_millis(50);

/// How the connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// In due form.
    Close,
    /// Without TLS's word for it.
    Leave,
    /// With a reset.
    Reset,
}

/// Plays to the end, or until the peer goes.
///
/// The end is marked before what lasts: when a peer went that only waits, or only reads, is seen too late for a pause
/// to be measured from there (see `log`).
pub(super) async fn perform<S>(stream: &mut S, play: &Play, entry: &mut Entry) -> io::Result<After>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    entry.note(play.then.word());
    deliver(stream, &play.bytes, entry).await?;
    match &play.then {
        Then::Close => Ok(After::Close),
        Then::Leave => Ok(After::Leave),
        Then::Reset => {
            if !play.bytes.is_empty() {
                sleep(BEFORE_RESET).await;
            }
            Ok(After::Reset)
        }
        Then::Hold => {
            let mut ignored = [0; 256];
            while stream.read(&mut ignored).await? > 0 {}
            Ok(After::Close)
        }
        Then::Repeat { piece, every, times } => {
            let mut left = *times;
            while left != Some(0) {
                if !every.is_zero() {
                    sleep(*every).await;
                }
                stream.write_all(piece).await?;
                stream.flush().await?;
                left = left.map(|left| left - 1);
            }
            Ok(After::Close)
        }
    }
}

/// Sends bytes; what comes before the last piece is sent, and taken by the peer, before the end is marked (see `log`).
pub(super) async fn deliver<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8], entry: &mut Entry) -> io::Result<()> {
    let (first, last) = bytes.split_at(bytes.len().saturating_sub(LAST_PIECE));
    if !first.is_empty() {
        stream.write_all(first).await?;
        stream.flush().await?;
    }
    entry.end();
    stream.write_all(last).await?;
    stream.flush().await
}

impl Then {
    /// The word in the log's column `note`.
    const fn word(&self) -> &'static str {
        match self {
            Self::Close => "closed",
            Self::Leave => "left",
            Self::Reset => "reset",
            Self::Hold => "held",
            Self::Repeat { times: None, .. } => "endless",
            Self::Repeat { .. } => "repeated",
        }
    }
}
