//! The catalogue of agents.

/// One agent of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// The product token as its operator writes it.
    pub token: String,
}

/// The catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    agents: Vec<Agent>,
}

impl Catalogue {
    /// The agents of the panel, in the order of their columns.
    pub fn panel(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter()
    }
}
