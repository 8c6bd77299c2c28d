//! Calls published crates where user code runs, on the default stacks: `calls CALL PLACE`.
//!
//! Without arguments it prints the calls, then the places. `scripts/real-crates calls` runs each
//! pair in a process of its own, because an overflow ends the process.

use std::hint::black_box;
use std::io::{Cursor, Read, Write};

type Run = fn();

/// Each call in a task of Sateen, and on a thread if there it can run.
const CALLS: &[(&str, Run, Option<Run>)] = &[
    ("flate2", flate2, Some(flate2)),
    ("zip", zip, Some(zip)),
    ("syn", syn, Some(syn)),
    ("serde_json", serde_json, Some(serde_json)),
    ("brotli", brotli, Some(brotli)),
    ("regex", regex, Some(regex)),
    ("image, png", png, Some(png)),
    ("image, jpeg", jpeg, Some(jpeg)),
    ("image, webp", webp, Some(webp)),
    ("lz4_flex", lz4_flex, Some(lz4_flex)),
    ("toml", toml, Some(toml)),
    ("minijinja", minijinja, Some(minijinja)),
    ("blake3", blake3, Some(blake3)),
    ("histogram, 256", on_sateen::histogram::<256>, Some(on_rayon::histogram::<256>)),
    ("histogram, 1024", on_sateen::histogram::<1024>, Some(on_rayon::histogram::<1024>)),
    // Without optimisation it fills rayon's stacks, too.
    #[cfg(not(debug_assertions))]
    ("histogram, 2048", on_sateen::histogram::<2048>, Some(on_rayon::histogram::<2048>)),
    ("sort of 4 KiB", on_sateen::sort, Some(on_rayon::sort)),
    ("collect of 16 KiB", on_sateen::collect, Some(on_rayon::collect)),
    ("join, 100,000 deep", deep, None),
];

/// The places, and whether one is Sateen's.
const PLACES: [(&str, bool, fn(Run)); 6] = [
    ("par_map", true, |f| _ = sateen::par_map(&[1, 2, 3], |_| f())),
    ("task", true, |f| sateen::spawn(f).join().expect("a task")),
    ("future", true, |f| sateen::spawn_async(async move { f() }).join().expect("a future")),
    ("nested", true, nested),
    ("std", false, |f| std::thread::spawn(f).join().expect("a thread")),
    ("rayon", false, |f| _ = rayon::join(f, f)),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [call, place] = arguments.as_slice() else {
        CALLS.iter().for_each(|(name, ..)| println!("call\t{name}"));
        PLACES.iter().for_each(|(name, ours, _)| println!("place\t{name}\t{ours}"));
        return;
    };
    let (_, in_a_task, on_a_thread) = CALLS.iter().find(|c| c.0 == call).expect("a call");
    let (_, ours, place) = PLACES.iter().find(|p| p.0 == place).expect("a place");
    match if *ours { Some(*in_a_task) } else { *on_a_thread } {
        Some(f) => place(f),
        None => println!("none"),
    }
}

/// A branch of a join, in a loop, in a task of a scope, in a task.
fn nested(f: Run) {
    let tasks = move || {
        let branches = move |_| _ = sateen::join(f, f);
        sateen::scope(|s| (0..2).for_each(|_| s.spawn(move |_| sateen::par_for(0..2, branches))));
    };
    sateen::spawn(tasks).join().expect("a task");
}

/// Text that compresses, but not to nothing.
fn text(bytes: usize) -> Vec<u8> {
    let words = ["satin", "twill", "damask", "sateen", "velvet", "lawn", "poplin"];
    let mut text = String::new();
    for i in 0_usize.. {
        if text.len() >= bytes {
            break;
        }
        text += words[i * i % 31 % words.len()];
        text += &i.to_string();
    }
    text.truncate(bytes);
    text.into_bytes()
}

fn flate2() {
    let text = text(20_000);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
    encoder.write_all(&text).expect("written");
    let packed = encoder.finish().expect("finished");
    let mut back = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut back).expect("read");
    assert_eq!(back, text);
}

fn zip() {
    let text = text(20_000);
    let deflated = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("text", deflated).expect("started");
    writer.write_all(&text).expect("written");
    let mut archive = zip::ZipArchive::new(writer.finish().expect("finished")).expect("an archive");
    let mut back = Vec::new();
    archive.by_name("text").expect("the file").read_to_end(&mut back).expect("read");
    assert_eq!(back, text);
}

