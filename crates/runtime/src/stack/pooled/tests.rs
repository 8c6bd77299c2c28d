use super::*;
use sateen_base::prim::thread;

const PAGE: usize = Mapping::PAGE;

fn resident(stack: &Stack) -> bool {
    // The page at the top, where the tests write.
    #[cfg(target_os = "linux")]
    {
        let page = stack.bottom().as_ptr().wrapping_add(stack.size() - PAGE);
        // SAFETY: this test owns the memory, and no other code uses it. What was discarded reads as
        // zero.
        unsafe { page.read_volatile() != 0 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stack;
        false
    }
}

fn touch(stack: &Stack) {
    // SAFETY: within the stack's memory, which is the test's.
    unsafe { stack.bottom().as_ptr().wrapping_add(stack.size() - PAGE).write_volatile(1) };
}

fn give(pool: &PooledStacks, stack: Stack) {
    // SAFETY: of this pool, and not used any more.
    unsafe { pool.deallocate(stack) };
}

fn take(pool: &PooledStacks, n: usize) -> Vec<Stack> {
    (0..n).map(|_| pool.allocate(8 * PAGE).expect("a stack")).collect()
}

fn total(pool: &PooledStacks) -> usize {
    pool.classes.lock().iter().map(|class| class.total).sum()
}

#[test]
fn stacks_do_not_overlap_and_slabs_grow() {
    let pool = PooledStacks::new();
    let stacks = take(&pool, 300);
    let mut places: Vec<_> = stacks.iter().map(|s| s.bottom().as_ptr() as usize).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|w| w[1] - w[0] >= 9 * PAGE));
    // 1, 1, 2, 4, ... 64, 64, ...
    assert_eq!(total(&pool), 320);
    stacks.iter().for_each(touch);
    stacks.into_iter().for_each(|stack| give(&pool, stack));
    assert_eq!(total(&pool), 320);
}

#[test]
fn above_the_high_water_mark_slabs_are_unmapped() {
    let pool = PooledStacks::new().high_water(10);
    let stacks = take(&pool, 1000);
    stacks.iter().for_each(touch);
    stacks.into_iter().for_each(|stack| give(&pool, stack));
    // The first ten are warm; they lie in the first slabs.
    assert!(total(&pool) < 32, "{}", total(&pool));
    assert!(pool.has_spare());
}

#[test]
fn a_trim_gives_memory_back_and_stacks_stay_usable() {
    let pool = PooledStacks::new();
    let mut stacks = take(&pool, 1000);
    stacks.iter().for_each(touch);
    // Every tenth stays in use, so hardly a slab can go as a whole.
    let mut kept = Vec::new();
    for (i, stack) in stacks.drain(..).enumerate() {
        if i % 10 == 0 { kept.push(stack) } else { give(&pool, stack) }
    }
    assert!(pool.has_spare());
    pool.trim();
    assert!(!pool.has_spare());
    assert!(total(&pool) > 900);
    let again = take(&pool, 900);
    let with_memory = again.iter().filter(|stack| resident(stack)).count();
    assert!(with_memory <= IDLE_WARM, "{with_memory}");
    assert!(kept.iter().all(resident) || !cfg!(target_os = "linux"), "in use");
    again.iter().for_each(touch);
    again.into_iter().chain(kept).for_each(|stack| give(&pool, stack));
    pool.trim();
    assert!(total(&pool) <= 20 * IDLE_WARM);
}

#[test]
fn sizes_have_pools_of_their_own() {
    let pool = PooledStacks::new();
    let small = pool.allocate(8 * PAGE).expect("small");
    let large = pool.allocate(100 * PAGE).expect("large");
    assert!(small.size() < 100 * PAGE && large.size() >= 100 * PAGE);
    let place = large.bottom();
    give(&pool, large);
    give(&pool, small);
    assert_eq!(
        pool.allocate(100 * PAGE)
            .map(|s| {
                let p = s.bottom();
                give(&pool, s);
                p
            })
            .ok(),
        Some(place)
    );
}

#[test]
fn no_stack_is_given_out_twice() {
    let pool = PooledStacks::new().high_water(20);
    thread::scope(|s| {
        for id in 1..=4u8 {
            let pool = &pool;
            s.spawn(move || {
                for round in 0..50 {
                    let stacks = take(pool, 1 + (round * 7) % 40);
                    for stack in &stacks {
                        // SAFETY: ours.
                        unsafe { stack.bottom().write_volatile(id) };
                    }
                    if round % 16 == 0 {
                        pool.trim();
                    }
                    for stack in stacks {
                        // SAFETY: ours.
                        assert_eq!(unsafe { stack.bottom().read_volatile() }, id);
                        give(pool, stack);
                    }
                }
            });
        }
    });
}

#[test]
fn unguarded_stacks_touch_each_other() {
    // SAFETY: nothing runs on them.
    let pool = unsafe { PooledStacks::new().unguarded() };
    let stacks = take(&pool, 8);
    assert!(stacks.iter().all(|stack| stack.guard() == 0 && stack.size() == 9 * PAGE));
    stacks.into_iter().for_each(|stack| give(&pool, stack));
}
