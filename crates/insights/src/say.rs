//! Figures as titles say them: three digits and a unit.

/// A count: `950`, `4.0 M`.
pub(crate) fn count(number: u64) -> String {
    scaled(number as f64, 1000.0, &["", " k", " M", " G", " T", " P", " E"])
}

/// Bytes: `950 B`, `3.2 GiB`.
pub(crate) fn bytes(number: u64) -> String {
    scaled(number as f64, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

/// A share: `71 %`, `0.25 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 || percent == 0.0 {
        format!("{percent:.0} %")
    } else if percent >= 1.0 {
        format!("{percent:.1} %")
    } else if percent >= 0.01 {
        format!("{percent:.2} %")
    } else {
        "under 0.01 %".into()
    }
}

/// How many times: `1200x`, `11x`, `2.4x`.
pub(crate) fn times(factor: f64) -> String {
    if factor >= 10.0 { format!("{factor:.0}x") } else { format!("{factor:.1}x") }
}

/// Milliseconds: `0.25 ms`, `41 ms`, `7.2 s`, `3.1 min`.
pub(crate) fn millis(ms: f64) -> String {
    let (value, unit) = match ms {
        ms if ms < 999.5 => (ms, "ms"),
        ms if ms < 59_950.0 => (ms / 1000.0, "s"),
        ms => (ms / 60_000.0, "min"),
    };
    let digits = if value >= 100.0 || value == 0.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

fn scaled(mut number: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while number >= step - 0.5 && unit + 1 < units.len() {
        number /= step;
        unit += 1;
    }
    if unit == 0 || number >= 99.95 {
        format!("{number:.0}{}", units[unit])
    } else {
        format!("{number:.1}{}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([0, 950, 1000, 99_949, 4_000_000].map(count), ["0", "950", "1.0 k", "99.9 k", "4.0 M"]);
        assert_eq!([0, 1023, 1024, 3_435_973_837].map(bytes), ["0 B", "1023 B", "1.0 KiB", "3.2 GiB"]);
        assert_eq!(
            [0.0, 0.000_01, 0.002, 0.05, 0.714, 1.0].map(percent),
            ["0 %", "under 0.01 %", "0.20 %", "5.0 %", "71 %", "100 %"]
        );
        assert_eq!([2.44, 10.96, 1200.0].map(times), ["2.4x", "11x", "1200x"]);
        assert_eq!(
            [0.0, 0.25, 41.0, 999.0, 999.7, 7226.6, 59_970.0, 186_000.0].map(millis),
            ["0 ms", "0.25 ms", "41.0 ms", "999 ms", "1.00 s", "7.23 s", "1.00 min", "3.10 min"]
        );
    }
}
