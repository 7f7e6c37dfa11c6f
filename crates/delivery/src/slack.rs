//! Channels of Slack, by an incoming webhook.
//!
//! The limits are those of Slack's reference of Block Kit: 50 blocks, 3,000 characters in the text of a section, 150 in
//! that of a header, 2,000 in an element of a context, 75 in that of a button, 3,000 in its address.

use queryscope_issues::Direction;
use serde_json::{Value, json};

use crate::message::{Member, Message};
use crate::words::cut;

const HEADER_CHARS_MAX: usize = 150;
const TEXT_CHARS_MAX: usize = 3_000;
const CONTEXT_CHARS_MAX: usize = 2_000;
const LINK_CHARS_MAX: usize = 3_000;
/// Issues that are listed.
const LISTED_MAX: usize = 10;
/// Characters of a line of the list, and causes of one issue.
const LINE_CHARS_MAX: usize = 250;
const CAUSES_MAX: usize = 5;

/// The body for a message.
pub(crate) fn payload(message: &Message) -> Value {
    let sign = match message.direction {
        None => "🔧 ",
        Some(Direction::Alarm) => "🔴 ",
        Some(Direction::Over) => "🟢 ",
        Some(Direction::Moved) => "",
    };
    let title = format!("{sign}{}", message.sentence);
    let mut blocks = vec![json!({
        "type": "header",
        "text": {"type": "plain_text", "text": cut(&title, HEADER_CHARS_MAX), "emoji": true},
    })];
    // A header shows no more than its limit.
    if title.chars().count() > HEADER_CHARS_MAX {
        blocks.push(section(&message.sentence, TEXT_CHARS_MAX));
    }
    match message.members.as_slice() {
        [] => {}
        [one] => {
            let causes: Vec<String> = one
                .account
                .iter()
                .take(CAUSES_MAX)
                .map(|cause| format!("• {}", cut(&one_line(cause), LINE_CHARS_MAX)))
                .collect();
            if !causes.is_empty() {
                blocks.push(plain_section(&causes.join("\n")));
            }
            blocks.push(context(&one.whose()));
        }
        all => {
            blocks.extend(all.iter().take(LISTED_MAX).map(listed));
            let more = message.count.saturating_sub(all.len().min(LISTED_MAX) as u64);
            if more > 0 {
                blocks.push(plain_section(&format!("and {more} more")));
            }
            blocks.extend(common_context(all));
        }
    }
    if let Some(button) = button(message.link.as_deref(), "Open in queryscope") {
        blocks.push(json!({"type": "actions", "elements": [button]}));
    }
    // Notifications show it instead of the blocks.
    json!({"text": escaped(&title, TEXT_CHARS_MAX), "blocks": blocks})
}

/// A block with a text. All texts are plain: labels and errors may hold the signs of Slack's markup.
fn section(text: &str, chars_max: usize) -> Value {
    plain_section(&cut(&one_line(text), chars_max))
}

fn plain_section(text: &str) -> Value {
    json!({"type": "section", "text": {"type": "plain_text", "text": text}})
}

fn listed(member: &Member) -> Value {
    // Of several issues each has the largest cause.
    let cause = member.account.first().map(|cause| format!("   {cause}"));
    let lines = [Some(format!("• {}", member.sentence)), cause].into_iter().flatten();
    let lines: Vec<String> = lines.map(|line| cut(&one_line(&line), LINE_CHARS_MAX)).collect();
    let mut block = plain_section(&lines.join("\n"));
    if let Some(button) = button(member.link.as_deref(), "Open") {
        block["accessory"] = button;
    }
    block
}

/// A button that opens a page, where its address is not too long.
fn button(link: Option<&str>, text: &str) -> Option<Value> {
    let link = link.filter(|link| link.chars().count() <= LINK_CHARS_MAX)?;
    Some(json!({"type": "button", "text": {"type": "plain_text", "text": text}, "url": link}))
}

/// What all have in common of whose they are and where they run.
fn common_context(all: &[Member]) -> Option<Value> {
    let (first, others) = all.split_first()?;
    let others: Vec<Vec<String>> = others.iter().map(Member::whose).collect();
    let whose = first.whose().into_iter().filter(|part| others.iter().all(|other| other.contains(part)));
    let whose: Vec<String> = whose.collect();
    (!whose.is_empty()).then(|| context(&whose))
}

fn context(whose: &[String]) -> Value {
    let text = cut(&one_line(&whose.join(" · ")), CONTEXT_CHARS_MAX);
    json!({"type": "context", "elements": [{"type": "plain_text", "text": text}]})
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A text whose signs Slack shows as they are, of at most so many characters: what is cut is no part of an escape.
fn escaped(text: &str, chars_max: usize) -> String {
    let mut kept = String::new();
    let mut chars = 0;
    for char in text.chars() {
        let escape = match char {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\n' | '\r' => " ",
            _ => "",
        };
        let width = if escape.is_empty() { 1 } else { escape.len() };
        if chars + width > chars_max.saturating_sub(1) {
            kept.push('…');
            return kept;
        }
        chars += width;
        if escape.is_empty() { kept.push(char) } else { kept.push_str(escape) }
    }
    kept
}

#[cfg(test)]
mod tests;
