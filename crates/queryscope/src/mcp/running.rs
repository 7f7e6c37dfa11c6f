//! What runs now, as `queryscope top` shows it.

use anyhow::{Context, Result, bail};
use futures_util::{StreamExt, stream};

use super::answer::{Answer, BYTES_MAX, Unread, compact, listed};
use super::source_is_known;
use crate::read::answers::Progress;
use crate::read::args::SourceArgs;
use crate::read::events::Stream;
use crate::read::screen::Screen;
use crate::read::service::{Service, segment};
use crate::read::show;
use crate::read::style::painted_line;
use crate::read::words::remaining;
use crate::top::app::App;
use crate::top::follow::{Snapshot, Update};
use crate::top::rows;

/// Runs that are asked about at the same time.
const ASKED_AT_ONCE: usize = 4;
/// Runs whose call sites are read, those that run for longest: each costs a recording.
const SITES_MAX: usize = 10;
/// Bytes of the list, so that links and notes have room.
const LIST_BYTES: usize = BYTES_MAX - 2500;

pub(super) async fn running(
    service: &Service,
    source: &SourceArgs,
    limit: usize,
    screen: Screen,
) -> Result<Answer> {
    let mut app = App::new(service.url().to_owned());
    app.take(Update::Snapshot(snapshot(service, source).await?));
    let mut ids = rows::listing(&app, screen.times).into_entries();
    let total = ids.len();
    let answer = |data: &str| Answer::of(data).with_link(format!("{}/now", service.url()));
    if total == 0 {
        source_is_known(service, source).await?;
        return Ok(answer(&format!("Nothing{} runs now.", source.words())));
    }
    ids.truncate(limit);
    let told: Vec<(String, Option<Progress>, Option<String>)> = stream::iter(ids.into_iter().enumerate())
        .map(|(at, id)| async move {
            // A run may end meanwhile.
            let progress = service.get(&format!("/api/queries/{}/progress", segment(&id)), &[]).await;
            let site = if at < SITES_MAX { show::call_site_of(service, &id).await } else { None };
            (id, progress.ok(), site)
        })
        .buffered(ASKED_AT_ONCE)
        .collect()
        .await;
    let mut words: Vec<String> = Vec::new();
    for (run, progress, site) in told {
        let left = progress.as_ref().and_then(remaining);
        let left = left.map(|left| format!("   remaining: {left}\n")).unwrap_or_default();
        let site = site.map(|site| format!("   called at: {site}\n")).unwrap_or_default();
        words.push(left + &site);
        if let Some(progress) = progress {
            app.take(Update::Judged { run, progress: Box::new(progress) });
        }
    }
    let listing = rows::listing(&app, screen.times);
    let mut lines = listing.to_lines(None).into_iter().map(|line| compact(&painted_line(&line)));
    let heading = lines.next().unwrap_or_default();
    let items: Vec<String> = lines
        .zip(listing.into_entries())
        .zip(words)
        .map(|((line, id), words)| format!("{line}   run: {id}\n{words}"))
        .collect();
    let unread = if total > items.len() { Unread::Some(total - items.len()) } else { Unread::None };
    let list = listed(&items, unread, "runs that started later", LIST_BYTES);
    Ok(answer(&format!(
        "{}, those that run for longest first.\n{heading}{list}",
        crate::read::units::plural(total as u64, "run runs now", "runs run now")
    ))
    .with_note("run shows the plan of one with its counters so far."))
}

/// The running runs, as a live stream begins with them.
async fn snapshot(service: &Service, source: &SourceArgs) -> Result<Snapshot> {
    let mut stream = Stream::open(service, "/api/live", &source.params(), None).await?;
    while let Some(message) = stream.next().await? {
        if message.event == "snapshot" {
            return serde_json::from_str(&message.data).context("the service answered something else");
        }
    }
    bail!("the service ended the stream")
}
