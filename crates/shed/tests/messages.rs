//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file. Aborts
//! are in `docs/aborts.md`.
#![cfg(not(loom))]

use sateen_shed::{BuildError, Error, Node, Outcome, Shed, TaskId, Template, TemplateError};
use std::mem::MaybeUninit;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] =
    &[("the number of stripes must be a power of two", "when it is compiled")];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

/// A shed with a task `A` that waits for a task `B`.
fn shed() -> (Shed<u8>, TaskId, TaskId) {
    let shed = Shed::builder().tasks(4).dependencies(2).checks(true).build().expect("small");
    let [a, b] = shed.create([1, 2]).expect("room");
    shed.depend(&[a], &[b]).expect("idle");
    (shed, a, b)
}

/// The text of the error that `make` is refused with, with the names of the tasks.
fn refused(make: fn(&Shed<u8>, TaskId, TaskId) -> Result<(), Error>) -> String {
    let (shed, a, b) = shed();
    let error = make(&shed, a, b).expect_err("refused");
    error.to_string().replace(&a.to_string(), "A").replace(&b.to_string(), "B")
}

fn not_built(tasks: u64, dependencies: u64, channels: u64) -> String {
    let builder = Shed::<u8>::builder().tasks(tasks).dependencies(dependencies);
    builder.channels(channels).build().map(drop).expect_err("not built").to_string()
}

/// The text of the error that a template with two tasks is refused with, with their names.
fn no_template(make: fn(&mut Template<u8>, Node, Node) -> Result<(), TemplateError>) -> String {
    let mut template = Template::new();
    let (a, b) = (template.task(1), template.task(2));
    let error = make(&mut template, a, b).expect_err("refused");
    error.to_string().replace(&a.to_string(), "A").replace(&b.to_string(), "B")
}

/// The text of the error with which a template of two tasks does not fit into a shed.
fn not_installed(tasks: u64, dependencies: u64) -> String {
    let mut template = Template::new();
    for payload in [1, 2] {
        template.task(payload);
    }
    let shed = Shed::builder().tasks(tasks).dependencies(dependencies).build().expect("small");
    template.install(&shed).map(drop).expect_err("no room").to_string()
}

