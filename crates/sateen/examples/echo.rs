//! A TCP server that sends back what it receives, with a task for each connection.
//!
//! ```text
//! cargo run -p sateen --example echo -- 127.0.0.1:7000
//! ```
//!
//! Each task is written as if it blocked its thread. It does not: `async-io` waits for the sockets,
//! and the task is suspended until its socket is ready.

use async_io::Async;
use sateen::{Spawn, block_on, sleep};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// How long to wait when the system gives no more connections.
const PAUSE: Duration = Duration::from_millis(50);

fn echo(connection: &Async<TcpStream>) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let read = block_on(connection.read_with(|mut socket| socket.read(&mut buffer)))?;
        if read == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            let written = block_on(connection.write_with(|mut socket| socket.write(rest)))?;
            rest = &rest[written..];
        }
    }
}

fn serve(listener: &Async<TcpListener>) {
    loop {
        match block_on(listener.accept()) {
            Ok((connection, peer)) => {
                let task = move || {
                    if let Err(error) = echo(&connection) {
                        eprintln!("{peer}: {error}");
                    }
                };
                if let Err(error) = Spawn::new().name(peer.to_string()).detach(task) {
                    eprintln!("{peer}: not served: {error}");
                }
            }
            Err(error) => {
                eprintln!("cannot accept a connection: {error}");
                sleep(PAUSE);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7000".to_owned());
    let address: SocketAddr = address.parse().map_err(|e| format!("{address}: {e}"))?;
    let listener = Async::<TcpListener>::bind(address)?;
    println!("listening on {}", listener.get_ref().local_addr()?);
    serve(&listener);
    Ok(())
}
