//! Walks of trees: their order, odd shapes, and hostile functions.
#![cfg(not(loom))]

mod common;

use common::{Census, Citizen, Draw, everywhere, panics_with};
use sateen::iter::{walk_tree, walk_tree_postfix, walk_tree_prefix};
use sateen::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A tree: the children of each node.
struct Tree(Vec<Vec<usize>>);

impl Tree {
    /// One of `len` nodes. `parent` of a node is one of those before it.
    fn new(len: usize, mut parent: impl FnMut(usize) -> usize) -> Self {
        let mut children = vec![Vec::new(); len];
        (1..len).for_each(|node| children[parent(node)].push(node));
        Self(children)
    }

    /// Balanced ones, paths, stars, combs, and random ones.
    fn all() -> Vec<Self> {
        let mut trees = Vec::new();
        for len in [1, 2, 3, 63, 64, 65, 66, 130, 2000] {
            let mut draw = Draw::new(len as u64);
            trees.push(Self::new(len, |node| (node - 1) / 2));
            trees.push(Self::new(len, |node| node - 1));
            trees.push(Self::new(len, |_| 0));
            trees.push(Self::new(len, |node| (node - 1) & !1));
            trees.push(Self::new(len, |node| draw.below(node as u64) as usize));
            trees.push(Self::new(len, |node| node - 1 - draw.below(3.min(node as u64)) as usize));
        }
        trees
    }

    fn children(&self, node: &usize) -> std::vec::IntoIter<usize> {
        self.0[*node].clone().into_iter()
    }

    fn ordered(&self, prefix: bool) -> Vec<usize> {
        let (mut nodes, mut stack) = (Vec::new(), vec![(0, false)]);
        while let Some((node, is_done)) = stack.pop() {
            if is_done || prefix {
                nodes.push(node);
            } else {
                stack.push((node, true));
            }
            if !is_done {
                stack.extend(self.0[node].iter().rev().map(|child| (*child, false)));
            }
        }
        nodes
    }
}

#[test]
fn orders() {
    let trees = Tree::all();
    everywhere(|| {
        for tree in &trees {
            let children = |node: &usize| tree.children(node);
            let prefix: Vec<_> = walk_tree_prefix(0, children).collect();
            assert_eq!(prefix, tree.ordered(true));
            let postfix: Vec<_> = walk_tree_postfix(0, children).collect();
            assert_eq!(postfix, tree.ordered(false));
            let mut any: Vec<_> = walk_tree(0, children).collect();
            any.sort_unstable();
            assert!(any.into_iter().eq(0..tree.0.len()));
            let last = *postfix.last().expect("the root");
            assert_eq!(walk_tree_postfix(0, children).find_last(|_| true), Some(last));
            let first = walk_tree_prefix(0, children).find_first(|node| *node > 0);
            assert_eq!(first, prefix.get(1).copied());
        }
    });
}

/// No stack is as deep as this path.
#[test]
fn a_path_of_any_length() {
    everywhere(|| {
        let next = |n: &u32| (*n < 300_000).then_some(n + 1);
        assert_eq!(walk_tree_prefix(0, next).count(), 300_001);
        assert_eq!(walk_tree_postfix(0, next).find_first(|_| true), Some(300_000));
        // One without an end.
        assert_eq!(walk_tree_prefix(0u64, |n| [n + 1]).find_any(|n| *n == 70), Some(70));
    });
}

#[test]
fn children_may_be_any_iterator() {
    everywhere(|| {
        let digits = |n: &u32| {
            let first = 10 * n;
            first..first + if *n < 1000 { 10 } else { 0 }
        };
        assert_eq!(walk_tree(1, digits).count(), 1111);
        let borrowed: Vec<Vec<usize>> = Tree::new(100, |n| (n - 1) / 3).0;
        let all =
            walk_tree_postfix(&borrowed[0], |node| node.iter().map(|child| &borrowed[*child]));
        assert_eq!(all.count(), 100);
    });
}

#[test]
fn hostile_trees() {
    everywhere(|| {
        let census = Census::default();
        for bombs in [false, true] {
            // Made one by one: a vector of bombs ends the process by itself.
            let citizen = |n| if bombs { census.bomb(n) } else { census.citizen(n) };
            let citizen = &citizen;
            for at in [0, 1, 40, 200] {
                for path in [false, true] {
                    let children = |node: &Citizen| {
                        assert_ne!(node.number, at, "the tree");
                        let n = node.number;
                        let all = if path { n + 1..n + 2 } else { 2 * n + 1..2 * n + 3 };
                        all.filter(|n| *n < 300).map(citizen)
                    };
                    let discard = |c| sateen_base::unwind::discard::<Citizen>(c);
                    panics_with("the tree", || {
                        walk_tree_prefix(citizen(0), children).for_each(discard);
                    });
                    census.assert_all_gone();
                    panics_with("the tree", || {
                        walk_tree_postfix(citizen(0), children).for_each(discard);
                    });
                    census.assert_all_gone();
                    panics_with("the tree", || walk_tree(citizen(0), children).collect::<Vec<_>>());
                    census.assert_all_gone();
                }
                let halves = |node: &Citizen| {
                    let n = node.number;
                    (2 * n + 1..2 * n + 3).filter(|n| *n < 300).map(citizen)
                };
                let end = |c: Citizen| {
                    let number = c.number;
                    sateen_base::unwind::discard(c);
                    assert_ne!(number, at, "the end");
                };
                panics_with("the end", || walk_tree_prefix(citizen(0), halves).for_each(end));
                census.assert_all_gone();
                panics_with("the end", || walk_tree_postfix(citizen(0), halves).for_each(end));
                census.assert_all_gone();
            }
        }
        // Never driven, ended early, leaked.
        let pair = |node: &Citizen| [census.citizen(node.number + 1), census.citizen(0)];
        drop(walk_tree(census.citizen(0), pair));
        census.assert_all_gone();
        assert!(walk_tree_prefix(census.citizen(0), pair).find_any(|c| c.number == 9).is_some());
        census.assert_all_gone();
        // The function may loop in parallel and be asked by all workers.
        let asked = AtomicUsize::new(0);
        let nested = |n: &usize| {
            asked.fetch_add(1, SeqCst);
            (0..if *n > 0 { 3 } else { 0 }).into_par_iter().map(|_| n - 1).collect::<Vec<_>>()
        };
        assert_eq!(walk_tree(5, nested).count(), 364);
        assert_eq!(asked.load(SeqCst), 364);
    });
}
