//! Figures in words, as the dashboard says them (`ui/src/units.ts`): at most three significant digits and a unit.

use chrono::{DateTime, Datelike, Local, TimeZone, Timelike};

/// Stands for what is not known.
pub(crate) const UNKNOWN: &str = "–";

const MINUTE_MS: f64 = 60_000.0;
const HOUR_MS: f64 = 60.0 * MINUTE_MS;
const DAY_MS: f64 = 24.0 * HOUR_MS;
/// Digits of a double that decide how it is rounded.
const EXACT: usize = 30;

/// A number to so many significant digits. A tie goes away from zero, as in JavaScript and unlike Rust's formatting.
fn significant(value: f64, digits: usize) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let text = format!("{:.EXACT$e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut kept: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let up = kept.as_bytes().get(digits).is_some_and(|&next| next >= b'5');
    kept.truncate(digits);
    let whole = kept.parse::<u64>().unwrap_or(0) + u64::from(up);
    let exponent = exponent.parse::<i32>().unwrap_or(0) - (digits as i32 - 1);
    format!("{whole}e{exponent}").parse::<f64>().unwrap_or(value).copysign(value)
}

/// A number with so many digits after the point. A tie goes away from zero.
fn fixed(value: f64, decimals: usize) -> String {
    let exact = format!("{:.EXACT$}", value.abs());
    let (whole, fraction) = exact.split_once('.').unwrap_or((&exact, ""));
    let digits = format!("{whole}{}", &fraction[..decimals.min(fraction.len())]);
    let up = fraction.as_bytes().get(decimals).is_some_and(|&next| next >= b'5');
    let Ok(rounded) = digits.parse::<u128>().map(|digits| digits + u128::from(up)) else { return exact };
    let padded = format!("{rounded:0>width$}", width = decimals + 1);
    let sign = if value < 0.0 && rounded > 0 { "-" } else { "" };
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn short(value: f64) -> String {
    significant(value, 3).to_string()
}

/// Two units where both are small, else one: 4 min 41 s, 11.6 min.
fn pair(ms: f64, big_ms: f64, big: &str, small_ms: f64, small: &str) -> String {
    let whole = (ms / small_ms).round();
    let per_big = big_ms / small_ms;
    if whole >= 10.0 * per_big {
        return format!("{} {big}", short(ms / big_ms));
    }
    let (count, rest) = ((whole / per_big).floor(), whole % per_big);
    if rest == 0.0 { format!("{count} {big}") } else { format!("{count} {big} {rest:02} {small}") }
}

/// Milliseconds: 420 µs, 309 ms, 1.6 s, 94 s, 4 min 41 s, 11.6 min, 2 h 05 min.
pub(crate) fn duration(ms: impl Into<Option<f64>>) -> String {
    let Some(ms) = ms.into().filter(|ms| ms.is_finite()) else { return UNKNOWN.into() };
    match ms {
        _ if ms < 0.0 => format!("-{}", duration(-ms)),
        0.0 => "0 ms".into(),
        _ if ms < 1e-6 => "<1 ns".into(),
        _ if ms < 0.000_999_5 => format!("{} ns", short(ms * 1e6)),
        _ if ms < 0.9995 => format!("{} µs", short(ms * 1000.0)),
        _ if ms < 999.5 => format!("{} ms", short(ms)),
        _ if ms < 119_500.0 => format!("{} s", short(ms / 1000.0)),
        _ if ms < 59.95 * MINUTE_MS => pair(ms, MINUTE_MS, "min", 1000.0, "s"),
        _ if ms < 47.95 * HOUR_MS => pair(ms, HOUR_MS, "h", MINUTE_MS, "min"),
        _ => format!("{} d", short(ms / DAY_MS)),
    }
}

/// Milliseconds with their sign: +400 ms, −1.2 s, 0.
pub(crate) fn signed_duration(ms: impl Into<Option<f64>>) -> String {
    match ms.into() {
        None => UNKNOWN.into(),
        Some(ms) if ms > 0.0 => format!("+{}", duration(ms)),
        Some(ms) if ms < 0.0 => format!("−{}", duration(-ms)),
        Some(_) => "0".into(),
    }
}

fn scaled(value: f64, base: f64, names: &[&'static str]) -> (String, &'static str) {
    let (mut power, mut rest) = (0, value);
    while power + 1 < names.len() && significant(rest, 3).abs() >= 1000.0 {
        rest /= base;
        power += 1;
    }
    (short(rest), names.get(power).copied().unwrap_or_default())
}

/// Rows and other counts: 7, 999, 8.06 k, 1.23 M.
pub(crate) fn count(value: impl Into<Option<f64>>) -> String {
    let Some(value) = value.into().filter(|value| value.is_finite()) else { return UNKNOWN.into() };
    let (digits, name) = scaled(value, 1000.0, &["", "k", "M", "G", "T", "P", "E"]);
    if name.is_empty() { digits } else { format!("{digits} {name}") }
}

/// A whole number of things.
pub(crate) fn whole(value: impl Into<Option<u64>>) -> String {
    count(value.into().map(|value| value as f64))
}

/// Bytes: 512 B, 1.5 MiB.
pub(crate) fn bytes(value: impl Into<Option<f64>>) -> String {
    let Some(value) = value.into().filter(|value| value.is_finite()) else { return UNKNOWN.into() };
    let (digits, name) = scaled(value, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
    format!("{digits} {name}")
}

/// A share of one: 71 %, 4.2 %, <0.1 %.
pub(crate) fn share(share: impl Into<Option<f64>>) -> String {
    let Some(share) = share.into().filter(|share| share.is_finite()) else { return UNKNOWN.into() };
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0 %".into(),
        size if size < 0.1 => "<0.1 %".into(),
        size if size < 9.95 => format!("{} %", fixed(percent, 1).trim_end_matches(".0")),
        _ => format!("{} %", percent.round()),
    }
}

/// How many times as much: <0.001x, 0.5x, 2.3x, 40x.
pub(crate) fn ratio(ratio: impl Into<Option<f64>>) -> String {
    let Some(ratio) = ratio.into().filter(|ratio| ratio.is_finite()) else { return UNKNOWN.into() };
    match ratio {
        _ if ratio > 0.0 && ratio < 0.001 => "<0.001x".into(),
        _ if ratio >= 999.5 => format!("{}x", count(ratio)),
        _ if ratio < 0.095 => format!("{}x", significant(ratio, 1)),
        _ if ratio < 9.95 => format!("{}x", fixed(ratio, 1)),
        _ => format!("{}x", significant(ratio, if ratio < 99.5 { 2 } else { 3 })),
    }
}

/// Busy threads: 0.3, 11.2.
pub(crate) fn threads(threads: impl Into<Option<f64>>) -> String {
    match threads.into() {
        None => UNKNOWN.into(),
        Some(threads) if threads < 99.95 => fixed(threads, 1),
        Some(threads) => threads.round().to_string(),
    }
}

/// 1 query, 2 queries.
pub(crate) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", whole(number), if number == 1 { one } else { many })
}

/// 1 run, 2 runs.
pub(crate) fn runs(number: u64) -> String {
    plural(number, "run", "runs")
}

/// Where the day begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Where this machine is (`TZ`).
    Local,
    /// In Greenwich.
    Utc,
}

