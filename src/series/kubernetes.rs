//! A `CronJob` of Kubernetes (`batch/v1`), as YAML.
//!
//! Every text is a double-quoted scalar in ASCII, which is the one form that all versions of YAML read alike.

use std::fmt::Write;

use anyhow::ensure;

use super::Job;

/// What only a cluster needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The image that the program is in.
    pub image: String,
    /// The claim of the volume that list and snapshots are on.
    pub claim: String,
    /// Where the volume is mounted.
    pub mount: String,
}

impl Job {
    /// Says it for Kubernetes.
    ///
    /// `concurrencyPolicy: Forbid` keeps a second run out while one goes on. A run that failed is started again by the
    /// kubelet, and goes on with its snapshot; one that the cluster missed is started up to half a period late.
    pub fn kubernetes(&self, cluster: &Cluster) -> anyhow::Result<String> {
        let words = self.words()?;
        for text in [&cluster.image, &cluster.claim, &cluster.mount] {
            let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
            ensure!(is_plain, "{text:?} is no name that a cluster could have");
        }
        ensure!(cluster.mount.starts_with('/') && !cluster.mount.contains(':'), "{:?} is no mount", cluster.mount);
        let (program, arguments) = words.split_first().expect("a command line has a program");
        let mut args = String::new();
        for word in arguments {
            write!(args, "\n                - {}", scalar(&word.replace('$', "$$")))?;
        }
        Ok(format!(
            r#"apiVersion: "batch/v1"
kind: "CronJob"
metadata:
  name: {name}
spec:
  schedule: {schedule}
  timeZone: "Etc/UTC"
  concurrencyPolicy: "Forbid"
  startingDeadlineSeconds: {late}
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 6
      template:
        spec:
          restartPolicy: "OnFailure"
          terminationGracePeriodSeconds: 120
          containers:
            - name: "survey"
              image: {image}
              workingDir: {folder}
              command:
                - {program}
              args:{args}
              volumeMounts:
                - name: "survey"
                  mountPath: {mount}
          volumes:
            - name: "survey"
              persistentVolumeClaim:
                claimName: {claim}
"#,
            name = scalar(&self.unit()),
            schedule = scalar(&self.cron_fields()?),
            late = self.every.at_least().as_secs() / 2,
            image = scalar(&cluster.image),
            folder = scalar(&self.folder),
            program = scalar(&program.replace('$', "$$")),
            mount = scalar(&cluster.mount),
            claim = scalar(&cluster.claim),
        ))
    }
}

/// A double-quoted scalar (YAML 1.2.2, section 5.7).
fn scalar(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            c => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::job::tests::job;
    use super::*;

    fn cluster() -> Cluster {
        Cluster { image: "registry.example/survey:1".into(), claim: "survey-data".into(), mount: "/data".into() }
    }

    #[test]
    fn a_survey_is_a_cron_job_that_forbids_a_second_one() {
        let arguments = ["--domains=/data/top.txt", "--vantage=\"100%\" \\ $(HOME) ä", "--quiet"];
        insta::assert_snapshot!(job("6h", "03:00", &arguments).kubernetes(&cluster()).unwrap(), @r#"
        apiVersion: "batch/v1"
        kind: "CronJob"
        metadata:
          name: "survey-top-10k"
        spec:
          schedule: "0 3,9,15,21 * * *"
          timeZone: "Etc/UTC"
          concurrencyPolicy: "Forbid"
          startingDeadlineSeconds: 10800
          successfulJobsHistoryLimit: 3
          failedJobsHistoryLimit: 3
          jobTemplate:
            spec:
              backoffLimit: 6
              template:
                spec:
                  restartPolicy: "OnFailure"
                  terminationGracePeriodSeconds: 120
                  containers:
                    - name: "survey"
                      image: "registry.example/survey:1"
                      workingDir: "/srv/surveys"
                      command:
                        - "/usr/local/bin/survey"
                      args:
                        - "--domains=/data/top.txt"
                        - "--vantage=\"100%\" \\ $$(HOME) \U000000E4"
                        - "--quiet"
                      volumeMounts:
                        - name: "survey"
                          mountPath: "/data"
                  volumes:
                    - name: "survey"
                      persistentVolumeClaim:
                        claimName: "survey-data"
        "#);
    }

    #[test]
    fn a_cluster_has_plain_names() {
        let job = job("daily", "03:00", &["--quiet"]);
        assert!(job.kubernetes(&Cluster { image: String::new(), ..cluster() }).is_err());
        assert!(job.kubernetes(&Cluster { mount: "data".into(), ..cluster() }).is_err());
        assert!(job.kubernetes(&Cluster { claim: "a b".into(), ..cluster() }).is_err());
    }
}
