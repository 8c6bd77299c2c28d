//! The manual's pages and the shells' completions, from the command line's own description.

use crate::cli::Cli;
use crate::error::{Error, input, unwritten};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::io::{self, ErrorKind, Write};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sateen completions bash > ~/.local/share/bash-completion/completions/sateen
  sateen completions fish > ~/.config/fish/completions/sateen.fish
  sateen completions zsh > \"${fpath[1]}/_sateen\"")]
pub(crate) struct CompletionsArgs {
    /// Which shell: bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sateen man | man -l -                                    # read it
  sateen man run > ~/.local/share/man/man1/sateen-run.1    # install one")]
pub(crate) struct ManArgs {
    /// The page of this command, not of the whole program
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Prints the script that completes the command line in a shell.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sateen", &mut script);
    write(&script)
}

/// Prints a page of the manual.
///
/// # Errors
/// There is no such command, or standard output cannot be written.
pub(crate) fn man(args: &ManArgs) -> Result<(), Error> {
    let mut program = Cli::command();
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => page_of(&program, name)?,
    };
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|e| unwritten("the page", &e))?;
    write(&page)
}

fn page_of(program: &Command, name: &str) -> Result<Command, Error> {
    let shown = || program.get_subcommands().filter(|command| !command.is_hide_set());
    let found = shown().find(|command| command.get_name() == name);
    let Some(command) = found else {
        let names: Vec<&str> = shown().map(Command::get_name).collect();
        return Err(input(format!("there is no command `{name}`, only {}", names.join(", "))));
    };
    Ok(command.clone())
}

fn write(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Error::Gone,
        _ => unwritten("to standard output", &e),
    })
}
