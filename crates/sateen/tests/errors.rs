//! Each public error can be carried by `anyhow` and by `Box<dyn Error + Send + Sync>`.

use sateen::{channel, flow, pool, queue, shed, sync};
use std::error::Error;
use std::fs;
use std::path::Path;

fn is_carried<E: Error + Send + Sync + 'static>() {}

/// Asks it of each type, and returns their names.
macro_rules! carried {
    ($($($part:ident)::+ $(<$item:ty>)?,)*) => {{
        $(is_carried::<$($part)::+ $(<$item>)?>();)*
        [$(stringify!($($part)::+).rsplit("::").next().unwrap().trim(),)*]
    }};
}

#[test]
fn each_error_is_carried_by_any_error() {
    let known = carried![
        sateen::BuildError,
        sateen::FiberLocalError,
        sateen::JoinError,
        sateen::ShutdownError,
        channel::ReadyTimeoutError,
        channel::RecvError,
        channel::RecvTimeoutError,
        channel::SelectTimeoutError,
        channel::SendError<u8>,
        channel::SendTimeoutError<u8>,
        channel::TryReadyError,
        channel::TryRecvError,
        channel::TrySelectError,
        channel::TrySendError<u8>,
        flow::CloseError,
        flow::GraphError,
        flow::RunError,
        flow::SendError<u8>,
        flow::StartError,
        flow::ThrottleError,
        flow::WaitError,
        pool::BuildError,
        pool::Full<u8>,
        queue::PopError,
        queue::PushError<u8>,
        shed::BuildError,
        shed::Error,
        shed::Full<u8>,
        shed::NotInstalled<u8>,
        shed::OtherSizes,
        shed::StillRunning,
        shed::TemplateError,
        sync::AcquireError,
        sync::oneshot::RecvError,
        sync::oneshot::TryRecvError,
        sync::park::Cancelled,
        sync::timer::Elapsed,
    ];
    #[cfg(feature = "trace")]
    is_carried::<sateen::TraceError>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    collect(&folder, &mut found);
    // No user sees the first; the second comes with the feature `trace`.
    let others = ["StackSizeError", "TraceError"];
    for name in found.iter().filter(|name| !others.contains(&name.as_str())) {
        assert!(known.contains(&name.as_str()), "{name} is in no line of this test");
    }
}

/// The names of all types that are errors, in the sources of all crates but the lab.
fn collect(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            let name = path.file_name().and_then(|name| name.to_str());
            if !matches!(name, Some("lab" | "target" | "tests" | "rayon-core")) {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let impls = text.lines().filter(|line| line.starts_with("impl"));
            found.extend(impls.filter_map(|line| {
                let rest = line.split_once("Error for ")?.1;
                let end = rest.find(|c: char| !c.is_alphanumeric())?;
                Some(rest[..end].to_owned())
            }));
        }
    }
}
