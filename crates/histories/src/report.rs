//! The table of an evaluation.

use std::fmt::Write as _;

use queryscope_diagnosis::CauseKind;

use crate::evaluate::Outcome;
use crate::generate::{Kind, Noise};

/// The table, as Markdown.
pub fn report(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    detection(outcomes, &mut text);
    alarms(outcomes, &mut text);
    causes(outcomes, &mut text);
    rest(outcomes, &mut text);
    text
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

fn is_of(outcome: &Outcome, kind: Kind) -> bool {
    outcome.spec.change.is_some_and(|change| change.kind == kind)
}

fn is_slower(outcome: &Outcome) -> bool {
    outcome.spec.change.is_some_and(|change| change.kind.is_slower())
}

/// Whether the history is of plain noise, of a query that ran for days, with all counters.
fn is_plain(outcome: &Outcome) -> bool {
    outcome.spec.noise == Noise::Plain && !outcome.spec.young
}

const HARD: [Noise; 4] = [Noise::Weekends, Noise::Hosts, Noise::Cold, Noise::Bursts];

fn detection(outcomes: &[Outcome], text: &mut String) {
    let within = |runs: usize, of: &dyn Fn(&Outcome) -> bool, after: fn(&Outcome) -> Option<usize>| {
        let all: Vec<&Outcome> = outcomes.iter().filter(|outcome| of(outcome)).collect();
        percent(all.iter().filter(|&&each| after(each).is_some_and(|after| after <= runs)).count(), all.len())
    };
    let _ = writeln!(
        text,
        "| called within | 5 runs | 10 | 30 | 5 runs with the change | 10 | 30 |\n|---|---|---|---|---|---|---|"
    );
    let mut row = |name: &str, of: &dyn Fn(&Outcome) -> bool| {
        let _ = write!(text, "| {name} |");
        let counts: [fn(&Outcome) -> Option<usize>; 2] =
            [|outcome| outcome.called_after, |outcome| outcome.called_after_changed];
        for after in counts {
            for runs in [5, 10, 30] {
                let _ = write!(text, " {} |", within(runs, of, after));
            }
        }
        let _ = writeln!(text);
    };
    let plain = |outcome: &Outcome| is_slower(outcome) && is_plain(outcome);
    let at_least =
        |outcome: &Outcome, factor: f64| outcome.spec.change.is_some_and(|change| change.factor >= factor);
    row(">= 1.5x", &|outcome| plain(outcome) && at_least(outcome, 1.5));
    row(">= 2x", &|outcome| plain(outcome) && at_least(outcome, 2.0));
    row(">= 1.3x", &|outcome| plain(outcome));
    for factor in [1.3, 1.5, 2.0, 3.0] {
        let name = format!("{factor}x");
        row(&name, &|outcome| {
            plain(outcome) && outcome.spec.change.is_some_and(|change| (change.factor - factor).abs() < 0.01)
        });
    }
    row("young queries, >= 1.5x", &|outcome| {
        is_slower(outcome) && outcome.spec.young && at_least(outcome, 1.5)
    });
    row("hard noise, >= 1.5x", &|outcome| {
        is_slower(outcome) && HARD.contains(&outcome.spec.noise) && at_least(outcome, 1.5)
    });
    row("other noise, 3 to 200 runs a day, >= 1.5x", &|outcome| {
        is_slower(outcome) && Noise::OTHERS.contains(&outcome.spec.noise) && at_least(outcome, 1.5)
    });
    row("few counters, >= 1.5x", &|outcome| is_slower(outcome) && outcome.spec.noise == Noise::Bare);
    row(">= 1.5x, without one slow host", &|outcome| {
        plain(outcome) && at_least(outcome, 1.5) && !is_of(outcome, Kind::SlowHost)
    });
    row(">= 2x, without one slow host", &|outcome| {
        plain(outcome) && at_least(outcome, 2.0) && !is_of(outcome, Kind::SlowHost)
    });
    for kind in Kind::ALL {
        let name = format!("{kind:?}, >= 1.5x");
        row(&name, &|outcome| is_plain(outcome) && is_of(outcome, kind) && at_least(outcome, 1.5));
    }
}

fn alarms(outcomes: &[Outcome], text: &mut String) {
    let _ = writeln!(text, "\n| noise | label-days | called slower or failing | labels |\n|---|---|---|---|");
    let mut row = |name: &str, of: &dyn Fn(&Outcome) -> bool| {
        let all: Vec<&Outcome> =
            outcomes.iter().filter(|outcome| outcome.spec.change.is_none() && of(outcome)).collect();
        let days: u64 = all.iter().map(|outcome| outcome.days).sum();
        let wrong: u64 = all.iter().map(|outcome| outcome.false_days).sum();
        let labels = all.iter().filter(|outcome| outcome.false_days > 0).count();
        let part = if days == 0 { 0.0 } else { 100.0 * wrong as f64 / days as f64 };
        let _ = writeln!(text, "| {name} | {days} | {part:.2} % | {labels} of {} |", all.len());
    };
    for noise in [
        Noise::Plain,
        Noise::Decoy,
        Noise::Weekends,
        Noise::Hosts,
        Noise::Cold,
        Noise::Bursts,
        Noise::Growing,
    ] {
        row(&format!("{noise:?}"), &|outcome| outcome.spec.noise == noise && !outcome.spec.young);
    }
    for noise in Noise::OTHERS {
        row(&format!("{noise:?}, 3 to 200 runs a day"), &|outcome| outcome.spec.noise == noise);
    }
    row("plain, few counters", &|outcome| outcome.spec.noise == Noise::Bare);
    row("plain, a new query's first hours", &|outcome| outcome.spec.young);
    row("plain and harmless plans", &|outcome| is_plain(outcome) || outcome.spec.noise == Noise::Decoy);
    row("hard", &|outcome| HARD.contains(&outcome.spec.noise));
    row("other", &|outcome| Noise::OTHERS.contains(&outcome.spec.noise));
}

/// Whether a cause is the one that was made.
fn is_right(outcome: &Outcome, cause: CauseKind) -> bool {
    let wanted = outcome.spec.change.and_then(|change| change.kind.cause());
    wanted == Some(cause)
}

fn causes(outcomes: &[Outcome], text: &mut String) {
    let _ = writeln!(
        text,
        "\n| first cause right | when called | at the end | with a harmless plan before | wrong with share >= 50 % | \
         of the two example runs alike |\n|---|---|---|---|---|---|"
    );
    let mut row = |name: &str, of: &dyn Fn(&Outcome) -> bool| {
        let all: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| {
                of(outcome)
                    && outcome.spec.noise != Noise::Bare
                    && outcome.spec.change.is_some_and(|change| change.kind.cause().is_some())
            })
            .collect();
        let told = |with: &dyn Fn(&Outcome) -> bool, cause: fn(&Outcome) -> Option<(CauseKind, f64)>| {
            let all: Vec<(&Outcome, CauseKind)> = all
                .iter()
                .filter(|outcome| with(outcome))
                .filter_map(|outcome| Some((*outcome, cause(outcome)?.0)))
                .collect();
            percent(all.iter().filter(|(outcome, cause)| is_right(outcome, *cause)).count(), all.len())
        };
        let decoy = |outcome: &Outcome| outcome.spec.change.is_some_and(|change| change.decoy);
        let confident = |cause: fn(&Outcome) -> Option<(CauseKind, f64)>| {
            let said: Vec<bool> = all
                .iter()
                .filter_map(|outcome| cause(outcome).map(|cause| (outcome, cause)))
                .map(|(outcome, (cause, share))| {
                    cause != CauseKind::Unexplained && share >= 0.5 && !is_right(outcome, cause)
                })
                .collect();
            percent(said.iter().filter(|&&wrong| wrong).count(), said.len())
        };
        let pairs: Vec<bool> = all.iter().filter_map(|outcome| outcome.pair_agrees).collect();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} |",
            told(&|_| true, |outcome| outcome.first_cause_then),
            told(&|_| true, |outcome| outcome.first_cause),
            told(&decoy, |outcome| outcome.first_cause),
            confident(|outcome| outcome.first_cause),
            percent(pairs.iter().filter(|&&agrees| agrees).count(), pairs.len())
        );
    };
    row("all", &|_| true);
    for kind in Kind::ALL {
        if kind.cause().is_some() {
            row(&format!("{kind:?}"), &|outcome| {
                outcome.spec.change.is_some_and(|change| change.kind == kind)
            });
        }
    }
}

