//! A file without what differs between copies of one text: equal hashes are one cluster, with or without a signature.

use sha2::{Digest, Sha256};

use super::lines::lines;

/// SHA-256 of the lines of a file, in order: without comments, blank lines and the white space around, in lower case,
/// and without Sitemap and Host records, which hold the site's own name.
pub(in crate::classify) fn cluster(body: &[u8]) -> [u8; 32] {
    let start = if body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut kept = Vec::with_capacity(body.len());
    for line in lines(body, start) {
        let line = &body[line];
        let line = line[..memchr::memchr(b'#', line).unwrap_or(line.len())].trim_ascii();
        let key = line[..memchr::memchr(b':', line).unwrap_or(line.len())].trim_ascii_end();
        if line.is_empty() || key.eq_ignore_ascii_case(b"sitemap") || key.eq_ignore_ascii_case(b"host") {
            continue;
        }
        kept.extend(line.iter().map(u8::to_ascii_lowercase));
        kept.push(b'\n');
    }
    Sha256::digest(&kept).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, is_same: bool) {
        assert_eq!(cluster(one.as_bytes()) == cluster(other.as_bytes()), is_same, "{one:?} {other:?}");
    }

    #[test]
    fn what_differs_between_copies_leaves_no_mark() {
        let one = "# generated 2024-01-02\nUser-agent: *\nDisallow: /a # mine\n\nSitemap: https://a.example/s.xml\n";
        let other = "\u{feff}user-agent: *\r\n  DISALLOW: /a\r\nHost: b.example\r\nsitemap : https://b.example/\r\n";
        check(one, other, true);
        check("", "# nothing\n\n", true);
    }

    #[test]
    fn what_is_asked_and_in_which_order_does() {
        check("User-agent: *\nDisallow: /a", "User-agent: *\nDisallow: /b", false);
        check("Disallow: /a\nDisallow: /b", "Disallow: /b\nDisallow: /a", false);
        check("Disallow: /a\nb", "Disallow: /ab", false);
        check("User-agent: *\nDisallow:", "", false);
    }
}
