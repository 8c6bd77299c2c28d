//! Bytes that are read as a results file, or make a file that is almost right.

use crate::document::{Document, Metric, SCHEMA, Section};
use arbitrary::{Arbitrary, Unstructured};
use sateen_top::foreign::Foreign;
use serde_json::{Map, Value};

/// Input is refused with a reason, or written and read again without a change.
pub(crate) fn run(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    if first % 2 == 0 {
        read(&String::from_utf8_lossy(rest));
    } else {
        let mut u = Unstructured::new(rest);
        if let Ok(document) = document(&mut u) {
            let mut text = document.text();
            read(&text);
            // One character less, more, or another one.
            let at = u.int_in_range(0..=text.len()).unwrap_or(0);
            let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            if u.arbitrary().unwrap_or(false) && at < text.len() {
                text.remove(at);
            }
            if let Ok(c) = u.arbitrary() {
                text.insert(at, c);
            }
            read(&text);
        }
    }
}

fn read(text: &str) {
    match Document::parse(text) {
        Ok(document) => {
            let written = document.text();
            let again = Document::parse(&written).expect("what was written can be read");
            assert_eq!(again.text(), written);
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
}

fn document(u: &mut Unstructured<'_>) -> arbitrary::Result<Document> {
    let schema = if u.ratio(7, 8)? { SCHEMA } else { u.arbitrary()? };
    let mut machine = Map::new();
    while !u.is_empty() && u.ratio(1, 2)? {
        machine.insert(u.arbitrary()?, value(u, 3)?);
    }
    let mut results = Vec::new();
    while !u.is_empty() && u.ratio(2, 3)? {
        let mut metrics = Vec::new();
        while !u.is_empty() && u.ratio(2, 3)? {
            metrics.push(metric(u)?);
        }
        results.push(Section { name: text(u)?, metrics });
    }
    Ok(Document { schema, machine: machine.into(), results })
}

fn text(u: &mut Unstructured<'_>) -> arbitrary::Result<Foreign> {
    u.arbitrary::<String>().map(Foreign::from)
}

fn metric(u: &mut Unstructured<'_>) -> arbitrary::Result<Metric> {
    let number = |u: &mut Unstructured<'_>| -> arbitrary::Result<f64> {
        let any = f64::arbitrary(u)?;
        Ok(if any.is_finite() { any } else { 0.0 })
    };
    Ok(Metric {
        id: text(u)?,
        name: text(u)?,
        value: number(u)?,
        units: text(u)?,
        trend: text(u)?,
        description: text(u)?,
        best: number(u)?,
        worst: number(u)?,
        mean: number(u)?,
        median: number(u)?,
        sd: number(u)?,
        runs: u.arbitrary()?,
        rounds: (0..u.int_in_range(0..=6)?).map(|_| number(u)).collect::<Result<_, _>>()?,
        interval: if u.arbitrary()? { Some([number(u)?, number(u)?]) } else { None },
    })
}

fn value(u: &mut Unstructured<'_>, depth: u32) -> arbitrary::Result<Value> {
    Ok(match u.int_in_range(0..=if depth == 0 { 3 } else { 5 })? {
        0 => Value::Null,
        1 => Value::Bool(u.arbitrary()?),
        2 => Value::from(i64::arbitrary(u)?),
        3 => Value::from(String::arbitrary(u)?),
        4 => Value::Array(vec![value(u, depth - 1)?, value(u, depth - 1)?]),
        _ => Value::Object(Map::from_iter([(u.arbitrary()?, value(u, depth - 1)?)])),
    })
}
