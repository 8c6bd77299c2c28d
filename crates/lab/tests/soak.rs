//! `sateen soak`: a short one, with and without faults, and what it refuses.

mod common;

use common::{assert_refused, output, stdout};

/// Runs worlds of all activities, without and with failures of the system on purpose.
#[test]
fn the_books_balance() {
    for faults in ["none", "all"] {
        let text = stdout(&["soak", "--minutes", "0.05", "--workers", "4", "--faults", faults]);
        let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        for row in rows.iter().filter(|row| row.len() == 5 && row[0] != "activity") {
            assert_ne!(row[1], "0", "{row:?} did nothing");
            assert_eq!(row[3], row[4], "{row:?}");
        }
        assert!(rows.iter().any(|row| row.first() == Some(&"all")), "{text}");
        assert_eq!(text.contains("faults: "), faults == "all", "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let cases: &[(&[&str], &str)] = &[
        (&["soak", "--minutes", "0"], "'0'"),
        (&["soak", "--minutes", "long"], "'long'"),
        (&["soak", "--workers", "0"], "--workers 0"),
        (&["soak", "--workers", "257"], "--workers 257"),
        (&["soak", "--seed", "x"], "'x'"),
        (&["soak", "--faults", "fire"], "--faults fire"),
        (&["soak", "--only", "nosuch"], "--only nosuch"),
    ];
    for (args, named) in cases {
        assert_refused(&output(args), named);
    }
}
