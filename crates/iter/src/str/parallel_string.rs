//! The methods of texts.

use super::pattern::Pattern;
use super::{
    Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, Split,
    SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace,
};

/// Parallel methods of texts. A pattern is a `char`, a `&[char]`, a `[char; N]`, a `&[char; N]` or
/// a function `Fn(char) -> bool`; [more](crate::str).
///
/// Methods that take a function for a pattern panic with its panic. It may be asked more than once
/// about a character.
#[diagnostic::on_unimplemented(message = "`{Self}` is no text")]
pub trait ParallelString {
    /// The text.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!("text".as_parallel_string(), "text");
    /// ```
    fn as_parallel_string(&self) -> &str;

    /// The characters.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!("naïve".par_chars().max(), Some('ï'));
    /// ```
    fn par_chars(&self) -> Chars<'_> {
        Chars::new(self.as_parallel_string())
    }

    /// The characters, each with the index of its first byte.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let last = "naïve".par_char_indices().max();
    /// assert_eq!(last, Some((5, 'e')));
    /// ```
    fn par_char_indices(&self) -> CharIndices<'_> {
        CharIndices::new(self.as_parallel_string())
    }

    /// The bytes. Those of one character go to one worker.
    ///
    /// For an indexed iterator take `text.as_bytes().par_iter()`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!("naïve".par_bytes().count(), 6);
    /// ```
    fn par_bytes(&self) -> Bytes<'_> {
        Bytes::new(self.as_parallel_string())
    }

    /// The text in UTF-16. Both halves of a surrogate pair go to one worker.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!("a𝄞".par_encode_utf16().collect::<Vec<_>>(), [0x61, 0xd834, 0xdd1e]);
    /// ```
    fn par_encode_utf16(&self) -> EncodeUtf16<'_> {
        EncodeUtf16::new(self.as_parallel_string())
    }

    /// The parts between characters that match, as [`str::split`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sum: i32 = "1, 2, 3".par_split(',').filter_map(|n| n.trim().parse::<i32>().ok()).sum();
    /// assert_eq!(sum, 6);
    /// ```
    fn par_split<P: Pattern>(&self, separator: P) -> Split<'_, P> {
        Split::new(self.as_parallel_string(), separator)
    }

    /// The parts that end with characters that match, as [`str::split_inclusive`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let parts: Vec<_> = "a;b;c".par_split_inclusive(';').collect();
    /// assert_eq!(parts, ["a;", "b;", "c"]);
    /// ```
    fn par_split_inclusive<P: Pattern>(&self, separator: P) -> SplitInclusive<'_, P> {
        SplitInclusive::new(self.as_parallel_string(), separator)
    }

    /// The parts before characters that match, as [`str::split_terminator`] has them: like
    /// [`par_split`](Self::par_split), but without an empty last part.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let parts: Vec<_> = "a;b;".par_split_terminator([';', '.']).collect();
    /// assert_eq!(parts, ["a", "b"]);
    /// ```
    fn par_split_terminator<P: Pattern>(&self, terminator: P) -> SplitTerminator<'_, P> {
        SplitTerminator::new(self.as_parallel_string(), terminator)
    }

    /// The lines without `\n` or `\r\n` at their ends, as [`str::lines`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let lines: Vec<_> = "one\r\ntwo\n\nfour".par_lines().collect();
    /// assert_eq!(lines, ["one", "two", "", "four"]);
    /// ```
    fn par_lines(&self) -> Lines<'_> {
        Lines::new(self.as_parallel_string())
    }

    /// The words between white space, as [`str::split_whitespace`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let words: Vec<_> = " to\u{2009}be \n".par_split_whitespace().collect();
    /// assert_eq!(words, ["to", "be"]);
    /// ```
    fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
        SplitWhitespace::new(self.as_parallel_string())
    }

    /// The words between white space of ASCII, as [`str::split_ascii_whitespace`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let words: Vec<_> = " to\u{2009}be \n".par_split_ascii_whitespace().collect();
    /// assert_eq!(words, ["to\u{2009}be"]);
    /// ```
    fn par_split_ascii_whitespace(&self) -> SplitAsciiWhitespace<'_> {
        SplitAsciiWhitespace::new(self.as_parallel_string())
    }

    /// The characters that match, each as a text, as [`str::matches`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let digits: Vec<_> = "a1b22".par_matches(char::is_numeric).collect();
    /// assert_eq!(digits, ["1", "2", "2"]);
    /// ```
    fn par_matches<P: Pattern>(&self, pattern: P) -> Matches<'_, P> {
        Matches::new(self.as_parallel_string(), pattern)
    }

    /// The characters that match, each as a text with the index of its first byte, as
    /// [`str::match_indices`] has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let dots: Vec<_> = "ä.b.".par_match_indices('.').collect();
    /// assert_eq!(dots, [(2, "."), (4, ".")]);
    /// ```
    fn par_match_indices<P: Pattern>(&self, pattern: P) -> MatchIndices<'_, P> {
        MatchIndices::new(self.as_parallel_string(), pattern)
    }
}

impl ParallelString for str {
    #[inline]
    fn as_parallel_string(&self) -> &str {
        self
    }
}
