//! Figures that others have published for the same loops, taken on their machines.
//!
//! They are facts to print beside ours, not limits to meet. No other file holds them.

use crate::report::tied;

/// What one source says about one quantity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    experiment: &'static str,
    case: &'static str,
    config: &'static str,
    /// Source and machine, in short.
    pub(crate) source: &'static str,
    /// In our unit for the case; several if the source has stages or contestants.
    pub(crate) values: &'static [Value],
}

/// One published value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    /// The source's name for it, or empty if the position says it.
    pub(crate) who: &'static str,
    /// Which of our implementations does the same, if any.
    pub(crate) stage: &'static str,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

const DEQUE: &str =
    "Saturn (OCaml 5), Apple M3 Max: before / padded and tuned / thief index cached";
const SKYNET: &str = "Boost.Fiber's table, i7-4770S 4C/8T: a stack for each of 100,000 fibers";
const THREADS: &str = "Boost.Fiber's table, i7-4770S 4C/8T, 10,000 threads";
const POOLS: &str =
    "MultiCore benchmarks: memory allocation (2012), 8 cores: wall time divided by all pairs";

/// The three stages of the deque figures.
macro_rules! stages {
    ($before:literal, $padded:literal, $cached:literal) => {
        &[
            Value { who: "", stage: "sateen-plain", low: $before, high: $before },
            Value { who: "", stage: "sateen-padded", low: $padded, high: $padded },
            Value { who: "", stage: "sateen", low: $cached, high: $cached },
        ]
    };
}

macro_rules! deque {
    ($($case:literal $config:literal: $a:literal $b:literal $c:literal;)*) => {
        &[$(Published {
            experiment: "deque",
            case: $case,
            config: $config,
            source: DEQUE,
            values: stages!($a, $b, $c),
        }),*]
    };
}

static DEQUES: &[Published] = deque! {
    "spawn-rate" "w1": 51.23 60.23 60.26;
    "spawn-rate" "w2": 43.82 119.58 120.04;
    "spawn-rate" "w4": 116.27 230.12 231.33;
    "spawn-rate" "w8": 121.86 429.00 430.18;
    "spawn-time" "w1": 19.52 16.60 16.60;
    "spawn-time" "w2": 45.64 16.73 16.66;
    "spawn-time" "w4": 34.40 17.38 17.29;
    "spawn-time" "w8": 65.65 18.65 18.60;
    "message-rate" "t1": 19.28 18.03 56.89;
    "message-rate" "t2": 16.01 17.87 63.37;
    "message-rate" "t4": 17.93 19.09 58.74;
    "message-time" "t1": 103.71 110.91 35.15;
    "message-time" "t2": 187.33 167.84 47.34;
    "message-time" "t4": 278.85 261.86 85.12;
    "fifo-rate" "w1": 55.98 61.18 60.21;
    "lifo-rate" "w1": 52.93 52.78 63.12;
    "fifo-time" "w1": 17.86 16.34 16.61;
    "lifo-time" "w1": 18.89 18.95 15.84;
};

const fn range(who: &'static str, low: f64, high: f64) -> Value {
    Value { who, stage: "", low, high }
}

/// Nanoseconds for one of the fibers. Each has a stack, and they are joined, so the figures stand
/// beside both forms of ours.
macro_rules! skynet {
    ($($case:literal)*) => {
        [$(
            Published {
                experiment: "skynet100k",
                case: $case,
                config: "w1",
                source: SKYNET,
                values: &[
                    range("round robin 1T", 910.0, 1280.0),
                    range("with tcmalloc", 900.0, 1030.0),
                ],
            },
            Published {
                experiment: "skynet100k",
                case: $case,
                config: "w2",
                source: SKYNET,
                values: &[
                    range("work stealing 8T", 350.0, 660.0),
                    range("with tcmalloc", 130.0, 260.0),
                    range("work sharing 8T", 900.0, 1110.0),
                    range("with tcmalloc", 620.0, 800.0),
                    range("Haskell", 320.0, 320.0),
                    range("Erlang", 640.0, 1210.0),
                    range("Go 1.6", 1520.0, 1640.0),
                    range("Go 1.6, 8 procs", 700.0, 980.0),
                ],
            },
        )*]
    };
}

static SKYNETS: &[Published] = &skynet!("join" "join-suspend");

static THREAD_TREES: &[Published] = &[Published {
    experiment: "skynet10k",
    case: "join",
    config: "w2",
    source: THREADS,
    values: &[range("pthread", 14_400.0, 20_800.0), range("std::thread", 18_800.0, 28_100.0)],
}];

/// Nanoseconds for a pair: the seconds of a million pairs of each thread. `stage` is what the
/// implementation's name begins with, with any lock.
macro_rules! pools {
    ($($case:literal $config:literal: $($strategy:literal $ns:literal)*;)*) => {
        &[$(Published {
            experiment: "pool",
            case: $case,
            config: $config,
            source: POOLS,
            values: &[$(
                Value { who: $strategy, stage: $strategy, low: $ns, high: $ns }
            ),*],
        }),*]
    };
}