const TABLE: &[Row] = &[
    ("a task that was freed", "task C has ended, was freed, or is another shed's", || {
        let (shed, ..) = shed();
        let [c] = shed.create([3]).expect("room");
        shed.free(&[c]).expect("idle");
        let error = shed.ready(&[c]).expect_err("freed");
        error.to_string().replace(&c.to_string(), "C")
    }),
    ("a name that no task has", "task N is not of this shed", || {
        let (shed, ..) = shed();
        let error = shed.ready(&[TaskId::NONE]).expect_err("no task");
        error.to_string().replace(&TaskId::NONE.to_string(), "N")
    }),
    ("a task that is made ready twice", "task B is ready already", || {
        refused(|shed, _, b| {
            shed.ready(&[b]).expect("idle");
            shed.ready(&[b])
        })
    }),
    ("a task that frees itself", "task B is running", || {
        refused(|shed, _, b| {
            shed.ready(&[b]).expect("idle");
            let mut freed = Ok(());
            let run = |id, _: &mut u8| {
                freed = shed.free(&[id]);
                Outcome::Complete
            };
            shed.execute_one(0, run).expect("a channel");
            freed
        })
    }),
    ("a blocked task", "task B is blocked and waits to be made ready", || {
        refused(|shed, _, b| {
            shed.ready(&[b]).expect("idle");
            shed.execute_one(0, |_, _| Outcome::Blocked).expect("a channel");
            shed.free(&[b])
        })
    }),
    ("a task that was cancelled", "task A was cancelled", || {
        refused(|shed, a, _| {
            assert_eq!(shed.cancel(a), Ok(true));
            shed.ready(&[a])
        })
    }),
    ("a task of an instance", "task A belongs to an instance of a template", || {
        let mut template = Template::new();
        let node = template.task(1);
        let shed = Shed::builder().tasks(4).dependencies(2).build().expect("small");
        let instance = template.install(&shed).expect("room");
        let id = instance.task(node).expect("its own");
        let error = shed.free(&[id]).expect_err("kept");
        error.to_string().replace(&id.to_string(), "A")
    }),
    ("a task that waits", "task A still depends on 1 others", || {
        refused(|shed, a, _| shed.free(&[a]))
    }),
    ("a task that depends on itself", "task A cannot depend on itself", || {
        refused(|shed, a, _| shed.depend(&[a], &[a]))
    }),
    ("a cycle", "task B cannot depend on task A, which waits for it", || {
        refused(|shed, a, b| shed.depend(&[b], &[a]))
    }),
    ("more dependencies than there are", "no place for 2 more dependencies, of 2 in all", || {
        refused(|shed, a, b| {
            let [c] = shed.create([3]).expect("room");
            shed.depend(&[c], &[a, b])
        })
    }),
    (
        "a task with too many dependencies",
        "task A would depend on more than 67108862 others",
        || refused(|_, a, _| Err(Error::TooManyDependencies(a))),
    ),
    ("a channel too many", "channel 1 is not below 1", || {
        refused(|shed, a, _| shed.set_channel(&[a], 1))
    }),
    ("more tasks than slots", "no place for 3 more tasks, of 4 in all", || {
        shed().0.create([1, 2, 3]).expect_err("no room").to_string()
    }),
    ("a shed without tasks", "0 tasks: must be 1 to 2147483648", || not_built(0, 1, 1)),
    ("too many dependencies", "2147483649 dependencies: must be 0 to 2147483648", || {
        not_built(1, (1 << 31) + 1, 1)
    }),
    ("a shed without channels", "0 channels: must be 1 to 65535", || not_built(1, 1, 0)),
    ("an order for a channel too many", "channel 1 is not below 1", || {
        let shed = Shed::<u8>::builder().tasks(1).fifo(1).build();
        shed.map(drop).expect_err("not built").to_string()
    }),
    ("a shed in a buffer that is to grow", "a shed in a given buffer cannot grow", || {
        let builder = Shed::<u8>::builder().tasks(1).growing();
        let mut buffer = [MaybeUninit::uninit(); 64];
        builder.build_in(&mut buffer).map(drop).expect_err("not built").to_string()
    }),
    (
        "more than can be addressed",
        "8 tasks with 9 dependencies need more bytes than can be addressed",
        || BuildError::TooLarge { tasks: 8, dependencies: 9 }.to_string(),
    ),
    ("more than there is", "no memory for 7 bytes", || {
        BuildError::OutOfMemory { bytes: 7 }.to_string()
    }),
    ("a buffer that is too small", "the buffer has 7 bytes, 8 are needed", || {
        BuildError::BufferTooSmall { needed: 8, given: 7 }.to_string()
    }),
    (
        "a buffer that begins between lines",
        "the buffer begins at 0x41, which is no multiple of 64",
        || BuildError::BufferMisaligned { address: 0x41, align: 64 }.to_string(),
    ),
    (
        "a snapshot of another shed",
        "a snapshot of 1 tasks, 0 dependencies and 1 channels for a shed of 2, 0 and 1",
        || {
            let build = |tasks| Shed::<u8>::builder().tasks(tasks).dependencies(0).build();
            let (mut one, mut two) = (build(1).expect("small"), build(2).expect("small"));
            two.restore(&one.snapshot()).expect_err("other sizes").to_string()
        },
    ),
    ("a task of another template", "task C is one of another template", || {
        let (mut template, mut other) = (Template::<u8>::new(), Template::new());
        let node = other.task(1);
        let error = template.set_channel(node, 0).expect_err("unknown");
        error.to_string().replace(&node.to_string(), "C")
    }),
    ("a template's task, of itself", "task A cannot depend on itself", || {
        no_template(|template, a, _| template.depend(&[a], &[a]))
    }),
    (
        "a template with a cycle",
        "the template cannot be installed: tasks wait for each other: B A",
        || {
            let mut template = Template::new();
            let (a, b) = (template.task(1), template.task(2));
            template.depend(&[a], &[b]).expect("its own");
            template.depend(&[b], &[a]).expect("its own");
            let shed = Shed::builder().tasks(4).dependencies(4).build().expect("small");
            let text = template.install(&shed).map(drop).expect_err("a cycle").to_string();
            text.replace(&format!(" {a}"), " A").replace(&format!(" {b}"), " B")
        },
    ),
    (
        "a template on a channel too many",
        "the template cannot be installed: channel 1 is not below 1",
        || {
            let mut template = Template::new();
            let a = template.task(1);
            template.set_channel(a, 1).expect("its own");
            let shed = Shed::builder().tasks(4).dependencies(4).build().expect("small");
            template.install(&shed).map(drop).expect_err("no channel").to_string()
        },
    ),
    (
        "a template that is too large",
        "the template cannot be installed: no place for 3 slots, one for each task and one more, \
         of 2 in all",
        || not_installed(2, 4),
    ),
    (
        "a template with too many edges",
        "the template cannot be installed: no place for 2 dependencies, one for each last task \
         counted, of 1 in all",
        || not_installed(4, 1),
    ),
    (
        "a template's task with too many dependencies",
        "task A would depend on more than 67108862 others",
        || no_template(|_, a, _| Err(TemplateError::TooManyDependencies(a))),
    ),
    (
        "a template with too many last tasks",
        "nothing depends on 67108863 tasks, which is more than 67108862",
        || TemplateError::TooManyLast(67_108_863).to_string(),
    ),
    ("an instance that is started twice", "the instance's last run has not ended", || {
        let mut template = Template::new();
        template.task(1);
        let shed = Shed::builder().tasks(4).dependencies(2).build().expect("small");
        let instance = template.install(&shed).expect("room");
        instance.start().expect("it is done");
        instance.start().expect_err("it runs").to_string()
    }),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
