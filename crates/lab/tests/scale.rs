//! What the machine offers, and how figures scale with workers.

mod common;

use common::{assert_refused, output, stdout};

#[test]
fn the_doctor_tells_facts_and_costs() {
    let text = stdout(&["doctor"]);
    for wanted in ["cores", "governor", "asymmetric fence", "locked instruction", "`pause`"] {
        assert!(text.contains(wanted), "`{wanted}` is missing: {text}");
    }
    assert!(text.contains("is lost"), "{text}");
}

#[test]
fn a_figure_is_shown_by_its_workers() {
    let text = stdout(&["scale", "forkjoin/fib/sateen/", "--smoke", "--workers", "1,2,4"]);
    assert!(text.contains("forkjoin/fib/sateen\n"), "{text}");
    assert!(text.contains("speed-up"), "{text}");
    assert!(text.contains("contention") || text.contains("No law"), "{text}");
}

#[test]
fn figures_without_workers_do_not_scale() {
    assert_refused(&output(&["scale", "nosuch"]), "`nosuch`");
    let done = output(&["scale", "deque/pair-pushpop1/sateen/", "--smoke", "--workers", "1"]);
    assert_eq!(done.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(errors.contains("none of the selected figures has several"), "{errors}");
}
