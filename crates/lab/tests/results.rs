//! What comes out: identities, the results file, diffs, plots.

mod common;

use common::{arg, output, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn results(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a results file")).expect("JSON")
}

fn metrics(document: &Value) -> Vec<&Value> {
    let sections = document["results"].as_array().expect("sections");
    sections.iter().flat_map(|s| s["metrics"].as_array().expect("metrics")).collect()
}

/// Identities of the experiment `pool`.
fn pools() -> Vec<String> {
    let mut promised = Vec::new();
    let strategies = [
        "global",
        "lock-free-flags",
        "locked-flags-ttas-adaptive-futex",
        "locked-bits-ttas-adaptive-futex",
        "locked-tree-ttas-adaptive-futex",
        "lock-free-tree",
        "magazine",
    ];
    for strategy in strategies {
        for context in ["fresh", "polluted", "firsthalf", "almostfull"] {
            for shape in ["short", "long", "fifo"] {
                promised.extend(
                    ["t1", "t2", "t8"].map(|t| format!("pool/{shape}-{context}/{strategy}/{t}")),
                );
            }
            let alone = strategy.replace("ttas-adaptive-futex", "no-atomics");
            promised.push(format!("pool/long-single-{context}/{alone}/t1"));
        }
        promised.push(format!("pool/handoff/{strategy}/t2"));
    }
    for what in ["bookkeeping", "searched", "retries", "span"] {
        promised.extend(["t1", "t8"].map(|t| format!("pool/long-polluted-{what}/magazine/{t}")));
    }
    promised
}

#[test]
fn every_promised_identity_is_listed() {
    let listed = stdout(&["list"]);
    let listed: BTreeSet<&str> = listed.lines().collect();
    let mut promised = Vec::new();
    for implementation in ["sateen-plain", "sateen-padded", "sateen", "sateen-asymmetric"] {
        for (cases, configs) in [
            (&["spawn-time", "spawn-rate"][..], &["w1", "w2", "w4", "w8"][..]),
            (&["message-time", "message-rate"], &["t1", "t2", "t4"]),
            (&["fifo-time", "fifo-rate", "lifo-time", "lifo-rate"], &["w1"]),
            (&["pair-pushpop1", "pair-pushpop64", "pair-pushsteal64"], &["w1"]),
        ] {
            for case in cases {
                for config in configs {
                    promised.push(format!("deque/{case}/{implementation}/{config}"));
                }
            }
        }
    }
    let programs = [
        "fib",
        "nqueens",
        "matmul",
        "sum-tree",
        "heat",
        "for-uniform",
        "for-skewed",
        "reduce",
        "for-tiny",
        "for-tiny-cpu",
        "sum-slice",
        "map-vec",
        "sort",
    ];
    for config in ["w1", "w2", "w4", "w8"] {
        promised.extend(programs.map(|p| format!("forkjoin/{p}/sateen/{config}")));
    }
    for config in ["w1", "w2"] {
        promised.extend(["fork", "spawn"].map(|c| format!("skynet/{c}/sateen/{config}")));
    }
    promised.push("forkjoin/fib/serial/w1".to_owned());
    for experiment in ["skynet", "skynet100k"] {
        for case in ["join", "join-suspend", "detach", "async"] {
            for rest in ["stealing/w1", "stealing/w2", "sharing/w1", "sharing/w2", "roundrobin/w1"]
            {
                promised.push(format!("{experiment}/{case}/sateen-{rest}"));
            }
        }
    }
    for (case, configs) in [
        ("bounded", &["1x1", "2x2", "4x4", "16x16"][..]),
        ("unbounded", &["1x1", "2x2", "4x4"]),
        ("rendezvous", &["1x1", "2x2", "4x4"]),
        ("bounded-100", &["2x2", "4x1", "4x4"]),
        ("bounded-1", &["2x2", "16x1"]),
    ] {
        promised.extend(configs.iter().map(|c| format!("channel/{case}/sateen/{c}")));
    }
    promised.extend(["pthread-8k", "std-thread"].map(|i| format!("skynet10k/join/{i}/w2")));
    for config in ["w1", "w2"] {
        promised.extend(
            ["mutex", "condvar", "event"].map(|c| format!("switch/pingpong-{c}/sateen/{config}")),
        );
    }
    promised.push("switch/yield/sateen/w1".to_owned());
    promised.push("fiber/block-cost/sateen/w1".to_owned());
    promised.push("fiber/skew/sateen-async/w2".to_owned());
    promised.extend(locks());
    promised.extend(pools());
    promised.extend(sheds());
    promised.push("wake/ready-behind-compute/sateen/w1".to_owned());
    let two = [
        "wake/first",
        "wake/first-p99",
        "wake/all",
        "wake/starve",
        "idle/cpu",
        "idle/cpu-after-burst",
        "dispatch/empty",
        "fiber/million",
        "fiber/million-bytes",
        "fiber/sleepers-p50",
        "fiber/sleepers-p999",
        "fiber/skew",
        "fiber/resume-behind",
    ];
    promised.extend(two.map(|c| format!("{c}/sateen/w2")));
    for id in &promised {
        assert!(listed.contains(id.as_str()), "`{id}` is not listed");
    }
    let unique: BTreeSet<&&str> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len());
    assert!(listed.iter().all(|id| id.split('/').count() == 4), "not an identity");
}

