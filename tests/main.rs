//! The map of the integration tests: one module per room or promise.

mod layers;
