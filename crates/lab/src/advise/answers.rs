//! The origin of a context: options, answers, and assumptions without either.

use crate::error::{Error, input};
use sateen_top::foreign::visible;
use std::io::{self, BufRead, Write};

/// Answers to what the options leave open.
pub(super) struct Answers<'a> {
    person: Option<(&'a mut dyn BufRead, &'a mut dyn Write)>,
    assumed: Vec<String>,
}

/// A question to the user.
pub(super) struct Question<T> {
    /// The option that answers it.
    pub(super) option: &'static str,
    pub(super) text: &'static str,
    /// What is assumed without an answer; empty if an answer is required.
    pub(super) default: String,
    pub(super) parse: fn(&str) -> Result<T, String>,
}

impl<'a> Answers<'a> {
    /// Asks a person.
    pub(super) fn of_person(questions: &'a mut dyn BufRead, out: &'a mut dyn Write) -> Self {
        Self { person: Some((questions, out)), assumed: Vec::new() }
    }

    /// Asks nothing, and assumes the defaults.
    pub(super) fn of_nobody() -> Self {
        Self { person: None, assumed: Vec::new() }
    }

    /// Returns the option's value, else the person's answer, else the default.
    ///
    /// # Errors
    /// There is no answer, and no default.
    pub(super) fn get<T>(&mut self, option: Option<T>, question: &Question<T>) -> Result<T, Error> {
        if let Some(value) = option {
            return Ok(value);
        }
        if let Some((lines, out)) = &mut self.person {
            return ask(*lines, *out, question);
        }
        if question.default.is_empty() {
            return Err(input(format!("{} is missing: {}", question.option, question.text)));
        }
        self.assumed.push(format!("{} {}", question.option, question.default));
        (question.parse)(&question.default).map_err(input)
    }

    /// Returns what was assumed, as the end of a sentence.
    pub(super) fn assumed(&self) -> String {
        if self.assumed.is_empty() {
            return String::new();
        }
        format!(" (assumed: {})", self.assumed.join(", "))
    }
}

/// Asks until the answer makes sense.
fn ask<T>(
    lines: &mut dyn BufRead,
    out: &mut dyn Write,
    question: &Question<T>,
) -> Result<T, Error> {
    let fail = |e: io::Error| input(format!("cannot ask for {}: {e}", question.option));
    loop {
        match question.default.as_str() {
            "" => write!(out, "{} ", question.text),
            default => write!(out, "{} [{default}]: ", question.text),
        }
        .and_then(|()| out.flush())
        .map_err(fail)?;
        let mut line = String::new();
        if lines.read_line(&mut line).map_err(fail)? == 0 {
            return Err(input(format!("{} is missing: nobody answered", question.option)));
        }
        let answer = match line.trim() {
            "" => question.default.as_str(),
            answer => answer,
        };
        match (question.parse)(answer) {
            Ok(value) => return Ok(value),
            Err(reason) => writeln!(out, "`{}`: {reason}", visible(answer)).map_err(fail)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, Question};

    fn number(text: &str) -> Result<u32, String> {
        text.parse().map_err(|_| "not a number".to_owned())
    }

    fn question(default: &str) -> Question<u32> {
        let (option, text) = ("--number", "Which number?");
        Question { option, text, default: default.to_owned(), parse: number }
    }

    #[test]
    fn asked_until_it_makes_sense() {
        let (mut typed, mut shown) = ("seven\n7\n\n".as_bytes(), Vec::new());
        let mut answers = Answers::of_person(&mut typed, &mut shown);
        assert_eq!(answers.get(Some(1), &question("9")).expect("given"), 1);
        assert_eq!(answers.get(None, &question("9")).expect("answered"), 7);
        assert_eq!(answers.get(None, &question("9")).expect("the default"), 9);
        let gone = answers.get(None, &question("9")).expect_err("the end of the input");
        assert!(gone.to_string().contains("--number"), "{gone}");
        assert_eq!(answers.assumed(), "");
        let shown = String::from_utf8(shown).expect("UTF-8");
        assert!(shown.starts_with("Which number? [9]: `seven`: not a number\n"), "{shown}");
    }

    #[test]
    fn assumed_without_anybody() {
        let mut answers = Answers::of_nobody();
        assert_eq!(answers.get(None, &question("9")).expect("the default"), 9);
        assert_eq!(answers.assumed(), " (assumed: --number 9)");
        let missing = answers.get(None, &question("")).expect_err("no default");
        assert!(missing.to_string().contains("--number is missing"), "{missing}");
    }
}
