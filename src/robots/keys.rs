//! Keys of records: the closed list, and what Google's parser takes for them.

use crate::robots::Dialect;

/// Every key that makes a line a known record, in lower case.
///
/// A file of which no line bears one of them is no robots.txt (outcome `no-directives`), so the list is closed: the
/// keys of RFC 9309, those that search engines document or once documented, and those that carry AI preferences. A
/// word that also begins lines of ordinary prose, such as `note`, does not belong here.
pub const KNOWN_KEYS: &[&str] = &[
    "user-agent",
    "allow",
    "disallow",
    "sitemap",
    "crawl-delay",
    "host",
    "clean-param",
    "content-signal",
    "content-usage",
    "license",
    "noindex",
    "nofollow",
    "noarchive",
    "request-rate",
    "visit-time",
    "cache-delay",
    "crawl-interval",
    "disallowaitraining",
    "allowaitraining",
    "robot-version",
    "sitemap-index",
];

/// Bytes of the longest of them.
const LONGEST_KEY: usize = {
    let (mut longest, mut at) = (0, 0);
    while at < KNOWN_KEYS.len() {
        if KNOWN_KEYS[at].len() > longest {
            longest = KNOWN_KEYS[at].len();
        }
        at += 1;
    }
    longest
};

/// What a record's key makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    UserAgent,
    Allow,
    Disallow,
    Other,
}

/// A key as a dialect reads it, and whether it is misspelt.
///
/// RFC 9309 compares keys whole (section 2.2); Google's parser by prefix, and takes some misspellings. A misspelt key
/// is reported in both dialects and is a record of the file's groups in `google` only.
pub(super) fn key_of(key: &[u8], dialect: Dialect) -> (Key, bool) {
    if !matches!(key.first(), Some(b'U' | b'u' | b'A' | b'a' | b'D' | b'd')) {
        return (Key::Other, false);
    }
    let whole = [(Key::UserAgent, "user-agent"), (Key::Allow, "allow"), (Key::Disallow, "disallow")];
    if let Some((found, _)) = whole.iter().find(|(_, name)| key.eq_ignore_ascii_case(name.as_bytes())) {
        return (*found, false);
    }
    let by_prefix = google_key(key);
    match dialect {
        Dialect::Google => (by_prefix, by_prefix != Key::Other),
        // `DisallowAITraining` is a record of its own, not a misspelling of another one.
        Dialect::Rfc9309 => (Key::Other, by_prefix != Key::Other && !is_known(key)),
    }
}

/// Whether the key is one of [`KNOWN_KEYS`].
pub(super) fn is_known(key: &[u8]) -> bool {
    // In a page of HTML every line with a colon is asked, and most of what stands before it is longer than any key.
    key.len() <= LONGEST_KEY && KNOWN_KEYS.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes()))
}

/// The key as Google's parser takes it: by prefix, with its frequent misspellings.
pub(super) fn google_key(key: &[u8]) -> Key {
    let starts = |prefixes: &[&str]| {
        prefixes
            .iter()
            .any(|prefix| key.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes())))
    };
    match key.first().map(u8::to_ascii_lowercase) {
        Some(b'u') if starts(&["user-agent", "useragent", "user agent"]) => Key::UserAgent,
        Some(b'a') if starts(&["allow"]) => Key::Allow,
        Some(b'd') if starts(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) => {
            Key::Disallow
        }
        _ => Key::Other,
    }
}
