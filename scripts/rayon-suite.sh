#!/usr/bin/env bash
# Runs the tests of rayon-core and of rayon, as they are, on crates/rayon-core.
#
# Usage: scripts/rayon-suite.sh [core|rayon|all] [DIRECTORY]
#
# DIRECTORY holds the sources: a checkout of rayon, or a folder with `rayon-core-VERSION` and
# `rayon-VERSION`, such as cargo's `registry/src/INDEX`, which is the default. Nothing of them is
# copied into this repository: what is made lies in the target folder.
#
# Each test runs in a process of its own, at each number of threads in THREADS ("1 2 8"), for LIMIT
# seconds (75) at most. ONLY="part of a name" picks tests; RUNS=100 repeats each. A line is printed
# for each that fails, then the sums. The exit code says whether any has failed.
set -euo pipefail

what=${1:-all}
here=$(cd "$(dirname "$0")/.." && pwd)
shim=$here/crates/rayon-core
out=${CARGO_TARGET_DIR:-$shim/target}/rayon-suite
threads=${THREADS:-1 2 8}
limit=${LIMIT:-75}
only=${ONLY:-}
runs=${RUNS:-1}

# Prints the first of the folders given that is there.
first() {
    for folder in "$@"; do
        [ -d "$folder" ] && echo "$folder" && return
    done
    echo "no sources: $*" >&2
    return 1
}

sources=${2:-$(dirname "$(first "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/rayon-core-1.13.0)")}

# Prints the test programs of the package in folder $1.
programs() {
    (cd "$1" && cargo test --no-run --message-format=json "${@:2}") |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

passed=0
failed=0

# Runs all tests of program $1, in folder $2.
run_program() {
    local name list options=()
    list=$(cd "$2" && "$1" --list --format=terse 2>/dev/null | sed -n 's/: test$//p')
    for name in $list; do
        case $name in *"$only"*) ;; *) continue ;; esac
        # Ignored tests are the children of others.
        case $name in run_with_small_stack | run_with_large_stack) continue ;; esac
        for count in $threads; do
            for ((run = 0; run < runs; run++)); do
                options=(--exact "$name" --test-threads=1)
                if (cd "$2" && RAYON_NUM_THREADS=$count timeout "$limit" "$1" "${options[@]}") \
                    >"$out/last.log" 2>&1; then
                    passed=$((passed + 1))
                else
                    local code=$?
                    failed=$((failed + 1))
                    [ "$code" = 124 ] && code="hangs"
                    echo "FAILED $(basename "$1" | sed 's/-[0-9a-f]*$//') $name," \
                        "$count threads, $code"
                    cp "$out/last.log" "$out/failed-${name//:/_}-$count.log"
                fi
            done
        done
    done
}

# Runs the doc tests of the package in folder $1, once, unless ONLY picks tests.
doc_tests() {
    [ -z "$only" ] || return 0
    if (cd "$1" && cargo test --doc) >"$out/doc.log" 2>&1; then
        sed -n "s|^test result|doc tests of $(basename "$1")|p" "$out/doc.log"
    else
        failed=$((failed + 1))
        echo "FAILED doc tests of $(basename "$1"): see $out/doc.log"
    fi
}

# The tests inside of rayon-core name modules of that crate. Here they find others in their places.
make_core() {
    local core=$1 harness=$out/core
    mkdir -p "$harness/src"
    cat >"$harness/Cargo.toml" <<END
[package]
name = "rayon-suite"
version = "0.0.0"
edition = "2021"
publish = false

[dependencies]
rayon-core = { path = "$shim" }

[dev-dependencies]
rand = "0.9"
rand_xorshift = "0.4"
scoped-tls = "1"
crossbeam-utils = "0.8"
libc = "0.2"

[profile.dev]
debug = "line-tables-only"

[workspace]
END
    for test in "$core"/tests/*.rs; do
        printf '\n[[test]]\nname = "%s"\npath = "%s"\n' "$(basename "$test" .rs)" "$test" \
            >>"$harness/Cargo.toml"
    done
    cat >"$harness/src/lib.rs" <<END
//! The tests inside of rayon-core, on another crate of that name.
#![allow(unused)]
pub use rayon_core::*;

pub mod unwind {
    pub fn halt_unwinding<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(f))
    }
}

pub mod registry {
    pub fn in_worker<R: Send>(op: impl FnOnce(&(), bool) -> R + Send) -> R {
        match rayon_core::current_thread_index() {
            Some(_) => op(&(), false),
            None => rayon_core::scope(|_| op(&(), true)),
        }
    }
}

#[cfg(test)]
#[path = "$core/src/test.rs"]
mod test;

#[path = "$core/src/compile_fail/mod.rs"]
mod compile_fail;
END
    for module in broadcast join scope spawn thread_pool; do
        cat >>"$harness/src/lib.rs" <<END

pub mod $module {
    pub use crate::*;
    #[cfg(test)]
    #[path = "$core/src/$module/test.rs"]
    mod test;
}
END
    done
}

suite_core() {
    local core
    core=$(first "$sources/rayon-core" "$sources"/rayon-core-1.13.0)
    make_core "$core"
    export RUSTFLAGS="${RUSTFLAGS:-} --cfg sateen_rayon_tests"
    for program in $(programs "$out/core"); do
        run_program "$program" "$out/core"
    done
    doc_tests "$out/core"
}

suite_rayon() {
    local rayon
    if [ -f "$sources/src/par_either.rs" ]; then
        rayon=$sources
    else
        rayon=$(first "$sources"/rayon-1.11.0 "$sources"/rayon-1.*)
    fi
    rm -rf "$out/rayon"
    mkdir -p "$out/rayon"
    cp -r "$rayon/src" "$rayon/tests" "$rayon/Cargo.toml" "$out/rayon/"
    cat >>"$out/rayon/Cargo.toml" <<END

[workspace]

[patch.crates-io]
rayon-core = { path = "$shim" }

[profile.dev]
debug = "line-tables-only"
END
    for program in $(programs "$out/rayon"); do
        run_program "$program" "$out/rayon"
    done
    doc_tests "$out/rayon"
}

mkdir -p "$out"
case $what in
    core) suite_core ;;
    rayon) suite_rayon ;;
    all)
        suite_core
        suite_rayon
        ;;
    *)
        sed -n '2,14s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
