//! `walk_tree` and its like: the nodes of a tree whose children a function tells.
//!
//! No walk is recursive, so a deep tree needs no deep stack.

use super::ParallelIterator;
use super::collect::Items;
use super::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use crate::vec::all_of;
use sateen_base::unwind::Held;
use std::fmt;

/// How far a piece follows a path without branches before it is cut there.
const LONGEST_PATH: usize = 64;

/// An iterator over the nodes of a tree, in no order: the root, and all that `children_of` says
/// again and again.
///
/// The subtrees of different nodes are walked in parallel, so `children_of` is called by all
/// workers. The children of a node are kept in a list while the tree is cut.
///
/// # Panics
/// When it is driven: with a panic of `children_of`, or of what it returns.
///
/// ```
/// use sateen::prelude::*;
/// let halves = |n: &u32| if *n > 1 { vec![n / 2, n - n / 2] } else { vec![] };
/// let leaves = sateen::iter::walk_tree(1000, halves).filter(|n| *n == 1);
/// assert_eq!(leaves.count(), 1000);
/// ```
pub fn walk_tree<S, B, I>(root: S, children_of: B) -> WalkTree<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTree { root, children_of }
}

/// An iterator over the nodes of a tree: each before its children, and these in their order.
///
/// As [`walk_tree`] otherwise.
///
/// # Panics
/// As [`walk_tree`].
///
/// ```
/// use sateen::prelude::*;
/// let halves = |n: &u32| if *n > 1 { vec![n / 2, n - n / 2] } else { vec![] };
/// let nodes: Vec<_> = sateen::iter::walk_tree_prefix(3, halves).collect();
/// assert_eq!(nodes, [3, 1, 2, 1, 1]);
/// ```
pub fn walk_tree_prefix<S, B, I>(root: S, children_of: B) -> WalkTreePrefix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTreePrefix { root, children_of }
}

/// An iterator over the nodes of a tree: each behind its children, and these in their order.
///
/// As [`walk_tree`] otherwise.
///
/// # Panics
/// As [`walk_tree`].
///
/// ```
/// use sateen::prelude::*;
/// let halves = |n: &u32| if *n > 1 { vec![n / 2, n - n / 2] } else { vec![] };
/// let nodes: Vec<_> = sateen::iter::walk_tree_postfix(3, halves).collect();
/// assert_eq!(nodes, [1, 1, 1, 2, 3]);
/// ```
pub fn walk_tree_postfix<S, B, I>(root: S, children_of: B) -> WalkTreePostfix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTreePostfix { root, children_of }
}

macro_rules! walks {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone)]
        pub struct $name<S, B> { root: S, children_of: B }

        impl<S: fmt::Debug, B> fmt::Debug for $name<S, B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                shown.field("root", &self.root).finish_non_exhaustive()
            }
        }

        impl<S, B, I> ParallelIterator for $name<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: IntoIterator<Item = S>,
        {
            type Item = S;

            fn drive_unindexed<C: UnindexedConsumer<S>>(self, consumer: C) -> C::Result {
                let (above, ahead) = (Items(Vec::new()), Items(vec![self.root]));
                let children_of = &self.children_of;
                bridge_unindexed(Walk::<_, _, $prefix> { above, ahead, children_of }, consumer)
            }
        }
    )*};
}

walks! {
    /// The nodes of a tree: what [`walk_tree`] returns.
    WalkTree, true;
    /// The nodes of a tree, each before its children: what [`walk_tree_prefix`] returns.
    WalkTreePrefix, true;
    /// The nodes of a tree, each behind its children: what [`walk_tree_postfix`] returns.
    WalkTreePostfix, false;
}

/// A part of a tree. In prefix order nodes come before their children, else behind them.
struct Walk<'f, S, B, const PREFIX: bool> {
    /// Nodes whose children are ahead, or in another part. The root is the first.
    above: Items<S>,
    /// Whole subtrees, in order.
    ahead: Items<S>,
    children_of: &'f B,
}

impl<S, B, I, const PREFIX: bool> Walk<'_, S, B, PREFIX>
where
    B: Fn(&S) -> I,
    I: IntoIterator<Item = S>,
{
    /// Goes down until there are several subtrees.
    fn descend(&mut self) {
        let Items(above) = &mut self.above;
        let Items(ahead) = &mut self.ahead;
        for _ in 0..LONGEST_PATH {
            if ahead.len() != 1 {
                return;
            }
            // It lies in its new place before code of the user's is called.
            above.extend(ahead.pop());
            ahead.extend(above.last().into_iter().flat_map(self.children_of));
        }
    }

    /// Feeds subtrees to `folder`.
    fn walk<F: Folder<S>>(&self, subtrees: impl Iterator<Item = S>, mut folder: F) -> F {
        let mut levels: Vec<Level<S, I::IntoIter>> = Vec::new();
        for root in subtrees {
            let mut next = Some(root);
            loop {
                if let Some(node) = next {
                    let node = Held::new(node);
                    let children = Held::new((self.children_of)(&node).into_iter());
                    let node = if PREFIX {
                        folder = folder.consume(node.release());
                        None
                    } else {
                        Some(node)
                    };
                    levels.push(Level { node, children });
                    if PREFIX && folder.full() {
                        return folder;
                    }
                }
                let Some(level) = levels.last_mut() else { break };
                next = level.children.next();
                if next.is_some() {
                    continue;
                }
                let Some(Level { node, children }) = levels.pop() else { break };
                drop(children.release());
                if let Some(node) = node {
                    folder = folder.consume(node.release());
                    if folder.full() {
                        return folder;
                    }
                }
            }
        }
        folder
    }
}

/// A node on the way down. Both are user values, held while other code of the user's runs.
struct Level<S, I> {
    /// Present in postfix order, where it comes behind its children.
    node: Option<Held<S>>,
    children: Held<I>,
}

impl<S, B, I, const PREFIX: bool> UnindexedProducer for Walk<'_, S, B, PREFIX>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    type Item = S;

    fn split(mut self) -> (Self, Option<Self>) {
        self.descend();
        let children_of = self.children_of;
        let none = || Items(Vec::new());
        let mut lower = Self { above: none(), ahead: none(), children_of };
        let (above, ahead) = (self.above.0.len(), self.ahead.0.len());
        if ahead > 1 {
            lower.ahead.0 = self.ahead.0.split_off(ahead / 2);
            if !PREFIX {
                std::mem::swap(&mut lower.above, &mut self.above);
            }
            return (self, Some(lower));
        }
        if ahead == 1 && above > 0 {
            // The way down is long, and the nodes on it are worth a piece.
            std::mem::swap(&mut lower.ahead, &mut self.ahead);
        } else if above > 1 {
            lower.above.0 = self.above.0.split_off(above / 2);
        } else {
            return (self, None);
        }
        if PREFIX { (self, Some(lower)) } else { (lower, Some(self)) }
    }

    fn fold_with<F: Folder<S>>(mut self, mut folder: F) -> F {
        let mut above = std::mem::take(&mut self.above.0);
        let mut ahead = std::mem::take(&mut self.ahead.0);
        let (above, ahead) = (all_of(&mut above), all_of(&mut ahead));
        if PREFIX {
            folder = folder.consume_iter(above);
            if folder.full() { folder } else { self.walk(ahead, folder) }
        } else {
            folder = self.walk(ahead, folder);
            if folder.full() { folder } else { folder.consume_iter(above.rev()) }
        }
    }
}
