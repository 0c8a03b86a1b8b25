//! What RON files may hold, from the documentation of the structs.

use super::Experiment;
use clap::{Arg, ArgAction, Command, Subcommand};

/// Every experiment with its fields, a value of each and what it is for.
pub fn help() -> String {
    let all = Experiment::augment_subcommands(Command::new("diffkern"));
    let each: Vec<String> = all.get_subcommands().map(experiment).collect();
    format!(
        "Run a job from a RON file: the same jobs as on the command line. Folders of scenes are relative to the file, folders \
         to write to are relative to the current one.\n\n{}\n\nUnknown fields and wrong values are refused with line and \
         column. A folder that holds a run or another video is refused, too: go on with a run by `resume DIR`, or replace \
         what is there by --overwrite.",
        each.join("\n\n")
    )
}

/// Every job, with what it does.
pub fn jobs() -> Vec<[String; 2]> {
    let all = Experiment::augment_subcommands(Command::new("diffkern"));
    let about = |of: &Command| of.get_about().map(ToString::to_string).unwrap_or_default();
    all.get_subcommands().map(|of| [of.get_name().to_owned(), about(of)]).collect()
}

fn experiment(of: &Command) -> String {
    let mut name = of.get_name().to_owned();
    name[..1].make_ascii_uppercase();
    let about = of.get_about().map(|about| format!("// {about}\n")).unwrap_or_default();
    let fields: Vec<String> = of.get_arguments().filter(|arg| arg.get_id() != "help").map(field).collect();
    format!("{about}{name}(\n{}\n)", fields.join("\n"))
}

fn field(arg: &Arg) -> String {
    let required = arg.is_required_set() || (arg.is_positional() && arg.get_default_values().is_empty());
    let what = arg.get_help().map(|help| help.to_string().replace('\n', " ")).unwrap_or_default();
    let optional = if required { "" } else { "optional: " };
    let written = format!("{}: {},", arg.get_id(), value(arg));
    format!("    {written:<28} // {optional}{what}")
}

/// A value as it is written in RON.
fn value(arg: &Arg) -> String {
    let kind = arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_string()).unwrap_or_default();
    let default = arg.get_default_values().first().and_then(|value| value.to_str());
    match (arg.get_action(), kind.as_str(), default) {
        (ArgAction::SetTrue, _, _) => "false".into(),
        (_, "NAME=VALUE", _) => "{\"mu\": 8e3}".into(),
        (ArgAction::Append, "PART", _) => "[start, camera]".into(),
        (ArgAction::Append, _, _) => "[\"mu\"]".into(),
        (_, "X,Y,Z", _) => "(0.5, 0.0, 0.1)".into(),
        (_, "N", _) => "8".into(),
        (_, "TIME", _) => "\"1h\"".into(),
        (_, "SIZE", _) => "\"8GiB\"".into(),
        (_, _, Some(default)) if default.parse::<f64>().is_ok() => default.into(),
        (_, _, Some(default)) => format!("\"{default}\""),
        (_, "DIR" | "folder", _) => "\"video\"".into(),
        _ => "\"..\"".into(),
    }
}
