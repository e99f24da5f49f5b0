//! Imports point one way only: the map in `src/lib.rs` is true.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in reading order; a room may import those before it, and its own.
const ROOMS: &[&str] = &[
    "words",
    "text",
    "domain",
    "exclusions",
    "fronts",
    "path",
    "outcome",
    "observation",
    "robots",
    "classify",
    "input",
    "crawl",
    "table",
    "snapshot",
    "rehearsal",
    "check",
    "stats",
    "report",
    "series",
    "progress",
    "cli",
    "commands",
];

/// Rooms that stand side by side: each may be before the other in the map, and still must not know it.
const STRANGERS: &[(&str, &str)] = &[
    ("input", "robots"),
    ("crawl", "robots"),
    ("crawl", "classify"),
    ("crawl", "input"),
    ("table", "input"),
    ("table", "crawl"),
    ("snapshot", "crawl"),
    ("snapshot", "input"),
    ("rehearsal", "crawl"),
    ("rehearsal", "table"),
    ("rehearsal", "snapshot"),
    ("check", "crawl"),
    ("check", "rehearsal"),
    ("stats", "check"),
    ("stats", "crawl"),
    ("stats", "input"),
    ("stats", "rehearsal"),
    ("report", "check"),
    ("report", "crawl"),
    ("report", "input"),
    ("report", "rehearsal"),
    ("progress", "classify"),
    ("progress", "crawl"),
];

#[test]
fn imports_point_to_rooms_earlier_in_the_map() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    let mut wrong = Vec::new();
    for file in rust_files(&source) {
        let relative = file.strip_prefix(&source).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let room = first.strip_suffix(".rs").unwrap_or(first);
        if matches!(room, "lib" | "main") {
            continue;
        }
        let here = position(room).unwrap_or_else(|| panic!("{} is in no room of the map", relative.display()));
        let text = fs::read_to_string(&file).unwrap();
        for other in imported_rooms(&text) {
            checked += 1;
            let Some(there) = position(&other) else { continue };
            if there > here || STRANGERS.contains(&(room, other.as_str())) {
                wrong.push(format!("{} imports {other}", relative.display()));
            }
        }
    }
    assert!(checked > 20, "only {checked} imports found: the test has lost its eyes");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_map_lists_every_room() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let map = fs::read_to_string(source.join("lib.rs")).unwrap();
    for room in ROOMS {
        assert!(map.contains(&format!("//! | [`{room}`]")), "lib.rs does not list {room}");
        assert!(map.contains(&format!("pub mod {room};")), "lib.rs does not declare {room}");
    }
}

fn position(room: &str) -> Option<usize> {
    ROOMS.iter().position(|other| *other == room)
}

/// Every `crate::ROOM` of a file, in code and in paths, comments left out.
fn imported_rooms(text: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        assert!(!line.contains("super::super"), "write crate:: paths, so that this test sees them: {line}");
        for (at, found) in line.match_indices("crate::") {
            let rest = &line[at + found.len()..];
            if let Some(list) = rest.strip_prefix('{') {
                panic!("import rooms one by one, so that this test sees them: crate::{{{list}");
            }
            rooms.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    rooms
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
