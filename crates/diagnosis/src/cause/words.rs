//! Figures in words.

use crate::change::Figure;

/// Names of figures that causes are told apart by.
pub(super) const ROWS: &str = "rows";
pub(super) const ROWS_PASSED: &str = "rows_in_and_out";
pub(super) const BUSY_PER_ROW: &str = "busy_per_row";

pub(super) fn figure(name: &str, before: Option<f64>, after: Option<f64>, unit: &str) -> Figure {
    Figure { name: name.to_owned(), before, after, unit: unit.to_owned() }
}

/// Three digits: `1.23`, `12.3`, `123`.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

pub(super) fn ms_words(ms: f64) -> String {
    match ms.abs() {
        ms_abs if ms_abs >= 120_000.0 => format!("{} min", digits(ms / 60_000.0)),
        ms_abs if ms_abs >= 999.5 => format!("{} s", digits(ms / 1_000.0)),
        ms_abs if ms_abs >= 0.9995 || ms_abs <= 0.0 => format!("{} ms", digits(ms)),
        _ => format!("{} µs", digits(ms * 1_000.0)),
    }
}

pub(super) fn count_words(count: f64) -> String {
    match count.abs() {
        size if size >= 999.5e6 => format!("{} G", digits(count / 1e9)),
        size if size >= 999.5e3 => format!("{} M", digits(count / 1e6)),
        size if size >= 1e4 => format!("{} k", digits(count / 1e3)),
        _ => format!("{count:.0}"),
    }
}

pub(super) fn bytes_words(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.max(1.0).log2() / 10.0).floor().min(4.0);
    format!("{} {}", digits(bytes / 1024_f64.powf(power)), units[power as usize])
}

pub(super) fn factor_words(factor: f64) -> String {
    match factor {
        ..0.05 => "less than 0.1x".into(),
        0.05..9.95 => format!("{factor:.1}x"),
        _ => format!("{factor:.0}x"),
    }
}

/// A factor of a time in words, and where it says nothing the percentage.
pub(super) fn longer_words(factor: f64) -> String {
    let percent = ((factor - 1.0) * 100.0).round();
    match percent {
        0.0 => "about as long".into(),
        1.0..5.0 => format!("{percent} % longer"),
        -5.0..0.0 => format!("{} % less", -percent),
        _ => format!("{} as long", factor_words(factor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(
            [0.25, 3.0, 1_234.0, 250_000.0].map(ms_words),
            ["250 µs", "3.00 ms", "1.23 s", "4.17 min"]
        );
        assert_eq!([7.0, 12_345.0, 49e6, 2e9].map(count_words), ["7", "12.3 k", "49.0 M", "2.00 G"]);
        assert_eq!([999_936.0, 999_999_999.0].map(count_words), ["1.00 M", "1.00 G"]);
        assert_eq!(ms_words(999.7), "1.00 s");
        assert_eq!([0.0, 155.0 * 1024.0 * 1024.0].map(bytes_words), ["0.00 B", "155 MiB"]);
        assert_eq!([0.9999, 0.9].map(ms_words), ["1.00 ms", "900 µs"]);
        assert_eq!([0.03, 3.44, 12.0].map(factor_words), ["less than 0.1x", "3.4x", "12x"]);
        assert_eq!(
            [0.9, 0.97, 1.001, 1.02, 1.2].map(longer_words),
            ["0.9x as long", "3 % less", "about as long", "2 % longer", "1.2x as long"]
        );
    }
}
