//! Times in the sentences about issues.

/// A time of so many milliseconds as people say it.
pub fn duration(ms: f64) -> String {
    match ms / 1e3 {
        seconds if seconds < 1.0 => format!("{ms:.0} ms"),
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        seconds => format!("{:.1} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let said = [950.0, 12_340.0, 119_000.0, 600_000.0, 9_000_000.0, 200_000_000.0].map(duration);
        assert_eq!(said, ["950 ms", "12.3 s", "119.0 s", "10 min", "2.5 h", "2.3 days"]);
    }
}
