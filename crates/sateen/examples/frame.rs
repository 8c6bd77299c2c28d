//! The loop of a small game. Each frame is a graph of tasks that is recorded once: input, physics,
//! animation, culling, rendering.
//!
//! ```text
//! cargo run --release --example frame -- [PATH]
//! ```
//!
//! Runs 300 frames with 20,000 bodies on one worker and on two. Prints how long a frame takes, and
//! writes the last frame as PNG, to `PATH` or into a new file in the folder for temporary files.
//!
//! Input and presentation belong to the main thread, as windows demand. They have their own
//! channel, which only the thread that waits for the frame executes. The picture does not depend on
//! which worker does what, because no chunk touches another, and chunks are drawn in their order.

use sateen::Runtime;
use sateen::flow::{Map, RunOn};
use sateen::shed::{Node, Outcome, Shed, Template, TemplateError};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

/// The channels: one for all workers, and one for the main thread.
const ANYWHERE: u16 = 0;
const MAIN_THREAD: u16 = 1;

/// Bodies that are moved, animated and culled together.
const CHUNK: usize = 500;
/// Rows of pixels that are drawn together.
const BAND: usize = 24;
/// Seconds between frames.
const STEP: f32 = 1.0 / 60.0;

/// How large everything is.
#[derive(Clone, Copy)]
struct Size {
    bodies: usize,
    frames: u32,
    width: usize,
    height: usize,
}

