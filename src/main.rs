//! The `survey` program: arguments, runtime, exit code.

fn main() {}
