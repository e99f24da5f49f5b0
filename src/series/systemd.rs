//! A service and a timer for systemd (systemd.service(5), systemd.timer(5), systemd.syntax(7)).

use std::fmt::Write;

use anyhow::ensure;

use super::at::WEEKDAYS;
use super::job::Slots;
use super::{Every, Job};

/// Two unit files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// Name and text of the service.
    pub service: (String, String),
    /// Name and text of the timer.
    pub timer: (String, String),
}

impl Job {
    /// Says it for systemd; `user` is whom the service runs as.
    ///
    /// A service of the type oneshot that is active is not started a second time, so runs never overlap. A run that
    /// failed is started again half an hour later, up to three times, and goes on with its snapshot.
    pub fn systemd(&self, user: &str) -> anyhow::Result<Units> {
        let words = self.words()?;
        let is_path = |path: &str| path.starts_with('/') && path.trim_end() == path && !path.ends_with('\\');
        ensure!(is_path(&self.program), "{:?} is no absolute path that systemd would take", self.program);
        ensure!(is_path(&self.folder), "{:?} is no absolute path that systemd would take", self.folder);
        // The program's name is not subject to variables, so its dollars could not be escaped in the same way.
        ensure!(!self.program.contains(['$', '"', '\'', '\\', ';']), "systemd does not take {:?}", self.program);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        ensure!(!user.is_empty() && user.chars().all(is_plain), "{user:?} is no user's name");

        let unit = self.unit();
        let about = format!("Survey of robots.txt files: {}, {}", self.name, self.every).replace('%', "%%");
        let command: Vec<String> = words.into_iter().map(quote).collect();
        let mut service =
            format!("[Unit]\nDescription={about}\nWants=network-online.target\nAfter=network-online.target\n");
        let is_retried = !matches!(self.every, Every::Span(_));
        if is_retried {
            service.push_str("StartLimitIntervalSec=4h\nStartLimitBurst=4\n");
        }
        write!(
            service,
            "\n[Service]\nType=oneshot\nUser={user}\nWorkingDirectory={}\nExecStart={}\n",
            self.folder.replace('%', "%%"),
            command.join(" \\\n    ")
        )?;
        service.push_str(
            "# As long as it takes. Stopping it is no failure: requests in flight are finished, files are closed (130).\n\
             TimeoutStartSec=infinity\nTimeoutStopSec=2min\nSuccessExitStatus=130\n",
        );
        if is_retried {
            service.push_str(
                "# A run that failed goes on with its snapshot.\n\
                 Restart=on-failure\nRestartSec=30min\nRestartPreventExitStatus=2\n",
            );
        }
        let timer = format!(
            "[Unit]\nDescription={about}\n\n[Timer]\nOnCalendar={}\nPersistent=true\nRandomizedDelaySec={}min\n\
             AccuracySec=1s\n\n[Install]\n# systemctl enable --now {unit}.timer\nWantedBy=timers.target\n",
            self.calendar()?,
            Self::spread(self.every, self.at).as_mins()
        );
        Ok(Units { service: (format!("{unit}.service"), service), timer: (format!("{unit}.timer"), timer) })
    }

    /// The time as systemd.time(7) writes it, in UTC as the snapshots' dates are.
    fn calendar(&self) -> anyhow::Result<String> {
        let (hour, minute) = (self.at.hour, self.at.minute);
        Ok(match self.slots()? {
            Slots::Hours { first, step } => format!("*-*-* {first:02}/{step}:{minute:02}:00 UTC"),
            Slots::Day => format!("*-*-* {hour:02}:{minute:02}:00 UTC"),
            Slots::Week(day) => format!("{} *-*-* {hour:02}:{minute:02}:00 UTC", WEEKDAYS[usize::from(day)]),
            Slots::Month(day) => format!("*-*-{day:02} {hour:02}:{minute:02}:00 UTC"),
        })
    }
}

/// One word of `ExecStart=`: specifiers and variables are escaped, and quotes where anything else could be special.
fn quote(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | ',' | '@' | '+');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = String::from('"');
    for c in word.chars() {
        match c {
            '%' => quoted.push_str("%%"),
            '$' => quoted.push_str("$$"),
            '"' | '\\' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::job::tests::job;
    use super::*;

    #[test]
    fn a_weekly_survey_is_a_service_and_a_persistent_timer() {
        let job = job("weekly", "03:00", &["--domains=/srv/100% $HOME/\"top\".txt", "--quiet", "--vantage=a\\b; 'c'"]);
        let Units { service, timer } = job.systemd("survey").unwrap();
        assert_eq!((service.0.as_str(), timer.0.as_str()), ("survey-top-10k.service", "survey-top-10k.timer"));
        insta::assert_snapshot!(service.1, @r#"
        [Unit]
        Description=Survey of robots.txt files: top 10k, every week
        Wants=network-online.target
        After=network-online.target
        StartLimitIntervalSec=4h
        StartLimitBurst=4

        [Service]
        Type=oneshot
        User=survey
        WorkingDirectory=/srv/surveys
        ExecStart=/usr/local/bin/survey \
            "--domains=/srv/100%% $$HOME/\"top\".txt" \
            --quiet \
            "--vantage=a\\b; 'c'"
        # As long as it takes. Stopping it is no failure: requests in flight are finished, files are closed (130).
        TimeoutStartSec=infinity
        TimeoutStopSec=2min
        SuccessExitStatus=130
        # A run that failed goes on with its snapshot.
        Restart=on-failure
        RestartSec=30min
        RestartPreventExitStatus=2
        "#);
        insta::assert_snapshot!(timer.1, @"
        [Unit]
        Description=Survey of robots.txt files: top 10k, every week

        [Timer]
        OnCalendar=Mon *-*-* 03:00:00 UTC
        Persistent=true
        RandomizedDelaySec=60min
        AccuracySec=1s

        [Install]
        # systemctl enable --now survey-top-10k.timer
        WantedBy=timers.target
        ");
    }

    #[test]
    fn times_are_said_in_utc() {
        for (every, at, calendar) in [
            ("daily", "23:05", "*-*-* 23:05:00 UTC"),
            ("monthly", "28 03:00", "*-*-28 03:00:00 UTC"),
            ("6h", "09:30", "*-*-* 03/6:30:00 UTC"),
            ("weekly", "sat 00:00", "Sat *-*-* 00:00:00 UTC"),
        ] {
            assert_eq!(job(every, at, &[]).calendar().unwrap(), calendar);
        }
    }

    #[test]
    fn what_systemd_would_read_otherwise_is_refused() {
        let good = job("daily", "03:00", &[]);
        assert!(good.systemd("me").is_ok());
        for program in ["survey", "/opt/$x/survey", "/opt/a\\b", "/opt/survey "] {
            assert!(Job { program: program.to_owned(), ..good.clone() }.systemd("me").is_err(), "{program}");
        }
        for folder in ["here", "/srv/x ", "/srv/x\\"] {
            assert!(Job { folder: folder.to_owned(), ..good.clone() }.systemd("me").is_err(), "{folder}");
        }
        for user in ["", "a b", "%u", "a\nb"] {
            assert!(good.systemd(user).is_err(), "{user:?}");
        }
    }
}
