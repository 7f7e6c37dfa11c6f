//! Statistics, each with its definition and its source. `docs/internals/diagnosis.md` says what each is used
//! for; the tests compare with what SciPy and `ruptures` say of the same numbers
//! (`tests/fixtures/statistics.py`).

/// The middle of sorted values: the middle one, or the average of the two middle ones.
pub fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The median of values, which are reordered; NaN of none.
pub fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let odd = values.len() % 2 == 1;
    let middle = values.len() / 2;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return upper;
    }
    f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper)
}

/// Median and the bounds of its interval of 95 %, from order statistics: the interval from the `k`-th smallest
/// to the `k`-th largest value holds the median of the distribution with probability `1 - 2 P(B < k)`, `B`
/// binomial with `n` and one half (Conover, *Practical Nonparametric Statistics*, 1999, section 3.2). Below 6
/// values no such interval reaches 95 %: it is the range. `None` of no values; sorts them.
pub fn median_interval(values: &mut [f64]) -> Option<(f64, f64, f64)> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    let mut below = 0;
    // P(B <= k), summed up from P(B = 0) = 2^-n in logarithms.
    let mut log_probability = -(count as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for k in 0..count / 2 {
        sum += log_probability.exp();
        if sum > 0.025 {
            break;
        }
        below = k;
        log_probability += ((count - k) as f64 / (k + 1) as f64).ln();
    }
    Some((median_of_sorted(values), values[below], values[count - 1 - below]))
}

/// The spread of values about a middle: 1.4826 times the median of their distances to it, which is the standard
/// deviation of a normal distribution (Rousseeuw and Croux, "Alternatives to the Median Absolute Deviation",
/// 1993).
pub fn deviation(values: &[f64], middle: f64, buffer: &mut Vec<f64>) -> f64 {
    buffer.clear();
    buffer.extend(values.iter().map(|value| (value - middle).abs()));
    if buffer.is_empty() { 0.0 } else { 1.482_602_218_505_602 * median(buffer) }
}

/// Cliff's delta of two samples: how much more often a value of the first is the larger one than the smaller
/// one (N. Cliff, "Dominance Statistics", Psychological Bulletin 114 (1993)). From U of the first: `2 U / (m n)
/// - 1`.
pub fn cliffs_delta(u: f64, first: usize, second: usize) -> f64 {
    2.0 * u / (first as f64 * second as f64) - 1.0
}

/// The logarithm of the beta function.
fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method, as in *Numerical
/// Recipes*, section 6.4).
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

#[expect(clippy::many_single_char_names, reason = "the names of the formula")]
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let step = d * c;
        fraction *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The probability of a value over `t` in Student's distribution.
pub fn student_tail(t: f64, freedom: f64) -> f64 {
    let half = incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t)) / 2.0;
    if t >= 0.0 { half } else { 1.0 - half }
}

/// Variance that is expected of the logarithms of wall times of one query, and what that expectation weighs, in
/// observations: the prior of [`moderated_t`].
const PRIOR_VARIANCE: f64 = 0.15 * 0.15;
const PRIOR_FREEDOM: f64 = 4.0;

/// How probable it is that the mean of the first sample is as far above that of the second by luck: the
/// moderated t test, whose variance is drawn towards what is usual of queries (G. K. Smyth, "Linear Models and
/// Empirical Bayes Methods", Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3,
/// section 4). It is what few runs can be judged by: three after five cannot reach one percent by rank.
pub fn moderated_t(first: &[f64], second: &[f64]) -> f64 {
    let (mean_1, squares_1) = moments(first);
    let (mean_2, squares_2) = moments(second);
    let freedom = (first.len() + second.len()) as f64 - 2.0 + PRIOR_FREEDOM;
    let variance = (squares_1 + squares_2 + PRIOR_FREEDOM * PRIOR_VARIANCE) / freedom;
    let t = (mean_1 - mean_2) / (variance * (1.0 / first.len() as f64 + 1.0 / second.len() as f64)).sqrt();
    student_tail(t, freedom)
}

/// Mean, and the sum of the squared distances to it.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum())
}

/// The probability of `failed` or more of `runs`, where of `before_runs` earlier ones `before_failed` did: the
/// tail of the beta-binomial distribution, the prediction of a binomial whose rate has a beta prior (Gelman and
/// others, *Bayesian Data Analysis*, section 2.4). The prior is one failure in a hundred runs, worth fifty
/// runs.
pub fn failures_tail(failed: usize, runs: usize, before_failed: usize, before_runs: usize) -> f64 {
    let a = 0.5 + before_failed as f64;
    let b = 49.5 + before_runs.saturating_sub(before_failed) as f64;
    let n = runs as f64;
    let whole = ln_beta(a, b);
    let tail = (failed..=runs).map(|k| {
        let k = k as f64;
        (-(n + 1.0).ln() - ln_beta(n - k + 1.0, k + 1.0) + ln_beta(k + a, n - k + b) - whole).exp()
    });
    tail.sum::<f64>().min(1.0)
}

/// The best place to cut a series in two: the number of values before the cut, and by how much cutting there
/// lowers the sum of squared distances to the mean of each part (the split of binary segmentation with a
/// squared cost; `ruptures`' `Dynp(model="l2")` for one change). At least `least` values on each side; `None`
/// where there are not so many.
pub fn best_cut(values: &[f64], least: usize) -> Option<(usize, f64)> {
    let count = values.len();
    let whole: f64 = values.iter().sum();
    let mean = whole / count as f64;
    let mut below = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for cut in 1..count {
        below += values[cut - 1] - mean;
        if cut < least || count - cut < least {
            continue;
        }
        let gain = below * below * count as f64 / (cut as f64 * (count - cut) as f64);
        if best.is_none_or(|(_, most)| gain > most) {
            best = Some((cut, gain));
        }
    }
    best
}

/// The midranks of values: the place of each in ascending order from 1 on, equal ones sharing the average of
/// their places. `order` is scratch.
pub fn midranks(values: &[f64], order: &mut Vec<u32>, ranks: &mut Vec<f64>) {
    order.clear();
    order.extend(0..values.len() as u32);
    order.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    ranks.clear();
    ranks.resize(values.len(), 0.0);
    let mut from = 0;
    while from < order.len() {
        let value = values[order[from] as usize];
        let mut to = from + 1;
        while to < order.len() && values[order[to] as usize] <= value {
            to += 1;
        }
        let rank = (from + 1 + to) as f64 / 2.0;
        for &at in &order[from..to] {
            ranks[at as usize] = rank;
        }
        from = to;
    }
}

/// The probability of a value over `z` in the standard normal distribution.
pub fn normal_tail(z: f64) -> f64 {
    libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
}

/// The value that is exceeded with a probability, in the standard normal distribution: the inverse of
/// [`normal_tail`], by bisection.
pub fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-38.0, 38.0);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if normal_tail(middle) > probability { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}
