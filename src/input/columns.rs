//! What stands where in a line of a list, decided by its first line of data.
//!
//! | first line | taken for |
//! |---|---|
//! | one field is `domain`, `host`, `url` or `origin` | a header (Majestic, Radar, CrUX, or your own CSV or TSV) |
//! | a number, then something else | `rank,domain` (Tranco, Umbrella) |
//! | a host, then a number | `domain,rank` |
//! | anything else | one name or URL a line |
//!
//! Fields are separated by commas, or by tabs where the first line has tabs and no comma.

use anyhow::bail;

/// Where the fields of a list of text stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// The separator; nothing where a line is one field.
    separator: Option<u8>,
    places: Places,
    /// Whether the line that this was decided by is a header.
    pub(super) is_header: bool,
}

/// Where in a line or row each thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) domain: usize,
    pub(super) rank: Option<usize>,
    pub(super) weight: Option<usize>,
    pub(super) stratum: Option<usize>,
}

/// The fields of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) domain: String,
    pub(super) rank: Option<String>,
    pub(super) weight: Option<String>,
    pub(super) stratum: Option<String>,
}

/// Names of columns that hold hosts or URLs, in any case.
pub(super) const DOMAIN_NAMES: &[&str] = &["domain", "host", "url", "origin"];
const RANK_NAMES: &[&str] = &["rank", "globalrank"];

impl Columns {
    /// Decides by the first line of data; `weight_column` is a name that the header must have.
    pub(super) fn decide(line: &str, weight_column: Option<&str>) -> anyhow::Result<Self> {
        let separator = match (line.contains(','), line.contains('\t')) {
            (true, _) => Some(b','),
            (false, true) => Some(b'\t'),
            (false, false) => None,
        };
        let fields = split(line, separator);
        if let Some(places) = Places::find(&fields, weight_column)? {
            return Ok(Self { separator, places, is_header: true });
        }
        if let Some(wanted) = weight_column {
            bail!("it has no header, so no column {wanted:?} for weights");
        }
        let is_number = |field: &String| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        let (separator, domain, rank) = match &fields[..] {
            [rank, domain, ..] if is_number(rank) && !is_number(domain) => (separator, 1, Some(0)),
            [domain, rank, ..] if is_number(rank) && domain.contains('.') => (separator, 0, Some(1)),
            _ => (None, 0, None),
        };
        Ok(Self { separator, places: Places { domain, rank, weight: None, stratum: None }, is_header: false })
    }

    /// The fields of a line; nothing where it has no field for the domain.
    pub(super) fn fields(&self, line: &str) -> Option<Fields> {
        if self.separator.is_none() {
            return Some(Fields { domain: without_comment(line).to_owned(), rank: None, weight: None, stratum: None });
        }
        let mut fields = split(line, self.separator);
        let mut take = |place: Option<usize>| {
            let field = fields.get_mut(place?)?;
            Some(std::mem::take(field)).filter(|text| !text.is_empty())
        };
        let Places { domain, rank, weight, stratum } = self.places;
        let (rank, weight, stratum) = (take(rank), take(weight), take(stratum));
        Some(Fields { domain: take(Some(domain))?, rank, weight, stratum })
    }
}

impl Places {
    /// Finds the columns by their names; nothing where no name says that hosts stand there.
    pub(super) fn find(names: &[String], weight_column: Option<&str>) -> anyhow::Result<Option<Self>> {
        let position = |wanted: &[&str]| {
            names.iter().position(|name| wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)))
        };
        let Some(domain) = position(DOMAIN_NAMES) else { return Ok(None) };
        let weight = match weight_column {
            None => position(&["weight"]),
            Some(wanted) => match position(&[wanted]) {
                None => bail!("it has no column {wanted:?} for weights; its columns are {}", names.join(", ")),
                found => found,
            },
        };
        Ok(Some(Self { domain, rank: position(RANK_NAMES), weight, stratum: position(&["stratum"]) }))
    }
}

/// Fields of one line, trimmed. A quoted field may hold separators, but no line break.
fn split(line: &str, separator: Option<u8>) -> Vec<String> {
    let Some(separator) = separator else { return vec![line.trim().to_owned()] };
    let trimmed = |field: &str| field.trim().to_owned();
    if !line.contains('"') {
        return line.split(char::from(separator)).map(trimmed).collect();
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).delimiter(separator).flexible(true).from_reader(line.as_bytes());
    match reader.records().next() {
        Some(Ok(record)) => record.iter().map(trimmed).collect(),
        _ => line.split(char::from(separator)).map(trimmed).collect(),
    }
}

/// A plain line may end in a comment, behind white space.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| line[..*at].ends_with([' ', '\t']));
    comment.map_or(line, |(at, _)| &line[..at]).trim()
}