const GAME: Size = Size { bodies: 20_000, frames: 300, width: 640, height: 360 };

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().map(PathBuf::from);
    if arguments.next().is_some() {
        eprintln!("usage: frame [PATH]");
        return ExitCode::from(2);
    }
    match play_and_write(path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("frame: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play_and_write(path: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let alone = play(GAME, 1)?;
    let together = play(GAME, 2)?;
    alone.print(1);
    together.print(2);
    if alone.pixels != together.pixels {
        return Err("the pictures differ".into());
    }
    let path = match path {
        Some(path) => path,
        // A known name in a folder that all users share may be another's link.
        None => tempfile::Builder::new().prefix("frame-").suffix(".png").tempfile()?.keep()?.1,
    };
    write_png(&path, GAME, &together.pixels)?;
    println!("{}: checksum {:016x}", path.display(), together.checksum());
    Ok(())
}

/// One task of a frame.
#[derive(Clone, Copy, Debug)]
enum Task {
    Input,
    Physics(usize),
    Animation(usize),
    Culling(usize),
    Render(usize),
    Present,
}

/// The tasks of a frame, and their order.
fn frame(size: Size) -> Result<Template<Task>, TemplateError> {
    let mut frame = Template::new();
    let input = frame.task(Task::Input);
    let mut culled = Vec::new();
    for chunk in 0..size.bodies.div_ceil(CHUNK) {
        let physics = frame.task(Task::Physics(chunk));
        let animation = frame.task(Task::Animation(chunk));
        let culling = frame.task(Task::Culling(chunk));
        frame.depend(&[physics], &[input])?;
        frame.depend(&[animation], &[physics])?;
        frame.depend(&[culling], &[animation])?;
        culled.push(culling);
    }
    let bands = 0..size.height.div_ceil(BAND);
    let rendered: Vec<Node> = bands.map(|band| frame.task(Task::Render(band))).collect();
    frame.depend(&rendered, &culled)?;
    let present = frame.task(Task::Present);
    frame.depend(&[present], &rendered)?;
    frame.set_channel(input, MAIN_THREAD)?;
    frame.set_channel(present, MAIN_THREAD)?;
    Ok(frame)
}

/// The result of a game.
struct Played {
    pixels: Vec<u8>,
    /// How long each frame took, in order of length.
    times: Vec<Duration>,
}

/// Plays the game on this many workers.
fn play(size: Size, workers: usize) -> Result<Played, Box<dyn Error>> {
    let runtime = Runtime::builder().workers(workers).build()?;
    let world = Arc::new(World::new(size));
    let frame = frame(size)?;
    let game = Arc::clone(&world);
    let shed = Shed::builder()
        // One task more, which shows when all have ended.
        .tasks(frame.len() as u64 + 1)
        .dependencies(1 << 12)
        .channels(2)
        .run_on(&runtime, Map::new().all(ANYWHERE).caller(MAIN_THREAD), move |_, _, task| {
            game.execute(*task);
            Outcome::Complete
        })?;
    let frame = frame.install(Arc::clone(shed.shared())).map_err(|refused| refused.error)?;
    let mut times = Vec::new();
    for _ in 0..size.frames {
        let began = Instant::now();
        frame.start()?;
        shed.wait()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let pixels = lock(&world.screen).clone();
    Ok(Played { pixels, times })
}

impl Played {
    fn print(&self, workers: usize) {
        let [median, late] = [50, 99].map(|percent| self.times[self.times.len() * percent / 100]);
        println!(
            "{workers} worker(s): a frame takes {median:.2?} (median), {late:.2?} (99th percentile)"
        );
    }

    /// Fowler, Noll and Vo's hash of the pixels.
    fn checksum(&self) -> u64 {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        self.pixels.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

#[derive(Clone, Copy)]
struct Body {
    x: f32,
    y: f32,
    speed_x: f32,
    speed_y: f32,
    /// Goes from 0 to 1, again and again.
    phase: f32,
    radius: f32,
}

/// A body on the screen.
#[derive(Clone, Copy)]
struct Sprite {
    x: f32,
    y: f32,
    radius: f32,
    colour: [u8; 3],
}

/// What the player does: the world is 1 by 1.
#[derive(Clone, Copy)]
struct Controls {
    frame: u32,
    /// The point that attracts the bodies.
    x: f32,
    y: f32,
    /// Left and upper edge of the view, which is half as wide and high as the world.
    left: f32,
    top: f32,
}

/// The data that tasks share. Only readers ever wait for these locks: the graph keeps other tasks
/// away from what a task writes.
struct World {
    size: Size,
    controls: RwLock<Controls>,
    bodies: Vec<Mutex<Vec<Body>>>,
    /// For each chunk, its bodies in each band.
    seen: Vec<RwLock<Vec<Vec<Sprite>>>>,
    bands: Vec<Mutex<Vec<u8>>>,
    /// The frame on the screen.
    screen: Mutex<Vec<u8>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no task panics")
}

impl World {
    fn new(size: Size) -> Self {
        let mut random = 1_u32;
        // Marsaglia's xorshift: numbers from 0 to 1, the same in each run.
        let mut random = || {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            (random >> 8) as f32 / (1 << 24) as f32
        };
        let mut body = || Body {
            x: random(),
            y: random(),
            speed_x: random() - 0.5,
            speed_y: random() - 0.5,
            phase: random(),
            radius: 0.002 + 0.004 * random(),
        };
        let mut bodies = Vec::new();
        for first in (0..size.bodies).step_by(CHUNK) {
            let count = CHUNK.min(size.bodies - first);
            bodies.push(Mutex::new((0..count).map(|_| body()).collect()));
        }
        let bands = size.height.div_ceil(BAND);
        let rows = |band: usize| BAND.min(size.height - band * BAND);
        Self {
            size,
            controls: RwLock::new(Controls { frame: 0, x: 0.5, y: 0.5, left: 0.25, top: 0.25 }),
            seen: bodies.iter().map(|_| RwLock::new(vec![Vec::new(); bands])).collect(),
            bodies,
            bands: (0..bands)
                .map(|band| Mutex::new(vec![0; rows(band) * size.width * 3]))
                .collect(),
            screen: Mutex::default(),
        }
    }

    fn execute(&self, task: Task) {
        match task {
            Task::Input => self.input(),
            Task::Physics(chunk) => self.move_bodies(&mut lock(&self.bodies[chunk])),
            Task::Animation(chunk) => animate(&mut lock(&self.bodies[chunk])),
            Task::Culling(chunk) => self.cull(chunk),
            Task::Render(band) => self.render(band, &mut lock(&self.bands[band])),
            Task::Present => self.present(),
        }
    }

    fn controls(&self) -> Controls {
        *self.controls.read().expect("no task panics")
    }

    /// There is no player: the mouse goes round, and the camera follows.
    fn input(&self) {
        let mut controls = self.controls.write().expect("no task panics");
        controls.frame += 1;
        // The mouse runs along a square, because sines differ from machine to machine.
        let along = controls.frame % 240;
        let way = (along % 60) as f32 / 60.0 * 0.5;
        (controls.x, controls.y) = match along / 60 {
            0 => (0.25 + way, 0.25),
            1 => (0.75, 0.25 + way),
            2 => (0.75 - way, 0.75),
            _ => (0.25, 0.75 - way),
        };
        controls.left += (controls.x - 0.25 - controls.left) * 0.05;
        controls.top += (controls.y - 0.25 - controls.top) * 0.05;
    }

    /// Bodies are drawn to the mouse, and bounce off the walls.
    fn move_bodies(&self, bodies: &mut [Body]) {
        let controls = self.controls();
        for body in bodies {
            let (x, y) = (controls.x - body.x, controls.y - body.y);
            let pull = 0.05 / (x * x + y * y + 0.01) * STEP;
            body.speed_x = (body.speed_x + x * pull) * 0.999;
            body.speed_y = (body.speed_y + y * pull) * 0.999;
            body.x += body.speed_x * STEP;
            body.y += body.speed_y * STEP;
            for (place, speed) in
                [(&mut body.x, &mut body.speed_x), (&mut body.y, &mut body.speed_y)]
            {
                if !(0.0..=1.0).contains(place) {
                    *place = place.clamp(0.0, 1.0);
                    *speed = -*speed;
                }
            }
        }
    }

    /// Sorts the visible bodies of a chunk by band.
    fn cull(&self, chunk: usize) {
        let (controls, size) = (self.controls(), self.size);
        let mut seen = self.seen[chunk].write().expect("no task panics");
        seen.iter_mut().for_each(Vec::clear);
        let (width, height) = (size.width as f32, size.height as f32);
        for body in lock(&self.bodies[chunk]).iter() {
            let radius = body.radius * 2.0 * width;
            let x = (body.x - controls.left) * 2.0 * width;
            let y = (body.y - controls.top) * 2.0 * height;
            if x < -radius || x > width + radius || y < -radius || y > height + radius {
                continue;
            }
            let sprite = Sprite { x, y, radius, colour: colour(body.phase) };
            let first = ((y - radius).max(0.0) as usize) / BAND;
            let last = ((y + radius).max(0.0) as usize / BAND).min(seen.len() - 1);
            (first..=last).for_each(|band| seen[band].push(sprite));
        }
    }

    /// Draws the bodies of a band as discs that glow.
    fn render(&self, band: usize, pixels: &mut [u8]) {
        let width = self.size.width;
        let top = band * BAND;
        for (row, pixels) in pixels.chunks_exact_mut(width * 3).enumerate() {
            let sky = [6, 8, 16 + ((top + row) * 24 / self.size.height) as u8];
            pixels.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&sky));
        }
        for chunk in &self.seen {
            for sprite in &chunk.read().expect("no task panics")[band] {
                draw(sprite, top, width, pixels);
            }
        }
    }

    /// Puts the bands onto the screen.
    fn present(&self) {
        let mut screen = lock(&self.screen);
        screen.clear();
        self.bands.iter().for_each(|band| screen.extend_from_slice(&lock(band)));
    }
}

fn animate(bodies: &mut [Body]) {
    for body in bodies {
        let speed = (body.speed_x * body.speed_x + body.speed_y * body.speed_y).sqrt();
        body.phase = (body.phase + (0.1 + speed) * STEP).fract();
    }
}

/// From blue over white to orange and back.
fn colour(phase: f32) -> [u8; 3] {
    let warm = (phase * 2.0 - 1.0).abs();
    [40.0 + 120.0 * warm, 70.0 + 30.0 * warm, 160.0 - 120.0 * warm].map(|part| part as u8)
}

fn draw(sprite: &Sprite, top: usize, width: usize, pixels: &mut [u8]) {
    let Sprite { x, y, radius, colour } = *sprite;
    let across =
        |from: f32, to: f32, end: usize| from.max(0.0) as usize..(to.max(0.0) as usize).min(end);
    let bottom = top + pixels.len() / (width * 3);
    for row in across(y - radius, y + radius + 1.0, bottom).start.max(top)
        ..across(y - radius, y + radius + 1.0, bottom).end
    {
        for column in across(x - radius, x + radius + 1.0, width) {
            let (to_x, to_y) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
            let glow = 1.0 - (to_x * to_x + to_y * to_y) / (radius * radius);
            if glow > 0.0 {
                let at = ((row - top) * width + column) * 3;
                for (part, colour) in pixels[at..at + 3].iter_mut().zip(colour) {
                    *part = part.saturating_add((f32::from(colour) * glow) as u8);
                }
            }
        }
    }
}

fn write_png(path: &Path, size: Size, pixels: &[u8]) -> Result<(), Box<dyn Error>> {
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (width, height) = (size.width as u32, size.height as u32);
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(())
}

#[test]
fn the_picture_does_not_depend_on_the_workers() {
    let size = Size { bodies: 1_700, frames: 20, width: 160, height: 100 };
    let pictures = [1, 2, 4].map(|workers| play(size, workers).expect("a small game"));
    let sums = pictures.each_ref().map(Played::checksum);
    assert_eq!(sums, [sums[0]; 3]);
    // There is a picture, and it moves.
    let still = play(Size { frames: 1, ..size }, 1).expect("a small game");
    assert_ne!(still.checksum(), sums[0]);

    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("frame.png");
    write_png(&path, size, &pictures[0].pixels).expect("written");
    let decoder = png::Decoder::new(std::io::BufReader::new(File::open(path).expect("written")));
    let mut reader = decoder.read_info().expect("a picture");
    let mut read = vec![0; pictures[0].pixels.len()];
    reader.next_frame(&mut read).expect("a frame");
    assert_eq!(read, pictures[0].pixels);
}
