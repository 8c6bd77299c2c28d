//! A runtime's metrics for Prometheus, over HTTP.
//!
//! ```text
//! cargo run -p sateen --example metrics -- 127.0.0.1:9184
//! curl http://127.0.0.1:9184/metrics
//! ```
//!
//! Some named tasks keep the workers busy meanwhile. The page is made by the crate `prometheus`
//! from one snapshot, so a scrape costs the workers nothing.

use async_io::Async;
use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
};
use prometheus::{Encoder, TextEncoder};
use sateen::{Metrics, ReadyTimes, Runtime, Spawn, WorkerMetrics, block_on, sleep};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Longest head of a request.
const HEAD: usize = 8 * 1024;
/// How long to wait when the system gives no more connections.
const PAUSE: Duration = Duration::from_millis(50);

fn label(name: &str, value: &str) -> LabelPair {
    let mut label = LabelPair::default();
    label.set_name(name.to_owned());
    label.set_value(value.to_owned());
    label
}

fn family(name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(format!("sateen_{name}"));
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}

/// A count or a gauge of each worker.
fn of_workers(
    metrics: &Metrics,
    (name, help, kind): (&str, &str, MetricType),
    read: impl Fn(&WorkerMetrics) -> f64,
) -> MetricFamily {
    let each = metrics.workers.iter().enumerate().map(|(index, worker)| {
        let labels = vec![label("worker", &index.to_string())];
        let mut metric = Metric::from_label(labels);
        match kind {
            MetricType::COUNTER => {
                let mut counter = Counter::default();
                counter.set_value(read(worker));
                metric.set_counter(counter);
            }
            _ => {
                let mut gauge = Gauge::default();
                gauge.set_value(read(worker));
                metric.set_gauge(gauge);
            }
        }
        metric
    });
    family(name, help, kind, each.collect())
}

fn histogram(times: &ReadyTimes) -> Metric {
    let mut histogram = Histogram::default();
    let mut below = 0;
    let buckets = times.buckets().map(|(bound, count)| {
        below += count;
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(bound.as_secs_f64());
        bucket.set_cumulative_count(below);
        bucket
    });
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(times.count);
    histogram.set_sample_sum(times.sum.as_secs_f64());
    let mut metric = Metric::from_label(vec![label("task", &times.name)]);
    metric.set_histogram(histogram);
    metric
}

fn page(metrics: &Metrics) -> Result<Vec<u8>, prometheus::Error> {
    use MetricType::{COUNTER, GAUGE};
    type Read = fn(&WorkerMetrics) -> f64;
    let times: [(&str, &str, Read); 3] = [
        ("busy_seconds_total", "Time at work.", |w| w.busy.as_secs_f64()),
        ("idle_seconds_total", "Time in search of work.", |w| w.idle.as_secs_f64()),
        ("asleep_seconds_total", "Time asleep.", |w| w.asleep.as_secs_f64()),
    ];
    let gauges: [(&str, &str, Read); 6] = [
        ("queued", "Work in the run queue.", |w| w.queued as f64),
        ("ready", "Suspended tasks that can go on.", |w| w.ready as f64),
        ("suspended", "Tasks that wait.", |w| w.suspended as f64),
        ("stacks", "Stacks in use.", |w| w.stacks as f64),
        ("stacks_most", "The most stacks in use at once.", |w| w.most_stacks as f64),
        ("timers", "Timers armed.", |w| w.timers as f64),
    ];
    let mut families: Vec<MetricFamily> = WorkerMetrics::default()
        .counts()
        .enumerate()
        .map(|(at, (name, help, _))| {
            let read = |worker: &WorkerMetrics| worker.counts().nth(at).map_or(0, |it| it.2) as f64;
            of_workers(metrics, (&format!("{name}_total"), help, COUNTER), read)
        })
        .collect();
    let time = |(name, help, read)| of_workers(metrics, (name, help, COUNTER), read);
    families.extend(times.map(time));
    let gauge = |(name, help, read)| of_workers(metrics, (name, help, GAUGE), read);
    families.extend(gauges.map(gauge));
    if !metrics.ready_times.is_empty() {
        let each = metrics.ready_times.iter().map(histogram).collect();
        let help = "How long tasks could run and did not.";
        families.push(family("ready_seconds", help, MetricType::HISTOGRAM, each));
    }
    let mut page = Vec::new();
    TextEncoder::new().encode(&families, &mut page)?;
    Ok(page)
}

/// Answers one request. Every path has the same page.
fn answer(connection: &Async<TcpStream>, runtime: &Runtime) -> io::Result<()> {
    let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = block_on(connection.read_with(|mut socket| socket.read(&mut buffer)))?;
        if read == 0 || head.len() > HEAD {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..read]);
    }
    let page = page(&runtime.metrics()).map_err(io::Error::other)?;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        page.len()
    );
    let whole = [head.as_bytes(), &page].concat();
    let mut rest = &whole[..];
    while !rest.is_empty() {
        let written = block_on(connection.write_with(|mut socket| socket.write(rest)))?;
        rest = &rest[written..];
    }
    Ok(())
}

fn serve(listener: &Async<TcpListener>, runtime: &'static Runtime) {
    loop {
        match block_on(listener.accept()) {
            Ok((connection, peer)) => {
                let task = move || {
                    if let Err(error) = answer(&connection, runtime) {
                        eprintln!("{peer}: {error}");
                    }
                };
                if let Err(error) = Spawn::new().name("request").detach(task) {
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

/// Something to look at.
fn work() {
    loop {
        let sums: Vec<_> = (0..8)
            .map(|n: u64| Spawn::new().name("sum").spawn(move || (0..n * 100_000).sum::<u64>()))
            .collect();
        sums.into_iter().for_each(|sum| drop(sum.join()));
        sleep(Duration::from_millis(20));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9184".to_owned());
    let address: SocketAddr = address.parse().map_err(|e| format!("{address}: {e}"))?;
    let runtime = Runtime::global()?;
    let listener = Async::<TcpListener>::bind(address)?;
    println!("listening on http://{}/metrics", listener.get_ref().local_addr()?);
    drop(runtime.spawn_with(Spawn::new().name("work"), work));
    serve(&listener, runtime);
    Ok(())
}
