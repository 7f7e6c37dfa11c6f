use std::collections::BTreeSet;
use std::time::Instant;

use queryscope_protocol::{Event, EventKind, Plan};

use super::*;
use crate::active::ActiveQuery;
use crate::exporter::{Answer, Batch, Delivery};
use crate::host::fake::Fake;
use crate::readings::Readings;

/// Keeps what it is given, for all processes.
#[derive(Clone, Default)]
struct Memory {
    lines: Arc<Mutex<Vec<String>>>,
    opened: Arc<Mutex<Vec<(u32, bool)>>>,
}

impl Exporter for Memory {
    fn open(&self, stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        self.opened.lock().expect("no panic").push((stream.pid, stream.forked));
        Ok(Box::new(self.clone()))
    }
}

impl Delivery for Memory {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        let mut text = Vec::new();
        batch.write_to(&mut text).expect("memory");
        let text = String::from_utf8(text).expect("UTF-8");
        self.lines.lock().expect("no panic").extend(text.lines().map(Into::into));
        Answer::Delivered
    }
}

struct Nothing;

impl QuerySource for Nothing {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {}
}

fn settings(exporter: impl Exporter) -> Settings {
    Settings {
        engine: Some("toy".into()),
        engine_version: None,
        service: Some("s".into()),
        environment: None,
        program_version: None,
        redaction: Redaction::none(),
        max_queue_bytes: 1 << 20,
        exporters: vec![Box::new(exporter)],
    }
}

fn run_query(core: &Core) {
    ActiveQuery::new(core.begin(Query::new(), Arc::new(Nothing))).finish();
}

#[test]
fn a_forked_child_is_a_stream_of_its_own() {
    let (host, memory) = (Arc::new(Fake::new()), Memory::default());
    let parent = Core::start(Arc::new(settings(memory.clone())), Arc::clone(&host) as Arc<dyn Host>, false)
        .expect("threads");
    run_query(parent.current().expect("itself"));
    parent.shutdown();

    host.fork();
    assert!(parent.existing().is_none(), "nothing is started before the first query");
    let child = parent.current().expect("a stream of its own");
    run_query(child);
    run_query(parent.current().expect("the same again"));
    child.shutdown();
    assert_eq!((parent.stats().sent, child.stats().sent), (1, 2));

    host.fork();
    let grandchild = parent.current().expect("a third one");
    run_query(grandchild);
    grandchild.shutdown();

    assert_eq!(*memory.opened.lock().expect("no panic"), [(1, false), (2, true), (3, true)]);
    let lines = memory.lines.lock().expect("no panic");
    let mut streams = BTreeSet::new();
    let mut queries = BTreeSet::new();
    for line in lines.iter() {
        let event = Event::read(line).expect("an event");
        match event.kind {
            EventKind::Process(process) => {
                streams.insert((process.pid, process.id));
            }
            kind => {
                queries.insert(kind.query_id().expect("of a query"));
            }
        }
    }
    let pids: Vec<Option<u64>> = streams.iter().map(|(pid, _)| *pid).collect();
    assert_eq!(pids, [Some(1), Some(2), Some(3)]);
    assert_eq!(queries.len(), 4);
}

#[test]
fn an_end_has_two_seconds_however_often_it_is_asked_for() {
    let host = Arc::new(Fake::new());
    let core = Core::start(Arc::new(settings(Memory::default())), Arc::clone(&host) as Arc<dyn Host>, false)
        .expect("threads");
    let deadline = host.now() + Duration::from_secs(2);
    core.shutdown();
    host.advance(Duration::from_secs(1));
    core.shutdown();
    assert_eq!(core.ending.deadline(), Some(deadline));
}

#[test]
fn an_engine_that_is_no_brand_does_not_start() {
    let settings = Settings { engine: Some("No Brand".into()), ..settings(Memory::default()) };
    let host: Arc<dyn Host> = Arc::new(Fake::new());
    assert!(matches!(Core::start(Arc::new(settings), host, false).err(), Some(StartError::Engine(_))));
}

/// What follows the queries of a registry, without threads.
struct Followed {
    core: Core,
    registry: Arc<Registry>,
    outbox: Arc<Outbox>,
    sampler: Sampler,
}

impl Followed {
    fn at_most(followed_max: u64) -> Self {
        let host: Arc<dyn Host> = Arc::new(Fake::new());
        let core = Core::start(Arc::new(settings(Memory::default())), host, false).expect("threads");
        let outbox = Arc::new(Outbox::new(1 << 20));
        let registry = Arc::new(Registry::new(followed_max));
        let stream = Stream { id: StreamId::new(uuid::Uuid::nil()), pid: 1, forked: false };
        let opened = BatchWriter::new(None, &process(&core.settings, &stream, &*core.host)).expect("neutral");
        let problems = Arc::new(Problems::default());
        let outboxes = [(Redaction::none(), Arc::clone(&outbox))];
        let sampler = Sampler {
            host: Arc::clone(&core.host),
            registry: Arc::clone(&registry),
            describer: Describer { engine: None, engine_version: None, cpu_count: 1 },
            publisher: Publisher::new(opened, outboxes, Arc::clone(&problems)),
            problems,
            followers: Vec::new(),
            process_cpu: CpuClock::default(),
            machine: Machine::default(),
        };
        Self { core, registry, outbox, sampler }
    }

    fn begin(&self, source: impl QuerySource) -> ActiveQuery {
        let query = self.core.unfollowed(Query::new(), Arc::new(source));
        self.registry.register(&query);
        ActiveQuery::new(query)
    }
}

#[test]
fn too_many_queries_at_a_time_are_counted_and_run_unfollowed() {
    let mut followed = Followed::at_most(2);
    let (first, _second, _third) =
        (followed.begin(Nothing), followed.begin(Nothing), followed.begin(Nothing));
    assert_eq!(followed.registry.unfollowed(), 1);
    assert!(followed.sampler.step());
    let _fourth = followed.begin(Nothing);
    assert_eq!(followed.registry.unfollowed(), 2, "two run");
    first.finish();
    followed.sampler.step();
    let _fifth = followed.begin(Nothing);
    let enqueued = followed.outbox.stats().enqueued;
    assert_eq!((followed.registry.unfollowed(), enqueued), (2, 1), "one has ended");
    followed.registry.close();
    let _sixth = followed.begin(Nothing);
    assert_eq!(followed.registry.unfollowed(), 3, "the end");
}

/// A query during whose last sample another one begins, as on another thread.
struct Meanwhile(Arc<Registry>, Mutex<Option<Arc<Shared>>>);

impl QuerySource for Meanwhile {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {
        if let Some(query) = self.1.lock().expect("no panic").take() {
            self.0.register(&query);
        }
    }
}

#[test]
fn the_place_of_a_query_is_free_as_soon_as_it_is_told_of() {
    let mut followed = Followed::at_most(2);
    let next = followed.core.unfollowed(Query::new(), Arc::new(Nothing));
    let first = followed.begin(Nothing);
    let second = followed.begin(Meanwhile(Arc::clone(&followed.registry), Mutex::new(Some(next))));
    first.finish();
    second.finish();
    followed.sampler.step();
    assert_eq!(followed.registry.unfollowed(), 0, "the first had ended and been told of");
}