/// Says points in time as people do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Now, in Unix nanoseconds.
    pub(crate) now_unix_ns: i64,
    pub(crate) zone: Zone,
}

impl Times {
    /// 14:02, 9 Nov 14:02, 9 Nov 2025.
    pub(crate) fn at(self, unix_ns: i64) -> String {
        self.text(unix_ns, false)
    }

    /// 14:02:07, 9 Nov 14:02:07, 9 Nov 2025.
    pub(crate) fn at_second(self, unix_ns: i64) -> String {
        self.text(unix_ns, true)
    }

    fn text(self, unix_ns: i64, seconds: bool) -> String {
        match self.zone {
            Zone::Local => time_in(&Local, unix_ns, self.now_unix_ns, seconds),
            Zone::Utc => time_in(&chrono::Utc, unix_ns, self.now_unix_ns, seconds),
        }
    }

    /// Minutes that the zone is ahead of UTC now.
    pub(crate) fn utc_offset_minutes(self) -> i32 {
        match self.zone {
            Zone::Local => Local.timestamp_nanos(self.now_unix_ns).offset().local_minus_utc() / 60,
            Zone::Utc => 0,
        }
    }

    /// Milliseconds from then until now, at least 0.
    pub(crate) fn since_ms(self, unix_ns: i64) -> f64 {
        self.now_unix_ns.saturating_sub(unix_ns).max(0) as f64 / 1e6
    }
}

