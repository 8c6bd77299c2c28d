//! Runs `examples/mandelbrot.rs`, and looks at its pictures.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The built example; `cargo test` builds it beside the tests, unless it is told to build one test.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let name = format!("mandelbrot{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    assert!(program.is_file(), "{}: first `cargo build --examples`", program.display());
    program
}

fn mandelbrot(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.current_dir(folder).args(arguments).env_remove("SATEEN_WORKERS");
    command.output().expect("the example can be started")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the example prints UTF-8")
}

/// Draws a small picture. Returns its width, its height, and its pixels.
fn picture(workers: &str) -> (u32, u32, Vec<[u8; 3]>) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let size = ["--width=61", "--height", "41", "--iterations=200", "--workers", workers];
    let output = mandelbrot(folder.path(), &[&["small.png"][..], &size].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line = text(&output.stdout);
    assert!(line.starts_with("small.png: 61 x 41, 200 iterations, "), "{line}");
    assert!(line.ends_with(&format!(" on {workers} worker(s)\n")), "{line}");
    assert_eq!(text(&output.stderr).lines().count(), 10, "{output:?}");
    let all = "mandelbrot: 100 % of the rows are drawn";
    assert_eq!(text(&output.stderr).lines().filter(|line| *line == all).count(), 1, "{output:?}");

    let file = File::open(folder.path().join("small.png")).expect("a picture");
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a picture");
    let info = reader.info();
    let (width, height) = (info.width, info.height);
    let mut bytes = vec![0; width as usize * height as usize * 3];
    reader.next_frame(&mut bytes).expect("a frame");
    (width, height, bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect())
}

#[test]
fn the_picture_does_not_depend_on_the_workers() {
    let (width, height, pixels) = picture("1");
    assert_eq!((width, height), (61, 41));
    assert_eq!(picture("2").2, pixels);
    assert_eq!(picture("8").2, pixels);

    let black = [0; 3];
    let at = |x: usize, y: usize| pixels[y * 61 + x];
    // The middle belongs to the set, and the corners do not.
    assert_eq!(at(30, 20), black);
    for corner in [at(0, 0), at(60, 0), at(0, 40), at(60, 40)] {
        assert_ne!(corner, black);
    }
    // The set is its own mirror image.
    for y in 0..20 {
        assert!((0..61).all(|x| at(x, y) == at(x, 40 - y)), "row {y}");
    }
    let inside = pixels.iter().filter(|pixel| **pixel == black).count();
    assert!((100..1_000).contains(&inside), "{inside} black pixels of 2,501");
}

#[test]
fn a_wrong_command_line_is_refused() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let cases = [
        ("--width", "0"),
        ("--width", "16385"),
        ("--height", "-3"),
        ("--iterations", "0"),
        ("--iterations", "many"),
        ("--workers", "0"),
    ];
    for (option, value) in cases {
        let output = mandelbrot(folder.path(), &["x.png", &format!("{option}={value}")]);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(text(&output.stderr).contains(&format!("'{value}'")), "{output:?}");
        assert_eq!(text(&output.stdout), "");
    }
    assert!(!folder.path().join("x.png").exists());
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_anything_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let output = mandelbrot(folder.path(), &["no/x.png"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).starts_with("mandelbrot: \"no/x.png\": "), "{output:?}");
    assert_eq!(text(&output.stderr).lines().count(), 1);
}

#[test]
fn a_longer_file_is_replaced_whole() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("x.png");
    fs::write(&path, vec![7; 1_000_000]).expect("written");
    let output = mandelbrot(folder.path(), &["x.png", "--width=8", "--height=8"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let bytes = fs::read(&path).expect("written");
    assert!(bytes.len() < 1_000 && bytes.starts_with(b"\x89PNG"), "{} bytes", bytes.len());
}
