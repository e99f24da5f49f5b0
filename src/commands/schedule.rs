//! `survey schedule`: a survey that systemd, cron or Kubernetes starts.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, Parser, ValueEnum};

use super::Cli;
use super::series::reads_standard_input;
use super::survey::{SurveyArgs, look_before};
use crate::input::list_name;
use crate::series::{At, Cluster, Every, Job};

/// Print what makes systemd, cron or Kubernetes repeat a survey
///
/// Takes the survey's own options: `survey schedule --every weekly --domains LIST --contact you@example.org`. The command
/// line that is printed has absolute paths and the contact, and is read back before it is printed. Added are --again (each
/// run is a snapshot), --quiet (a journal needs no progress; errors and the summary appear), --out, and --resume-within,
/// so that a run goes on with its own snapshot only.
#[derive(Args, Clone, Debug)]
pub(super) struct ScheduleArgs {
    /// How often: daily, weekly, monthly, or a span that the scheduler can keep, such as 7d or 6h
    #[arg(long, value_name = "SPAN")]
    every: Every,

    /// Who starts the survey
    #[arg(long = "for", value_name = "SCHEDULER", value_enum, default_value = "systemd")]
    scheduler: Scheduler,

    /// When: 03:00, "sun 03:00", "15 03:00" (day of the month); in UTC, for crontab in the local time of its machine
    #[arg(long, value_name = "[DAY ]HH:MM", default_value = "03:00")]
    at: At,

    /// Write the files into this folder instead; none is replaced
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,

    /// For systemd: whom the service runs as
    #[arg(long, value_name = "NAME", env = "USER", default_value = "root", hide_env_values = true)]
    user: String,

    /// For Kubernetes: the image that has `survey` on its path
    #[arg(long, value_name = "IMAGE", required_if_eq("scheduler", "kubernetes"))]
    image: Option<String>,

    /// For Kubernetes: the persistent volume claim that list and snapshots are on
    #[arg(long, value_name = "NAME", required_if_eq("scheduler", "kubernetes"))]
    claim: Option<String>,

    /// For Kubernetes: where the claim is mounted; relative paths start there
    #[arg(long, value_name = "PATH", default_value = "/data")]
    mount: String,

    #[command(flatten)]
    survey: SurveyArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    /// A service and a timer
    Systemd,
    /// A line for a crontab
    Crontab,
    /// A `CronJob`
    Kubernetes,
}

pub(super) fn run(args: &ScheduleArgs) -> anyhow::Result<()> {
    if args.scheduler != Scheduler::Kubernetes {
        // The cluster has its own files; here everything must be as the first run will find it.
        look_before(&args.survey)?;
    }
    let job = job(args, std::env::args_os())?;
    let files = match args.scheduler {
        Scheduler::Systemd => {
            let units = job.systemd(&args.user)?;
            vec![units.service, units.timer]
        }
        Scheduler::Crontab => vec![(format!("{}.cron", job.unit()), job.crontab()?)],
        Scheduler::Kubernetes => {
            let [image, claim] =
                [&args.image, &args.claim].map(|text| text.clone().expect("clap requires both for kubernetes"));
            vec![(
                format!("{}.yaml", job.unit()),
                job.kubernetes(&Cluster { image, claim, mount: args.mount.clone() })?,
            )]
        }
    };
    if !job.arguments.iter().any(|word| word.starts_with("--contact=") || word.starts_with("--rehearse")) {
        tracing::warn!(
            "no contact is given (--contact or SURVEY_CONTACT), so nobody could tell you that you disturb; the survey \
             will go at half the pace"
        );
    }
    match &args.into {
        Some(folder) => files.iter().try_for_each(|(name, text)| create(&folder.join(name), text)),
        None => print(args.scheduler, &files),
    }
}

/// Two files are told apart by their names in a comment; one stands for itself.
fn print(scheduler: Scheduler, files: &[(String, String)]) -> anyhow::Result<()> {
    let texts: Vec<String> = match scheduler {
        Scheduler::Systemd => {
            files.iter().map(|(name, text)| format!("# /etc/systemd/system/{name}\n{text}")).collect()
        }
        _ => files.iter().map(|(_, text)| text.clone()).collect(),
    };
    let text = texts.join("\n");
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to standard output")
}

fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    let writing = || format!("writing {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(writing)?;
    }
    File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).with_context(writing)
}

/// The job that these words, a command line of `survey schedule`, ask for.
fn job(args: &ScheduleArgs, words: impl IntoIterator<Item = OsString>) -> anyhow::Result<Job> {
    ensure!(args.survey.destination.date.is_none(), "a survey that is repeated has no single --date");
    ensure!(!reads_standard_input(&args.survey), "a survey that is repeated reads its list each time, from a file");
    let list = args.survey.domains.as_deref().context("--domains is required")?;
    let (program, folder) = match args.scheduler {
        Scheduler::Kubernetes => ("survey".to_owned(), PathBuf::from(&args.mount)),
        Scheduler::Systemd | Scheduler::Crontab => {
            let program = std::env::current_exe().context("finding this program")?;
            (readable(program.as_os_str())?, std::env::current_dir().context("finding the current folder")?)
        }
    };
    let mut cli = Cli::command();
    cli.build();
    let matches = cli.clone().try_get_matches_from(words)?;
    let matches = matches.subcommand_matches("schedule").context("these are no words of `survey schedule`")?;
    let mut arguments = survey_arguments(&cli, matches, &folder)?;
    let mut add = |option: &str, value: Option<String>| {
        let is_there = arguments.iter().any(|word| word == option || word.starts_with(&format!("{option}=")));
        if !is_there {
            arguments.push(value.map_or_else(|| option.to_owned(), |value| format!("{option}={value}")));
        }
    };
    add("--out", Some(readable(absolute(Path::new(args.survey.usual_root()), &folder).as_os_str())?));
    add("--resume-within", Some(format!("{:#}", Job::patience(args.every, args.at)).replace(' ', "")));
    add("--again", None);
    add("--quiet", None);

    let name = args.survey.destination.name.clone().unwrap_or_else(|| list_name(list));
    let folder = readable(folder.as_os_str())?;
    let job = Job { name, every: args.every, at: args.at, program, arguments, folder };
    let words = std::iter::once(&job.program).chain(&job.arguments);
    let read_back = Cli::try_parse_from(words).context("reading the command line back that would be printed")?;
    ensure!(
        read_back.command.is_none() && read_back.survey.is_given(),
        "the command line that would be printed is no survey: {:?}",
        job.arguments
    );
    Ok(job)
}

