//! The sum over a pointer tree: a join at each node, cache misses in between.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "sum-tree",
        unit: "ms",
        title: "time of the sum of a tree",
        description: "sum of a balanced pointer tree of 2^20 nodes, a join at each".to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| Tree::new(if smoke { 1 << 8 } else { 1 << 20 }),
        serial: true,
    };
    super::groups(plan, workers, &case)
}

struct Tree {
    nodes: u64,
    root: Link,
}

type Link = Option<Box<Node>>;

struct Node {
    value: u64,
    left: Link,
    right: Link,
}

impl Tree {
    fn new(nodes: u64) -> Self {
        Self { nodes, root: build(0, nodes) }
    }
}

/// Builds a balanced tree of the values from `first` on.
///
/// It allocates left subtree, node, right subtree. So whichever branch a library runs first, it
/// meets memory in the same way.
fn build(first: u64, nodes: u64) -> Link {
    let to_the_left = nodes.checked_sub(1)? / 2;
    let value = first + to_the_left;
    let left = build(first, to_the_left);
    let mut node = Box::new(Node { value, left, right: None });
    node.right = build(value + 1, nodes - 1 - to_the_left);
    Some(node)
}

impl Program for Tree {
    type Out = u64;

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) -> u64 {
        sum::<L>(ctx, self.root.as_deref())
    }

    fn serial(&self) -> Option<u64> {
        Some(sum_serial(self.root.as_deref()))
    }

    fn check(&self, out: u64) -> Result<(), Error> {
        expect("the sum of the tree", out, self.nodes * (self.nodes - 1) / 2)
    }
}

fn sum<L: ForkJoin>(ctx: &mut L::Ctx<'_>, node: Option<&Node>) -> u64 {
    let Some(node) = node else { return 0 };
    let (left, right) =
        L::join(ctx, |c| sum::<L>(c, node.left.as_deref()), |c| sum::<L>(c, node.right.as_deref()));
    node.value + left + right
}

fn sum_serial(node: Option<&Node>) -> u64 {
    let Some(node) = node else { return 0 };
    node.value + sum_serial(node.left.as_deref()) + sum_serial(node.right.as_deref())
}