/// Identities of the experiment `shed`.
fn sheds() -> Vec<String> {
    let mut promised = vec![
        "shed/single/sateen/t1".to_owned(),
        "shed/starved-cpu/sateen/w2".to_owned(),
        "shed/bytes-task/sateen/n1000000".to_owned(),
        "shed/bytes-dependency/sateen/n1000000".to_owned(),
    ];
    for config in ["p1c1", "p2c2", "p4c4", "p7c1", "p1c7"] {
        let tests = ["A", "B", "C", "D", "E", "F", "G"];
        promised.extend(tests.map(|test| format!("shed/{test}/sateen/{config}")));
        promised.push(format!("shed/E/sateen-batch/{config}"));
    }
    for graph in ["fan", "chain", "random", "frame"] {
        for implementation in ["sateen", "sateen-sharded", "sateen-driven", "sateen-scope"] {
            promised.extend(["w1", "w2"].map(|w| format!("shed/{graph}/{implementation}/{w}")));
        }
    }
    promised
}

/// Identities of the experiments about locks.
fn locks() -> Vec<String> {
    let family = [
        "ttas",
        "ttas-adaptive",
        "ttas-futex",
        "ttas-adaptive-futex",
        "ticket",
        "mcs",
        "os-mutex",
        "kernel",
    ];
    let alone = [&family[..], &["mutex", "mutex-local", "no-atomics"]].concat();
    let shared = [&family[..], &["mutex"]].concat();
    let inside = [&family[..], &["lock-free"]].concat();
    let mut promised = Vec::new();
    for section in ["empty", "short", "long"] {
        promised.extend(alone.iter().map(|k| format!("lock/uncontended-{section}/{k}/t1")));
        for suffix in ["-fairness", "-p999", "-cpu"] {
            let id = |k: &&str| format!("lock/uncontended-{section}{suffix}/{k}/t1");
            promised.extend(shared.iter().map(id));
        }
        for threads in ["t2", "t8"] {
            for suffix in ["", "-fairness", "-p999", "-cpu"] {
                let id = |k: &&str| format!("lock/{threads}-{section}{suffix}/{k}/{threads}");
                promised.extend(shared.iter().map(id));
            }
        }
    }
    promised.extend(inside.iter().map(|k| format!("lock/in-runtime/{k}/w2")));
    for tweak in ["tests", "collisions"] {
        for config in ["t2-n0", "t8-n0"] {
            promised.push(format!("lock/sweep-{tweak}/ttas-adaptive-futex/{config}"));
        }
    }
    for config in ["t1", "t2", "t4", "t8"] {
        for case in ["locked-list-search", "locked-list"] {
            promised.extend(
                ["mutex", "ttas-adaptive-futex"].map(|k| format!("listqueue/{case}/{k}/{config}")),
            );
        }
        promised.push(format!("listqueue/lockfree-queue/sateen/{config}"));
    }
    promised
}

