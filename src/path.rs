//! The path of a URL: what a crawler compares with the rules of the URL's host.
//!
//! Touches nothing. Deliberately absent: hosts ([`crate::domain`]), rules ([`crate::robots`]), and any normalisation:
//! bytes stay as they were written.

use std::borrow::Cow;

use memchr::memmem;

/// The path of a URL as Google's parser takes it: parameters and query included, the fragment cut, `/` where there is
/// none.
pub fn path_of_url(url: &[u8]) -> Cow<'_, [u8]> {
    let start = if url.starts_with(b"//") { 2 } else { 0 };
    let first_of = |from: usize| memchr::memchr3(b'/', b'?', b';', &url[from..]).map(|at| from + at);
    let scheme = memmem::find(&url[start..], b"://").map(|at| start + at);
    let authority = match (first_of(start), scheme) {
        // A path, parameter or query before `://` means that this is no scheme.
        (Some(early), Some(scheme)) if early >= scheme => scheme + 3,
        _ => start,
    };
    let Some(path) = first_of(authority) else { return Cow::Borrowed(b"/") };
    let fragment = memchr::memchr(b'#', &url[start..]).map_or(url.len(), |at| start + at);
    match url.get(path..fragment) {
        None => Cow::Borrowed(b"/"),
        Some(found) if found.starts_with(b"/") => Cow::Borrowed(found),
        Some(found) => Cow::Owned([b"/", found].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_urls_are_those_of_googles_parser() {
        for (url, path) in [
            ("", "/"),
            ("http://www.example.com", "/"),
            ("http://www.example.com/a/b", "/a/b"),
            ("http://www.example.com?x", "/?x"),
            ("http://www.example.com;x#y", "/;x"),
            ("//www.example.com/a", "/a"),
            ("example.com/a?b=http://c", "/a?b=http://c"),
            ("http://www.example.com#/a", "/"),
            ("/a://b", "/a://b"),
            ("/caf\u{e9}/%7e/../x", "/caf\u{e9}/%7e/../x"),
        ] {
            assert_eq!(path_of_url(url.as_bytes()), path.as_bytes(), "{url}");
        }
    }
}
