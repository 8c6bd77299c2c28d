//! Pictures of graphs.

use super::On;
use super::spec::Spec;
use std::fmt::Write;

/// The graph in the language of Graphviz.
pub(super) fn dot(spec: &Spec) -> String {
    let links = spec.links();
    let mut text = String::from("digraph {\n    rankdir=LR\n    node [shape=box]\n");
    let mut line = |line: std::fmt::Arguments<'_>| {
        // A string takes whatever is written to it.
        _ = text.write_fmt(line);
    };
    for (task, (on, _)) in links.iter().enumerate() {
        let name = escaped(&spec.name(task));
        match on {
            On::Any => line(format_args!("    t{task} [label=\"{name}\"]\n")),
            On::Worker(worker) => {
                line(format_args!("    t{task} [label=\"{name}\\nworker {worker}\"]\n"));
            }
            On::Main => line(format_args!("    t{task} [label=\"{name}\\nmain\"]\n")),
        }
    }
    for (task, (_, after)) in links.iter().enumerate() {
        for before in after {
            line(format_args!("    t{before} -> t{task}\n"));
        }
    }
    text.push_str("}\n");
    text
}

/// As it may stand in a quoted string.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