/// The options of the survey that were given, by line or environment, each in one word, with absolute paths.
fn survey_arguments(cli: &clap::Command, matches: &ArgMatches, folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut arguments = Vec::new();
    // Whatever the top command understands and is not about the series is the survey's.
    for argument in cli.get_arguments().filter(|argument| argument.get_id() != "every") {
        let id = argument.get_id().as_str();
        let is_known = matches.try_contains_id(id).unwrap_or(false);
        if !is_known || !matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            continue;
        }
        let Some(option) = argument.get_long().map(|long| format!("--{long}")) else { continue };
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            arguments.push(option);
            continue;
        }
        let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        for occurrence in matches.get_raw_occurrences(id).into_iter().flatten() {
            let values: Vec<&OsStr> = occurrence.collect();
            if values.is_empty() {
                arguments.push(option.clone());
            }
            for value in values {
                let value = if is_path { place(value, folder)? } else { readable(value)? };
                arguments.push(format!("{option}={value}"));
            }
        }
    }
    Ok(arguments)
}

/// A path as it is found from anywhere; one after `@` too.
fn place(value: &OsStr, folder: &Path) -> anyhow::Result<String> {
    let text = readable(value)?;
    Ok(match text.strip_prefix('@') {
        Some(path) => format!("@{}", readable(absolute(Path::new(path), folder).as_os_str())?),
        None => readable(absolute(Path::new(&text), folder).as_os_str())?,
    })
}

/// From the folder, without dots that stand for nothing.
fn absolute(path: &Path, folder: &Path) -> PathBuf {
    folder.join(path).components().filter(|component| *component != Component::CurDir).collect()
}

fn readable(text: &OsStr) -> anyhow::Result<String> {
    match text.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{} is no UTF-8, which this program writes into no timetable", text.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of the survey that a line of `survey schedule` leads to.
    fn scheduled(line: &str) -> anyhow::Result<Job> {
        let words: Vec<OsString> = line.split(' ').map(|word| word.replace('_', " ").into()).collect();
        let Some(super::super::Command::Schedule(args)) = Cli::try_parse_from(&words)?.command else {
            panic!("{line} is no schedule")
        };
        job(&args, words)
    }

    #[test]
    fn the_survey_keeps_its_options_and_paths_become_absolute() {
        let job = scheduled(
            "survey schedule --every weekly --at sun_04:00 --for crontab --domains ./lists/top_10k.txt --contact \
             you@example.org --gap 5s --probe repeat=1%,authority=2% --exclude no.txt --rehearse @web.json --www never \
             --no-second-try --log-level info --user me",
        )
        .unwrap();
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        let mut arguments: Vec<String> = job.arguments.iter().map(|word| word.replace(here, "HERE")).collect();
        arguments.sort();
        assert_eq!(
            arguments,
            [
                "--again",
                "--contact=you@example.org",
                "--domains=HERE/lists/top 10k.txt",
                "--exclude=HERE/no.txt",
                "--gap=5s",
                "--log-level=info",
                "--no-second-try",
                "--out=HERE/rehearsals",
                "--probe=authority=2%",
                "--probe=repeat=1%",
                "--quiet",
                "--rehearse=@HERE/web.json",
                "--resume-within=165h50m",
                "--www=never",
            ]
        );
        assert_eq!((job.folder.as_str(), job.name.as_str()), (here, "top 10k"));
        assert!(Path::new(&job.program).is_absolute());
    }

    #[test]
    fn on_a_cluster_paths_start_at_the_mount() {
        let line = "survey schedule --every 6h --for kubernetes --image i --claim c --domains a.txt --out /else --again \
                    --resume-within 3h --name n --rehearse --quiet";
        let job = scheduled(line).unwrap();
        let mut arguments = job.arguments.clone();
        arguments.sort();
        assert_eq!(
            arguments,
            [
                "--again",
                "--domains=/data/a.txt",
                "--name=n",
                "--out=/else",
                "--quiet",
                "--rehearse",
                "--resume-within=3h"
            ]
        );
        assert_eq!((job.program.as_str(), job.folder.as_str(), job.name.as_str()), ("survey", "/data", "n"));
        assert!(scheduled("survey schedule --every 6h --for kubernetes --domains a.txt").is_err(), "no image");
    }

    #[test]
    fn what_cannot_be_repeated_is_refused() {
        for line in
            ["--domains -", "--domains a --date 2026-01-01", "", "--domains a --gap soon", "--domains a --nonsense"]
        {
            assert!(scheduled(&format!("survey schedule --every weekly {line}")).is_err(), "{line}");
        }
    }
}
