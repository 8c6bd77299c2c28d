//! Which figures the user wants.

use crate::error::{Error, input};
use regex::Regex;

/// Keeps identities that match any of the words (if there are some) and the filter (if given).
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    words: Vec<Regex>,
    filter: Option<Regex>,
}

impl Selection {
    /// Compiles the user's words and filter.
    ///
    /// # Errors
    /// A word or the filter is not a regular expression.
    pub(crate) fn new(words: &[String], filter: Option<&str>) -> Result<Self, Error> {
        let words = words.iter().map(|w| pattern(w)).collect::<Result<_, _>>()?;
        Ok(Self { words, filter: filter.map(pattern).transpose()? })
    }

    /// Returns whether the figure `id` is wanted.
    pub(crate) fn wants(&self, id: &str) -> bool {
        let by_word = self.words.is_empty() || self.words.iter().any(|w| w.is_match(id));
        by_word && self.filter.as_ref().is_none_or(|f| f.is_match(id))
    }

    /// Returns the error for a selection that keeps none of `ids`; it names the first culprit.
    pub(crate) fn explain_nothing(&self, ids: &[String], experiments: &[&str]) -> Error {
        let matched = |r: &&Regex| ids.iter().any(|id| r.is_match(id));
        if let Some(word) = self.words.iter().find(|w| !matched(w)) {
            let first = word.as_str().split('/').next().unwrap_or_default();
            if !experiments.contains(&first) {
                let known = experiments.join(", ");
                return input(format!(
                    "unknown experiment `{}`; the experiments are {known}",
                    word.as_str()
                ));
            }
            return input(format!("`{}` matches no figure; see `sateen list`", word.as_str()));
        }
        let filter = self.filter.as_ref().map_or("", Regex::as_str);
        input(format!("--filter `{filter}` matches no figure; see `sateen list`"))
    }

    /// Returns whether any of the words matches none of `ids`.
    pub(crate) fn has_idle_word(&self, ids: &[String]) -> bool {
        self.words.iter().any(|w| !ids.iter().any(|id| w.is_match(id)))
    }
}

fn pattern(text: &str) -> Result<Regex, Error> {
    Regex::new(text).map_err(|e| {
        // The last line of the library's message is the reason; the others show the position.
        let reason = e.to_string().lines().last().unwrap_or_default().to_owned();
        let reason = reason.trim().trim_start_matches("error: ");
        input(format!("`{text}` is not a regular expression: {reason}"))
    })
}
