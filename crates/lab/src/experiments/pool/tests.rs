//! Faulty pools are noticed.

use super::bench::{Alone, Bench, Case};
use super::context::Context;
use super::load::Shape;
use crate::adapter::{Content, Pool};
use crate::error::Error;
use crate::experiment::Session;
use std::cell::RefCell;
use std::time::Duration;

/// The fault of the pool.
const FINE: u8 = 0;
const GIVES_TWICE: u8 = 1;
const FORGETS: u8 = 2;
const RUNS_OUT: u8 = 3;

/// A stack of free positions, and the contents of all blocks.
struct Stack<const FAULT: u8> {
    free: RefCell<Vec<usize>>,
    contents: RefCell<Vec<Content>>,
}

impl<const FAULT: u8> Pool for Stack<FAULT> {
    type Handle = usize;
    const BOUNDED: bool = true;

    fn open(capacity: usize, _: usize) -> Result<Self, Error> {
        let contents = RefCell::new(vec![[0; 3]; capacity]);
        Ok(Self { free: RefCell::new((0..capacity).collect()), contents })
    }

    fn take(&self, content: Content) -> Option<usize> {
        let mut free = self.free.borrow_mut();
        let position = free.pop()?;
        // Every hundredth block of the thread that is measured.
        let hit = content[0] == 0 && content[1] % 100 == 99;
        match FAULT {
            GIVES_TWICE if hit => free.push(position),
            RUNS_OUT if hit => return None,
            _ => {}
        }
        self.contents.borrow_mut()[position] = content;
        Some(position)
    }

    fn give(&self, position: usize) -> Content {
        let content = self.contents.borrow()[position];
        if FAULT != FORGETS || content[0] != 0 || content[1] % 100 != 99 {
            self.free.borrow_mut().push(position);
        }
        content
    }

    fn position(&self, position: &usize) -> usize {
        *position
    }

    fn in_use(&self) -> Option<usize> {
        Some(self.contents.borrow().len() - self.free.borrow().len())
    }
}

/// Makes one run in each context. Returns what was wrong.
fn run<const FAULT: u8>(shape: Shape) -> Result<(), Error> {
    for context in Context::ALL {
        let (pairs, limit) = (5_000, Duration::from_secs(100));
        let case = Case { shape, context, threads: 1, size: 12, pairs, least: 1 << 14, limit };
        let values = Alone(Bench::<Stack<FAULT>>::open(case)?).run()?;
        assert!(values.len() == 1 && values[0] > 0.0, "{values:?}");
    }
    Ok(())
}

#[test]
fn a_pool_that_works_passes() {
    for shape in [Shape::Short, Shape::Long, Shape::Fifo] {
        run::<FINE>(shape).expect("all is well");
    }
}

#[test]
fn a_block_in_two_hands_is_noticed() {
    for shape in [Shape::Long, Shape::Fifo] {
        let error = run::<GIVES_TWICE>(shape).expect_err("a block was given twice");
        assert!(error.to_string().contains("what lies in the blocks"), "{error}");
    }
}

#[test]
fn a_lost_block_is_noticed() {
    for shape in [Shape::Short, Shape::Long, Shape::Fifo] {
        let error = run::<FORGETS>(shape).expect_err("a block was lost");
        assert!(error.to_string().contains("still in use"), "{error}");
    }
}

#[test]
fn a_pool_that_gives_nothing_is_noticed() {
    for shape in [Shape::Short, Shape::Long, Shape::Fifo] {
        let error = run::<RUNS_OUT>(shape).expect_err("there was no block");
        assert!(error.to_string().contains("no block left"), "{error}");
    }
}