#[test]
fn the_results_file_has_the_promised_shape() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("out.json");
    fs::write(&path, "old").expect("written");
    stdout(&["run", "--smoke", "deque/pair", "skynet/fork", "--json", arg(&path)]);
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1, "a temporary file is left");
    let document = results(&path);
    let keys = |v: &Value| -> BTreeSet<String> {
        v.as_object().expect("an object").keys().cloned().collect()
    };
    let set = |words: &[&str]| -> BTreeSet<String> { words.iter().map(|w| (*w).into()).collect() };
    assert_eq!(keys(&document), set(&["schema", "machine", "results"]));
    assert_eq!(document["schema"], 1);
    for key in ["cpu", "cores", "kernel", "rustc", "profile", "crates", "sizes", "notes"] {
        assert!(!document["machine"][key].is_null(), "machine.{key} is missing");
    }
    assert_eq!(document["machine"]["crates"]["sateen-deque"], env!("CARGO_PKG_VERSION"));
    let sections = document["results"].as_array().expect("sections");
    let names: Vec<&str> = sections.iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(names, ["skynet", "deque"]);
    let all = metrics(&document);
    assert_eq!(all.len(), 3 * 4 + 2);
    for metric in all {
        let expected = [
            "id",
            "name",
            "value",
            "units",
            "trend",
            "description",
            "best",
            "worst",
            "mean",
            "median",
            "sd",
            "runs",
            "interval",
            "rounds",
        ];
        assert_eq!(keys(metric), set(&expected));
        assert_eq!(metric["value"], metric["median"]);
        assert_eq!(metric["runs"], 1);
        assert_eq!(metric["rounds"].as_array().map(Vec::len), Some(1));
        assert_eq!(metric["trend"], "lower-is-better");
        assert!(metric["value"].as_f64().expect("a number") > 0.0);
    }
}

/// The query that comes with the published figures works on our file.
#[test]
fn the_published_query_prints_its_four_objects() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("out.json");
    stdout(&["run", "--smoke", "deque/spawn-rate", "--json", arg(&path)]);
    let document = results(&path);
    let over: Vec<&str> = metrics(&document)
        .into_iter()
        .filter_map(|m| m["name"].as_str())
        .filter(|name| name.contains("over"))
        .collect();
    let expected = [
        "spawns over time/1 worker",
        "spawns over time/2 workers",
        "spawns over time/4 workers",
        "spawns over time/8 workers",
    ];
    assert_eq!(over, expected);

    let Ok(version) = Command::new("jq").arg("--version").output() else {
        eprintln!("no jq here: the query itself was not run");
        return;
    };
    // `.[]` after a dot needs version 1.7.
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let query = "[.results.[].metrics.[] | select(.name | test(\"over\")) | {name, value}]";
    let old = ["jq-1.4", "jq-1.5", "jq-1.6"].iter().any(|v| version.starts_with(v));
    let query = if old { query.replace(".[]", "[]") } else { query.to_owned() };
    let printed = Command::new("jq").arg(query).arg(&path).output().expect("jq runs");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let names: Vec<&str> = printed
        .as_array()
        .expect("an array")
        .iter()
        .inspect(|o| assert!(o["value"].is_number()))
        .filter_map(|o| o["name"].as_str())
        .collect();
    assert_eq!(names, expected);
}

/// Returns a results file with the given values for two figures.
fn write_results(path: &Path, time: f64, rate: f64) {
    let metric = |id: &str, value: f64, units: &str, trend: &str| {
        serde_json::json!({
            "id": id, "name": id, "value": value, "units": units, "trend": trend,
            "description": "", "best": value, "worst": value, "mean": value, "median": value,
            "sd": 0.0, "runs": 1,
        })
    };
    let document = serde_json::json!({
        "schema": 1,
        "machine": {},
        "results": [{"name": "x", "metrics": [
            metric("x/time/sateen/w1", time, "ns", "lower-is-better"),
            metric("x/rate/sateen/w1", rate, "M/s", "higher-is-better"),
        ]}],
    });
    fs::write(path, document.to_string()).expect("written");
}

