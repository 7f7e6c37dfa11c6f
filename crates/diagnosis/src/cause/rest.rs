//! What of a difference has no work behind it, by the counters that moved: a spill, fewer threads, one large partition,
//! waits, calls of the program's code, another plan.

use queryscope_protocol::Role;

use super::account::{
    Accounts, MOVED, Part, READS_AS_BEFORE, STARVED_READS, Starved, ms, spills_more, time_of_rows,
};
use super::median_plan::{Medians, NodeMedians};
use super::words::{factor_words, figure, ms_words};
use crate::change::CauseKind;

/// A partition this much over an equal part is skewed.
const SKEWED: f64 = 1.8;
/// A wait of this part of what no work explains has all of it.
const MOST_OF_REST: f64 = 0.8;
/// A wait of this part of the difference explains what no work explains.
const WAIT_PART: f64 = 0.3;
/// Fewer threads make a run slower whose nodes had used so many of those that are left.
const USED_OF_FEWER: f64 = 0.3;

/// How much longer a run waited than those before, or how much less.
struct Waits {
    ns: f64,
    /// The scan that waits the most longer, where it has most of that.
    scan: Option<usize>,
    /// How much longer reads or writes were under way while nothing can have worked.
    idle_ns: f64,
    /// The longest that nothing can have worked meanwhile, of both sides.
    longest: f64,
}

/// Fewer of what work is divided among, or more where the run is faster.
struct Fewer {
    before: f64,
    after: f64,
    place: &'static str,
    unit: &'static str,
}

