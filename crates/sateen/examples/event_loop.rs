//! Tasks in a foreign event loop, and a foreign event loop in a worker.
//!
//! ```text
//! cargo run --example event_loop
//! ```
//!
//! The loop is `mio`'s. The loop of a GUI or a game looks the same. It waits for events, and must
//! be told when there are tasks to run and when the next timer is due.

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token, Waker};
use sateen::policy::{self, Policy, Runnable, Sleeper};
use sateen::sync::{AutoEvent, local, timer};
use sateen::{Runtime, block_on, spawn_local};
use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket as Plain};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const WAKE: Token = Token(0);
const SOCKET: Token = Token(1);
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    tasks_in_the_loop()?;
    the_loop_in_a_worker()?;
    println!("{ROUNDS} questions answered by either");
    Ok(())
}

/// The thread belongs to the loop. The loop runs the tasks whenever some can run.
fn tasks_in_the_loop() -> Result<(), Box<dyn Error>> {
    let mut poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), WAKE)?;
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse()?)?;
    poll.registry().register(&mut socket, SOCKET, Interest::READABLE)?;

    // A task that arrives from another thread ends the loop's wait.
    let arrival = move || waker.wake().expect("the loop can be woken");
    let runtime = Runtime::builder().on_arrival(arrival).current_thread()?;
    let (questions, answers) = (local::unbounded(), local::unbounded());
    let answering = runtime.spawn_local(move || {
        while let Ok((number, from)) = questions.1.recv() {
            let answers = answers.0.clone();
            // Each question is a task that waits; nothing here is `Send`.
            drop(spawn_local(move || {
                timer::sleep(Duration::from_millis(2));
                answers.send((square(number), from)).is_ok()
            }));
        }
    });
    let address = socket.local_addr()?;
    let spawner = runtime.spawner();
    let asker = std::thread::spawn(move || {
        let sum = ask(address);
        // A task for the loop's thread, from another one.
        spawner.spawn(|| println!("all asked")).join().map(|()| sum)
    });

    let mut events = Events::with_capacity(16);
    while !asker.is_finished() {
        // Run all tasks that can run. Then the loop waits no longer than until the next timer.
        let due = runtime.run_until_idle();
        for (answer, to) in std::iter::from_fn(|| answers.1.try_recv().ok()) {
            send(&socket, answer, to)?;
        }
        let limit = due.map(|due| due.saturating_duration_since(Instant::now()));
        match poll.poll(&mut events, limit.map_or(Some(Duration::from_millis(50)), Some)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        if events.iter().any(|event| event.token() == SOCKET) {
            while let Some(question) = receive(&socket)? {
                questions.0.send(question).expect("the answering task is there");
            }
        }
    }
    assert_eq!(asker.join().expect("asked")?, expected());
    drop(questions.0);
    runtime.run_until(answering)?;
    Ok(())
}

/// The thread belongs to the runtime. Its policy sleeps in the loop, and turns events into
/// wake-ups.
struct InLoop {
    queue: Mutex<VecDeque<Runnable>>,
    poll: Mutex<(Poll, Events)>,
    waker: Waker,
    readable: Arc<AutoEvent>,
}

impl Policy for InLoop {
    fn awakened(&self, runnable: Runnable) {
        self.queue.lock().expect("sound").push_back(runnable);
    }

    fn pick_next(&self) -> Option<Runnable> {
        self.queue.lock().expect("sound").pop_front()
    }

    fn has_ready(&self) -> bool {
        !self.queue.lock().expect("sound").is_empty()
    }

    fn suspend_until(&self, _sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        let mut poll = self.poll.lock().expect("sound");
        let (poll, events) = &mut *poll;
        let limit = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // A policy may return early for any reason.
        if poll.poll(events, limit).is_ok() && events.iter().any(|event| event.token() == SOCKET) {
            self.readable.set();
        }
    }

    fn notify(&self) {
        self.waker.wake().expect("the loop can be woken");
    }
}

fn the_loop_in_a_worker() -> Result<(), Box<dyn Error>> {
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), WAKE)?;
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse()?)?;
    poll.registry().register(&mut socket, SOCKET, Interest::READABLE)?;
    let readable = Arc::new(AutoEvent::new());
    let mut worker = Some(InLoop {
        queue: Mutex::default(),
        poll: Mutex::new((poll, Events::with_capacity(16))),
        waker,
        readable: Arc::clone(&readable),
    });
    let make = move |_| -> Box<dyn Policy> { Box::new(worker.take().expect("one worker")) };
    let runtime = Runtime::builder().workers(1).policy(policy::custom(make)).build()?;

    let address = socket.local_addr()?;
    // A task like any other: it waits until something has come.
    let answering = runtime.spawn(move || {
        let mut answered = 0;
        while answered < ROUNDS {
            while let Some((number, from)) = receive(&socket)? {
                timer::sleep(Duration::from_millis(2));
                send(&socket, square(number), from)?;
                answered += 1;
            }
            if answered < ROUNDS {
                readable.wait();
            }
        }
        io::Result::Ok(())
    });
    assert_eq!(ask(address), expected());
    block_on(answering)??;
    runtime.shutdown()?;
    Ok(())
}

fn square(number: u64) -> u64 {
    number * number
}

fn expected() -> u64 {
    (0..ROUNDS as u64).map(square).sum()
}

/// Asks for some squares, one after another, and adds them up.
fn ask(address: SocketAddr) -> u64 {
    let socket = Plain::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time limit");
    let one = |number: u64| {
        socket.send_to(&number.to_le_bytes(), address).expect("sent");
        let mut bytes = [0; 8];
        let (length, _) = socket.recv_from(&mut bytes).expect("an answer");
        assert_eq!(length, bytes.len());
        u64::from_le_bytes(bytes)
    };
    (0..ROUNDS as u64).map(one).sum()
}

/// A question and its sender, or none if none has come.
fn receive(socket: &UdpSocket) -> io::Result<Option<(u64, SocketAddr)>> {
    let mut bytes = [0; 8];
    match socket.recv_from(&mut bytes) {
        Ok((_, from)) => Ok(Some((u64::from_le_bytes(bytes), from))),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn send(socket: &UdpSocket, answer: u64, to: SocketAddr) -> io::Result<()> {
    socket.send_to(&answer.to_le_bytes(), to).map(drop)
}
