//! The services, hosts and labels of the population for reads.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::ids::{self, IdText, Random};

/// Services.
const SERVICES: usize = 50;
/// Hosts, each of one service and one environment.
const HOSTS: usize = 500;
/// Labels.
const LABELS: usize = 2_000;
/// Environments and the share of the hosts in each; the rest has none.
const ENVIRONMENTS: [(&str, f64); 5] =
    [("prod", 0.55), ("staging", 0.15), ("dev", 0.10), ("test", 0.05), ("ci", 0.05)];
/// Hosts a label runs on at most.
const LABEL_HOSTS_MAX: usize = 20;
/// Environments a label runs in at most.
const LABEL_ENVIRONMENTS_MAX: usize = 2;
/// Plans a label has over the time at most.
const LABEL_PLANS_MAX: usize = 5;
/// Warnings a label's queries may carry at most.
const LABEL_RULES_MAX: usize = 3;
/// The share of a label's runs falls with its rank to this power: the first has some 12 % of all runs.
const RANK_POWER: f64 = 1.0;
/// The same for the hosts of a service.
const SERVICE_POWER: f64 = 0.6;
/// What a query may be warned about.
const RULES: [&str; 5] =
    ["cross_join", "exploding_join", "in_memory_fallback", "python_udf", "redundant_aggregation"];
const AREAS: [&str; 10] = [
    "billing",
    "catalog",
    "events",
    "finance",
    "inventory",
    "logistics",
    "orders",
    "pricing",
    "returns",
    "users",
];
const ROLES: [&str; 5] = ["api", "etl", "export", "report", "stream"];

/// Everybody, made from a seed.
#[derive(Debug)]
pub(crate) struct Population {
    /// Sending processes: one a host.
    pub(crate) processes: Vec<Process>,
    /// Labels, the one that runs most first.
    pub(crate) labels: Vec<Label>,
    /// Running sums of the labels' shares of the runs; the last one is 1.
    shares: Vec<f64>,
}

/// A process that sends events: one stream.
#[derive(Debug)]
pub(crate) struct Process {
    /// Id of its stream.
    pub(crate) stream: IdText,
    /// What it is.
    pub(crate) service: String,
    /// Where it runs.
    pub(crate) environment: Option<&'static str>,
    /// Name of its machine.
    pub(crate) host: String,
}

/// A query that runs again and again.
#[derive(Debug)]
pub(crate) struct Label {
    /// Its name.
    pub(crate) name: String,
    /// Processes that run it: places in [`Population::processes`].
    pub(crate) processes: Vec<usize>,
    /// Its plans, each for an equal part of the time, and how much slower than the usual time each one is.
    pub(crate) plans: Vec<(String, f64)>,
    /// Its usual time in milliseconds.
    pub(crate) wall_ms: f64,
    /// What its runs may be warned about, at least one.
    pub(crate) rules: Vec<&'static str>,
}

impl Population {
    /// Everybody of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = ids::random(seed, 0);
        let hosts_of_service = running_shares(SERVICES, SERVICE_POWER);
        let mut service_of_host: Vec<usize> = (0..HOSTS)
            // Two hosts for every service, the others where more is to do.
            .map(|host| if host < 2 * SERVICES { host / 2 } else { pick(&hosts_of_service, &mut random) })
            .collect();
        service_of_host.sort_unstable();
        let processes: Vec<Process> = service_of_host
            .iter()
            .enumerate()
            .map(|(host, service)| Process {
                stream: IdText::stream(&mut random),
                service: format!("{}-{}", AREAS[service / ROLES.len()], ROLES[service % ROLES.len()]),
                environment: environment(random.random()),
                host: format!("worker-{host:03}"),
            })
            .collect();
        let labels = (0..LABELS)
            .map(|number| {
                let service = pick(&hosts_of_service, &mut random);
                let homes: Vec<usize> = (0..HOSTS).filter(|host| service_of_host[*host] == service).collect();
                Label::new(number, &processes, homes, &mut random)
            })
            .collect();
        Self { processes, labels, shares: running_shares(LABELS, RANK_POWER) }
    }

    /// Picks a label by its share of the runs.
    pub(crate) fn label(&self, random: &mut Random) -> &Label {
        &self.labels[pick(&self.shares, random)]
    }
}

