//! Faults, and the files of those written by hand.

use crate::source::{blanked, squeezed};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A piece of a file, and what replaces it.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Path from the root of the repository.
    pub(crate) file: String,
    /// Where the piece begins; `None` if it occurs only once.
    pub(crate) at: Option<usize>,
    pub(crate) old: String,
    pub(crate) new: String,
}

/// Pieces that are replaced together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// What a draw goes by. It stays the same when other lines change. Empty for faults written by
    /// hand.
    pub(crate) key: String,
    pub(crate) pieces: Vec<Piece>,
    /// What should notice the fault, as in `docs/verification.md`. If empty, what that page names
    /// for the file.
    pub(crate) tests: Vec<String>,
    /// The models each of which must find it.
    pub(crate) models: Vec<String>,
}

/// A change of a source: the text at `place` becomes `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) place: Range<usize>,
    pub(crate) new: String,
}

impl Piece {
    /// Returns the edit of `source`, without the words that old and new text have in common at
    /// their ends. Neither spaces nor comments of the source count.
    pub(crate) fn edit(&self, source: &str) -> Result<Edit, String> {
        if let Some(at) = self.at {
            let place = at..at + self.old.len();
            return match source.get(place.clone()) == Some(&self.old) {
                true => Ok(Edit { place, new: self.new.clone() }),
                false => Err("is not there any more".to_owned()),
            };
        }
        let (text, index) = squeezed(&blanked(source, false));
        let (old, _) = squeezed(&self.old);
        let found: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
        let [at] = found[..] else {
            return Err(format!("`{}` occurs {} times in {}", self.old, found.len(), self.file));
        };
        let words: Vec<&str> = self.old.split_whitespace().collect();
        let new: Vec<&str> = self.new.split_whitespace().collect();
        let least = words.len().min(new.len());
        let same = |(a, b): &(&&str, &&str)| a == b;
        let first = words.iter().zip(&new).take_while(same).count();
        let ends = words.iter().rev().zip(new.iter().rev());
        let last = ends.take(least - first).take_while(same).count();
        let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
        let from = at + length(&words[..first]);
        let to = at + old.len() - length(&words[words.len() - last..]);
        let place = match from == to {
            true => index[from]..index[from],
            false => index[from]..index[to - 1] + 1,
        };
        Ok(Edit { place, new: format!(" {} ", new[first..new.len() - last].join(" ")) })
    }
}

/// Returns `source` with `edits` in it, all of which lie within it.
pub(crate) fn edited(source: &str, edits: &[Edit]) -> Result<String, String> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.place.start, edit.place.end));
    let (mut out, mut at) = (String::new(), 0);
    for edit in edits {
        if edit.place.start < at {
            return Err("two pieces overlap".to_owned());
        }
        out += &source[at..edit.place.start];
        out += &edit.new;
        at = edit.place.end;
    }
    Ok(out + &source[at..])
}

impl Fault {
    /// A fault of one piece.
    pub(crate) fn of(name: &str, file: &str, at: Option<usize>, old: &str, new: &str) -> Self {
        let [file, old, new] = [file, old, new].map(str::to_owned);
        let pieces = vec![Piece { file, at, old, new }];
        Self { name: name.to_owned(), pieces, ..Self::default() }
    }

    /// The file of the first piece.
    pub(crate) fn file(&self) -> &str {
        &self.pieces[0].file
    }

    /// The folder of its crate in `crates/`.
    pub(crate) fn own(&self) -> &str {
        self.file().split('/').nth(1).unwrap_or_default()
    }

    /// Returns its edits, by file.
    pub(crate) fn edits(
        &self,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<BTreeMap<&str, Vec<Edit>>, String> {
        let mut edits: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
        for piece in &self.pieces {
            edits.entry(&piece.file).or_default().push(piece.edit(&read(&piece.file)?)?);
        }
        Ok(edits)
    }
}

/// Reads a file of faults:
///
/// ```text
/// == NAME
/// file crates/X/src/Y.rs
/// tests loom_a, b::c         (optional)
/// models loom_a::d           (optional, any number of lines)
/// - old text, on as many lines as it has
/// + new text
/// ```
///
/// More pieces may follow, each with another `file` in front or in the same. A fault with `models`
/// is a canary: `.ci/run loom` runs these models, and each must find it.
pub(crate) fn read(path: &Path) -> Result<Vec<Fault>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text).map_err(|why| format!("{}:{why}", path.display()))
}

