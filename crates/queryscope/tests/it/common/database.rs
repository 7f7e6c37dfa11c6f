//! PostgreSQL databases that can be looked into and damaged.

use queryscope_postgres_server::Server;

/// A server whose schemas are databases of their own.
pub(crate) struct Databases {
    server: Server,
}

/// One of them.
pub(crate) struct Database<'s> {
    server: &'s Server,
    name: String,
}

impl Databases {
    pub(crate) fn start() -> Self {
        Self { server: Server::start(&["fsync=off", "synchronous_commit=off", "full_page_writes=off"]) }
    }

    /// A new, empty one.
    pub(crate) fn make(&self, name: &str) -> Database<'_> {
        self.server.run(&format!("CREATE SCHEMA {name}"));
        Database { server: &self.server, name: name.to_owned() }
    }
}

impl Database<'_> {
    pub(crate) fn address(&self) -> String {
        self.server.address(&self.name)
    }

    /// Runs statements; what they select, a line a row.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.server.run(&format!("SET search_path = {}; {sql}", self.name))
    }

    /// A number that a statement selects.
    pub(crate) fn count(&self, sql: &str) -> u64 {
        self.sql(sql).parse().expect("a number")
    }

    /// Ends the connections of everybody who uses the server; how many there were.
    pub(crate) fn cut_connections(&self) -> u64 {
        self.count(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'queryscope'",
        )
    }

    /// The same rows under another name; it can be looked at and not be written to.
    pub(crate) fn copy(&self, name: &str) -> Self {
        let copy = Self { server: self.server, name: name.to_owned() };
        copy.server.run(&format!(
            "CREATE SCHEMA {name};
             DO $$ DECLARE name text; BEGIN
                 FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '{}' LOOP
                     EXECUTE format('CREATE TABLE {name}.%I AS TABLE {}.%I', name, name);
                 END LOOP;
             END $$",
            self.name, self.name
        ));
        copy
    }
}