impl Accounts<'_> {
    /// Puts down what has no work behind it to the counters that moved.
    pub(super) fn tell_rest(
        &self,
        rest: f64,
        difference: f64,
        work_of_plan: f64,
        starved: Option<Starved>,
        parts: &mut Vec<Part>,
    ) {
        if rest == 0.0 {
            return;
        }
        if rest * difference <= 0.0 {
            self.tell_against(rest, parts);
            return;
        }
        let sign = rest.signum();
        let waits = self.waits(sign);
        if let Some(here) = self.spilled(rest) {
            let (sentence, evidence) = self.spill_words(here);
            self.push(CauseKind::Spilling, rest, Some(here), evidence, sentence, parts);
            return;
        }
        // A scan may count as a wait that its reader spills, or that one partition of it is late: those go first.
        let is_waiting = (waits.ns * sign).min(waits.idle_ns * sign) >= MOST_OF_REST * rest.abs();
        if let Some(Fewer { before, after, place, unit }) = self.fewer(rest).filter(|_| !is_waiting) {
            let one = if after < 1.5 { unit.trim_end_matches('s') } else { unit };
            let sentence = format!("The query runs {place} {after:.0} {one} instead of {before:.0}");
            let evidence = vec![figure(unit, Some(before), Some(after), unit)];
            self.push(CauseKind::FewerThreads, rest, None, evidence, sentence, parts);
            return;
        }
        if let Some((here, before, after)) = self.skew(sign) {
            let planned = &self.now.plan.nodes[here];
            let sentence = format!(
                "One partition of {} holds {} an equal part ({} before){}",
                planned.name(),
                factor_words(after),
                factor_words(before),
                if after > before { ": the others wait for it" } else { "" }
            );
            let evidence = vec![figure("imbalance", Some(before), Some(after), "ratio")];
            self.push(CauseKind::Skew, rest, Some(here), evidence, sentence, parts);
            return;
        }
        let mut rest = rest - self.tell_waits(&waits, rest, difference, starved, parts);
        if let Some(here) = self.calling().filter(|_| rest.abs() > 0.0) {
            rest -= self.tell_calls(here, rest, parts);
        }
        let can_wait = self.now.busy() <= 0.0 || self.flows_otherwise() || rest.abs() <= work_of_plan.abs();
        if self.replanned && can_wait && work_of_plan * sign >= 0.0 && rest.abs() > 0.0 {
            let (sentence, node) = self.plan_words(rest);
            self.push(CauseKind::PlanChange, rest, node, Vec::new(), sentence, parts);
            return;
        }
        self.push(CauseKind::Unexplained, rest, None, Vec::new(), String::new(), parts);
    }

    /// Waits: those of the query, or of the scan that waits the most.
    fn waits(&self, sign: f64) -> Waits {
        let (then, now) = (self.then, self.now);
        let scans = (0..now.nodes.len()).filter_map(|here| {
            let before =
                self.matching.of_new[here].map(|there| then.nodes[there].wall_waiting().unwrap_or(0.0));
            Some((here, now.nodes[here].wall_waiting()? - before?))
        });
        let scans: Vec<(usize, f64)> = scans.collect();
        let all: f64 = scans.iter().map(|(_, wait)| wait).sum();
        let most = scans.into_iter().max_by(|a, b| (a.1 * sign).total_cmp(&(b.1 * sign)));
        let of_query = now.waiting.zip(then.waiting).map(|(now, then)| now - then);
        let whole = of_query.unwrap_or(0.0);
        // Scans wait beside each other or one after the other: that is not told.
        let whole = if all * sign > whole * sign { all } else { whole };
        let wait = most.map_or(whole, |(_, wait)| if (whole * sign) > wait * sign { whole } else { wait });
        let (long_then, long_now) = (then.longest_wait(), now.longest_wait());
        // Reads may be under way all the time while the program's code works.
        let calls_code = then.plan.calls_user_code() || now.plan.calls_user_code();
        let idle_ns = long_now - long_then;
        let ns = if calls_code { sign * (wait * sign).min(idle_ns * sign) } else { wait };
        // Else writes wait, or more scans than one: their query says how long.
        let has_most = |wait: f64| of_query.is_none_or(|of_query| wait * sign >= 0.5 * of_query * sign);
        let scan = most.filter(|(_, wait)| has_most(*wait));
        Waits { ns, scan: scan.map(|(here, _)| here), idle_ns, longest: long_now.max(long_then) }
    }

    /// The first node that spills so much more, or less where the run is faster.
    fn spilled(&self, rest: f64) -> Option<usize> {
        (0..self.now.nodes.len()).find(|&here| {
            let before = self.matching.of_new[here].map_or(0.0, |there| self.then.nodes[there].spilled);
            let after = self.now.nodes[here].spilled;
            let (small, large) = if rest > 0.0 { (before, after) } else { (after, before) };
            spills_more(small, large, rest)
        })
    }

    /// Fewer threads, or partitions where the threads are as before.
    fn fewer(&self, rest: f64) -> Option<Fewer> {
        let (then, now, sign) = (self.then, self.now, rest.signum());
        let used = if sign > 0.0 { then.threads_used() } else { now.threads_used() };
        let is_felt = |(then, now): &(f64, f64)| {
            used.is_none_or(|used| used == 0.0 || used >= USED_OF_FEWER * then.min(*now))
        };
        let of = |(before, after): (f64, f64), place, unit| Fewer { before, after, place, unit };
        let threads = fewer(then.threads, now.threads, sign).filter(is_felt);
        if let Some(threads) = threads {
            return Some(of(threads, "on", "threads"));
        }
        // Of the nodes that work, not of one that hardly does.
        fewer(then.mean_partitions(), now.mean_partitions(), sign)?;
        let partitions = fewer(then.partitions(), now.partitions(), sign).filter(is_felt)?;
        Some(of(partitions, "in", "partitions"))
    }

    /// Puts the rest down to waits, as far as they have it; says how much of it that is. They overlap with work: they
    /// explain at most what no work explains.
    fn tell_waits(
        &self,
        waits: &Waits,
        rest: f64,
        difference: f64,
        starved: Option<Starved>,
        parts: &mut Vec<Part>,
    ) -> f64 {
        let (then, now, sign, wait) = (self.then, self.now, rest.signum(), waits.ns);
        let is_told = waits.scan.is_none_or(|here| !self.waits_for_other_side(here))
            && wait * sign >= WAIT_PART * rest.abs()
            && (sign < 0.0 || waits.longest > 0.0 || wait > 0.1 * difference);
        if !is_told {
            return 0.0;
        }
        let part = if wait.abs() >= 0.5 * rest.abs() { rest } else { wait };
        let reads = |side: &Medians| {
            let scans = side.nodes.iter().filter_map(NodeMedians::wall_waiting).sum::<f64>();
            scans.max(side.waiting.unwrap_or(0.0))
        };
        // Of the time that reads take longer, or shorter, the processor has what they may take longer for want of it.
        let of_starved = |by: Starved| {
            let (less, more) = if sign > 0.0 { (then, now) } else { (now, then) };
            let longer = reads(more) - reads(less);
            if longer <= 0.0 {
                return 1.0;
            }
            let slower = by.slower.max(by.slower.recip());
            ((STARVED_READS * slower - 1.0) * reads(less) / longer).clamp(0.0, 1.0)
        };
        let by = starved.filter(|by| (by.slower - 1.0) * sign > 0.0);
        let starved_part = part * by.map_or(0.0, of_starved);
        if let Some(by) = by {
            let (cause, sentence, evidence) = self.starved_part(by);
            self.push(cause, starved_part, None, evidence, sentence, parts);
        }
        let (sentence, evidence) = waits.scan.map_or_else(
            || {
                let words = format!(
                    "Reads and writes are under way for {} instead of {}",
                    ms_words(now.waiting.unwrap_or(0.0) / 1e6),
                    ms_words(then.waiting.unwrap_or(0.0) / 1e6)
                );
                (words, vec![figure("waiting", ms(then.waiting), ms(now.waiting), "ms")])
            },
            |here| self.wait_words(here),
        );
        let waited = part - starved_part;
        let of_data = waits.scan.map_or(0.0, |here| self.tell_wait_of_data(here, waited, parts));
        let (left, for_readers) = (waited - of_data, waits.scan.map_or(0.0, |here| self.readers_work(here)));
        // What reads from it had the processor for a part of the wait.
        let without_readers = (wait * sign - (for_readers * sign).max(0.0)).max(0.0);
        let is_most = without_readers >= 0.5 * left * sign;
        let for_data = if is_most { left } else { sign * without_readers };
        self.push(CauseKind::Waiting, for_data, waits.scan, evidence, sentence, parts);
        part - (left - for_data)
    }

    /// How much longer, in each partition of a scan, the nodes work that read from it in the same task, where that
    /// counts as a wait of the scan.
    fn readers_work(&self, scan: usize) -> f64 {
        if !self.now.waits_for_readers {
            return 0.0;
        }
        let plan = &self.now.plan;
        // Others run in tasks of their own.
        let readers = plan.readers(scan).take_while(|&here| plan.nodes[here].role != Role::Engine);
        let longer = readers.map(|here| self.now.nodes[here].busy - self.busy_before(here).unwrap_or(0.0));
        longer.sum::<f64>() / self.now.nodes[scan].partitions.unwrap_or(1.0).max(1.0)
    }

    /// Puts down what of a scan's wait is of the data it reads more of: as of its work, halved with what each byte, or
    /// row where bytes are not known, waits longer. It is the plan's where that changed the scan. How much that is.
    fn tell_wait_of_data(&self, here: usize, part: f64, parts: &mut Vec<Part>) -> f64 {
        let Some(there) = self.matching.of_new[here] else { return 0.0 };
        let (before, after) = (&self.then.nodes[there], &self.now.nodes[here]);
        let moved = |(then, now): &(f64, f64)| {
            (now - then) * part > 0.0 && (now - then).abs() >= READS_AS_BEFORE * then
        };
        let waits = before.wall_waiting().zip(after.wall_waiting()).filter(moved);
        let rows = before.read().zip(after.read()).filter(moved);
        let data = before.bytes_read.zip(after.bytes_read).or(rows).filter(moved);
        let Some(((wait_then, wait_now), (data_then, data_now))) = waits.zip(data) else { return 0.0 };
        let is_changed = self.is_changed(there, here);
        if !is_changed && (rows.is_none() || !self.counts_reads(here)) {
            return 0.0;
        }
        let of_data = time_of_rows((wait_then, data_then), (wait_now, data_now));
        let of_data = part * (of_data / (wait_now - wait_then)).clamp(0.0, 1.0);
        if is_changed {
            let (sentence, node) = self.plan_words(of_data);
            self.push(CauseKind::PlanChange, of_data, node, Vec::new(), sentence, parts);
        } else {
            self.push_rows(here, of_data, parts);
        }
        of_data
    }

    /// The node whose calls of the program's code may have the rest, which is in no counter of the engine: one that is
    /// new, else the first of a plan that is as before.
    fn calling(&self) -> Option<usize> {
        let now = self.now;
        let mut calls = (0..now.nodes.len()).filter(|&here| now.plan.nodes[here].user_code.is_some());
        let is_new = |&here: &usize| {
            let old = self.matching.of_new[here].map(|there| &self.then.plan.nodes[there].user_code);
            old != Some(&now.plan.nodes[here].user_code)
        };
        calls.clone().find(is_new).or_else(|| calls.next().filter(|_| !self.replanned))
    }

    /// Puts the rest down to the calls of a node, and to the rows they were for; says how much of it that is. Where
    /// calls were measured on both sides, they have no more than they took longer.
    fn tell_calls(&self, here: usize, rest: f64, parts: &mut Vec<Part>) -> f64 {
        let (then, now, sign) = (self.then, self.now, rest.signum());
        let measured = self.called_then(here).zip(now.called);
        let all = measured.map_or(rest, |(then, now)| sign * ((now - then) * sign).clamp(0.0, rest.abs()));
        let by_rows = sign * (self.calls_by_rows(here, measured.is_some()) * sign).clamp(0.0, all.abs());
        if by_rows != 0.0 {
            self.push_rows(self.origins[here], by_rows, parts);
        }
        let evidence = match measured {
            Some((then, now)) => figure("calls", ms(Some(then)), ms(Some(now)), "ms"),
            None => figure("uncounted", ms(then.uncounted), ms(now.uncounted), "ms"),
        };
        let sentence = self.user_code_words(here);
        self.push(CauseKind::UserCode, all - by_rows, Some(here), vec![evidence], sentence, parts);
        all
    }

    /// How long the calls took before: no time where the plan had none.
    fn called_then(&self, here: usize) -> Option<f64> {
        let none = self.matching.of_new[here].is_none() && !self.then.plan.calls_user_code();
        self.then.called.or_else(|| none.then_some(0.0))
    }

    /// Of a rest that goes the other way than the difference: so many more threads worked at a time, or fewer.
    fn tell_against(&self, rest: f64, parts: &mut Vec<Part>) {
        let used = self.then.threads_used().zip(self.now.threads_used());
        let Some((then, now)) = used.filter(|(then, now)| (then - now) * rest > 0.0) else {
            self.push(CauseKind::Unexplained, rest, None, Vec::new(), String::new(), parts);
            return;
        };
        let more = if rest < 0.0 { "More" } else { "Fewer" };
        let sentence = format!("{more} threads are busy at a time: {now:.1} instead of {then:.1}");
        let evidence = vec![figure("threads_used", Some(then), Some(now), "threads")];
        self.push(CauseKind::FewerThreads, rest, None, evidence, sentence, parts);
    }

    /// What more rows have of the time of a node's calls, or of that in no counter: 0 where nobody tells, or where the
    /// plan makes the rows.
    fn calls_by_rows(&self, here: usize, measured: bool) -> f64 {
        let Some(there) = self.matching.of_new[here].filter(|_| !self.fed[here]) else { return 0.0 };
        let of = |side: &Medians, place: usize| {
            let time = if measured { side.called } else { side.uncounted };
            time.zip(side.nodes[place].rows())
        };
        of(self.then, there).zip(of(self.now, here)).map_or(0.0, |(then, now)| time_of_rows(then, now))
    }

    /// The node whose largest partition grew over its part. How another plan divides rows is the plan's.
    fn skew(&self, sign: f64) -> Option<(usize, f64, f64)> {
        let of_plan = self.above_changed();
        let each = (0..self.now.nodes.len()).filter_map(|here| {
            let after = self.now.nodes[here].imbalance?;
            let there = self.matching.of_new[here].filter(|_| !of_plan[here])?;
            let before = self.then.nodes[there].imbalance?;
            let (small, large) = if sign > 0.0 { (before, after) } else { (after, before) };
            (large >= SKEWED && large >= MOVED * small).then_some((here, before, after))
        });
        each.max_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))
    }
}

impl Medians {
    /// The longest that nothing can have worked while reads or writes were under way.
    pub(super) fn longest_wait(&self) -> f64 {
        let counted =
            self.threads.filter(|&threads| threads > 0.0).map_or(0.0, |threads| self.busy() / threads);
        // Engines count little of what the program's code does.
        let calls = || self.called.or(self.process_cpu).unwrap_or(f64::INFINITY);
        let working = if self.plan.calls_user_code() { counted.max(calls()) } else { counted };
        (self.execution() - working).clamp(0.0, self.waiting.unwrap_or(0.0).min(self.execution()))
    }
}

/// Fewer threads where the run is slower, more where it is faster.
fn fewer(then: Option<f64>, now: Option<f64>, sign: f64) -> Option<(f64, f64)> {
    let (then, now) = then.zip(now)?;
    let moved = if sign > 0.0 { now <= 0.85 * then } else { then <= 0.85 * now };
    (moved && then > 0.0 && now > 0.0).then_some((then, now))
}
