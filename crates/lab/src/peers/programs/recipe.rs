//! Builds a program when it is first needed.
//!
//! The program goes beside the lab's own executable, into a folder that is named by the hash of the
//! sources and the compiler's arguments. A missing compiler or library is a note, not a failure.

use crate::error::Error;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, io};

/// How a program is built and started.
pub(crate) struct Recipe {
    /// The name in notes.
    pub(crate) name: &'static str,
    /// What to install on Debian if it cannot be built.
    pub(crate) packages: &'static str,
    /// Names and contents of its sources. Without sources, each process of the lab calls the
    /// compiler, which knows what is up to date.
    pub(crate) sources: &'static [(&'static str, &'static str)],
    /// Returns the compiler and its arguments, for the folder of the program.
    pub(crate) compile: fn() -> Vec<String>,
    /// Returns the program, and its arguments before the case, for a number of workers. A program
    /// that begins with `./` is in its folder.
    pub(crate) start: fn(usize) -> Vec<String>,
}

/// Returns the folder of the built program. Builds it at most once in a process, and not if an
/// earlier process has built it.
///
/// # Errors
/// A note for the user that says why there is no program.
pub(crate) fn built(recipe: &'static Recipe) -> Result<PathBuf, Error> {
    static DONE: Mutex<BTreeMap<&str, Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    let result = done.entry(recipe.name).or_insert_with(|| build(recipe));
    let absent =
        |why| Error::Absent(format!("{}: {why} (Debian: {})", recipe.name, recipe.packages));
    result.clone().map_err(absent)
}

fn build(recipe: &Recipe) -> Result<PathBuf, String> {
    let words = (recipe.compile)();
    if recipe.sources.is_empty() {
        let folder = Place::of(&env::current_exe().map_err(|e| e.to_string())?).programs();
        if (recipe.start)(1).first().is_some_and(|program| !folder.join(program).exists()) {
            announce(recipe.name);
        }
        compile(&words, &beside()?)?;
        return Ok(folder);
    }
    from_sources(recipe.name, recipe.sources, &words, announce)
}

/// Returns the folder with `sources` and what the compiler's `words` make of them. Calls `announce`
/// with the name before it builds anything.
///
/// # Errors
/// What the compiler or the system says.
pub(super) fn from_sources(
    name: &str,
    sources: &[(&str, &str)],
    words: &[String],
    announce: fn(&str),
) -> Result<PathBuf, String> {
    let beside = beside()?;
    let mut hash = DefaultHasher::new();
    (sources, words).hash(&mut hash);
    let folder = format!("{}-{:016x}", name.to_lowercase().replace([' ', '.'], "-"), hash.finish());
    let folder = beside.join("peers").join(folder);
    if folder.is_dir() {
        return Ok(folder);
    }
    announce(name);
    // Another process or thread may build the same: the first one that is done names the folder.
    let drafted = || -> Result<PathBuf, String> {
        let told = |e: io::Error| format!("`{}`: {e}", folder.display());
        let all = beside.join("peers");
        fs::create_dir_all(&all).map_err(told)?;
        // New, with a name that nobody can guess: what is in it is run.
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
        let draft = builder.prefix(".draft-").tempdir_in(&all).map_err(told)?;
        for (name, text) in sources {
            fs::write(draft.path().join(name), text).map_err(told)?;
        }
        compile(words, draft.path())?;
        match fs::rename(draft.path(), &folder) {
            // It has another name now, so there is nothing to remove.
            Ok(()) => drop(draft.keep()),
            Err(e) if !folder.is_dir() => return Err(told(e)),
            Err(_) => {}
        }
        Ok(folder.clone())
    };
    drafted()
}

/// Returns the folder of the lab's own executable.
fn beside() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|e| e.to_string())?;
    Ok(own.parent().ok_or("the lab's own folder is unknown")?.to_path_buf())
}

/// Returns the words of a compiler. The environment's `variable` may name it, as usual in build
/// systems.
pub(super) fn compiler(variable: &str, usual: &str) -> Vec<String> {
    let named = env::var(variable).unwrap_or_default();
    let named: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    if named.is_empty() { vec![usual.to_owned()] } else { named }
}

/// Where Cargo builds programs of this workspace.
struct Place {
    profile: String,
    target: PathBuf,
}

impl Place {
    /// Beside the lab's executable `own`, with its profile. If that was moved away, in the folder
    /// `peers` there. Not among the temporary files, where others could put a program that is run.
    fn of(own: &Path) -> Self {
        let mut above = own.ancestors().skip(1);
        let name = above.next().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let target = above.next().unwrap_or(Path::new("."));
        let is_cargos =
            target.join("CACHEDIR.TAG").is_file() || name == "release" || name == "debug";
        let usual = if cfg!(debug_assertions) { "dev" } else { "release" };
        let (profile, target) = match name.as_ref() {
            // Only this profile's folder has another name.
            "debug" => ("dev", target.to_owned()),
            name if is_cargos => (name, target.to_owned()),
            _ => (usual, own.with_file_name("peers")),
        };
        Self { profile: profile.to_owned(), target }
    }

    /// The folder in which the programs are then.
    fn programs(&self) -> PathBuf {
        self.target.join(if self.profile == "dev" { "debug" } else { &self.profile })
    }
}

/// Returns arguments that make Cargo build in that place.
pub(super) fn place_and_profile() -> Vec<String> {
    let place = Place::of(&env::current_exe().unwrap_or_default());
    let target = place.target.to_string_lossy();
    ["--profile", &place.profile, "--target-dir", &target].map(str::to_owned).to_vec()
}

/// How long a compiler may take.
fn announce(name: &str) {
    crate::report::note(&format!("building {name}, which happens only once"));
}

/// Runs a compiler in `folder`.
fn compile(words: &[String], folder: &Path) -> Result<(), String> {
    let Some((compiler, arguments)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(compiler);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    // rustup's `rustc` would obey the toolchain file of each dependency, which may name one that is
    // not installed.
    let rustc = Path::new(compiler).with_file_name("rustc");
    if Path::new(compiler).ends_with("bin/cargo")
        && rustc.is_file()
        && env::var_os("RUSTC").is_none()
    {
        command.env("RUSTC", rustc);
    }
    let done = command.output().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("`{compiler}` is not installed"),
        _ => format!("`{compiler}`: {e}"),
    })?;
    if done.status.success() {
        return Ok(());
    }
    let (out, errors) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let mut lines = errors.lines().chain(out.lines());
    let reason = lines.clone().find(|l| l.contains("error") || l.contains("cannot find"));
    let reason = reason.or_else(|| lines.next()).unwrap_or("no reason given");
    Err(format!("`{compiler}`, {}: {}", done.status, reason.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_where_cargo_puts_them() {
        let of = |own: &str| {
            let place = Place::of(Path::new(own));
            let programs = place.programs();
            (place.profile, place.target, programs)
        };
        let here = |profile: &str, folder: &str| {
            let target = PathBuf::from("/x/target");
            (profile.to_owned(), target.clone(), target.join(folder))
        };
        assert_eq!(of("/x/target/release/sateen"), here("release", "release"));
        assert_eq!(of("/x/target/debug/sateen"), here("dev", "debug"));
        let (profile, target, programs) = of("/moved/away/sateen");
        assert_eq!(target, Path::new("/moved/away/peers"));
        let folder = if profile == "dev" { "debug" } else { "release" };
        assert_eq!(programs, target.join(folder));
    }
}
