//! Which run is meant: by its id, by a part of it, or by a plan of its label.

use anyhow::{Result, bail};

use super::answers::{Run, Version};
use super::args::SourceArgs;
use super::service::{NotFound, Service};
use super::text::{line, name};

/// Characters of a part of an id, at least: fewer are in the ids of many runs.
const PART_MIN: usize = 6;
/// Characters of a begin of a fingerprint, at least; letters are shorter.
const FINGERPRINT_MIN: usize = 4;
/// Runs that are looked through.
const LOOKED_AT: usize = 1000;

/// The id of a run that is named by it, or by a part of it.
///
/// # Errors
/// [`NotFound`] where no run has it; else when it is no part of an id, or several runs have it.
pub(crate) async fn id_of(service: &Service, text: &str) -> Result<String> {
    let text = text.trim().to_lowercase();
    let is_id_text = text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_id_text || text.len() < PART_MIN {
        bail!("{:?} is no id of a run: expected at least {PART_MIN} hexadecimal digits of one", line(&text));
    }
    if uuid::Uuid::try_parse(&text).is_ok() {
        return Ok(text);
    }
    let params = [("q", text.clone()), ("limit", LOOKED_AT.to_string())];
    let found: Vec<Run> = service.get("/api/queries", &params).await?;
    let mut ids = found.into_iter().map(|run| run.query_id).filter(|id| id.contains(&text));
    match (ids.next(), ids.next()) {
        (None, _) => Err(NotFound(format!("no run has {text} in its id: queryscope runs lists them")).into()),
        (Some(id), None) => Ok(id),
        (Some(first), Some(second)) => {
            bail!("several runs have {text} in their id, such as {first} and {second}")
        }
    }
}

/// The id of the run that is named in one of the forms of `diff`: as [`id_of`] takes it, or `LABEL@PLAN` for the last
/// run of a plan that finished.
///
/// # Errors
/// As those of [`id_of`].
pub(crate) async fn id_or_plan(service: &Service, text: &str, source: &SourceArgs) -> Result<String> {
    let Some((label, plan)) = text.rsplit_once('@') else { return id_of(service, text).await };
    let mut params = source.params();
    params.push(("label", label.to_owned()));
    let mut versions: Vec<Version> = service.get("/api/versions", &params).await?;
    versions.sort_by_key(|version| version.first_started_unix_ns);
    if versions.is_empty() {
        return Err(NotFound(format!("no run of {:?} with a plan has finished", name(label))).into());
    }
    let wanted: Vec<&Version> = versions
        .iter()
        .enumerate()
        .filter(|(place, version)| {
            letter(*place).eq_ignore_ascii_case(plan)
                || plan.len() >= FINGERPRINT_MIN && version.fingerprint.starts_with(&plan.to_lowercase())
        })
        .map(|(_, version)| version)
        .collect();
    match wanted[..] {
        [version] => last_finished(service, label, &version.fingerprint, source).await,
        [] => {
            let known = versions.iter().enumerate();
            let known: Vec<String> = known
                .map(|(place, version)| format!("{} ({})", letter(place), line(&version.fingerprint)))
                .collect();
            let reason =
                format!("{:?} has no plan {:?}: it has {}", name(label), line(plan), known.join(", "));
            Err(NotFound(reason).into())
        }
        _ => bail!("several plans of {:?} begin with {:?}", name(label), line(plan)),
    }
}

/// What still runs, failed or fell silent says little of how long its plan takes.
async fn last_finished(
    service: &Service,
    label: &str,
    fingerprint: &str,
    source: &SourceArgs,
) -> Result<String> {
    let mut params = source.params();
    let of = [("label", label), ("fingerprint", fingerprint), ("status", "finished"), ("limit", "1")];
    params.extend(of.map(|(name, value)| (name, value.to_owned())));
    let found: Vec<Run> = service.get("/api/queries", &params).await?;
    let last = found.into_iter().next().map(|run| run.query_id);
    let none =
        || NotFound(format!("no run of {:?} with the plan {} has finished", name(label), line(fingerprint)));
    Ok(last.ok_or_else(none)?)
}

/// The letter of a plan, as the dashboard has it: A ran first. A to Z, then AA to AZ and so on.
pub(crate) fn letter(place: usize) -> String {
    let last = char::from(b'A' + (place % 26) as u8);
    if place < 26 { last.into() } else { format!("{}{last}", letter(place / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_letters() {
        assert_eq!([0, 25, 26, 51, 52, 702].map(letter), ["A", "Z", "AA", "AZ", "BA", "AAA"]);
    }
}
