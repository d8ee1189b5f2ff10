//! `furlong fleet`: writes files that run the same benchmarks on many hosts. No command is started.

use crate::arguments::{FleetEngine, FleetInitOptions, FleetOptions, FleetPart};
use crate::output;
use anyhow::Context;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing::NewFiles;
use furlong_render::plain;
use std::fs;

/// The script that each host runs, independent of the engine that starts it.
const MEASURE: &str = include_str!("../../templates/fleet/measure.sh");
/// The placeholder for the script in a manifest, at the beginning of a line.
const IN_MANIFEST: &str = "@MEASURE@";

/// Returns the files of an engine with their names.
fn files(engine: FleetEngine) -> &'static [(&'static str, &'static str)] {
    match engine {
        FleetEngine::Ansible => &[
            ("inventory.ini", include_str!("../../templates/fleet/ansible/inventory.ini")),
            ("playbook.yml", include_str!("../../templates/fleet/ansible/playbook.yml")),
            ("measure.sh", MEASURE),
        ],
        FleetEngine::Slurm => &[
            ("fleet.sbatch", include_str!("../../templates/fleet/slurm/fleet.sbatch")),
            ("measure.sh", MEASURE),
        ],
        FleetEngine::Kubernetes => &[
            ("Containerfile", include_str!("../../templates/fleet/kubernetes/Containerfile")),
            ("workload.yaml", include_str!("../../templates/fleet/kubernetes/workload.yaml")),
            ("job.yaml", include_str!("../../templates/fleet/kubernetes/job.yaml")),
            ("daemonset.yaml", include_str!("../../templates/fleet/kubernetes/daemonset.yaml")),
            ("pair.yaml", include_str!("../../templates/fleet/kubernetes/pair.yaml")),
            ("fetch.sh", include_str!("../../templates/fleet/kubernetes/fetch.sh")),
        ],
    }
}

/// Returns the first steps with the files of an engine.
fn next(engine: FleetEngine) -> &'static str {
    match engine {
        FleetEngine::Ansible => {
            "copy furlong into their directory, list the hosts in inventory.ini, then: ansible-playbook -i inventory.ini playbook.yml"
        }
        FleetEngine::Slurm => "copy furlong into their directory, then: sbatch fleet.sbatch",
        FleetEngine::Kubernetes => {
            "build the image from Containerfile, then: kubectl apply -f workload.yaml -f job.yaml"
        }
    }
}

/// Writes the files of the requested engine.
pub fn fleet(asked: &FleetOptions) -> anyhow::Result<Outcome> {
    let FleetPart::Init(FleetInitOptions { engine, folder }) = &asked.part;
    let shown = plain(&folder.display().to_string());
    let mut made = NewFiles::default();
    made.folder(folder)?;
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {shown}"))?;
    if entries.next().is_some() {
        return Err(Usage(format!("{shown} is not empty; specify a new directory")).into());
    }
    for (name, text) in files(*engine) {
        made.file(&folder.join(name), with_script(text).as_bytes())?;
    }
    made.keep();
    for (name, _) in files(*engine) {
        output::print(&format!("{}\n", plain(&folder.join(name).display().to_string())))?;
    }
    output::print(&format!("\nNext: {}\n", next(*engine)))?;
    Ok(Outcome::Done)
}

/// Replaces the placeholder in a file by the script, indented as a YAML block.
fn with_script(text: &str) -> String {
    let indented = |line: &str| if line.is_empty() { String::new() } else { format!("    {line}") };
    let script: Vec<String> = MEASURE.lines().map(indented).collect();
    text.replace(IN_MANIFEST, &script.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, command};
    use clap::{FromArgMatches, ValueEnum};
    use serde_yaml_ng::Value;

    /// Returns the furlong commands in a text, split into words like in a shell, with these values of the shell's
    /// variables.
    fn commands(text: &str, host: &str) -> Vec<Vec<String>> {
        let line = |line: &str| {
            let behind = line
                .trim()
                .strip_prefix("\"$furlong\" ")
                .or_else(|| line.trim().trim_start_matches(['#', ' ']).strip_prefix("furlong "))?;
            let words = behind.split_whitespace().take_while(|word| *word != "||" && !word.starts_with('>'));
            let value = |word: &str| word.replace("\"$host\"", host).replace("\"$label\"", "before 6.19");
            Some([vec!["furlong".to_owned()], words.map(value).collect()].concat())
        };
        text.lines().filter_map(line).collect()
    }

    #[test]
    fn every_command_is_one_of_furlongs() {
        for engine in FleetEngine::value_variants() {
            let texts: Vec<String> = files(*engine).iter().map(|(_, text)| with_script(text)).collect();
            let mut verbs = Vec::new();
            for words in texts.iter().flat_map(|text| commands(text, "-o")) {
                let typed = command()
                    .try_get_matches_from(&words)
                    .unwrap_or_else(|error| panic!("{words:?}: {error}"));
                let arguments = Arguments::from_arg_matches(&typed).unwrap();
                // A host name that looks like an option is not parsed as one.
                if let Some(crate::arguments::Verb::Run(run)) = &arguments.verb {
                    assert_eq!(run.saving.name.host.as_deref(), Some("-o"));
                }
                verbs.push(words[1].clone());
            }
            for verb in ["doctor", "run", "costs", "compare"] {
                assert!(verbs.iter().any(|found| found == verb), "{engine:?} has no {verb}: {verbs:?}");
            }
        }
    }

    #[test]
    fn manifests_and_the_playbook_are_yaml() {
        let mut parsed = Vec::new();
        for engine in FleetEngine::value_variants() {
            for (name, text) in files(*engine).iter().filter(|(name, _)| name.ends_with("ml")) {
                // The last document of a file is the object that the file is named after.
                for part in with_script(text).split("\n---\n") {
                    let value: Value =
                        serde_yaml_ng::from_str(part).unwrap_or_else(|error| panic!("{name}: {error}"));
                    parsed.push((*name, value));
                }
            }
        }
        let of = |wanted: &str| &parsed.iter().rfind(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!(of("workload.yaml")["data"]["measure.sh"].as_str().unwrap(), MEASURE);
        for name in ["job.yaml", "daemonset.yaml", "pair.yaml"] {
            let pod = &of(name)["spec"]["template"]["spec"];
            let resources = &pod["containers"][0]["resources"];
            assert!(
                resources["limits"]["cpu"] == "2" && resources["limits"] == resources["requests"],
                "{name}"
            );
            let apart =
                &pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
            assert_eq!(apart["topologyKey"], "kubernetes.io/hostname", "{name}");
            assert_eq!(
                apart["labelSelector"]["matchLabels"]["app"],
                of(name)["spec"]["template"]["metadata"]["labels"]["app"]
            );
        }
        assert_eq!(of("job.yaml")["spec"]["completionMode"], "Indexed");
        assert_eq!(of("playbook.yml")[0]["strategy"], "free");
    }
}
