//! Whether the picture of the view in the guide adds up.

/// A text of the picture, and its place in pixels.
struct Text {
    x: f64,
    content: String,
}

/// Returns the first text that begins so.
fn find<'a>(texts: &'a [Text], begin: &str) -> &'a Text {
    let found = texts.iter().find(|t| t.content.starts_with(begin));
    found.unwrap_or_else(|| panic!("no `{begin}` on the picture"))
}

/// Returns what was sent, received, and is in the queues; then the rate of what is received.
fn counts(texts: &[Text]) -> [f64; 4] {
    // The total before the rate, or the number alone.
    let total = |content: &str, begin: &str| {
        let rest = content[begin.len()..].trim();
        number(rest.split_once(' ').map_or(rest, |(total, _)| total))
    };
    let counted = |t: &&Text| t.content.starts_with("received ") && t.content.contains('(');
    let received = &texts.iter().find(counted).expect("what was received").content;
    let rate = received.split_once('(').map_or("", |(_, rate)| rate);
    [
        total(&find(texts, "sent ").content, "sent "),
        total(received, "received "),
        total(&find(texts, "in queue ").content, "in queue "),
        number(rate.trim_end_matches("/s)")),
    ]
}

/// Returns whether what was sent was received, is in a queue, or is with one of the eight handlers.
/// On most screens it is not: the counts are read one after another while the program runs.
pub(crate) fn is_of_one_moment(svg: &str) -> bool {
    let texts: Vec<Text> = svg.lines().filter_map(text).collect();
    let [sent, received, queued, _] = counts(&texts);
    (0.0..=8.0).contains(&(sent - received - queued))
}

/// Requires that the numbers on a picture of [`svg`] fit each other.
pub(crate) fn assert_adds_up(svg: &str) {
    assert!(is_of_one_moment(svg), "sent is not received and in queue");
    let texts: Vec<Text> = svg.lines().filter_map(text).collect();
    let [.., queued, rate] = counts(&texts);
    let find = |begin| find(&texts, begin);
    let limit = find("received ").content.rsplit('×').next().map(number).expect("a limit");
    let [queues, workers, waits] =
        ["items in queue", "worker: items a second", "wait in queue"].map(|title| find(title).x);
    // Each line of a box ends with its value.
    let values = |left: f64, right: f64| -> Vec<f64> {
        let inside = texts.iter().filter(|t| t.x > left + 24.0 && t.x < right - 16.0);
        let all =
            inside.filter(|t| t.content.chars().all(|c| c.is_ascii_digit() || " ,.kM".contains(c)));
        all.map(|t| number(&t.content)).collect()
    };
    let (depths, rates) = (values(queues, workers), values(workers, waits));
    assert_eq!((depths.len(), rates.len()), (8, 8), "{depths:?} {rates:?}");
    assert_eq!(depths.iter().sum::<f64>(), queued, "{depths:?}");
    assert!(rates.iter().all(|rate| *rate <= 1.03 * limit), "above {limit}: {rates:?}");
    let sum: f64 = rates.iter().sum();
    assert!((sum / rate - 1.0).abs() < 0.03, "{rates:?} are not {rate}");
}

fn text(line: &str) -> Option<Text> {
    let rest = line.strip_prefix("<text x=\"")?;
    let (x, rest) = rest.split_once('"')?;
    let content = rest.split_once('>')?.1.strip_suffix("</text>")?;
    Some(Text { x: x.parse().ok()?, content: content.to_owned() })
}

/// Reads a number as the view writes it: `1,234`, `125 k`, `1.00 M`.
fn number(text: &str) -> f64 {
    let text = text.trim().replace(',', "");
    let (digits, factor) = match text.split_once(' ') {
        Some((digits, "k")) => (digits, 1e3),
        Some((digits, "M")) => (digits, 1e6),
        _ => (text.as_str(), 1.0),
    };
    factor * digits.parse::<f64>().unwrap_or_else(|_| panic!("`{text}` is no number"))
}
