//! Runs `examples/checksum.rs` on made-up trees, and compares with hashes made on one thread.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The built example; `cargo test` builds it beside the tests, unless it is told to build one test.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let name = format!("checksum{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    assert!(program.is_file(), "{}: first `cargo build --examples`", program.display());
    program
}

fn checksum(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.current_dir(folder).args(arguments).env_remove("SATEEN_WORKERS");
    command.output().expect("the example can be started")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the example prints UTF-8")
}

/// What the example must print for the plain files below `folder`, found and hashed one by one.
fn serially(folder: &Path, name: &str) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder).expect("the tree can be read") {
        let entry = entry.expect("the tree can be read");
        let name = format!("{name}{}{}", std::path::MAIN_SEPARATOR, entry.file_name().display());
        if entry.path().is_dir() {
            lines.extend(serially(&entry.path(), &name));
        } else {
            let bytes = fs::read(entry.path()).expect("the file can be read");
            lines.push((name, hex::encode(Sha256::digest(bytes))));
        }
    }
    lines.sort();
    lines
}

fn expected(folder: &TempDir) -> String {
    let lines = serially(folder.path(), ".");
    lines.into_iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
}

/// A tree of 300 files in 30 folders: empty, small, and larger than one read.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for at in 0..30usize {
        let below = folder.path().join(format!("{}/{}", at % 3, at));
        fs::create_dir_all(&below).expect("created");
        for file in 0..10usize {
            let large = if (at, file) == (7, 3) { 1_000_000 } else { 0 };
            let length = large + (at * 31 + file) % 17 * file;
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7 + at + file) as u8).collect();
            fs::write(below.join(format!("file {file}.bin")), bytes).expect("written");
        }
    }
    folder
}

#[test]
fn any_number_of_workers_gives_the_answer_of_one_thread() {
    let folder = tree();
    let expected = expected(&folder);
    assert_eq!(expected.lines().count(), 300);
    for workers in ["1", "2", "3", "8"] {
        let output = checksum(folder.path(), &[".", "--workers", workers]);
        assert_eq!(text(&output.stdout), expected, "{workers} workers");
        assert_eq!(text(&output.stderr), "", "no progress where there is no terminal");
        assert_eq!(output.status.code(), Some(0));
    }
    let output = checksum(folder.path(), &["."]);
    assert_eq!(text(&output.stdout), expected, "as many workers as there are cores");
}

#[test]
fn the_hashes_are_those_of_the_standard() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    fs::write(folder.path().join("empty"), "").expect("written");
    let output = checksum(folder.path(), &["empty"]);
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(text(&output.stdout), format!("{hash}  empty\n"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_is_not_there_is_named() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let output = checksum(folder.path(), &["nowhere"]);
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).starts_with("checksum: \"nowhere\": "), "{output:?}");
    assert_eq!(text(&output.stderr).lines().count(), 1);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_wrong_command_line_is_refused() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for workers in ["0", "65536", "-1", "many"] {
        let output = checksum(folder.path(), &[".", &format!("--workers={workers}")]);
        assert_eq!(output.status.code(), Some(2), "{workers}");
        assert!(text(&output.stderr).contains(&format!("'{workers}'")), "{output:?}");
        assert_eq!(text(&output.stdout), "");
    }
    assert_eq!(checksum(folder.path(), &[]).status.code(), Some(2));
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Runs the example on a tree with something odd in it. Checks that everything else is hashed
    /// and that the status is 1. Returns the messages.
    fn complaints(spoil: impl FnOnce(&Path)) -> Vec<String> {
        let folder = tree();
        let expected = expected(&folder);
        spoil(folder.path());
        let output = checksum(folder.path(), &[".", "--workers", "2"]);
        assert_eq!(text(&output.stdout), expected);
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr).lines().map(str::to_owned).collect()
    }

    #[test]
    fn loops_of_links_are_named_and_not_followed() {
        let found = complaints(|folder| {
            symlink("..", folder.join("0/up")).expect("linked");
            symlink("itself", folder.join("itself")).expect("linked");
        });
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "checksum: \"./0/up\": a link back to \".\", not followed");
        assert!(found[1].starts_with("checksum: \"./itself\": "), "{found:?}");
    }

    #[test]
    fn links_to_files_are_followed_and_links_to_nothing_are_named() {
        let found = complaints(|folder| symlink("gone", folder.join("broken")).expect("linked"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("checksum: \"./broken\": "), "{found:?}");

        let folder = tree();
        symlink("0", folder.path().join("other")).expect("linked");
        let output = checksum(folder.path(), &["."]);
        assert_eq!(text(&output.stdout), expected(&folder));
        assert_eq!(output.status.code(), Some(0));
    }

    #[test]
    fn names_that_are_not_utf_8_are_named() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        if fs::write(folder.path().join(OsStr::from_bytes(b"caf\xe9")), "").is_err() {
            return; // This file system has no such names.
        }
        let found = complaints(|folder| {
            fs::write(folder.join(OsStr::from_bytes(b"caf\xe9")), "x").expect("written");
        });
        assert_eq!(found, ["checksum: \"./caf\\xE9\": name is not UTF-8"]);
    }

    #[test]
    fn names_that_break_lines_are_escaped() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        fs::write(folder.path().join("a\\b\nc"), "").expect("written");
        let output = checksum(folder.path(), &["."]);
        let line = text(&output.stdout);
        assert!(line.starts_with('\\') && line.ends_with("  ./a\\\\b\\nc\n"), "{line:?}");
        assert_eq!(output.status.code(), Some(0));
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let closed = |folder: &Path| {
            let file = folder.join("closed");
            fs::write(&file, "x").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("closed");
            file
        };
        let folder = tempfile::tempdir().expect("a folder for the test");
        if fs::read(closed(folder.path())).is_ok() {
            return; // The administrator may read everything; see the next test.
        }
        let found = complaints(|folder| drop(closed(folder)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("checksum: \"./closed\": "), "{found:?}");
    }

    /// The memory of a process is a file that can be opened. To read address 0 of it fails for any
    /// user.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_whose_reading_fails_are_named() {
        let found = complaints(|folder| {
            symlink("/proc/self/mem", folder.join("memory")).expect("linked");
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("checksum: \"./memory\": "), "{found:?}");
    }

    #[test]
    fn what_is_no_file_is_named() {
        let found = complaints(|folder| {
            drop(std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("bound"));
        });
        assert_eq!(found, ["checksum: \"./socket\": not a file"]);
    }

    /// A file with a hole of half a gigabyte, in a process that may have a quarter of that.
    #[cfg(target_os = "linux")]
    #[test]
    fn large_files_are_not_read_whole() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let file = fs::File::create(folder.path().join("hole")).expect("created");
        file.set_len(512 << 20).expect("no space is needed");
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 262144; exec \"$0\" hole --workers 2"])
            .arg(program())
            .current_dir(folder.path())
            .output()
            .expect("a shell can be started");
        let hash = "9acca8e8c22201155389f65abbf6bc9723edc7384ead80503839f49dcc56d767";
        assert_eq!(text(&output.stdout), format!("{hash}  hole\n"), "{output:?}");
        assert_eq!(output.status.code(), Some(0));
    }
}
