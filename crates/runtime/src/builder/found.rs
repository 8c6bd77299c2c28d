//! Reads build settings from the environment, and thread names from the user.

use super::{BuildError, MAX_WORKERS, NameFn, STRICT_VARIABLE, WORKERS_VARIABLE};
use crate::substitutes::Names;
use sateen_base::os;
use std::io;

/// The most threads that may have a stack each.
pub(super) fn most_threads(stacks: usize) -> usize {
    stacks.min(os::thread_limit().unwrap_or(usize::MAX))
}

/// The names of the regular workers' threads, and of `more`.
pub(super) fn names(
    name: &NameFn,
    count: usize,
    more: usize,
) -> Result<(Vec<String>, Names), BuildError> {
    let mut names = (0..count + more).map(&***name).collect::<Vec<_>>();
    if let Some(worker) = names.iter().position(|name| name.contains('\0')) {
        return Err(BuildError::Name { worker, name: names.swap_remove(worker) });
    }
    let rest = names.split_off(count);
    Ok((names, Names::Given(rest)))
}

pub(super) fn default_workers() -> Result<usize, BuildError> {
    match os::variable(WORKERS_VARIABLE) {
        None => Ok(os::usable_cores().min(MAX_WORKERS)),
        Some(value) => {
            let count = value.to_str().and_then(|v| v.trim().parse::<usize>().ok());
            count
                .filter(|n| (1..=MAX_WORKERS).contains(n))
                .ok_or_else(|| BuildError::Variable(value.to_string_lossy().into_owned()))
        }
    }
}

/// Whether the environment makes all runtimes strict.
pub(super) fn strict_by_variable() -> Result<bool, BuildError> {
    let value = os::variable(STRICT_VARIABLE);
    match value.as_deref().map(|value| (value.to_str().map(str::trim), value)) {
        None | Some((Some("0"), _)) => Ok(false),
        Some((Some("1"), _)) => Ok(true),
        Some((_, value)) => Err(BuildError::StrictVariable(value.to_string_lossy().into_owned())),
    }
}

pub(super) fn cores_to_pin() -> Result<Vec<usize>, BuildError> {
    let cores = os::allowed_cores();
    if cores.is_empty() {
        let reason = "the system does not tell which cores may be used";
        return Err(BuildError::Pin(io::Error::new(io::ErrorKind::Unsupported, reason)));
    }
    Ok(cores)
}
