//! When runs start, and what of the surroundings moves their time.

use rand::RngExt;

use crate::generate::{Noise, Random};

const DAY_NS: f64 = 86_400e9;
/// Monday, 2 November 2026, 00:00 UTC.
pub(crate) const START_UNIX_NS: i64 = 1_793_577_600_000_000_000;

/// The surroundings of one query.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// Standard deviation of the logarithm of a run's time.
    pub(crate) deviation: f64,
    /// Probability of a slow run that means nothing, and how slow it is.
    pub(crate) outliers: f64,
    pub(crate) hosts: Vec<f64>,
    /// Days each host runs before the next takes over; 0: any host takes any run.
    pub(crate) turn_days: f64,
    pub(crate) weekend: f64,
    pub(crate) weekend_rows: f64,
    pub(crate) cold: f64,
    pub(crate) cold_factor: f64,
    pub(crate) growth_a_day: f64,
    /// Correlation of neighbours.
    pub(crate) memory: f64,
    pub(crate) burst_a_run: f64,
    pub(crate) burst_runs: u32,
    pub(crate) burst_factor: f64,
    pub(crate) rows_deviation: f64,
    pub(crate) cancelled: f64,
    pub(crate) failures: f64,
    /// Degrees of freedom of the noise, where it has heavy tails.
    freedom: Option<u32>,
    /// Amplitude of the day's cycle, in logarithms, and the time of its peak in days.
    daily: (f64, f64),
    /// Standard deviation of the level that wanders in days, in logarithms.
    drift: f64,
    /// Part of the runs in the second mode, and how slow it is.
    mode: (f64, f64),
    /// Slow hours: how many a day on average, how long in days, and how slow they are.
    spells: (f64, f64, f64),
    state: f64,
    burst_left: u32,
    level: f64,
    level_day: f64,
    spell: (f64, f64),
}

/// What the surroundings are for one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) host: usize,
    /// Factor of all work.
    pub(crate) speed: f64,
    /// Factor of what is read.
    pub(crate) rows: f64,
    /// Factor of the waits alone.
    pub(crate) waits: f64,
    /// Whether it is of a burst of slow runs.
    pub(crate) burst: bool,
}

impl Surroundings {
    pub(crate) fn random(noise: Noise, runs_a_day: f64, random: &mut Random) -> Self {
        let deviation = 10_f64.powf(random.random_range(-1.5..-0.523));
        let mut hosts = vec![1.0; random.random_range(1..=4)];
        let mut of = Self {
            deviation,
            outliers: random.random_range(0.0..0.02),
            hosts: Vec::new(),
            turn_days: 0.0,
            weekend: 1.0,
            weekend_rows: 1.0,
            cold: 0.0,
            cold_factor: 1.0,
            growth_a_day: 0.0,
            memory: random.random_range(0.0..0.3),
            burst_a_run: 0.0,
            burst_runs: 0,
            burst_factor: 1.0,
            rows_deviation: if random.random_bool(0.5) { 0.0 } else { random.random_range(0.005..0.05) },
            cancelled: random.random_range(0.0..0.01),
            failures: random.random_range(0.0..0.01),
            freedom: None,
            daily: (0.0, 0.0),
            drift: 0.0,
            mode: (0.0, 1.0),
            spells: (0.0, 0.0, 1.0),
            state: 0.0,
            burst_left: 0,
            level: 0.0,
            level_day: 0.0,
            spell: (0.0, 0.0),
        };
        of.add(noise, runs_a_day, &mut hosts, random);
        of.hosts = hosts;
        of
    }

    fn add(&mut self, noise: Noise, runs_a_day: f64, hosts: &mut Vec<f64>, random: &mut Random) {
        let of = self;
        match noise {
            Noise::Plain | Noise::Decoy | Noise::Bare => {}
            Noise::Weekends => {
                of.weekend = random.random_range(1.2..2.2);
                if random.random_bool(0.4) {
                    of.weekend_rows = of.weekend;
                    of.weekend = 1.0;
                }
            }
            Noise::Hosts => {
                *hosts = (0..random.random_range(2..=5)).map(|_| random.random_range(0.7..2.2)).collect();
                if random.random_bool(0.3) {
                    of.turn_days = random.random_range(0.5..2.0);
                }
            }
            Noise::Cold => {
                of.cold = random.random_range(0.1..0.45);
                of.cold_factor = random.random_range(1.5..4.0);
            }
            Noise::Bursts => {
                of.burst_runs = random.random_range(2..=10);
                of.burst_a_run = 1.0 / (runs_a_day * random.random_range(1.0..6.0)).max(12.0);
                of.burst_factor = random.random_range(1.4..3.0);
            }
            Noise::Growing => of.growth_a_day = random.random_range(0.015..0.06),
            Noise::Tails => of.freedom = Some(3),
            Noise::Modes => of.mode = (random.random_range(0.1..0.6), random.random_range(1.3..2.5)),
            Noise::Correlated => of.memory = random.random_range(0.4..0.85),
            Noise::Drift => of.drift = random.random_range(0.02..0.1),
            Noise::Daily => of.daily = (random.random_range(0.05..0.35), random.random_range(0.0..1.0)),
            Noise::Spells => {
                let hours = random.random_range(0.5..6.0);
                of.spells = (random.random_range(0.1..0.5), hours / 24.0, random.random_range(1.3..2.5));
            }
            Noise::Mixed => {
                let hard = [Noise::Weekends, Noise::Hosts, Noise::Cold, Noise::Bursts];
                let first = random.random_range(0..hard.len());
                let second = (first + random.random_range(1..hard.len())) % hard.len();
                of.add(hard[first], runs_a_day, hosts, random);
                of.add(hard[second], runs_a_day, hosts, random);
            }
        }
    }

