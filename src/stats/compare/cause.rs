//! Why a host differs, and which way.

crate::words! {
    /// Why a host differs between two snapshots; each host has one cause.
    pub enum Cause {
        /// Rules or signals changed, and not with a template: whoever runs the site decided.
        Own = "own",
        /// Rules or signals changed with the template of a platform or CDN, and the agents named outside of it did not.
        Platform = "platform",
        /// Rules or signals changed; the snapshots do not record templates, so who decided is not known.
        OwnOrPlatform = "own-or-platform",
        /// The stored verdicts differ, and judged alike they do not: the catalogue or the definition changed.
        Catalogue = "catalogue",
        /// What happened when the host was asked is another word.
        Outcome = "outcome",
        /// Other bytes, and not one rule or signal changed.
        Noise = "noise",
        /// Only the earlier snapshot has the host.
        OnlyBefore = "only-before",
        /// Only the later snapshot has the host.
        OnlyAfter = "only-after",
    }
}

impl Cause {
    /// Whether somebody asks something else of crawlers than before.
    pub const fn is_policy(self) -> bool {
        matches!(self, Self::Own | Self::Platform | Self::OwnOrPlatform)
    }
}

crate::words! {
    /// Which way a host went for the agents that are looked at.
    pub enum Direction {
        /// More is closed to at least one of them, and less to none.
        Tightened = "tightened",
        /// Less is closed to at least one of them, and more to none.
        Loosened = "loosened",
        /// More to some, less to others.
        Mixed = "mixed",
    }
}