fn rest(outcomes: &[Outcome], text: &mut String) {
    let called: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.called_after.is_some()).collect();
    let forgotten = called.iter().filter(|outcome| outcome.forgotten).count();
    let mut errors: Vec<usize> = called.iter().filter_map(|outcome| outcome.onset_error).collect();
    errors.sort_unstable();
    let at = |part: usize| errors.get((errors.len() * part / 100).min(errors.len().saturating_sub(1)));
    let runs: usize = outcomes.iter().map(|outcome| outcome.runs).sum();
    let took: f64 = outcomes.iter().map(|outcome| outcome.took.as_secs_f64()).sum();
    let sums = called.iter().filter(|outcome| outcome.sums).count();
    let _ = writeln!(text, "\n| figure | |\n|---|---|");
    let _ = writeln!(text, "| called and then forgotten | {} of {} |", forgotten, called.len());
    let _ = writeln!(
        text,
        "| start: median, P90, P95 of the error in runs | {:?}, {:?}, {:?} |",
        at(50).unwrap_or(&0),
        at(90).unwrap_or(&0),
        at(95).unwrap_or(&0)
    );
    let _ = writeln!(text, "| parts sum to the difference | {sums} of {} |", called.len());
    let forecasts = |which: usize| outcomes.iter().map(|outcome| outcome.forecasts[which]).sum::<usize>();
    let all = forecasts(0);
    let _ = writeln!(
        text,
        "| remaining time: within P10 to P90; before P50; of {all} | {}; {} |",
        percent(forecasts(1), all),
        percent(forecasts(2), all)
    );
    let _ = writeln!(text, "| CPU time a run | {:.1} µs, of {runs} runs |", took / runs.max(1) as f64 * 1e6);
}