fn syn() {
    const LEVELS: usize = 40;
    let source =
        format!("fn f() -> u32 {{ {}1{} }}", "({ 1 + ".repeat(LEVELS), " })".repeat(LEVELS));
    assert_eq!(syn::parse_file(&source).expect("Rust").items.len(), 1);
}

fn serde_json() {
    const LEVELS: usize = 120;
    let json = "[".repeat(LEVELS) + "1" + &"]".repeat(LEVELS);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value.to_string(), json);
}

fn brotli() {
    let text = text(20_000);
    let (mut packed, mut back) = (Vec::new(), Vec::new());
    brotli::BrotliCompress(&mut &text[..], &mut packed, &Default::default()).expect("compressed");
    brotli::BrotliDecompress(&mut &packed[..], &mut back).expect("decompressed");
    assert_eq!(back, text);
}

fn regex() {
    let date = regex::Regex::new(r"(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)").expect("a regex");
    let found = date.captures("the 2015-05-15, a Friday").expect("a match");
    assert_eq!((&found["year"], &found["day"]), ("2015", "15"));
}

fn image(format: image::ImageFormat) {
    let image = image::RgbImage::from_fn(64, 64, |x, y| image::Rgb([x as u8, y as u8, 7]));
    let mut file = Cursor::new(Vec::new());
    image.write_to(&mut file, format).expect("encoded");
    let back = image::load_from_memory(file.get_ref()).expect("decoded");
    assert_eq!((back.width(), back.height()), (64, 64));
}

fn png() {
    image(image::ImageFormat::Png);
}

fn jpeg() {
    image(image::ImageFormat::Jpeg);
}

fn webp() {
    image(image::ImageFormat::WebP);
}

fn lz4_flex() {
    let text = text(20_000);
    let packed = lz4_flex::compress_prepend_size(&text);
    assert_eq!(lz4_flex::decompress_size_prepended(&packed).expect("decompressed"), text);
}

fn toml() {
    let table: toml::Table = "[a.b]\nc = [1, { d = 2.5 }]\n[[e]]\nf = 'g'\n".parse().expect("TOML");
    assert_eq!(table["e"][0]["f"].as_str(), Some("g"));
}

fn minijinja() {
    let mut environment = minijinja::Environment::new();
    let source = "{% for i in list %}{{ i * 2 if i > 1 else 'one' }},{% endfor %}";
    environment.add_template("list", source).expect("a template");
    let list = environment.get_template("list").expect("the template");
    let rendered = list.render(minijinja::context!(list => [1, 2, 3])).expect("rendered");
    assert_eq!(rendered, "one,4,6,");
}

fn blake3() {
    let (text, mut parts) = (text(100_000), blake3::Hasher::new());
    text.chunks(777).for_each(|part| _ = parts.update(part));
    assert_eq!(blake3::hash(&text), parts.finalize());
}

/// Joins, each in a branch of another, with a frame of 1 KiB.
fn deep() {
    fn go(depth: usize) -> usize {
        let frame = black_box([1_u8; 1024]);
        if depth == 0 {
            return 0;
        }
        let (below, one) = sateen::join(|| go(depth - 1), || usize::from(frame[5]));
        below + one
    }
    assert_eq!(go(100_000), 100_000);
}

/// The same source with the iterators of Sateen, and with rayon's.
macro_rules! loops {
    ($name:ident, $prelude:path) => {
        mod $name {
            use $prelude::*;

            /// A histogram in an array.
            pub fn histogram<const N: usize>() {
                const ITEMS: u64 = 20_000;
                let add = |mut counts: [u64; N], item: u64| {
                    counts[item as usize % N] += 1;
                    counts
                };
                let merge = |mut a: [u64; N], b: [u64; N]| {
                    a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
                    a
                };
                let counts =
                    (0..ITEMS).into_par_iter().fold(|| [0; N], add).reduce(|| [0; N], merge);
                assert_eq!(counts.iter().sum::<u64>(), ITEMS);
            }

            pub fn sort() {
                let page = |i: u32| [i.wrapping_mul(2_654_435_761); 1024];
                let mut items: Vec<[u32; 1024]> = (0..200).map(page).collect();
                items.par_sort();
                assert!(items.is_sorted());
                items.par_sort_unstable_by(|a, b| b.cmp(a));
                assert!(items.is_sorted_by(|a, b| a >= b));
            }

            pub fn collect() {
                let items: Vec<[u8; 16 << 10]> =
                    (0..100_u8).into_par_iter().map(|i| [i; 16 << 10]).collect();
                assert!(items.iter().zip(0..100).all(|(item, i)| item[77] == i));
            }
        }
    };
}

loops!(on_sateen, sateen::prelude);
loops!(on_rayon, rayon::prelude);