#[rustfmt::skip]
static POOL_TESTS: &[Published] = pools! {
    "short-fresh" "t8": "global" 1004.0 "lock-free-flags" 140.0
        "locked-flags" 381.0 "locked-bits" 385.0 "locked-tree" 524.0;
    "short-polluted" "t8": "global" 1789.0 "lock-free-flags" 188.0
        "locked-flags" 375.0 "locked-bits" 391.0 "locked-tree" 510.0;
    "long-fresh" "t8": "global" 31198.0 "lock-free-flags" 145.0
        "locked-flags" 394.0 "locked-bits" 422.0 "locked-tree" 516.0;
    "long-polluted" "t8": "global" 32881.0 "lock-free-flags" 179.0
        "locked-flags" 390.0 "locked-bits" 423.0 "locked-tree" 693.0;
    "long-single-fresh" "t1": "global" 64340.0 "lock-free-flags" 79.4
        "locked-flags" 27.0 "locked-bits" 30.1 "locked-tree" 70.4;
    "long-single-polluted" "t1": "global" 67745.0 "lock-free-flags" 96.4
        "locked-flags" 30.8 "locked-bits" 31.4 "locked-tree" 70.5;
};

const COUNTER: &str = "\"Increment shared variable\" (blog, 2012), 8 CPU cores: seconds for \
                       80,000,000, nanoseconds for one";

macro_rules! counter {
    ($($case:literal $seconds:literal $ns:literal;)*) => {
        &[$(Published {
            experiment: "counter",
            case: $case,
            config: "t8",
            source: COUNTER,
            values: &[range(concat!($seconds, " s,"), $ns, $ns)],
        }),*]
    };
}

static COUNTERS: &[Published] = counter! {
    "local-then-atomic" 0.295073 3.69;
    "rwlock-exclusive" 2.548695 31.9;
    "atomic" 2.701041 33.8;
    "adaptive-mutex" 7.383443 92.3;
    "spin-naive" 18.363033 229.5;
};

const SHED: &str = "Bikeshed Improvements Analysis (2019), i7-6700HQ 4C/8T";

macro_rules! shed {
    ($($case:literal $rate:literal $ns:literal;)*) => {
        &[$(Published {
            experiment: "shed",
            case: $case,
            config: "p4c4",
            source: SHED,
            values: &[range("tasks/s", $rate, $rate), range("ns", $ns, $ns)],
        }),*]
    };
}

static SHEDS: &[Published] = shed! {
    "A" 3_180_886.0 314.0;
    "B" 3_295_478.0 303.0;
    "C" 3_871_440.0 258.0;
    "D" 3_979_132.0 251.0;
    "E" 7_995_729.0 125.0;
};

const FLOW: &str = "\"Even more performance experiments: queues and threads\" (blog), .NET's \
                    BlockingCollection, 12 logical cores";

macro_rules! flow {
    ($($case:literal $config:literal: $who:literal $value:literal;)*) => {
        &[$(Published {
            experiment: "flow",
            case: $case,
            config: $config,
            source: FLOW,
            values: &[range($who, $value, $value)],
        }),*]
    };
}

static FLOWS: &[Published] = flow! {
    "one-queue-exact" "t1": "2,200 K/s, ns" 455.0;
    "one-queue-sampled" "t1": "3,000 K/s, ns" 333.0;
    "eight-queues-1000k" "t8": "of 8,000 K/s:" 5700.0;
};

/// Returns what is published for `experiment/case/…/config`.
pub(crate) fn lookup(experiment: &str, case: &str, config: &str) -> Option<&'static Published> {
    let same = |p: &&Published| (p.experiment, p.case, p.config) == (experiment, case, config);
    let all = [DEQUES, SKYNETS, THREAD_TREES, POOL_TESTS, COUNTERS, SHEDS, FLOWS];
    all.into_iter().flatten().find(same)
}

impl Published {
    /// Returns the published value of the stage that `implementation` is, if the source has it.
    pub(crate) fn stage(&self, implementation: &str) -> Option<f64> {
        self.values.iter().find(|v| v.stage == implementation).map(|v| v.low)
    }

    /// Returns the first value.
    pub(crate) fn first(&self) -> f64 {
        self.values[0].low
    }

    /// Returns all values in one line, which can be broken between two of them.
    pub(crate) fn text(&self) -> String {
        let one = |v: &Value| {
            let number = if v.low == v.high {
                format!("{}", v.low)
            } else {
                format!("{}-{}", v.low, v.high)
            };
            if v.who.is_empty() { number } else { tied(&format!("{} {number}", v.who)) }
        };
        let in_order = self.values.iter().any(|v| v.who.is_empty());
        let all: Vec<String> = self.values.iter().map(one).collect();
        if in_order { tied(&all.join(" / ")) } else { all.join("; ") }
    }
}
