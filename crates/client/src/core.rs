//! The running parts of a telemetry in one process.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Thread};
use std::time::Duration;

use queryscope_protocol::limits::SENDER_FLUSH;
use queryscope_protocol::{BatchWriter, Process, StreamId};

use crate::active::Shared;
use crate::cpu_clock::CpuClock;
use crate::exporter::{Exporter, StartError, Stream};
use crate::host::Host;
use crate::lane::Lane;
use crate::machine::Machine;
use crate::outbox::Outbox;
use crate::problems::Problems;
use crate::profile::Describer;
use crate::publisher::Publisher;
use crate::query::Query;
use crate::random::{Random, random_id};
use crate::redaction::Redaction;
use crate::registry::Registry;
use crate::sampler::Sampler;
use crate::sender::{self, Ending};
use crate::source::QuerySource;
use crate::stats::{DropReason, Stats};

/// Stack of the thread that asks engines for plans, whose expressions may nest as deeply as a program likes. It is
/// address space until it is used.
const SAMPLER_STACK_BYTES: usize = 64 << 20;
/// Queries that are followed at a time.
const FOLLOWED_MAX: u64 = 10_000;

/// What a program has set.
pub(crate) struct Settings {
    pub(crate) engine: Option<String>,
    pub(crate) engine_version: Option<String>,
    pub(crate) service: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) program_version: Option<String>,
    pub(crate) redaction: Redaction,
    pub(crate) max_queue_bytes: usize,
    pub(crate) exporters: Vec<Box<dyn Exporter>>,
}

/// One stream: the queue, the threads and the identity that belong to one process.
///
/// A forked child has a copy of its parent's memory and none of its threads, and a lock may have been taken in the
/// moment of the fork. So a child touches nothing of this but `pid`, `settings` and `child`, where it puts a stream
/// of its own.
pub(crate) struct Core {
    pid: u32,
    settings: Arc<Settings>,
    host: Arc<dyn Host>,
    random: Arc<Random>,
    registry: Arc<Registry>,
    outboxes: Vec<Arc<Outbox>>,
    /// Those whose events the counts are of.
    counted: Vec<Arc<Outbox>>,
    ending: Arc<Ending>,
    sampler: Thread,
    /// One for each exporter, so that none waits for another.
    senders: Vec<Thread>,
    /// Disconnected once all senders have ended.
    senders_ended: Mutex<Receiver<()>>,
    child: OnceLock<Option<Box<Core>>>,
}

impl Core {
    /// Starts a stream with its threads.
    pub(crate) fn start(
        settings: Arc<Settings>,
        host: Arc<dyn Host>,
        forked: bool,
    ) -> Result<Self, StartError> {
        let stream = Stream { id: StreamId::new(random_id()), pid: host.pid(), forked };
        let problems = Arc::new(Problems::default());
        let random = Arc::new(Random::from_system());
        let registry = Arc::new(Registry::new(FOLLOWED_MAX));
        let ending = Arc::new(Ending::default());

        let opened = BatchWriter::new(settings.engine.as_deref(), &process(&settings, &stream, &*host))?;
        let bytes = opened.clone().into_bytes();
        let process_line: Arc<[u8]> = Arc::from(&bytes[..bytes.len() - 1]);
        let mut outboxes = Vec::new();
        let mut counted = Vec::new();
        let mut lanes = Vec::new();
        let mut published = Vec::new();
        for exporter in &settings.exporters {
            let outbox = Arc::new(Outbox::new(settings.max_queue_bytes));
            let delivery = exporter.open(&stream)?;
            let (process, random) = (Arc::clone(&process_line), Arc::clone(&random));
            lanes.push(Lane::new(Arc::clone(&outbox), delivery, process, random, Arc::clone(&problems)));
            published.push((settings.redaction.and(exporter.redaction()), Arc::clone(&outbox)));
            if exporter.is_counted() {
                counted.push(Arc::clone(&outbox));
            }
            outboxes.push(outbox);
        }

        // The first look, before any query.
        let mut process_cpu = CpuClock::default();
        process_cpu.look(host.now(), host.process_cpu());
        let sampler = Sampler {
            host: Arc::clone(&host),
            registry: Arc::clone(&registry),
            describer: Describer {
                engine: settings.engine.clone(),
                engine_version: settings.engine_version.clone(),
                cpu_count: std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
            },
            publisher: Publisher::new(opened, published, Arc::clone(&problems)),
            problems,
            followers: Vec::new(),
            process_cpu,
            machine: Machine::default(),
        };
        let (ended, senders_ended) = channel();
        let threads = spawn_senders(lanes, &ended, &ending, &host).and_then(|senders| {
            let sampler = spawn_sampler(sampler, Arc::clone(&ending), senders.clone())?;
            Ok((sampler, senders))
        });
        if threads.is_err() {
            // Those that have started end by themselves.
            ending.begin(host.now());
        }
        let (sampler, senders) = threads?;
        Ok(Self {
            pid: stream.pid,
            settings,
            host,
            random,
            registry,
            outboxes,
            counted,
            ending,
            sampler,
            senders,
            senders_ended: Mutex::new(senders_ended),
            child: OnceLock::new(),
        })
    }

