//! The room's promises, case by case.
use super::*;