fn parse(text: &str) -> Result<Vec<Fault>, String> {
    let mut faults: Vec<Fault> = Vec::new();
    // Whether the last line was one of new text, or of another kind than text.
    let (mut file, mut ended) = (String::new(), true);
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| Err(format!("{}: {what}", number + 1));
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            if faults.iter().any(|fault| fault.name == name) {
                return wrong("the name is used already");
            }
            faults.push(Fault { name: name.to_owned(), ..Fault::default() });
            (file, ended) = (String::new(), true);
            continue;
        }
        let Some(fault) = faults.last_mut() else { return wrong("no `== NAME` above") };
        let list = |all: &str| all.split(", ").map(str::to_owned).collect::<Vec<_>>();
        let append = |to: &mut String, line: &str| {
            if !to.is_empty() {
                to.push('\n');
            }
            to.push_str(line);
        };
        match (line.split_once(' '), fault.pieces.last_mut()) {
            (Some(("file", name)), _) => (file, ended) = (name.to_owned(), true),
            (Some(("tests", all)), _) => fault.tests = list(all),
            (Some(("models", all)), _) => fault.models.append(&mut list(all)),
            (Some(("-", old)), Some(piece)) if !ended => append(&mut piece.old, old),
            (Some(("-", _)), _) if file.is_empty() => return wrong("no `file` above"),
            (Some(("-", old)), _) => {
                let (file, old) = (file.clone(), old.to_owned());
                fault.pieces.push(Piece { file, at: None, old, new: String::new() });
                ended = false;
            }
            (Some(("+", new)), Some(piece)) => {
                append(&mut piece.new, new);
                ended = true;
            }
            // Nothing replaces it.
            (None, Some(_)) if line == "+" => ended = true,
            _ => return wrong("neither `file`, `tests`, `models`, `- old` nor `+ new`"),
        }
    }
    match faults.iter().find(|fault| fault.pieces.is_empty()) {
        Some(fault) => Err(format!(" {} has no old text", fault.name)),
        None => Ok(faults),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(at: Option<usize>, old: &str, new: &str) -> Piece {
        Piece { file: "f".into(), at, old: old.into(), new: new.into() }
    }

    fn planted(source: &str, piece: &Piece) -> Result<String, String> {
        edited(source, &[piece.edit(source)?])
    }

    #[test]
    fn text_is_replaced_where_it_occurs_once() {
        let mut fault = piece(None, "b", "x");
        assert_eq!(planted("a b c", &fault).unwrap(), "a  x  c");
        assert!(planted("a b c b", &fault).is_err());
        fault.at = Some(6);
        assert_eq!(planted("a b c b", &fault).unwrap(), "a b c x");
        fault.at = Some(4);
        assert!(planted("a b c b", &fault).is_err());
    }

    #[test]
    fn neither_spaces_nor_comments_count() {
        let source = "f(\n    a, // why\n    b,\n);\ng();\n";
        let words = |piece: &Piece| {
            let planted = planted(source, piece).unwrap();
            planted.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(&piece(None, "a, b,", "c,")), "f( c, ); g();");
        // Only what differs is replaced.
        assert_eq!(words(&piece(None, "b, ); g();", "b, ); h();")), "f( a, // why b, ); h();");
        assert_eq!(words(&piece(None, "a, b,", "b,")), "f( // why b, ); g();");
        assert_eq!(words(&piece(None, "b,", "b, c,")), "f( a, // why b, c, ); g();");
        assert_eq!(words(&piece(None, "g();", "")), "f( a, // why b, );");
    }

    #[test]
    fn a_fault_may_have_several_pieces() {
        let text = "== n\nfile a\nmodels loom_x, b/loom_y::z\n- one\n- two\n+ three\n- four\n+\n\
                    file b\n- five\n+ six\n+ seven\n";
        let faults = parse(text).unwrap();
        let pieces: Vec<[&str; 3]> =
            faults[0].pieces.iter().map(|p| [&*p.file, &*p.old, &*p.new]).collect();
        assert_eq!(
            pieces,
            [["a", "one\ntwo", "three"], ["a", "four", ""], ["b", "five", "six\nseven"]]
        );
        assert_eq!(faults[0].models, ["loom_x", "b/loom_y::z"]);
        assert!(parse("== n\n- one\n+ two\n").is_err());
        assert!(parse("== n\nfile a\n").is_err());
    }
}