    /// The stream of the process that asks; in a forked child a new one, when its exporters can be opened.
    pub(crate) fn current(&self) -> Option<&Self> {
        let pid = self.host.pid();
        let mut core = self;
        while core.pid != pid {
            let start = || {
                Self::start(Arc::clone(&core.settings), Arc::clone(&core.host), true)
                    .inspect_err(|error| {
                        log::warn!(target: "queryscope", "telemetry: not started after a fork: {error}");
                    })
                    .ok()
                    .map(Box::new)
            };
            core = core.child.get_or_init(start).as_deref()?;
        }
        Some(core)
    }

    /// The stream of the process that asks, when there is one already.
    pub(crate) fn existing(&self) -> Option<&Self> {
        let pid = self.host.pid();
        let mut core = self;
        while core.pid != pid {
            core = core.child.get()?.as_deref()?;
        }
        Some(core)
    }

    /// Takes a query from its thread.
    pub(crate) fn begin(&self, query: Query, source: Arc<dyn QuerySource>) -> Arc<Shared> {
        let shared = self.unfollowed(query, source);
        self.registry.register(&shared);
        shared
    }

    /// A query that nothing will be reported of.
    pub(crate) fn unfollowed(&self, query: Query, source: Arc<dyn QuerySource>) -> Arc<Shared> {
        let now = self.host.now();
        let unix_ns = self.host.unix_ns();
        let started = query.started.unwrap_or(now);
        let before = i64::try_from(now.saturating_duration_since(started).as_nanos()).unwrap_or(i64::MAX);
        Arc::new(Shared {
            id: self.random.query_id(unix_ns),
            query,
            started,
            started_unix_ns: unix_ns.saturating_sub(before),
            source,
            ended: OnceLock::new(),
        })
    }

    pub(crate) fn stats(&self) -> Stats {
        let sum = self.counted.iter().fold(Stats::default(), |sum, outbox| sum.plus(outbox.stats()));
        Stats { unfollowed: self.registry.unfollowed(), ..sum }
    }

    /// Ends the stream: what waits is sent for at most two seconds, the rest is dropped and counted.
    pub(crate) fn shutdown(&self) {
        self.registry.close();
        let now = self.host.now();
        if self.ending.begin(now + SENDER_FLUSH) {
            self.sampler.unpark();
            self.senders.iter().for_each(Thread::unpark);
        }
        self.wait_for_senders();
        for outbox in &self.outboxes {
            outbox.close(DropReason::Exit);
        }
    }

    /// Waits until the senders have ended, or the deadline: whoever ends the stream once more, or meanwhile, waits
    /// for what is left.
    fn wait_for_senders(&self) {
        let ended = self.senders_ended.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.host.now();
        let left =
            self.ending.deadline().map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(now));
        match ended.recv_timeout(left) {
            Ok(()) | Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {}
        }
    }
}

fn process<'s>(settings: &'s Settings, stream: &Stream, host: &dyn Host) -> Process<'s> {
    Process {
        id: stream.id,
        service: settings.service.as_deref().map(Into::into),
        environment: settings.environment.as_deref().map(Into::into),
        program_version: settings.program_version.as_deref().map(Into::into),
        host: gethostname::gethostname().to_string_lossy().into_owned().into(),
        pid: Some(stream.pid.into()),
        started_unix_ns: Some(host.unix_ns()),
    }
}

fn spawn_senders(
    lanes: Vec<Lane>,
    ended: &Sender<()>,
    ending: &Arc<Ending>,
    host: &Arc<dyn Host>,
) -> Result<Vec<Thread>, StartError> {
    let spawn = |lane: Lane| {
        let (ended, ending, host) = (ended.clone(), Arc::clone(ending), Arc::clone(host));
        let run = move || {
            sender::run(lane, &ending, &*host);
            drop(ended);
        };
        spawn(Builder::new().name("queryscope-send".into()), run)
    };
    lanes.into_iter().map(spawn).collect()
}

fn spawn_sampler(sampler: Sampler, ending: Arc<Ending>, senders: Vec<Thread>) -> Result<Thread, StartError> {
    let thread = Builder::new().name("queryscope-poll".into()).stack_size(SAMPLER_STACK_BYTES);
    spawn(thread, move || sampler.run(&ending, &senders))
}

fn spawn(thread: Builder, run: impl FnOnce() + Send + 'static) -> Result<Thread, StartError> {
    thread.spawn(run).map(|handle| handle.thread().clone()).map_err(StartError::Thread)
}

#[cfg(test)]
mod tests;
