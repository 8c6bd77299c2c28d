//! Programs do what the lab expects. A program that cannot be built here is left out, with a note.

use super::recipe::built;
use super::serve::Served;
use super::{ONE_TBB, words};
use crate::error::Error;
use crate::experiments::shed::shapes::{self, Shape};

#[test]
fn flow_graphs_are_the_graphs_of_the_lab() {
    let folder = match built(&ONE_TBB) {
        Ok(folder) => folder,
        Err(Error::Absent(note)) => return eprintln!("not tested: {note}"),
        Err(e) => panic!("{e}"),
    };
    let answer = |case: &str, workers: &str, size: u32, check: u64| {
        let arguments = words(&["./peer", case, workers, &size.to_string()]);
        let mut served = Served::start(&folder, &arguments, check).expect("it starts");
        for _ in 0..2 {
            let values = served.run().expect("the graph of the lab, all of it executed");
            assert_eq!(values.len(), 1);
        }
    };
    let graphs: [(&str, u32, Shape, u32); 4] = [
        ("fan", 3, shapes::fan(3), 1),
        ("chain", 50, shapes::chain(50), 1),
        ("random", 500, shapes::random(500), 1),
        ("frame", 7, shapes::frame(), 7),
    ];
    for (case, size, shape, times) in graphs {
        answer(&format!("digest-{case}"), "1", size, shape.digest());
        for workers in ["1", "2", "3"] {
            answer(case, workers, size, u64::from(shape.tasks * times));
        }
    }
}
