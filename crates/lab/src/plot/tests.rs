//! Each kind of chart, with usual and with hostile content: all that is drawn lies on the picture.

use super::choose::{by_experiment, pictures};
use super::figures::entries;
use super::{Chart, Estimate, Kind, Mark, Series, frame, pens, text};
use crate::report::json::{Document, Machine, Metric, Section};
use regex::Regex;
use sateen_base::XorShift;

/// Requires that all texts and points of `svg` lie on it. Returns how many texts there are.
fn assert_inside(svg: &str) -> usize {
    let size = Regex::new(r#"viewBox="0 0 (\d+) (\d+)""#).expect("a pattern");
    let size = size.captures(svg).expect("a size");
    let number = |text: &str| text.parse::<i32>().expect("a number");
    let (wide, tall) = (number(&size[1]), number(&size[2]));
    let moved = Regex::new(r"<g transform=.translate\((\d+) (\d+)\)").expect("a pattern");
    let texts = r#"<text class="([^"]*)" x="(-?\d+)" y="(-?\d+)"[^>]*>([^<]*)</text>"#;
    let texts = Regex::new(texts).expect("a pattern");
    let points = Regex::new(r"[ML](-?\d+) (-?\d+)").expect("a pattern");
    let mut count = 0;
    let (mut dx, mut dy) = (0, 0);
    for (index, part) in svg.split("<g ").enumerate() {
        if index == 1 {
            let by = moved.captures(svg).expect("moved");
            (dx, dy) = (number(&by[1]), number(&by[2]));
        }
        for found in texts.captures_iter(part) {
            let content = found[4].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
            let bold = found[1].split(' ').any(|c| c == "b");
            let width = if bold { text::bold_width(&content) } else { text::width(&content) };
            let (x, y) = (number(&found[2]) + dx, number(&found[3]) + dy);
            let left = match &found[1] {
                class if class.contains('m') => x - width / 2,
                class if class.contains('e') => x - width,
                _ => x,
            };
            let inside = left >= -1 && left + width <= wide + 1 && y >= 8 && y + 3 <= tall;
            assert!(inside, "`{content}` at {left} to {}, {y} of {wide}, {tall}", left + width);
            count += 1;
        }
        for at in points.captures_iter(part) {
            let (x, y) = (number(&at[1]) + dx, number(&at[2]) + dy);
            assert!((0..=wide).contains(&x) && (0..=tall).contains(&y), "{x} {y}: {wide} {tall}");
        }
    }
    count
}

fn chart(kind: Kind, names: &[String], columns: &[String], value: impl Fn(usize) -> f64) -> Chart {
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let looks = pens::looks(&refs);
    let series = names.iter().zip(looks).enumerate().map(|(i, (name, look))| {
        let values = (0..columns.len()).map(|c| {
            let value = value(i * columns.len() + c);
            Some(Estimate {
                value,
                low: value - value.abs() / 9.0,
                high: value + value.abs() / 7.0,
            })
        });
        Series { name: name.clone(), look, values: values.collect() }
    });
    Chart {
        kind,
        title: names.concat(),
        says: columns.concat(),
        unit: "ns".to_owned(),
        better: "lower is better",
        across: "workers".to_owned(),
        columns: columns.to_vec(),
        series: series.collect(),
        crowded: (columns.len() > 2).then_some(1),
        marks: vec![Mark { column: columns.len() / 2, text: "+12 %".to_owned() }],
        ..Chart::default()
    }
}

const KINDS: [Kind; 5] = [Kind::Lines, Kind::Rows, Kind::Bars, Kind::Ratios, Kind::History];

#[test]
fn all_text_lies_on_the_picture() {
    let long = "a-very-long-name-of-an-implementation-that-nobody-would-choose".to_owned();
    let names: Vec<String> = ["sateen", "rayon", "serial", "sateen-local", "WWWWWWWWWWWWWWWWWWWW"]
        .into_iter()
        .map(str::to_owned)
        .chain([long, "<b>&amp;".to_owned(), "深い".repeat(40)])
        .collect();
    let mut random = XorShift::new(5);
    let mut draws: Vec<f64> = (0..400).map(|_| (random.next_u64() % 10_000) as f64 + 1.0).collect();
    draws[3] = 1e9;
    for kind in KINDS {
        for (lines, columns) in [(1, 1), (1, 7), (3, 1), (8, 4), (5, 40), (2, 2)] {
            let columns: Vec<String> =
                (0..columns).map(|c| format!("{} producers, 4 consumers", 1 << (c % 9))).collect();
            let chart = chart(kind, &names[8 - lines..], &columns, |i| draws[i]);
            let svg = frame::alone(&chart, "a machine").expect("drawn");
            assert!(assert_inside(&svg) > 2, "{kind:?}");
            assert!(!svg.contains("<b>") && svg.contains("<desc"), "{kind:?}");
        }
    }
}

#[test]
fn any_values_can_be_drawn() {
    let extremes = [0.0, 1.0, -3.0, f64::MAX, f64::MIN, 5e-324, 1e300, 1e-300];
    let names = ["sateen".to_owned(), "rayon".to_owned()];
    for kind in KINDS {
        for shift in 0..extremes.len() {
            let columns: Vec<String> = (1..5).map(|n| n.to_string()).collect();
            let chart = chart(kind, &names, &columns, |i| extremes[(i + shift) % 8]);
            assert_inside(&frame::alone(&chart, "").expect("drawn"));
        }
        let empty = Chart { kind, ..Chart::default() };
        assert_inside(&frame::alone(&empty, "").expect("drawn"));
    }
}

fn document(figures: &[(&str, f64, &str)]) -> Document {
    let metrics = figures.iter().map(|(id, value, units)| Metric {
        id: (*id).into(),
        value: *value,
        units: (*units).into(),
        trend: "lower-is-better".into(),
        ..Metric::default()
    });
    let results = vec![Section { name: "".into(), metrics: metrics.collect() }];
    Document { schema: 1, machine: Machine::default(), results }
}

fn kinds(document: &Document) -> Vec<(Kind, String)> {
    let entries = entries(document);
    let groups = by_experiment(&entries);
    let charts = groups.iter().flat_map(|group| pictures(group, Some(2)));
    charts.map(|c| (c.kind, c.title)).collect()
}

#[test]
fn each_experiment_has_the_picture_that_shows_it() {
    let lines = document(&[
        ("x/fib/sateen/w1", 2.0, "ns"),
        ("x/fib/rayon/w1", 5.0, "ns"),
        ("x/fib/sateen/w2", 1.0, "ns"),
        ("x/fib/rayon/w2", 2.5, "ns"),
        ("x/fib/sateen/w4", 1.1, "ns"),
    ]);
    let wanted =
        [(Kind::Ratios, "x: ours beside each peer".to_owned()), (Kind::Lines, "fib".into())];
    assert_eq!(kinds(&lines), wanted);
    let entries = entries(&lines);
    let charts = pictures(&entries, Some(2));
    assert_eq!(charts[1].crowded, Some(2));
    assert_eq!(charts[1].says, "With 2 workers, sateen is at 1.00 ns: 2.50 × faster than rayon.");

    let steps = document(&[
        ("shed/A/sateen/p4c4", 300.0, "ns"),
        ("shed/B/sateen/p4c4", 200.0, "ns"),
        ("shed/C/sateen/p4c4", 20.0, "ns"),
    ]);
    let title = "Steps A to C with 4 producers, 4 consumers";
    assert_eq!(kinds(&steps), [(Kind::Bars, title.to_owned())]);
    let mut steps = steps;
    let said =
        ["tasks, one list: time", "tasks, two lists: time", "tasks, two lists, padded: time"];
    for (metric, said) in steps.results[0].metrics.iter_mut().zip(said) {
        metric.description = said.into();
    }
    let charts = pictures(&super::figures::entries(&steps), None);
    assert_eq!(
        charts[0].says,
        "From A to C: 15.0 × as fast. The largest step is from B to C: 10.0 ×. A: one list. \
         B: two lists. C: padded."
    );

    // What a case costs is compared where each has one implementation.
    let alternatives = document(&[
        ("counter/atomic/std/t8", 30.0, "ns"),
        ("counter/striped/sateen/t8", 3.0, "ns"),
        ("counter/kernel/kernel/t8", 90.0, "ns"),
    ]);
    assert_eq!(kinds(&alternatives), [(Kind::Rows, "counter: 3 cases side by side".to_owned())]);
    // A single value needs no picture.
    assert_eq!(kinds(&document(&[("x/y/sateen/w1", 1.0, "ns")])), []);
    assert_eq!(kinds(&document(&[("", 1.0, ""), ("/", 1.0, ""), ("🦀", 1.0, "")])).len(), 0);
}