fn time_in<Z: TimeZone>(zone: &Z, unix_ns: i64, now_unix_ns: i64, seconds: bool) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (then, now): (DateTime<Z>, DateTime<Z>) =
        (zone.timestamp_nanos(unix_ns), zone.timestamp_nanos(now_unix_ns));
    let seconds = if seconds { format!(":{:02}", then.second()) } else { String::new() };
    let clock = format!("{:02}:{:02}{seconds}", then.hour(), then.minute());
    let day = format!("{} {}", then.day(), MONTHS[then.month0() as usize]);
    match then.year() == now.year() {
        false => format!("{day} {}", then.year()),
        true if then.ordinal() == now.ordinal() => clock,
        true => format!("{day} {clock}"),
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;

    use super::*;

    #[test]
    fn durations_are_said_as_on_the_dashboard() {
        for (ms, said) in [
            (0.0, "0 ms"),
            (0.000_000_4, "<1 ns"),
            (0.0004, "400 ns"),
            (0.42, "420 µs"),
            (0.99951, "1 ms"),
            (41.26, "41.3 ms"),
            (309.4, "309 ms"),
            (999.6, "1 s"),
            (1125.0, "1.13 s"),
            (1603.4, "1.6 s"),
            (94_000.0, "94 s"),
            (119_499.0, "119 s"),
            (120_000.0, "2 min"),
            (281_384.0, "4 min 41 s"),
            (694_937.0, "11.6 min"),
            (3_600_000.0, "1 h"),
            (7_500_000.0, "2 h 05 min"),
            (44_280_000.0, "12.3 h"),
            (180_000_000.0, "2.08 d"),
            (-1500.0, "-1.5 s"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(duration(ms), said, "{ms}");
        }
        assert_eq!(duration(None), "–");
        assert_eq!([400.0, -1200.0, 0.0].map(signed_duration), ["+400 ms", "−1.2 s", "0"]);
    }

    #[test]
    fn counts_bytes_shares_and_ratios_are_said_as_on_the_dashboard() {
        let counts = [0.0, 999.0, 999.6, 8059.0, 1_234_567.0, 9_007_199_254_740_993.0].map(count);
        assert_eq!(counts, ["0", "999", "1 k", "8.06 k", "1.23 M", "9.01 P"]);
        let sizes = [0.0, 999.0, 1000.0, 1024.0, 1_572_864.0].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "0.977 KiB", "1 KiB", "1.5 MiB"]);
        let shares = [0.0, 0.0004, 0.003, 0.0417, 0.05, 0.0996, 0.713, 1.0].map(share);
        assert_eq!(shares, ["0 %", "<0.1 %", "0.3 %", "4.2 %", "5 %", "10 %", "71 %", "100 %"]);
        let ratios = [5e-8, 0.001, 0.4989, 0.04, 1.983, 9.96, 40.2, 1234.0, f64::INFINITY].map(ratio);
        assert_eq!(ratios, ["<0.001x", "0.001x", "0.5x", "0.04x", "2.0x", "10x", "40x", "1.23 kx", "–"]);
        assert_eq!([0.0, 0.27, 11.24, 128.4].map(threads), ["0.0", "0.3", "11.2", "128"]);
        assert_eq!([1, 2].map(runs), ["1 run", "2 runs"]);
    }

    #[test]
    fn the_date_is_left_out_today_and_the_clock_in_another_year() {
        const TIME: i64 = 1_795_206_683_609_778_763;
        const DAY: i64 = 86_400_000_000_000;
        assert_eq!(time_in(&Utc, TIME, TIME + 3_600_000_000_000, false), "20:31");
        assert_eq!(time_in(&Utc, TIME, TIME, true), "20:31:23");
        assert_eq!(time_in(&Utc, TIME, TIME + DAY, false), "20 Nov 20:31");
        assert_eq!(time_in(&Utc, TIME, TIME + 60 * DAY, false), "20 Nov 2026");
    }
}
