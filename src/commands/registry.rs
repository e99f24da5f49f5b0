//! How the registries are printed: one table of words and sentences as text, Markdown or JSON.

use std::io::{self, Write};

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value};

use crate::cli::Output;

/// How a registry is printed.
#[derive(Args, Clone, Debug)]
pub(super) struct Shape {
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// A registry as rows of text; the last column is prose.
pub(super) struct Registry {
    pub(super) names: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Registry {
    pub(super) fn print(&self, shape: &Shape, output: &Output) -> anyhow::Result<()> {
        let text = match (output.json, shape.markdown) {
            (true, _) => self.json()?,
            (false, true) => self.markdown(),
            (false, false) => self.text(),
        };
        print(&text)
    }

    fn json(&self) -> anyhow::Result<String> {
        let objects = self.rows.iter().map(|row| {
            let fields =
                self.names.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), Value::from(cell.as_str())));
            Value::Object(fields.collect::<Map<_, _>>())
        });
        let array = Value::Array(objects.collect());
        Ok(serde_json::to_string_pretty(&array).context("printing as JSON")? + "\n")
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.names.iter().map(ToString::to_string).collect());
        text += &line(vec!["---".to_owned(); self.names.len()]);
        for row in &self.rows {
            text += &line(row.iter().map(|cell| cell.replace('|', "\\|")).collect());
        }
        text
    }

    fn text(&self) -> String {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.names.len().saturating_sub(1)).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            for (cell, width) in row.iter().map(String::as_str).zip(&widths) {
                text.extend([cell, "  ", &" ".repeat(width - cell.chars().count())]);
            }
            text += row.last().map_or("", String::as_str);
            text.push('\n');
        }
        text
    }
}

/// Writes text to standard output.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to standard output")
}
