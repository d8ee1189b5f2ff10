//! Options for the conditions of the roles: one per kind of condition, and each can be repeated.

use super::shared::CONDITIONS;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use furlong_model::{CONDITION_KINDS, ConditionKind, RequestedCondition};

/// Requested values of each kind of condition, in the order of [`CONDITION_KINDS`].
#[derive(Debug, Clone, Default)]
pub struct ConditionOptions(pub Vec<Vec<RequestedCondition>>);

impl FromArgMatches for ConditionOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let values = |name: &str| matches.get_many::<Vec<_>>(name).into_iter().flatten().flatten().cloned();
        let distinct = |kind: &&ConditionKind| match kind.has_option() {
            true => furlong_stats::distinct(values(kind.name)),
            false => Vec::new(),
        };
        Ok(ConditionOptions(CONDITION_KINDS.iter().map(distinct).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|options| *self = options)
    }
}

impl Args for ConditionOptions {
    fn augment_args(command: Command) -> Command {
        let arguments = CONDITION_KINDS.iter().filter(|kind| kind.has_option()).map(|kind| {
            Arg::new(kind.name)
                .long(kind.name)
                .value_name(kind.placeholder)
                .help(kind.help)
                .help_heading(CONDITIONS)
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .value_parser(|text: &str| kind.read_axis(text))
        });
        // Not every command has both, and an unknown argument is an error of clap.
        let known = |names: [&'static str; 2]| {
            let is_known = |name: &&str| command.get_arguments().any(|argument| argument.get_id() == name);
            names.into_iter().filter(is_known).collect::<Vec<_>>()
        };
        let [sizes, requests] = [["size", "response"], ["request", "request_by"]].map(known);
        command
            .args(arguments)
            .mut_arg("sizes", |argument| argument.conflicts_with_all(sizes))
            .mut_arg("request-sizes", |argument| argument.conflicts_with_all(requests))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
