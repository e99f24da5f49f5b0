//! The data dictionary: the registry of columns as text, Markdown or JSON.

use std::fmt::Write;

use serde::Serialize;

use crate::table::Column;
use crate::table::column::Cell;

crate::words! {
    /// How the data dictionary is printed.
    pub enum Format {
        /// Aligned text for a terminal.
        Text = "text",
        /// A Markdown table.
        Markdown = "markdown",
        /// JSON, one object a column.
        Json = "json",
    }
}

/// One column, or one field of a nested column's items, as the data dictionary shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its type; a question mark says that it may be null.
    #[serde(rename = "type")]
    pub type_word: String,
    /// What it means.
    pub doc: String,
    /// The fields of its items, where it is a list of such.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Self>,
}

impl From<&Column> for Description {
    fn from(column: &Column) -> Self {
        let fields = fields(column);
        let type_word = if let Some(kind) = column.cell.kind() {
            kind.word().to_owned()
        } else {
            let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            format!("list of {{{}}}", names.join(", "))
        };
        Self {
            name: column.name.to_string(),
            type_word: optional(&type_word, column.required),
            doc: column.doc.to_string(),
            fields,
        }
    }
}

/// Renders the data dictionary of these columns, ending with a line feed.
pub fn describe(columns: &[Column], format: Format) -> String {
    let descriptions: Vec<Description> = columns.iter().map(Description::from).collect();
    match format {
        Format::Text => text(&descriptions),
        Format::Markdown => markdown(&descriptions),
        Format::Json => {
            let mut json = serde_json::to_string_pretty(&descriptions).expect("strings and lists are always JSON");
            json.push('\n');
            json
        }
    }
}

fn fields(column: &Column) -> Vec<Description> {
    let Cell::Items(items) = &column.cell else { return Vec::new() };
    let described = |(name, type_word, required, doc): (&str, &str, bool, &str)| Description {
        name: name.to_owned(),
        type_word: optional(type_word, required),
        doc: doc.to_owned(),
        fields: Vec::new(),
    };
    items.described().into_iter().map(described).collect()
}

fn optional(type_word: &str, required: bool) -> String {
    if required { type_word.to_owned() } else { format!("{type_word}?") }
}

fn text(descriptions: &[Description]) -> String {
    let mut text = String::new();
    for column in descriptions {
        put(&mut text, format_args!("{}  {}\n    {}\n", column.name, column.type_word, column.doc));
        for field in &column.fields {
            put(&mut text, format_args!("      {}  {}  {}\n", field.name, field.type_word, field.doc));
        }
    }
    text
}

fn markdown(descriptions: &[Description]) -> String {
    let mut text = String::from("| column | type | meaning |\n|---|---|---|\n");
    for column in descriptions {
        put(&mut text, format_args!("| `{}` | {} | {} |\n", column.name, column.type_word, column.doc));
        for field in &column.fields {
            let name = format!("{}.{}", column.name, field.name);
            put(&mut text, format_args!("| `{name}` | {} | {} |\n", field.type_word, field.doc));
        }
    }
    text
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("writing to a string cannot fail");
}
