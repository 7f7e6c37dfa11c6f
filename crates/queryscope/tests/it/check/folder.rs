//! A sound data folder with everything that can be damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Service, copy, queryscope, wait_for};

/// A stopped folder of one stream and six queries:
/// `$A` finished and sealed, with a late event beside its recording; `$B` finished and sealed; `$U` unfinished
/// and sealed; `$C` finished, in two chunks; `$D` finished, in one; `$R` running.
#[derive(Clone)]
pub(crate) struct Folder {
    pub(crate) data: PathBuf,
    pub(crate) stream: Stream,
    pub(crate) events: Vec<String>,
    queries: BTreeMap<&'static str, Uuid>,
}

impl Folder {
    pub(crate) fn make(root: &Path) -> Self {
        Self::sealed(root, false)
    }

    /// As [`Folder::make`], the recordings of `$A` and `$B` in one pack.
    pub(crate) fn packed(root: &Path) -> Self {
        Self::sealed(root, true)
    }

    fn sealed(root: &Path, in_pack: bool) -> Self {
        let mut folder = Self {
            data: root.join("sound"),
            stream: Stream::new(),
            events: Vec::new(),
            queries: ["$A", "$B", "$C", "$D", "$R", "$U"].map(|name| (name, Uuid::now_v7())).into(),
        };
        let id = |name| folder.queries[name];
        let stream = &mut folder.stream;
        let ended = [
            stream.finished(id("$B"), "quick"),
            stream.started(id("$A"), "slow"),
            stream.started(id("$U"), "slow"),
            stream.finished(id("$A"), "slow"),
        ];
        let open = [
            stream.started(id("$C"), "slow"),
            stream.finished(id("$D"), "quick"),
            stream.started(id("$R"), "slow"),
        ];
        let late = [stream.finished(id("$C"), "slow"), stream.progress(id("$A"))];
        let [b, a_begins, u, a_ends] = ended.clone();
        if in_pack {
            folder.seal(root, &[b, a_begins, a_ends], 2);
        } else {
            folder.seal(root, &[b], 1);
            folder.seal(root, &[a_begins, a_ends], 2);
        }
        folder.seal(root, &[u], 3);
        folder.post(&[&open, &late]);
        folder.events = [&ended[..], &open, &late].concat();
        folder
    }

    /// Stores events, and serves until so many recordings are sealed.
    fn seal(&self, root: &Path, events: &[String], recordings: usize) {
        self.import(root, events);
        let service = Service::start_with(&self.data, &["--silent-after", "200ms"]);
        wait_for("recordings", || (self.recordings() == recordings).then_some(()));
        service.stop();
    }

    /// Stores batches, and seals nothing of them.
    fn post(&self, batches: &[&[String]]) {
        let service = Service::start_with(&self.data, &["--seal-within", "60s"]);
        for events in batches {
            assert_eq!(service.post(&self.stream.batch(events)).status, 202);
        }
        service.stop();
    }

    fn import(&self, root: &Path, events: &[String]) {
        let file = root.join("events.jsonl");
        fs::write(&file, self.stream.batch(events)).expect("written");
        let [data, file] = [&self.data, &file].map(|path| path.to_string_lossy());
        queryscope(["import", "--data", &data, &file]).success();
    }

    /// Recordings the store points to.
    fn recordings(&self) -> usize {
        self.one("SELECT count(*) FROM query WHERE sealed_day IS NOT NULL")
    }

    /// The same in another place.
    pub(crate) fn copy(&self, to: &Path) -> Self {
        copy(&self.data, to);
        Self { data: to.to_owned(), ..self.clone() }
    }

    pub(crate) fn id(&self, name: &str) -> Uuid {
        self.queries[name]
    }

    /// Puts something in the place of the queries' names.
    pub(crate) fn fill_in(&self, text: &str, with: impl Fn(Uuid) -> String) -> String {
        self.queries.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, &with(*id)))
    }

    /// Changes the database; a query's name stands for its row.
    pub(crate) fn sql(&self, sql: &str) {
        let (db, sql) = self.open(sql);
        db.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(db.total_changes() > 0, "{sql} changes nothing");
    }

    /// Reads one value from the database.
    pub(crate) fn one<T: rusqlite::types::FromSql>(&self, sql: &str) -> T {
        let (db, sql) = self.open(sql);
        db.query_row(&sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn open(&self, sql: &str) -> (Connection, String) {
        let db = Connection::open(self.data.join("queryscope.db")).expect("the database");
        let row = |id: Uuid| format!("(SELECT id FROM query WHERE query_id = X'{}')", id.simple());
        (db, self.fill_in(sql, row))
    }

    /// The pack.
    pub(crate) fn pack(&self) -> PathBuf {
        let recordings = self.data.join("recordings");
        let named: String = self.one("SELECT lower(printf('%016x', number)) FROM pack WHERE runs > 0");
        find(&recordings, &format!("{named}.zip")).expect("there is one")
    }

    /// The file of a sealed query.
    pub(crate) fn recording(&self, name: &str) -> PathBuf {
        let file = format!("{}.jsonl.gz", self.id(name));
        find(&self.data.join("recordings"), &file).expect("it is sealed")
    }
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    fs::read_dir(folder)
        .ok()?
        .map(|entry| entry.expect("an entry").path())
        .find_map(|path| if path.is_dir() { find(&path, name) } else { path.ends_with(name).then_some(path) })
}
