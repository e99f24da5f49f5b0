//! A line for crontab(5).

use anyhow::ensure;

use super::{Every, Job};

/// Characters of a command; some crons cut what is longer.
const LONGEST: usize = 990;

impl Job {
    /// Says it as a line of a crontab, with comments above.
    ///
    /// Cron itself starts a second run while one goes on; the snapshot's lock makes that one end at once, with a message.
    pub fn crontab(&self) -> anyhow::Result<String> {
        let words = self.words()?;
        ensure!(
            !matches!(self.every, Every::Span(_)),
            "cron goes by local time, where a day may have 23 or 25 hours, so it cannot keep {}; systemd and Kubernetes \
             can, by UTC",
            self.every
        );
        for word in words.iter().chain([&self.folder.as_str()]) {
            ensure!(
                !word.contains('\\'),
                "crons differ in how they read a backslash, so {word:?} cannot be said in one"
            );
        }
        let words: Vec<String> = words.into_iter().map(quote).collect();
        let command = format!("cd {} && exec {}", quote(&self.folder), words.join(" ")).replace('%', "\\%");
        ensure!(
            command.len() <= LONGEST,
            "the command has {} characters, and some crons cut it after {LONGEST}; use shorter paths, or systemd",
            command.len()
        );
        Ok(format!(
            "# Survey of robots.txt files: {}, {}, at {} in the local time of this machine.\n\
             # While a run goes on, it holds the lock of its snapshot: a second one ends at once, with a message.\n\
             {} {command}\n",
            self.name,
            self.every,
            self.at,
            self.cron_fields()?
        ))
    }
}

/// One word for a POSIX shell, without backslashes.
fn quote(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | ',' | '@' | '+');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::job::tests::job;
    use super::*;

    #[test]
    fn a_line_has_its_comments_above() {
        let line = job("weekly", "sun 03:05", &["--domains=/srv/it's 100%.txt", "--quiet"]).crontab().unwrap();
        insta::assert_snapshot!(line, @r#"
        # Survey of robots.txt files: top 10k, every week, at Sun 03:05 in the local time of this machine.
        # While a run goes on, it holds the lock of its snapshot: a second one ends at once, with a message.
        5 3 * * 0 cd /srv/surveys && exec /usr/local/bin/survey '--domains=/srv/it'"'"'s 100\%.txt' --quiet
        "#);
    }

    #[test]
    fn a_shell_gets_the_words_that_went_in() {
        let nasty =
            ["", "a b", "it's", "100%", "%", "$HOME `id` $(id)", "a;b&c|d>e<f", "\"x\"", "*", "~", "#", "ä", "!"];
        let line = Job {
            program: "/usr/bin/env".to_owned(),
            folder: "/".to_owned(),
            ..job("daily", "03:00", &[&["printf", "[%s]"], &nasty[..]].concat())
        };
        let line = line.crontab().unwrap();
        let command = line.lines().last().unwrap().splitn(6, ' ').nth(5).unwrap();
        // What cron does: an unescaped per cent sign would end the command.
        let unescaped = command.replace("\\%", "\u{0}");
        assert!(!unescaped.contains('%'), "{command}");
        let output = Command::new("sh").arg("-c").arg(unescaped.replace('\u{0}', "%")).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), nasty.map(|word| format!("[{word}]")).concat());
    }

    #[test]
    fn what_crons_read_differently_is_refused() {
        assert!(job("daily", "03:00", &["a\\b"]).crontab().is_err());
        assert!(job("daily", "03:00", &[&"x".repeat(1000)]).crontab().is_err());
        let error = job("6h", "03:00", &[]).crontab().unwrap_err().to_string();
        assert!(error.contains("23 or 25 hours"), "{error}");
    }
}