impl Label {
    fn new(number: usize, processes: &[Process], mut homes: Vec<usize>, random: &mut Random) -> Self {
        homes.shuffle(random);
        let mut environments: Vec<_> = homes.iter().map(|host| processes[*host].environment).collect();
        environments.dedup();
        environments.truncate(random.random_range(1..=LABEL_ENVIRONMENTS_MAX));
        homes.retain(|host| environments.contains(&processes[*host].environment));
        homes.truncate(random.random_range(1..=LABEL_HOSTS_MAX));
        let plans = (0..random.random_range(1..=LABEL_PLANS_MAX))
            .map(|_| (format!("{:012x}", random.random::<u64>() >> 16), random.random_range(0.5..1.8)))
            .collect();
        let mut rules = RULES.to_vec();
        rules.shuffle(random);
        rules.truncate(random.random_range(1..=LABEL_RULES_MAX));
        Self {
            name: format!("{}/step-{number:04}", processes[homes[0]].service),
            processes: homes,
            plans,
            wall_ms: 10_f64.powf(random.random_range(1.0..4.5)),
            rules,
        }
    }
}

fn environment(draw: f64) -> Option<&'static str> {
    let mut sum = 0.0;
    ENVIRONMENTS.into_iter().find_map(|(name, share)| {
        sum += share;
        (draw < sum).then_some(name)
    })
}

/// Running sums of shares that fall with the rank to a power; the last one is 1.
fn running_shares(count: usize, power: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums: Vec<f64> = (1..=count)
        .map(|rank| {
            sum += (rank as f64).powf(-power);
            sum
        })
        .collect();
    for share in &mut sums {
        *share /= sum;
    }
    sums
}

fn pick(shares: &[f64], random: &mut Random) -> usize {
    let draw: f64 = random.random();
    shares.partition_point(|share| *share <= draw).min(shares.len() - 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn everybody_is_as_described() {
        let population = Population::new(1);
        let distinct =
            |of: fn(&Process) -> &str| population.processes.iter().map(of).collect::<BTreeSet<_>>();
        assert_eq!(distinct(|process| &process.service).len(), SERVICES);
        assert_eq!(distinct(|process| &process.host).len(), HOSTS);
        assert_eq!(distinct(|process| process.stream.as_str()).len(), HOSTS);
        assert_eq!(distinct(|process| process.environment.unwrap_or("none")).len(), 6);
        assert_eq!(population.labels.iter().map(|label| &label.name).collect::<BTreeSet<_>>().len(), LABELS);
        for label in &population.labels {
            let of_label = || label.processes.iter().map(|process| &population.processes[*process]);
            assert_eq!(of_label().map(|process| &process.service).collect::<BTreeSet<_>>().len(), 1);
            let environments = of_label().map(|process| process.environment).collect::<BTreeSet<_>>().len();
            assert!((1..=2).contains(&environments), "{label:?}");
            assert!((1..=20).contains(&label.processes.len()), "{label:?}");
            assert!((1..=5).contains(&label.plans.len()), "{label:?}");
        }
        let hosts: BTreeSet<_> = population.labels.iter().map(|label| label.processes.len()).collect();
        assert!(hosts.contains(&1) && hosts.contains(&20), "{hosts:?}");
    }

    #[test]
    fn few_labels_run_most() {
        let population = Population::new(1);
        assert!((0.1..0.15).contains(&population.shares[0]), "{}", population.shares[0]);
        assert!(population.shares[LABELS / 10] > 0.6);
        let mut random = ids::random(2, 0);
        let first = &population.labels[0].name;
        let hits = (0..10_000).filter(|_| population.label(&mut random).name == *first).count();
        assert!((1_000..1_500).contains(&hits), "{hits}");
    }

    #[test]
    fn a_seed_gives_the_same_population() {
        let text = |seed| format!("{:?}", Population::new(seed));
        assert_eq!(text(4), text(4));
        assert_ne!(text(4), text(5));
    }
}
