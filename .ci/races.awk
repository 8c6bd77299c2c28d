# Prints the reports of ThreadSanitizer in its input, and fails if there are any, but for those of one
# kind: that `thread::scope`, or a test by its own flags, has waited for a thread is settled inside the
# standard library, which is not built for the checker. All that such a thread ever did then seems to
# race with what comes after. So these are left out:
#
# * reports about a thread that has ended;
# * a thread frees, or uses on its own stack, what a thread that it has created used before: that one may be
#   on its way to its end;
# * a thread of the pool for blocking calls, which waits by a `Mutex` and a `Condvar` of the standard library.
/^WARNING: ThreadSanitizer/ { report = ""; within = 1; by[1] = by[2] = ""; accesses = frees = waited = 0; stack = "" }
!within { next }
{ report = report $0 "\n" }
/^  .* by (thread T[0-9]+|main thread)/ && accesses < 2 {
    match($0, /by (thread T[0-9]+|main thread)/)
    by[++accesses] = substr($0, RSTART + 3, RLENGTH - 3)
}
/^ +#0 (free|operator delete)/ && accesses == 1 { frees = 1 }
/^  Location is stack of (thread T[0-9]+|main thread)/ {
    match($0, /(thread T[0-9]+|main thread)/)
    stack = substr($0, RSTART, RLENGTH)
}
/^  Thread T[0-9]+ .*, finished\)/ { waited = 1 }
/^  Thread T[0-9]+ 'sateen-blocking'/ { waited = 1 }
/^  Thread T[0-9]+ .*created by/ {
    match($0, /T[0-9]+/); child = "thread " substr($0, RSTART, RLENGTH)
    match($0, /created by (thread T[0-9]+|main thread)/); parent = substr($0, RSTART + 11, RLENGTH - 11)
    if ((frees || stack == parent) && child == by[2] && parent == by[1]) { waited = 1 }
}
/^SUMMARY: ThreadSanitizer/ {
    if (!waited) { printf "%s\n", report; found++ }
    within = 0
}
END { exit found > 0 }
