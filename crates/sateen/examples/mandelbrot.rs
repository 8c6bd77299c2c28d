//! Draws the Mandelbrot set with parallel iterators, on all cores.
//!
//! ```text
//! cargo run --release --example mandelbrot -- [PATH] [--width N] [--height N] [--iterations N]
//! ```
//!
//! Writes a PNG, to `PATH` or into a new file in the folder for temporary files. While it draws, it
//! tells on stderr how much is done. Rows take very different times: those through the set need all
//! iterations for most of their points. So workers that have drawn easy rows take some of the
//! others'.

use clap::Parser;
use sateen::Runtime;
use sateen::prelude::*;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Most pixels in a row, and most rows.
const LONGEST: i64 = 16_384;

/// Draws the Mandelbrot set in parallel and writes it as PNG.
#[derive(Parser)]
#[command(name = "mandelbrot")]
struct Options {
    /// The file to write [default: a new one in the folder for temporary files]
    path: Option<PathBuf>,
    /// Pixels in a row
    #[arg(long, value_name = "N", default_value = "1200")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=LONGEST))]
    width: u32,
    /// Rows
    #[arg(long, value_name = "N", default_value = "800")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=LONGEST))]
    height: u32,
    /// Iterations after which a point counts as one of the set
    #[arg(long, value_name = "N", default_value = "1000")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Worker threads [default: as many as may run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut builder = Runtime::builder();
    if let Some(workers) = options.workers {
        builder = builder.workers(usize::from(workers));
    }
    let drawn = builder.build().map_err(Into::into).and_then(|runtime| run(&options, &runtime));
    match drawn {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("mandelbrot: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Draws and writes the picture. Returns a line about it.
fn run(options: &Options, runtime: &Runtime) -> Result<String, Box<dyn Error>> {
    let Options { width, height, iterations, .. } = *options;
    // A file that cannot be written is told before the picture is drawn. What is in it stays until
    // the picture is ready. In the folder that all users share, a known name may be another's link.
    let (file, path) = match &options.path {
        Some(path) => {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
            (file.map_err(|error| format!("{path:?}: {error}"))?, path.clone())
        }
        None => tempfile::Builder::new().prefix("mandelbrot-").suffix(".png").tempfile()?.keep()?,
    };

    let began = Instant::now();
    let pixels = runtime.install(|| draw(options, &Progress::new(height as usize)))?;
    let took = began.elapsed();
    write_png(&file, width, height, &pixels).map_err(|error| format!("{path:?}: {error}"))?;
    let (path, workers) = (path.display(), runtime.workers());
    Ok(format!(
        "{path}: {width} x {height}, {iterations} iterations, {took:.2?} on {workers} worker(s)"
    ))
}

/// Tells each tenth of the rows that is done.
struct Progress {
    rows: usize,
    done: AtomicUsize,
}

impl Progress {
    fn new(rows: usize) -> Self {
        Self { rows, done: AtomicUsize::new(0) }
    }

    /// Counts a row. Each tenth is passed by one row, whose worker tells it.
    fn row_is_done(&self) {
        let before = self.done.fetch_add(1, Ordering::Relaxed);
        let tenths = |rows: usize| rows * 10 / self.rows;
        if tenths(before + 1) > tenths(before) {
            eprintln!("mandelbrot: {} % of the rows are drawn", tenths(before + 1) * 10);
        }
    }
}

/// The pixels, row by row: red, green, blue.
fn draw(options: &Options, progress: &Progress) -> Result<Vec<u8>, String> {
    let (width, height) = (options.width as usize, options.height as usize);
    let bytes = width * height * 3;
    let mut pixels = Vec::new();
    pixels.try_reserve_exact(bytes).map_err(|_| {
        format!("{width} x {height} pixels need {bytes} bytes, which the system does not give")
    })?;
    pixels.resize(bytes, 0);

    // The shorter side shows three units, and the middle is the same in all pictures.
    let unit = 3.0 / width.min(height) as f64;
    let at = |pixel: usize, side: usize| (pixel as f64 + 0.5 - side as f64 / 2.0) * unit;
    pixels.par_chunks_exact_mut(width * 3).enumerate().for_each(|(row, pixels)| {
        let y = at(row, height);
        for (column, pixel) in pixels.chunks_exact_mut(3).enumerate() {
            let escaped = escape(at(column, width) - 0.6, y, options.iterations);
            pixel.copy_from_slice(&colour(escaped));
        }
        progress.row_is_done();
    });
    Ok(pixels)
}

/// How soon z² + c leaves the circle around the set, from z = 0 on; `None` if it does not.
fn escape(c_x: f64, c_y: f64, iterations: u32) -> Option<u32> {
    let (mut x, mut y) = (0.0, 0.0);
    (0..iterations).find(|_| {
        (x, y) = (x * x - y * y + c_x, 2.0 * x * y + c_y);
        x * x + y * y > 4.0
    })
}

/// Black for the set, around it from blue over white to orange, again and again.
fn colour(escaped: Option<u32>) -> [u8; 3] {
    let Some(after) = escaped else { return [0; 3] };
    let phase = (f64::from(after) + 1.0).log2() / 3.0;
    [0.0, 0.12, 0.25].map(|shift| {
        let wave = 0.5 - 0.5 * (std::f64::consts::TAU * (phase - shift)).cos();
        (wave * 255.0) as u8
    })
}

fn write_png(file: &File, width: u32, height: u32, pixels: &[u8]) -> Result<(), Box<dyn Error>> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    let mut buffered = BufWriter::new(file);
    let mut encoder = png::Encoder::new(&mut buffered, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    buffered.flush()?;
    Ok(())
}