    /// What noise of the other families makes of a moment, in days.
    fn others(&mut self, day: f64, random: &mut Random) -> f64 {
        let mut factor = (self.daily.0 * (std::f64::consts::TAU * (day - self.daily.1)).cos()).exp();
        if self.drift > 0.0 {
            // An Ornstein-Uhlenbeck process that forgets in two days.
            let kept = (-(day - self.level_day) / 2.0).exp();
            self.level = kept * self.level + (1.0 - kept * kept).sqrt() * self.drift * normal(random);
            self.level_day = day;
            factor *= self.level.exp();
        }
        if self.mode.0 > 0.0 && random.random_bool(self.mode.0) {
            factor *= self.mode.1;
        }
        if self.spells.0 > 0.0 {
            while self.spell.1 < day {
                let from = self.spell.1 - (1.0 - random.random_range(0.0..1.0_f64)).ln() / self.spells.0;
                self.spell = (from, from + self.spells.1 * random.random_range(0.5..1.5));
            }
            if day >= self.spell.0 {
                factor *= self.spells.2;
            }
        }
        factor
    }

    pub(crate) fn next(&mut self, started_unix_ns: i64, random: &mut Random) -> Moment {
        let day = (started_unix_ns - START_UNIX_NS) as f64 / DAY_NS;
        let mut normal = normal(random);
        if let Some(freedom) = self.freedom {
            let squares: f64 = (0..freedom).map(|_| self::normal(random).powi(2)).sum();
            normal /= (squares / f64::from(freedom)).sqrt();
        }
        self.state = self.memory * self.state + (1.0 - self.memory * self.memory).sqrt() * normal;
        let mut speed = (self.state * self.deviation).exp() * self.others(day, random);
        if random.random_bool(self.outliers) {
            speed *= random.random_range(1.5..4.0);
        }
        let host = if self.turn_days > 0.0 {
            (day / self.turn_days) as usize % self.hosts.len()
        } else {
            random.random_range(0..self.hosts.len())
        };
        speed *= self.hosts[host];
        let mut rows =
            (1.0 + self.growth_a_day).powf(day) * (self.rows_deviation * self::normal(random)).exp();
        if day.rem_euclid(7.0) >= 5.0 {
            speed *= self.weekend;
            rows *= self.weekend_rows;
        }
        if self.burst_left == 0 && random.random_bool(self.burst_a_run) {
            self.burst_left = random.random_range(2..=self.burst_runs);
        }
        let burst = self.burst_left > 0;
        if burst {
            self.burst_left -= 1;
            speed *= self.burst_factor * (0.1 * self::normal(random)).exp();
        }
        let cold = random.random_bool(self.cold);
        // A cold run works and waits longer.
        let waits = if cold { self.cold_factor * 2.0 } else { 1.0 };
        speed *= if cold { self.cold_factor } else { 1.0 };
        Moment { host, speed, rows, waits, burst }
    }
}

/// Starts of runs over so many days: evenly, in working hours, or at random.
pub(crate) fn starts(days: f64, runs_a_day: f64, random: &mut Random) -> Vec<i64> {
    let regular = random.random_bool(0.5);
    let working_hours = random.random_bool(0.3);
    let mut starts = Vec::new();
    let mut day = 0.0;
    while day < days {
        let gap = 1.0 / runs_a_day;
        day += if regular {
            gap * random.random_range(0.9..1.1)
        } else {
            -gap * (1.0 - random.random_range(0.0..1.0_f64)).ln()
        };
        let of_day = day.rem_euclid(1.0);
        let moved = if working_hours { day.floor() + 0.3 + 0.45 * of_day } else { day };
        starts.push(START_UNIX_NS + (moved * DAY_NS) as i64);
    }
    starts.sort_unstable();
    starts
}

pub(crate) fn normal(random: &mut Random) -> f64 {
    let (a, b): (f64, f64) = (random.random_range(f64::MIN_POSITIVE..1.0), random.random_range(0.0..1.0));
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}
