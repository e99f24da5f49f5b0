//! Bytes → the file's groups, rules and facts (RFC 9309); agent choice; path match.

crate::words! {
    /// Something odd in a file that a reader of its verdicts should know.
    pub enum Oddity {
        /// The file starts with a byte order mark.
        Bom = "bom",
    }
}
