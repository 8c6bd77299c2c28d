//! The frame of a page: head, style sheet, script, navigation.

use crate::plot::escaped;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Returns a page with `body` under a heading, and links to the parts of it.
pub(crate) fn page(title: &str, links: &[(String, String)], body: &str) -> String {
    let title = escaped(title);
    let links: String = links
        .iter()
        .map(|(id, name)| format!("<li><a href=\"#{id}\">{}</a>", escaped(name)))
        .collect();
    let nav = if links.is_empty() {
        String::new()
    } else {
        format!("<nav aria-label=\"Parts of the page\"><ul>{links}</ul></nav>\n")
    };
    // The policy lets the page ask for nothing.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<a class=\"skip\" href=\"#main\">To the figures</a>\n<header>\n\
         <h1>{title}</h1>\n<button type=\"button\" id=\"theme\" hidden>Theme</button>\n</header>\n\
         {nav}<main id=\"main\">\n{body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) name: &'a str,
    /// Whether it holds numbers.
    pub(crate) number: bool,
}

/// Returns a table that the script makes sortable, and searchable if it is long. `rows` is HTML:
/// `<tr><td>…` for each.
pub(crate) fn table(caption: &str, columns: &[Column<'_>], rows: &str, count: usize) -> String {
    let head: String = columns
        .iter()
        .map(|c| {
            let class = if c.number { " class=\"n\"" } else { "" };
            format!("<th scope=\"col\"{class}>{}", escaped(c.name))
        })
        .collect();
    let caption = escaped(caption);
    let (long, class) = if count > 8 { (" data-long", " long") } else { ("", "") };
    format!(
        "<div class=\"wide{class}\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n\
         <table class=\"sort\"{long}><caption>{caption}</caption>\n\
         <thead><tr>{head}</thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}