#[test]
fn a_diff_reads_as_published() {
    let dir = tempfile::tempdir().expect("a directory");
    let (base, new) = (dir.path().join("base.json"), dir.path().join("new.json"));
    write_results(&base, 19.52, 43.82);
    write_results(&new, 16.60, 119.58);
    let text = stdout(&["diff", arg(&base), arg(&new)]);
    let expected = "x/time/sateen/w1:\n  16.60 ns = 0.85 x 19.52 ns\n\
                    x/rate/sateen/w1:\n  119.58 M/s = 2.73 x 43.82 M/s\n";
    assert_eq!(text, expected);

    // Both figures got better in one direction and worse in the other.
    assert!(output(&["diff", arg(&base), arg(&new), "--threshold", "1.1"]).status.success());
    let worse = output(&["diff", arg(&new), arg(&base), "--threshold", "1.1"]);
    assert_eq!(worse.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&worse.stderr).into_owned();
    assert!(errors.contains("x/time/sateen/w1") && errors.contains("x/rate/sateen/w1"), "{errors}");
    assert!(output(&["diff", arg(&new), arg(&base), "--threshold", "3"]).status.success());

    let zero = dir.path().join("zero.json");
    write_results(&zero, 0.0, 43.82);
    assert!(stdout(&["diff", arg(&zero), arg(&zero)]).contains("0.00 ns = 1.00 x 0.00 ns"));

    // A machine that was not ours alone explains much.
    let notes =
        r#""machine":{"notes":{"x/time/sateen/w1":["4 threads","busy 51 %"],"y":["crowd"]}}"#;
    let busy = fs::read_to_string(&base).expect("read").replace(r#""machine":{}"#, notes);
    fs::write(&base, busy).expect("written");
    let said = "\nnote: others used the machine during 1 figure of the base\n";
    assert!(stdout(&["diff", arg(&base), arg(&new)]).ends_with(said));
}

#[test]
fn a_run_can_be_compared_with_an_earlier_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let base = dir.path().join("base.json");
    let words = ["run", "--smoke", "deque/pair-pushpop1/sateen/w1"];
    stdout(&[&words[..], &["--json", arg(&base)]].concat());
    let text = stdout(&[&words[..], &["--brief", "--diff", arg(&base)]].concat());
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("deque/pair-pushpop1/sateen/w1:"));
    let words: Vec<&str> = lines.next().expect("a second line").split_whitespace().collect();
    let number = |w: &str| w.parse::<f64>().is_ok();
    let [new, "ns", "=", ratio, "x", base, "ns"] = words[..] else { panic!("{words:?}") };
    assert!(number(new) && number(ratio) && number(base), "{words:?}");
    // It depends on what else runs here.
    assert_eq!(lines.find(|line| !line.starts_with("note: others used")), None);
}

#[test]
fn brief_is_one_line_a_figure() {
    let text = stdout(&["run", "--smoke", "--brief", "deque/lifo"]);
    assert_eq!(text.lines().count(), 2 * 4, "{text}");
    assert!(text.lines().all(|l| l.starts_with("deque/lifo-") && l.split(' ').count() >= 3));
}

#[test]
fn plots_are_drawn() {
    let dir = tempfile::tempdir().expect("a directory");
    let plots = dir.path().join("new").join("plots");
    stdout(&["run", "--smoke", "deque/pair", "skynet/", "--plot", arg(&plots)]);
    let mut names: Vec<String> = fs::read_dir(&plots)
        .expect("the directory was made")
        .map(|e| e.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    // One question a picture.
    assert!(names.contains(&"deque-pair-pushpop64.svg".to_owned()), "{names:?}");
    assert!(names.contains(&"skynet-join.svg".to_owned()), "{names:?}");
    let svg = fs::read_to_string(plots.join("deque-pair-pushpop64.svg")).expect("a drawing");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(
        svg.contains("sateen-asymmetric") && svg.contains("<title id=\"t\">deque: pair-pushpop64<")
    );
}

#[test]
fn other_worker_counts_make_other_identities() {
    let text = stdout(&["list", "--workers", "3", "forkjoin/fib", "deque/spawn-time/sateen/"]);
    let expected = ["forkjoin/fib/sateen/w3", "deque/spawn-time/sateen/w3"];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}
