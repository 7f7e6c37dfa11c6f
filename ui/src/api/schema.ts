// Written by `npm run types` from schemas/openapi.json.
import type { Milliseconds, UnixNs } from "../units";
export interface paths {
    "/api/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Says who you are to the service, and whether anybody may read.
         * @description A service that is open on an address beyond its machine shows what it has to the whole network. Three ways restrict
         *     that: `--login`, `--trusted-proxy` with `--proxy-user-header`, or an address of this machine alone behind a proxy of
         *     your own.
         */
        get: operations["you"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists who logged in, failed to, and changed who may do what or what others see. For administrators of all projects.
         * @description The newest 100,000 entries are kept; the retention of runs does not touch them. On a service that is open, this
         *     needs a token with the scope `admin`.
         */
        get: operations["audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what changed in queries: since when, why, and what it costs.
         * @description Each run that ended is compared with the runs of its query and environment before it, within seconds of its
         *     end. A change is stored once, and moves on as runs arrive: its figures grow, and it is over when runs are again as
         *     they were before. `slower` and `failing` changes are regressions; `data_grew` is none.
         *
         *     The filters `environment` and `host` keep changes of the runs of that environment or of that host alone; a change of
         *     the runs of all hosts has no host. A page that is not the last names the next in `next` and in the `Link` header.
         *     Costs grow while pages are read: a change may be on two pages or on none.
         */
        get: operations["changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One change. */
        get: operations["change"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compares two runs.
         * @description Nodes are matched over both plans, also where the plan changed, and the difference of the wall times is accounted
         *     for in whole nanoseconds, as that of a change is: its parts sum to it exactly. What the change between both runs
         *     puts down to a host or a version, the account does as well. Without `base`, a run since the open change of its
         *     query, where there is one, is compared with a typical run from before the change. Any other run is compared
         *     with the usual one: of the up to 100 finished runs of its plan, label and service that began before it, else of
         *     those of its label and service, the one whose wall time is nearest their median. `base_fingerprint`,
         *     `base_program_version`, `base_host`, `base_since` and `base_until` ask for a typical run among those of its label
         *     and service that they keep: of the 100 newest finished ones, before or after it, the one nearest their median.
         */
        get: operations["compare"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists deploys: those that were posted, and versions of programs and engines that processes named after another one.
         * @description A version counts once for each service and environment, from the start of its first run. A process of an earlier
         *     version that goes on, or comes later, is no deploy.
         */
        get: operations["deploys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/differences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tells what the slow runs of a query have in common that its other runs have not: hosts, versions, plans,
         *     hours of the day, rows, bytes and waiting. Needs `label` and `service` (empty: none).
         * @description With `first=failed`, those that failed are held against those that finished, by what each run has (host, version,
         *     plan, hour) and not by its numbers. With `base_since` or `base_program_version`, the runs asked for are held against
         *     those instead. It looks at the last 500 ended runs of the query that were evaluated, and says nothing where a group
         *     has fewer than 5. Each effect is Cliff's delta, with its probability by the Mann-Whitney test.
         */
        get: operations["differences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/findings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Findings of runs that do not run, as a table: those that senders sent, else those of this service.
         * @description They are read from the recordings: ask for a stretch of time, or a label.
         */
        get: operations["findings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/issues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Issues as a table: what `/api/issues` says of each. */
        get: operations["exported_issues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Nodes of the physical plans of runs that do not run, as a table, with their counters.
         * @description They are read from the recordings: ask for a stretch of time, or a label.
         */
        get: operations["nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs as a table: what `/api/queries` says of each.
         * @description `started_at` is a point in time, `started_unix_ns` the same as a number, `rules` are separated by commas. A cell
         *     of CSV that a spreadsheet would take for a formula begins with an apostrophe. An answer that is cut off was not
         *     read to its end.
         */
        get: operations["runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counts queries by service, environment, host, versions of engine and program, and status.
         * @description Each field is counted under the filters on the others, the most frequent value first. A value that occurs
         *     under the filters on project, label and time is listed also when it has no queries under the rest.
         *
         *     A `filter` in words cannot ask for `error`, `engine` or words to search for here. Its figures but `wall` are rounded
         *     to 0.05 %.
         */
        get: operations["facets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Groups queries by label or plan, the group run most recently first. Queries without one belong to no group.
         * @description With `limit`, every page that is not the last carries a `Link` header with `rel="next"`. A group that runs again
         *     moves to the front and is not on later pages.
         */
        get: operations["groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what changed for the worse in queries and needs somebody, with a state that people and the service move.
         * @description There is one issue for each project, service, label and kind. It opens when the service has confirmed a change and
         *     enough time is at stake, and is resolved by a person, or by the service once the change is over and five more runs
         *     confirm it. A resolved issue that comes back is the same issue, `regressed`.
         *
         *     A page that is not the last names the next in `next` and in the `Link` header. Figures move while pages are read: an
         *     issue may be on two pages or on none.
         */
        get: operations["issues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One issue, with the change it is about, its transitions and its notes. */
        get: operations["issue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that somebody knows of an issue. */
        post: operations["acknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/{id}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keeps an issue quiet until a time, until it is so many times worse, or until another version runs. */
        post: operations["mute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/{id}/note": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Adds a note to an issue. */
        post: operations["note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/{id}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes back an acknowledgement, a mute or a resolution. */
        post: operations["reopen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/issues/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that an issue is over. It comes back, `regressed`, with a later change, or with five more bad runs. */
        post: operations["resolve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follows the running queries.
         * @description A stream of server-sent events: first `snapshot` (a `LiveSnapshot`: the running queries and their latest
         *     samples), then `query` (a `QuerySummary`) when a query starts, ends, runs again or shows something new, and
         *     `pulse` (a `Pulse`) with each new sample. A `pulse` carries the new values of `threads` alone: append them to
         *     those of the snapshot and keep the last 120. `change` (a `Change`) comes when a change
         *     of a query is found or moves on, and `issue` (an `Issue`) when an issue makes a transition. `omitted`
         *     (`{"queries": n}`) says that n queries that ended before they were seen running were not told of, because there are
         *     too many; the list has them.
         *
         *     A comment comes every 15 s. Every message has an `id`; with the last one as `Last-Event-ID` the stream goes on
         *     behind it, or begins with a `snapshot` when that is too long ago. A reader that does not keep up is cut off.
         */
        get: operations["running"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/live/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follows one query.
         * @description A stream of server-sent events: `events`, whose data are the query's events as JSON Lines, byte for byte as
         *     they were sent, one `data:` line an event; those so far in several messages of some 256 KiB, then each new
         *     batch; at last `finished` (a `QuerySummary`) when the query ends or turns unfinished, and the stream ends.
         *     For a query that does not run, its events and `finished` come at once.
         *
         *     The first `events` begins with the process event; one that begins so later replaces all before it.
         *
         *     A comment comes every 15 s. Every message has an `id`; with the last one as `Last-Event-ID` the stream goes on
         *     behind it, also after a restart of the service. After `finished` the answer to it is 204 until the query reports
         *     again. A reader that does not keep up is cut off.
         */
        get: operations["one"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists notes on queries.
         * @description They stay until a person deletes them, also when retention has deleted all runs of their query.
         */
        get: operations["query_notes"];
        put?: never;
        /**
         * Adds a note to a query: a label in one service of one project.
         * @description The query need not have a run. It may have 1,000 notes, and the store takes 10,000.
         */
        post: operations["add_query_note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Puts a text in place of that of a note, whoever wrote it. Author, moment and time of writing stay. */
        put: operations["edit_query_note"];
        post?: never;
        /** Deletes a note. */
        delete: operations["delete_query_note"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compares what each label did lately with what it usually does.
         * @description Lately are the runs of the last 24 hours of the range, or the last three; usual are the runs that finished
         *     in the 14 days before them. The label that took the most time comes first, unless `order` says otherwise.
         *
         *     With `limit`, every page that is not the last carries a `Link` header with `rel="next"`. All pages are of the
         *     range of the first one; a label whose time changes between two pages may be on both or on neither.
         */
        get: operations["overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/owners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the owners of queries, by the file of settings; of one project, the owners of its issues. */
        get: operations["owners"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/places": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tells what ran where: runs by state, their wall time, their CPU time and the bytes they read, by service,
         *     environment, host and owner, the place of the most wall time first. Runs that failed count with the time they took.
         */
        get: operations["places"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists queries.
         * @description Every page that is not the last carries a `Link` header with `rel="next"`. Following it neither skips nor
         *     repeats a query while new ones arrive, and costs the same on every page.
         */
        get: operations["list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Gives one query. */
        get: operations["query"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queries/{id}/insights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Says what is wrong with a query.
         * @description The findings its sender sent; where it sent none, or the query still runs, those of this service's rules over its
         *     plan and latest counters.
         */
        get: operations["insights"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queries/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Judges a query by its earlier runs, and says how long a running one may still take.
         * @description A running query is judged by one set of runs in all that is said of it: the evaluated ones of its label and service
         *     since the open change of the query, where there is one, of its plan where enough are; scaled by the rows it has read
         *     beyond theirs. Where too few were evaluated, by the wall times of the earlier runs of its plan; where a change is
         *     open, of those from before it.
         */
        get: operations["progress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queries/{id}/recording": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Gives the events of a query that does not run: byte for byte the lines that were sent, the process event
         *     first, each once, in the order of their seqs.
         * @description The body is one gzip member. A browser saves it decoded, as `<query id>.jsonl`; so does `curl --compressed -OJ`.
         *     Damage that is found after the answer has begun ends the connection before the body is whole.
         */
        get: operations["recording"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the routes by which messages of issues go, with what became of them, and the rules of owners.
         * @description The file that `--config` names holds them; they are changed there.
         */
        get: operations["routes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/senders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the senders that this collector heard of since its start: what they sent, what of it was refused, and what
         *     they say they dropped.
         * @description It is kept in memory, for up to 4,096 senders: when another comes, the 512 heard longest ago are forgotten. Of
         *     several collectors on one database, each answers of the batches that it received itself. Batches with a wrong token
         *     are of no sender.
         */
        get: operations["senders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tells how the wall times of runs developed: for each slice of the range, runs, failures, the median and the 95th
         *     percentile of those that finished.
         * @description `until` is now, unless an earlier time is given, and `since` 14 days before it; at most 90 days.
         *
         *     A `filter` in words cannot ask for `error`, `engine` or words to search for here. Its figures but `wall` are rounded
         *     to 0.05 %.
         */
        get: operations["series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/service": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says how the service is set up, and what its store holds. For readers of all projects. */
        get: operations["service"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the sessions of users: an administrator of one project sees those of its users. */
        get: operations["sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a session: its user is asked for a login, and its live streams end, within seconds. */
        post: operations["end_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tokens of the store, without their texts: an administrator of one project sees those of that project. */
        get: operations["tokens"];
        put?: never;
        /** Makes a token; its text is in this answer and nowhere else. Collectors take it within a second. */
        post: operations["add_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{name}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revokes a token: collectors refuse it, and end its live streams, within seconds. */
        post: operations["revoke_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the users: an administrator of one project sees those of that project. */
        get: operations["users"];
        put?: never;
        /** Makes a user who logs in with a password. */
        post: operations["add_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{name}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives a user another role and project, or another password, which ends the user's sessions.
         * @description Of a user of a provider of logins, the role holds until the next login, and there is no password.
         */
        post: operations["change_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{name}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Removes a user and ends the user's sessions. */
        post: operations["remove_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Gives each plan a label finished with at least once, the plan that ran last first. Needs `label`. */
        get: operations["versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the views of the page of queries that people share. */
        get: operations["shared_views"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/views/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Shares a view in a project under a name, in place of the one that has it.
         * @description A project may share 100 views, and the store takes 1,000.
         */
        put: operations["share_view"];
        post?: never;
        /** Takes a shared view away. */
        delete: operations["unshare_view"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deploys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tells of a deploy.
         * @description An issue names the deploys between its last good run and its first bad one, so post when the deploy begins, or give
         *     its time. The call is idempotent: where the last deploy before it, of the same service and environment, has the same
         *     version and commit, it is that one, answered with 200. So a build that posts again says nothing new, and a way back
         *     to an earlier version is a deploy of its own.
         *
         *     Versions that processes name themselves are deploys without a call. One that was posted as well is the posted one.
         *     The token is one for sending, whose project the deploy is of, or one of an administrator. Where users log in,
         *     editors post with their session.
         */
        post: operations["post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receives a batch of events.
         * @description The body is JSON Lines in the format events@1, the process event first, plain or gzip. It is answered once
         *     every event is stored durably; an event is identified by its stream and its seq, so sending again stores
         *     nothing twice. Blank lines are passed over and count in `line`.
         *
         *     A batch is stored whole or not at all. Every member the format names is checked, those of nodes, counters and
         *     findings included; null stands for none where a member of a profile, node or finding is optional, except `role` and
         *     `evidence`. One member that is not as the format wants it refuses the batch with 400, and the error names the
         *     member, what is allowed and what is there: `profile.plan.physical[2].id must be an integer >= 0, got "x"`. A batch
         *     is refused with 400, too, when it holds an event of a query that another stream has reported; `line` is the first
         *     event of that query. Durations are at most ten years (315,360,000,000 ms).
         *
         *     Labels, fingerprints, services, environments and hosts of more than 512 characters are shortened in what the
         *     read API answers: their first 495 characters, `…`, and 16 hex digits of the SHA-256 of the whole. An error text ends
         *     after 4,096 characters. The recording has them whole. An empty label, fingerprint, service or environment is none.
         */
        post: operations["events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says that the service lives, and whether all that it needs can be reached. */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description The principal of the request, and whether anybody may read.
         * @example {
         *       "is_open": false,
         *       "is_reachable": true,
         *       "is_session": true,
         *       "name": "ada",
         *       "project": null,
         *       "role": "editor"
         *     }
         */
        Access: {
            /** @description Whether anybody who reaches this address may read and act on issues. */
            is_open: boolean;
            /** @description Whether other machines may reach this address. */
            is_reachable: boolean;
            /** @description Whether you logged in here, and so may log out. */
            is_session: boolean;
            /** @description Your name, or that of your token; null where nobody says. */
            name?: string | null;
            /** @description The only project you may read; null for all. */
            project?: string | null;
            /** @description What you may do. */
            role: components["schemas"]["Role"];
        };
        /**
         * @description What was done.
         * @enum {string}
         */
        AccessAction: "login" | "login_failed" | "logout" | "session_ended" | "user_added" | "user_removed" | "password_changed" | "role_changed" | "token_added" | "token_revoked" | "issue_muted" | "note_edited" | "note_deleted" | "view_shared" | "view_deleted" | "settings_changed";
        /** @description What a difference in wall time is made of, in whole nanoseconds: the parts sum to it exactly. */
        Account: {
            /**
             * Format: int64
             * @description Wall time of the base.
             */
            base_wall_ns: number;
            /**
             * Format: int64
             * @description The run's minus the base's.
             */
            difference_ns: number;
            /** @description Its parts: those that go the way of the difference first, the largest of each way first. */
            parts: components["schemas"]["AccountPart"][];
            /**
             * Format: int64
             * @description Wall time of the run.
             */
            run_wall_ns: number;
        };
        /** @description A part of a difference. */
        AccountPart: {
            /** @description What it is put down to. */
            cause: components["schemas"]["CauseKind"];
            dimension?: components["schemas"]["ChangeDimension"] | null;
            /** @description The figures it rests on. */
            evidence: components["schemas"]["CauseEvidence"][];
            node?: components["schemas"]["ChangeNode"] | null;
            /**
             * Format: int64
             * @description How much, in nanoseconds; negative where it made the run faster. What happened at a node because of another
             *     host or version has 0: its time is counted at that dimension.
             */
            ns: number;
            /** @description It in words; empty for what is not explained. */
            sentence: string;
        };
        /** @description The log of access. */
        Audit: {
            /** @description Entries, the newest first. */
            entries: components["schemas"]["AuditEntry"][];
            /**
             * Format: int64
             * @description The `before` of the next page; null where this is the last.
             */
            next?: number | null;
        };
        /** @description One thing that was done. */
        AuditEntry: {
            /** @description What was done. */
            action: components["schemas"]["AccessAction"];
            /** @description The name of the user or token that did it; null where nobody says. */
            actor?: string | null;
            /** @description The address it was done from; null for a command on the machine. */
            address?: string | null;
            /** @description What it was done to: the name of a user, a token or a view, the id of an issue, or the label of a query. */
            subject?: string | null;
            /**
             * Format: int64
             * @description When, in Unix nanoseconds.
             */
            unix_ns: UnixNs;
        };
        /** @description The node that worked most. */
        Busiest: {
            /**
             * Format: int64
             * @description Id of the node in the physical plan.
             */
            id: number;
            /** @description Its kind; empty when the plan is not known. */
            kind: string;
            /**
             * Format: double
             * @description Threads it kept busy.
             */
            threads: number;
        };
        /** @description A figure on both sides: medians, unless the name says otherwise. */
        CauseEvidence: {
            /**
             * Format: double
             * @description After.
             */
            after?: number | null;
            /**
             * Format: double
             * @description Before.
             */
            before?: number | null;
            /** @description What it is. */
            name: string;
            /** @description Its unit. */
            unit: string;
        };
        /**
         * @description What caused a part of a difference.
         * @enum {string}
         */
        CauseKind: "more_rows" | "plan_change" | "slower_per_row" | "fewer_threads" | "starved_cpu" | "waiting" | "spilling" | "skew" | "user_code" | "planning" | "host" | "engine_version" | "program_version" | "contention" | "failures" | "unexplained";
        /** @description A change of a query. */
        Change: {
            /** @description Runs after. */
            after: components["schemas"]["ChangeSide"];
            /** @description Runs before. */
            before: components["schemas"]["ChangeSide"];
            /** @description Causes, the largest share first. */
            causes: components["schemas"]["ChangeCause"][];
            /**
             * Format: int64
             * @description The end of the run that made the service sure, or its start where that came later.
             */
            confirmed_unix_ns?: UnixNs | null;
            /** @description What it cost. */
            cost: components["schemas"]["ChangeCost"];
            /** @description The environment whose runs changed. */
            environment?: string | null;
            /** @description Two typical runs. */
            examples: components["schemas"]["ChangeExamples"];
            /**
             * Format: double
             * @description After by before: of the medians, or of the rates of failures. Null where none failed before.
             */
            factor?: number | null;
            /** @description What also changed and is no cause. */
            harmless: string[];
            /** @description The host whose runs changed, where those of the others did not, or by much less. */
            host?: string | null;
            /** @description Stable for the life of the change. */
            id: string;
            /** @description What changed. */
            kind: components["schemas"]["ChangeKind"];
            /** @description The query's label. */
            label?: string | null;
            /** @description The query's project; whoever stores the change knows it, the detector does not. */
            project?: string | null;
            /**
             * Format: int64
             * @description When runs were as before.
             */
            recovered_unix_ns?: UnixNs | null;
            /** @description The query's service. */
            service?: string | null;
            /** @description That run. */
            since_query_id: string;
            /**
             * Format: int64
             * @description Start of the first run after it.
             */
            since_unix_ns: UnixNs;
            /** @description What became of it. */
            state: components["schemas"]["ChangeState"];
        };
        /** @description A cause and its part of a difference. */
        ChangeCause: {
            /** @description What it is. */
            cause: components["schemas"]["CauseKind"];
            dimension?: components["schemas"]["ChangeDimension"] | null;
            /** @description The figures it rests on. */
            evidence: components["schemas"]["CauseEvidence"][];
            node?: components["schemas"]["ChangeNode"] | null;
            /** @description It in words. */
            sentence: string;
            /**
             * Format: double
             * @description Its share of the difference, 0 to 1; those of all causes sum to 1. What happened at a node because of
             *     another host or version has the share 0: its milliseconds are counted at that dimension.
             */
            share: number;
            /**
             * Format: double
             * @description Its part of the difference of the medians, in milliseconds.
             */
            wall_ms: Milliseconds;
        };
        /** @description What a change has cost so far. */
        ChangeCost: {
            /**
             * Format: double
             * @description CPU time over the usual, in milliseconds.
             */
            extra_cpu_ms: Milliseconds;
            /**
             * Format: double
             * @description Wall time over the usual, in milliseconds.
             */
            extra_wall_ms: Milliseconds;
            /**
             * Format: int64
             * @description Runs since it began.
             */
            runs: number;
            /**
             * Format: double
             * @description Wall time over the usual that a day costs, in milliseconds; of failures that of the results that are missing.
             */
            wall_ms_a_day: number;
        };
        /** @description What runs after a change have that those before have not. */
        ChangeDimension: {
            /** @description After. */
            after?: string | null;
            /** @description Before. */
            before?: string | null;
            /** @description `host`, `engine_version` or `program_version`. */
            name: string;
        };
        /** @description Two typical runs. */
        ChangeExamples: {
            /** @description Before. */
            base?: string | null;
            /** @description After. */
            run?: string | null;
        };
        /**
         * @description What changed.
         * @enum {string}
         */
        ChangeKind: "slower" | "faster" | "failing" | "data_grew";
        /** @description A node of the plan. */
        ChangeNode: {
            /**
             * Format: int64
             * @description Its id in the profile of the example run.
             */
            id: number;
            /** @description The engine's name for what it is. */
            kind: string;
            /** @description The table it scans. */
            table?: string | null;
        };
        /** @description Changes of queries. */
        Changes: {
            /** @description Those with the most wall time a day at stake first. */
            changes: components["schemas"]["Change"][];
            /** @description The `cursor` of the next page; null where this is the last. */
            next?: string | null;
        };
        /** @description Runs on one side of a change. */
        ChangeSide: {
            /**
             * Format: int64
             * @description Runs that failed.
             */
            failed: number;
            /**
             * Format: double
             * @description Upper bound, in milliseconds.
             */
            high_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description Lower bound of the median's interval of 95 %, in milliseconds.
             */
            low_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description Median CPU time, in milliseconds.
             */
            median_cpu_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description Median wall time of those that finished, in milliseconds.
             */
            median_wall_ms?: Milliseconds | null;
            /**
             * Format: int64
             * @description Ended runs that the medians are of, and those that failed; cancelled ones left out. Since the change they are
             *     counted anew with the medians, once a fifth more of them ended: `cost` has all.
             */
            runs: number;
        };
        /**
         * @description What became of a change.
         * @enum {string}
         */
        ChangeState: "open" | "recovered" | "superseded";
        /** @description Two runs side by side. */
        Comparison: {
            /** @description What the difference in wall time is made of, as a change tells it. */
            account: components["schemas"]["Account"];
            /** @description What the run is compared with. */
            base: components["schemas"]["QuerySummary"];
            /** @description Fingerprint of the physical plan of the base. */
            base_physical_fingerprint: string;
            /** @description How the base was chosen. */
            basis: components["schemas"]["ComparisonBasis"];
            /**
             * @description Id of the change of the query between them, newest first: the base began before it, and the run since, before
             *     runs were as usual again. Null where there is none.
             */
            change?: string | null;
            /** @description What is different between the plans, in the words of a planner; the changes of order first. */
            differences: components["schemas"]["PlanDifference"][];
            /** @description Nodes of both physical plans: those of the run in its order, then those only the base has. */
            nodes: components["schemas"]["NodePair"][];
            /** @description The run. */
            run: components["schemas"]["QuerySummary"];
            /** @description That of the run. */
            run_physical_fingerprint: string;
            /** @description Of how many runs the base is the usual one; null where it was named. */
            runs?: number | null;
            /** @description Whether both ran the same physical plan: no node came, went or changed its shape. */
            same_plan: boolean;
        };
        /**
         * @description How the base of a comparison was chosen.
         * @enum {string}
         */
        ComparisonBasis: "named" | "plan" | "label" | "before_change" | "chosen";
        /** @description One difference of two groups of runs. */
        Contrast: {
            /**
             * Format: double
             * @description Cliff's delta: above 0 where the first group has more of it, from -1 to 1.
             */
            delta: number;
            /**
             * Format: double
             * @description Median of the number in the first group; null of a value.
             */
            first_median?: number | null;
            /** @description Runs of the first group that have the value, or of which the number is known. */
            first_runs: number;
            /** @description What differs. */
            name: components["schemas"]["Trait"];
            /**
             * Format: double
             * @description How probable so large an effect is by luck in one comparison; those of all comparisons together stay
             *     under 0.01.
             */
            probability: number;
            /**
             * Format: double
             * @description Median of the number in the second group; null of a value.
             */
            second_median?: number | null;
            /** @description Such runs of the second group. */
            second_runs: number;
            /** @description The value that the one group has more often, mostly the first; null where a number differs. */
            value?: string | null;
        };
        /** @description The runs of a local day that lie in the range. */
        Day: {
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /**
             * Format: double
             * @description Median wall time of those that finished, in milliseconds; null where none did.
             */
            median_wall_ms?: Milliseconds | null;
            /**
             * Format: int64
             * @description Runs, of every state.
             */
            runs: number;
            /**
             * Format: int64
             * @description Runs of which nothing was heard for too long; they are not among the failed.
             */
            unfinished: number;
        };
        /** @description A deploy. */
        Deploy: {
            /** @description The commit, where it was posted. */
            commit?: string | null;
            /** @description The engine that has the version, where its text names one; null for programs. */
            engine?: string | null;
            /** @description The environment; null where none was named. What was posted without one was deployed to all. */
            environment?: string | null;
            /** @description Stable for the life of the deploy. */
            id: string;
            /**
             * Format: int64
             * @description When the version was seen last, to the hour, in Unix nanoseconds.
             */
            last_unix_ns: UnixNs;
            /** @description The project of the service. */
            project: string;
            /** @description The service; null for programs that name none. */
            service?: string | null;
            /** @description Where it is known from. */
            source: components["schemas"]["DeploySource"];
            /** @description What has the version. */
            subject: components["schemas"]["DeploySubject"];
            /**
             * Format: int64
             * @description When, in Unix nanoseconds: as posted, or when the first run with the version started.
             */
            unix_ns: UnixNs;
            /** @description Where people read more, where it was posted. */
            url?: string | null;
            /** @description The version. */
            version: string;
        };
        /** @description A deploy, as a build system posts it. */
        DeployBody: {
            /**
             * @description The commit, up to 200 characters.
             * @example 4f2a9c1
             */
            commit?: string | null;
            /**
             * @description The environment it was deployed to, up to 512 characters; left out for all.
             * @example prod
             */
            environment?: string | null;
            /**
             * @description The service that was deployed, as its processes name it, up to 512 characters; left out for programs that name
             *     none.
             * @example orders-etl
             */
            service?: string | null;
            /**
             * Format: int64
             * @description When it began, in Unix nanoseconds, at most an hour ahead; left out for now.
             * @example 1795000000000000000
             */
            unix_ns?: UnixNs | null;
            /**
             * @description Where people read more: an address with http or https, up to 2,000 characters; empty for none.
             * @example https://ci.example/builds/17
             */
            url?: string | null;
            /**
             * @description The version, 1 to 512 characters, best the one that processes name as their own.
             * @example 2026.11.3
             */
            version: string;
        };
        /** @description Deploys of services. */
        Deploys: {
            /** @description The last one first. */
            deploys: components["schemas"]["Deploy"][];
            /** @description The `cursor` of the next page; null where this is the last. */
            next?: string | null;
        };
        /**
         * @description Where a deploy is known from.
         * @enum {string}
         */
        DeploySource: "posted" | "seen";
        /**
         * @description What has the version.
         * @enum {string}
         */
        DeploySubject: "program" | "engine";
        /**
         * @description What two groups of a query's runs differ in.
         * @example {
         *       "delta": 1,
         *       "differences": [
         *         {
         *           "delta": 0.92,
         *           "first_median": null,
         *           "first_runs": 28,
         *           "name": "host",
         *           "probability": 2.1e-21,
         *           "second_median": null,
         *           "second_runs": 1,
         *           "value": "worker-3"
         *         }
         *       ],
         *       "first": {
         *         "least_ms": 71210.9,
         *         "median_ms": 93512.4,
         *         "most_ms": 118034,
         *         "runs": 30
         *       },
         *       "judgement": null,
         *       "known_runs": 120,
         *       "probability": 1.2e-15,
         *       "runs_min": 5,
         *       "second": {
         *         "least_ms": 36001.2,
         *         "median_ms": 39702.8,
         *         "most_ms": 52119.3,
         *         "runs": 90
         *       }
         *     }
         */
        Differences: {
            /**
             * Format: double
             * @description Cliff's delta of the wall times: above 0 where the first ones are slower, from -1 to 1. Null where a
             *     group has too few runs, and of runs that failed.
             */
            delta?: number | null;
            /**
             * @description What differs, the largest effect first: those that luck alone explains in less than one of a hundred
             *     cases, over all comparisons that were made.
             */
            differences: components["schemas"]["Contrast"][];
            /**
             * @description The slow runs, those that failed, or those that were asked for. Empty where no runs are much slower than the
             *     others.
             */
            first: components["schemas"]["RunGroup"];
            judgement?: components["schemas"]["TimeJudgement"] | null;
            /** @description Runs of the query that are looked at: of its last 500 that ended, those in the time asked for. */
            known_runs: number;
            /**
             * Format: double
             * @description How probable so large a difference of the wall times is by luck; null where `delta` is. Of the slow runs
             *     it says nothing: they were chosen by their time.
             */
            probability?: number | null;
            /** @description Runs that each group needs: with fewer, nothing is said. */
            runs_min: number;
            /** @description The other runs, or those they are held against. */
            second: components["schemas"]["RunGroup"];
        };
        /** @description A share of a query's time, 0 to 1. */
        Done: {
            /**
             * Format: double
             * @description If it takes as long as the shorter.
             */
            high: number;
            /**
             * Format: double
             * @description If it takes as long as the longer of the remaining times.
             */
            low: number;
        };
        /** @description What a note says from now on. */
        EditBody: {
            /** @description Your name, as where a note is added. */
            by?: string | null;
            /** @description The text, 1 to 10,000 characters, not of white space alone. */
            text: string;
        };
        /**
         * @description The body of every error.
         * @example {
         *       "error": "limit: 0 is not a whole number from 1 to 1000"
         *     }
         */
        Error: {
            /** @description What is wrong, and what is allowed. */
            error: string;
            /** @description The line of a batch that is to blame, counted from 1. */
            line?: number | null;
        };
        /**
         * @description What became of a batch.
         * @example {
         *       "accepted": 3,
         *       "duplicates": 0
         *     }
         */
        EventsAnswer: {
            /**
             * Format: int64
             * @description Events stored by this request.
             */
            accepted: number;
            /**
             * Format: int64
             * @description Events that had been stored before.
             */
            duplicates: number;
        };
        /** @description What a finding rests on. */
        Evidence: {
            /** @description What it is; the advice saves at most `saves_wall_at_most` of the run, `saves_cpu_at_most` in its nodes. */
            name: string;
            /** @description Unit of the value. */
            unit?: string | null;
            value?: components["schemas"]["EvidenceValue"] | null;
        };
        /** @description A number or a text. */
        EvidenceValue: number | string;
        /**
         * @description How many queries each value of a field has.
         * @example {
         *       "cancelled": 0,
         *       "engine_version": [
         *         {
         *           "engines": [
         *             "polars"
         *           ],
         *           "runs": 40,
         *           "value": "1.35.2"
         *         }
         *       ],
         *       "environment": [
         *         {
         *           "runs": 40,
         *           "value": "prod"
         *         }
         *       ],
         *       "host": [
         *         {
         *           "runs": 40,
         *           "value": "worker-1"
         *         }
         *       ],
         *       "program_version": [
         *         {
         *           "runs": 40,
         *           "value": "2026.11.3"
         *         }
         *       ],
         *       "service": [
         *         {
         *           "runs": 40,
         *           "value": "orders-etl"
         *         },
         *         {
         *           "runs": 0,
         *           "value": null
         *         }
         *       ],
         *       "status": [
         *         {
         *           "runs": 39,
         *           "value": "finished"
         *         },
         *         {
         *           "runs": 1,
         *           "value": "failed"
         *         }
         *       ]
         *     }
         */
        Facets: {
            /**
             * Format: int64
             * @description Of the queries counted as `failed` there, those that a person or the program stopped.
             */
            cancelled: number;
            /** @description Versions of their engines; null where it is not known. */
            engine_version: components["schemas"]["FacetValue"][];
            /** @description Where they run. */
            environment: components["schemas"]["FacetValue"][];
            /** @description Their machines. */
            host: components["schemas"]["FacetValue"][];
            /** @description Versions of the programs; null where they do not say it. */
            program_version: components["schemas"]["FacetValue"][];
            /** @description What the sending processes are. */
            service: components["schemas"]["FacetValue"][];
            /** @description States of the queries. */
            status: components["schemas"]["FacetValue"][];
        };
        /** @description A value and how many queries have it. */
        FacetValue: {
            /** @description Of a version of an engine: the engines that were seen with it, by name; null is one that its events do not name. */
            engines?: (string | null)[];
            /**
             * Format: int64
             * @description Queries that have it.
             */
            runs: number;
            /** @description The value; null is that of queries without the field. */
            value?: string | null;
        };
        /**
         * @description One thing that was found.
         * @example {
         *       "blocked_share": null,
         *       "cpu_share": 0.977739,
         *       "evidence": [
         *         {
         *           "name": "rows_out",
         *           "unit": "rows",
         *           "value": 11996728
         *         }
         *       ],
         *       "fix": "if keys repeat by mistake, remove the duplicates of one input first or join on the full key",
         *       "kind": "problem",
         *       "level": "warn",
         *       "node_id": 4294967300,
         *       "node_kind": "EquiJoin",
         *       "rule": "exploding_join",
         *       "title": "Join puts out 800x its larger input: 12.0 M rows"
         *     }
         */
        Finding: {
            /**
             * Format: double
             * @description The share of the query's wall time it is about, 0 to 1; null where unknown.
             */
            blocked_share?: number | null;
            /**
             * Format: double
             * @description The share of the query's CPU time it is about, 0 to 1; null where unknown.
             */
            cpu_share?: number | null;
            /** @description The numbers and texts it rests on. */
            evidence: components["schemas"]["Evidence"][];
            /** @description What to do about it. */
            fix?: string | null;
            /** @description What sort of finding it is, such as `problem`. */
            kind: string;
            /** @description How much it matters: `warn`, or another word of the sender's or `note`. */
            level: string;
            /**
             * Format: int64
             * @description The physical node it is about; null when it is about the whole query.
             */
            node_id?: number | null;
            /** @description The engine's name for that node. */
            node_kind?: string | null;
            /** @description Name of the rule that found it. */
            rule: string;
            /** @description The finding in one line. */
            title: string;
        };
        /**
         * @description What made the findings of an answer.
         * @enum {string}
         */
        FindingsSource: "sender" | "service";
        /**
         * @description The queries of one label or plan.
         * @example {
         *       "cancelled": 0,
         *       "failed": 1,
         *       "key": "orders/daily",
         *       "last_started_unix_ns": 1795206683609778700,
         *       "recent_wall_ms": [
         *         401.2,
         *         408.1,
         *         415.7
         *       ],
         *       "rules": [
         *         "exploding_join"
         *       ],
         *       "runs": 14,
         *       "total_wall_ms": 5308.4,
         *       "unfinished": 0,
         *       "usual_wall_ms": 408.1
         *     }
         */
        Group: {
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /** @description The label or the fingerprint. */
            key: string;
            /**
             * Format: int64
             * @description When the last of them started, in Unix nanoseconds.
             */
            last_started_unix_ns: UnixNs;
            /** @description Wall times of the last 30 that finished, the oldest first, in milliseconds. */
            recent_wall_ms: Milliseconds[];
            /** @description Rules that warned in any of them, by name. */
            rules: string[];
            /**
             * Format: int64
             * @description Queries, of every state.
             */
            runs: number;
            /**
             * Format: double
             * @description Wall time of those that finished, together, in milliseconds.
             */
            total_wall_ms: Milliseconds;
            /**
             * Format: int64
             * @description Those of the runs of which nothing was heard for too long; they are not among the failed.
             */
            unfinished: number;
            /**
             * Format: double
             * @description Median wall time of those that finished, in milliseconds; null when none did.
             */
            usual_wall_ms?: Milliseconds | null;
        };
        /**
         * @description That the service lives, and what it understands.
         * @example {
         *       "protocol": [
         *         "engine-telemetry/events@1"
         *       ],
         *       "reasons": [],
         *       "state": "ready",
         *       "status": "ok"
         *     }
         */
        Health: {
            /** @description Names of the batch format: the neutral one first, then those of engines configured or seen. */
            protocol: string[];
            /** @description Why it is degraded: a sentence for each thing that cannot be reached or is too much, with what that means. */
            reasons: string[];
            /** @description Whether all that it needs can be reached, and all that comes can be taken. */
            state: components["schemas"]["Readiness"];
            /** @description Always `ok`: the process lives. */
            status: string;
        };
        /** @description What was found in a query's plan and counters. */
        Insights: {
            /**
             * @description How many rules this service applied; 0 for a plan of more than 10,000 nodes, null where the sender's findings
             *     are given.
             */
            checked?: number | null;
            /**
             * Format: double
             * @description The time since the query's start that was looked at, in milliseconds.
             */
            elapsed_ms: Milliseconds;
            /** @description What was found, that about the most time first; in the sender's order where it found them. */
            findings: components["schemas"]["Finding"][];
            /**
             * @description Fingerprint of the physical plan. Another join algorithm or build side has another one, where the logical plan,
             *     and so the run's `fingerprint`, is the same.
             */
            physical_fingerprint: string;
            /** @description Id of the query. */
            query_id: string;
            /** @description What made the findings. */
            source: components["schemas"]["FindingsSource"];
            /** @description State of the query. */
            status: components["schemas"]["Status"];
        };
        /** @description What changed for the worse in a query: one for each project, service, label and kind. */
        Issue: {
            /** @description The file of the last run it is about that named one. */
            call_site?: string | null;
            /**
             * Format: int64
             * @description Runs as before in a row, of the five that resolve it.
             */
            calm_runs: number;
            /**
             * @description The change it is about, by id: the last one that was open. Retention may have deleted it. Null where it is about
             *     a run.
             */
            change?: string | null;
            /** @description What the service says of it; null where its change says it. */
            detail?: string | null;
            /** @description The version of the engine of the last run it is about that named one. */
            engine_version?: string | null;
            /** @description The environment whose runs changed. */
            environment?: string | null;
            /** @description The findings it is about, by rule; empty where it is about none. */
            findings?: string[];
            /**
             * Format: int64
             * @description Start of the last run before that one that was not, in Unix nanoseconds, where it is known.
             */
            good_unix_ns?: UnixNs | null;
            /** @description The host whose runs changed, where one host alone changed. */
            host?: string | null;
            /** @description Stable for the life of the issue. */
            id: string;
            /** @description What it is about. */
            kind: components["schemas"]["IssueKind"];
            /** @description The label of the query. */
            label: string;
            /**
             * Format: int64
             * @description When its last transition was, in Unix nanoseconds.
             */
            moved_unix_ns: UnixNs;
            mute?: components["schemas"]["IssueMute"] | null;
            /**
             * Format: int64
             * @description When it was opened first, in Unix nanoseconds.
             */
            opened_unix_ns: UnixNs;
            /** @description The owner of the query by the settings of the service; null where there is none. */
            owner?: string | null;
            /** @description The version of the program of the last run it is about that named one. */
            program_version?: string | null;
            /** @description The project of the query. */
            project: string;
            /** @description The run it is about, by id; of a missing one the last there was. Null where it is about a change. */
            run?: string | null;
            /** @description The service of the query. */
            service?: string | null;
            /**
             * Format: double
             * @description How bad it is: the factor of wall time, or the rate of failures. Of a late run, its time so far by the time
             *     that nine tenths of the earlier runs took. Of a missing run, the time since the last start by the usual gap. Of
             *     new findings, how many they are.
             */
            severity: number;
            /**
             * Format: int64
             * @description Start of the first run that is bad, in Unix nanoseconds; null where an earlier version opened it.
             */
            since_unix_ns?: UnixNs | null;
            /** @description Where it stands. */
            state: components["schemas"]["IssueState"];
            /**
             * Format: int64
             * @description How many transitions it has made.
             */
            transitions: number;
            /**
             * Format: double
             * @description Wall time at stake a day, in whole milliseconds; of failures that of the results that are missing.
             */
            wall_ms_a_day: number;
        };
        /** @description The person that does something to an issue. */
        IssueAct: {
            /**
             * @description Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
             * @default null
             */
            by: string | null;
            /**
             * @description Why, up to 10,000 characters.
             * @default null
             */
            comment: string | null;
        };
        /**
         * @description The mover of an issue.
         * @enum {string}
         */
        IssueActor: "service" | "person";
        /** @description An issue and all that happened to it. */
        IssueDetail: {
            change?: components["schemas"]["Change"] | null;
            /** @description The issue. */
            issue: components["schemas"]["ListedIssue"];
            /** @description What people wrote to it, the first first. */
            notes: components["schemas"]["IssueNote"][];
            /** @description Its moves, the first first. */
            transitions: components["schemas"]["IssueTransition"][];
        };
        /**
         * @description What an issue is about.
         * @enum {string}
         */
        IssueKind: "slower" | "failing" | "data_grew" | "late" | "missing" | "new_finding";
        /**
         * @description A mute: what it waits for, and what it is measured by. One of the fields `until_unix_ns`, `times_worse` and
         *     `until_other` is set.
         */
        IssueMute: {
            /**
             * Format: double
             * @description How bad the issue was when it was muted: a factor of wall time, or a rate of failures.
             */
            severity?: number | null;
            /**
             * Format: double
             * @description It ends when the issue is so many times worse than `severity`.
             */
            times_worse?: number | null;
            until_other?: components["schemas"]["IssueVersion"] | null;
            /**
             * Format: int64
             * @description It ends at this time, in Unix nanoseconds.
             */
            until_unix_ns?: UnixNs | null;
            /** @description The version when it was muted. */
            version?: string | null;
        };
        /** @description Until when an issue is muted: one of `until_unix_ns`, `times_worse` and `until_other`. */
        IssueMuteAct: {
            /**
             * @description Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
             * @default null
             */
            by: string | null;
            /**
             * @description Why, up to 10,000 characters.
             * @default null
             */
            comment: string | null;
            /**
             * Format: double
             * @description Until it is so many times worse than now: more than 1, up to 1,000.
             * @default null
             */
            times_worse: number | null;
            /** @default null */
            until_other: components["schemas"]["IssueVersion"] | null;
            /**
             * Format: int64
             * @description Until this time, in Unix nanoseconds; it must be to come.
             * @default null
             */
            until_unix_ns: UnixNs | null;
        };
        /** @description What a person wrote to an issue. */
        IssueNote: {
            /** @description The name the person gave, if any. */
            by?: string | null;
            /** @description The text. */
            text: string;
            /**
             * Format: int64
             * @description When, in Unix nanoseconds.
             */
            unix_ns: UnixNs;
        };
        /** @description A note to an issue. */
        IssueNoteAct: {
            /** @description Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place. */
            by?: string | null;
            /** @description The text, 1 to 10,000 characters, not of white space alone. */
            text: string;
        };
        /** @description Issues of queries. */
        Issues: {
            /** @description Those with the most wall time a day at stake first. */
            issues: components["schemas"]["ListedIssue"][];
            /** @description The `cursor` of the next page; null where this is the last. */
            next?: string | null;
        };
        /**
         * @description Where an issue stands.
         * @enum {string}
         */
        IssueState: "open" | "acknowledged" | "muted" | "resolved" | "regressed";
        /** @description A move of an issue from one state to another. */
        IssueTransition: {
            /** @description Its maker. */
            actor: components["schemas"]["IssueActor"];
            /** @description The name a person gave, if any. */
            by?: string | null;
            /** @description The change it was about, by id. */
            change?: string | null;
            /** @description What a person wrote to it, if anything. */
            comment?: string | null;
            from?: components["schemas"]["IssueState"] | null;
            /**
             * Format: int64
             * @description Its number within the issue, from 1 without a gap.
             */
            number: number;
            /** @description Why, in words. */
            reason: string;
            /** @description The state after. A mute that replaces another goes from `muted` to `muted`. */
            to: components["schemas"]["IssueState"];
            /**
             * Format: int64
             * @description When it was made, in Unix nanoseconds.
             */
            unix_ns: UnixNs;
        };
        /**
         * @description A version that runs name.
         * @enum {string}
         */
        IssueVersion: "engine" | "program";
        /** @description How one label is doing. */
        LabelOverview: {
            /** @description Median wall time of each quarter of 24 hours of the range, in milliseconds; null where nothing finished. */
            bins: (number | null)[];
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * @description Id of the open change of the label in the service; without `split=service`, of the label. Of several, one for
             *     the worse before others, then the one that costs most. Null where there is none.
             */
            change?: string | null;
            /** @description Each local day. */
            days: components["schemas"]["Day"][];
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description Runs that failed in the 14 days before the lately runs.
             */
            failed_before: number;
            /** @description Whether there are runs enough to be judged: 5 usual and 3 lately ones that finished. */
            judged: boolean;
            /** @description The label. */
            label: string;
            /** @description Rules that first warned in the last 7 days, by name. */
            new_rules: string[];
            /**
             * Format: int64
             * @description When the plan the query runs now first ran, in Unix nanoseconds, if it is not the plan it usually ran.
             */
            plan_changed_unix_ns?: UnixNs | null;
            /**
             * Format: double
             * @description The recent over the usual wall time.
             */
            ratio?: number | null;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            recent_failed: number;
            /**
             * Format: int64
             * @description Runs of the last 24 hours, or the last three when there were fewer.
             */
            recent_runs: number;
            /**
             * @description Quartiles of the wall time of the lately runs, in milliseconds, where the upper one is at least 4 times the
             *     lower one, of 5 runs or more, as of a query that runs two plans: the median says little there. Null elsewhere.
             */
            recent_spread_ms?: Milliseconds[] | null;
            /**
             * Format: double
             * @description Median wall time of the lately runs, in milliseconds.
             */
            recent_wall_ms?: Milliseconds | null;
            /** @description Rules that warned in the range, by name. */
            rules: string[];
            /**
             * Format: int64
             * @description Runs in the range, of every state.
             */
            runs: number;
            /** @description The service of its last run that has one; with `split=service`, the service. */
            service?: string | null;
            /**
             * Format: int64
             * @description Distinct services of its runs in the range; runs without a service count as one.
             */
            services: number;
            /**
             * Format: double
             * @description Wall time of those of them that finished, together, in milliseconds.
             */
            total_wall_ms: Milliseconds;
            /**
             * Format: int64
             * @description Runs in the range of which nothing was heard for too long; they are not among the failed.
             */
            unfinished: number;
            /** @description Quartiles of the wall time of the usual runs, in milliseconds. */
            usual_band_ms?: Milliseconds[] | null;
            /**
             * Format: double
             * @description Median wall time of the usual runs, in milliseconds; null where there are fewer than 5.
             */
            usual_wall_ms?: Milliseconds | null;
            /** @description `slower` or `faster` where the median moved by a factor of 1.5 or more, hardly by luck. */
            verdict?: ("slower" | "faster") | null;
        };
        /** @description A batch that was refused. */
        LastRefusal: {
            /** @description What was wrong, up to 300 characters. */
            reason: string;
            /**
             * Format: int32
             * @description The status of the answer.
             */
            status: number;
            /**
             * Format: int64
             * @description When its request came, in Unix nanoseconds.
             */
            unix_ns: UnixNs;
        };
        /** @description An issue, and what was deployed when it began. */
        ListedIssue: components["schemas"]["Issue"] & {
            /**
             * @description These in words: `after deploy 1.4.2`; null where there are none.
             * @example after deploy 2026.11.3
             */
            after_deploys?: string | null;
            /** @description Deploys of its service between its last good run and its first bad one, the first first; at most the last 20. */
            deploys: components["schemas"]["Deploy"][];
        };
        /** @description The running queries and how far they are. */
        LiveSnapshot: {
            /** @description How far those of them are that have sent a sample. */
            pulses: components["schemas"]["Pulse"][];
            /** @description The running queries, that started last first. */
            running: components["schemas"]["QuerySummary"][];
        };
        /** @description One difference of a node. */
        NodeChange: {
            /** @description Whether the plan has another shape for it; a literal or a number of files is not shape. */
            shape: boolean;
            /** @description The difference in words. */
            text: string;
            /** @description What is different: `kind`, `inputs`, or a property such as `predicate` or `projection`. */
            what: string;
        };
        /** @description Figures of the run minus those of the base; null where one of them is unknown. */
        NodeDelta: {
            /**
             * Format: int64
             * @description Of the time threads worked in it, in nanoseconds.
             */
            busy_ns?: number | null;
            /**
             * Format: int64
             * @description Of the bytes it read.
             */
            bytes_read?: number | null;
            /**
             * Format: int64
             * @description Of the rows it took.
             */
            rows_in?: number | null;
            /**
             * Format: int64
             * @description Of the rows it gave on.
             */
            rows_out?: number | null;
        };
        /**
         * @description What became of a node from the base to the run.
         * @enum {string}
         */
        NodeFate: "same" | "changed" | "added" | "removed";
        /** @description A node's figures in one run; null where unknown. */
        NodeFigures: {
            /**
             * Format: int64
             * @description Time threads worked in it, in nanoseconds.
             */
            busy_ns?: number | null;
            /**
             * Format: int64
             * @description Bytes it read.
             */
            bytes_read?: number | null;
            /**
             * Format: int64
             * @description Id of the node in that run's physical plan.
             */
            id: number;
            /** @description The engine's name for what it is. */
            kind: string;
            /** @description What it does, in words all engines share. */
            role: string;
            /**
             * Format: int64
             * @description Rows it took.
             */
            rows_in?: number | null;
            /**
             * Format: int64
             * @description Rows it gave on.
             */
            rows_out?: number | null;
        };
        /** @description A node in both runs, or in one of them. */
        NodePair: {
            base?: components["schemas"]["NodeFigures"] | null;
            /** @description What the engine says of it that is different. */
            changes: components["schemas"]["NodeChange"][];
            delta?: components["schemas"]["NodeDelta"] | null;
            /** @description What became of it. */
            fate: components["schemas"]["NodeFate"];
            run?: components["schemas"]["NodeFigures"] | null;
        };
        /** @description A note that is to be added to a query. */
        NoteBody: {
            /** @description Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place. */
            by?: string | null;
            /**
             * @description The label of the query.
             * @example orders/daily
             */
            label: string;
            /**
             * @description The service of the query; left out for programs that name none.
             * @example orders-etl
             */
            service?: string | null;
            /** @description The text, 1 to 10,000 characters, not of white space alone. */
            text: string;
            /**
             * Format: int64
             * @description The moment it is about, in Unix nanoseconds, at most an hour ahead; left out for now.
             * @example 1795000000000000000
             */
            unix_ns?: UnixNs | null;
        };
        /** @description Notes on queries. */
        Notes: {
            /** @description The `cursor` of the next page; null where this is the last. */
            next?: string | null;
            /** @description The last moment first. */
            notes: components["schemas"]["QueryNote"][];
        };
        /** @description A body that says nothing: it is there since no page of another site can send it unasked. */
        Nothing: Record<string, never>;
        /**
         * @description How the labels are doing.
         * @example {
         *       "change_runs_min": 8,
         *       "days": [
         *         1795046400000000000,
         *         1795132800000000000
         *       ],
         *       "now_unix_ns": 1795206683609778700,
         *       "queries": [
         *         {
         *           "bins": [
         *             null,
         *             612.15,
         *             611.5,
         *             612.8
         *           ],
         *           "cancelled": 0,
         *           "change": "slower-01a1faa81bd977b297ab860dd7026506",
         *           "days": [
         *             {
         *               "cancelled": 0,
         *               "failed": 0,
         *               "median_wall_ms": 612.15,
         *               "runs": 1
         *             },
         *             {
         *               "cancelled": 0,
         *               "failed": 1,
         *               "median_wall_ms": 612.15,
         *               "runs": 3
         *             }
         *           ],
         *           "failed": 1,
         *           "failed_before": 0,
         *           "judged": true,
         *           "label": "orders/daily",
         *           "new_rules": [
         *             "exploding_join"
         *           ],
         *           "plan_changed_unix_ns": 1795130000000000000,
         *           "ratio": 1.5,
         *           "recent_failed": 1,
         *           "recent_runs": 4,
         *           "recent_spread_ms": null,
         *           "recent_wall_ms": 612.15,
         *           "rules": [
         *             "exploding_join"
         *           ],
         *           "runs": 4,
         *           "service": "orders-etl",
         *           "services": 1,
         *           "total_wall_ms": 1836.45,
         *           "unfinished": 0,
         *           "usual_band_ms": [
         *             401.2,
         *             415.7
         *           ],
         *           "usual_wall_ms": 408.1,
         *           "verdict": "slower"
         *         }
         *       ],
         *       "since_unix_ns": 1795120283609778700,
         *       "slice_ns": 21600000000000,
         *       "totals": {
         *         "cancelled": 0,
         *         "failed": 1,
         *         "faster": 0,
         *         "judged": 1,
         *         "labels": 1,
         *         "runs": 4,
         *         "slower": 1,
         *         "total_wall_ms": 1836.45,
         *         "unfinished": 0
         *       }
         *     }
         */
        Overview: {
            /** @description Runs of a query from which on a change of it can be found: little can be said of one with fewer. */
            change_runs_min: number;
            /** @description Start of each local day the range touches, in Unix nanoseconds; the first may lie before the range. */
            days: UnixNs[];
            /**
             * Format: int64
             * @description The end of the range, in Unix nanoseconds.
             */
            now_unix_ns: UnixNs;
            /** @description The labels that ran in the range, in the order asked for. It stands last, as entries are written one by one. */
            queries: components["schemas"]["LabelOverview"][];
            /**
             * Format: int64
             * @description The start of the range, in Unix nanoseconds.
             */
            since_unix_ns: UnixNs;
            /**
             * Format: int64
             * @description Length of the slices that `bins` are of, in nanoseconds: 6 hours where the range is so many days, else 1,
             *     5 or 15 seconds, as many minutes, an hour, 6 hours or a day, so that they are 96 at most.
             */
            slice_ns: number;
            /** @description All entries together, whatever the limit. */
            totals: components["schemas"]["Totals"];
        };
        /** @description A rule of owners. */
        OwnerRule: {
            /** @description What the pattern is held against: `label` or `path`. */
            matches: string;
            /** @description The owner. */
            owner: string;
            /** @description The pattern. */
            pattern: string;
        };
        /** @description Owners of queries. */
        Owners: {
            /** @description Their names, in alphabetical order. */
            owners: string[];
        };
        /** @description The runs of one service, environment, host or owner. */
        Place: {
            /**
             * Format: int64
             * @description Those of them that sent the bytes they read, which they do when they finish or fail.
             */
            bytes_read_runs: number;
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those of them that sent their CPU time, which they do when they finish or fail.
             */
            cpu_runs: number;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description Those of them that run.
             */
            running: number;
            /**
             * Format: int64
             * @description Runs, of every state.
             */
            runs: number;
            /**
             * Format: int64
             * @description Bytes read by those that sent them, together, at most 2^63 - 1; null where none did. Of each run they are
             *     rounded by at most 0.05 %.
             */
            total_bytes_read?: number | null;
            /**
             * Format: double
             * @description CPU time over all threads of those that sent it, together, in milliseconds; null where none did. Of each run it
             *     is rounded by at most 0.05 %.
             */
            total_cpu_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description Wall time of those that finished or failed, together, in milliseconds.
             */
            total_wall_ms: Milliseconds;
            /**
             * Format: int64
             * @description Those of them of which nothing was heard for too long.
             */
            unfinished: number;
            /** @description Its name; null is that of runs without one. */
            value?: string | null;
        };
        /**
         * @description What ran where, and whose it was: the place of the most wall time first, then by name.
         * @example {
         *       "environment": [
         *         {
         *           "bytes_read_runs": 39,
         *           "cpu_runs": 39,
         *           "failed": 2,
         *           "running": 1,
         *           "runs": 40,
         *           "total_bytes_read": 12884901888,
         *           "total_cpu_ms": 204800,
         *           "total_wall_ms": 81236.5,
         *           "unfinished": 0,
         *           "value": "prod"
         *         }
         *       ],
         *       "host": [
         *         {
         *           "bytes_read_runs": 39,
         *           "cpu_runs": 39,
         *           "failed": 2,
         *           "running": 1,
         *           "runs": 40,
         *           "total_bytes_read": 12884901888,
         *           "total_cpu_ms": 204800,
         *           "total_wall_ms": 81236.5,
         *           "unfinished": 0,
         *           "value": "worker-1"
         *         }
         *       ],
         *       "owner": [
         *         {
         *           "bytes_read_runs": 39,
         *           "cpu_runs": 39,
         *           "failed": 2,
         *           "running": 1,
         *           "runs": 40,
         *           "total_bytes_read": 12884901888,
         *           "total_cpu_ms": 204800,
         *           "total_wall_ms": 81236.5,
         *           "unfinished": 0,
         *           "value": "team-orders"
         *         }
         *       ],
         *       "price": {
         *         "currency": "EUR",
         *         "per_core_hour": 0.05
         *       },
         *       "service": [
         *         {
         *           "bytes_read_runs": 39,
         *           "cpu_runs": 39,
         *           "failed": 2,
         *           "running": 1,
         *           "runs": 40,
         *           "total_bytes_read": 12884901888,
         *           "total_cpu_ms": 204800,
         *           "total_wall_ms": 81236.5,
         *           "unfinished": 0,
         *           "value": "orders-etl"
         *         }
         *       ]
         *     }
         */
        Places: {
            /** @description Where they run. */
            environment: components["schemas"]["Place"][];
            /** @description Their machines. */
            host: components["schemas"]["Place"][];
            /**
             * @description Owners of the labels of the runs, by the rules of the file of settings that look at labels; null is nobody.
             *     Empty where the file has no such rule.
             */
            owner: components["schemas"]["Place"][];
            price?: components["schemas"]["Price"] | null;
            /** @description What the sending processes are. */
            service: components["schemas"]["Place"][];
        };
        /** @description One difference between two plans. */
        PlanDifference: {
            /**
             * Format: int64
             * @description The node of the base it is about; null where it has none.
             */
            base?: number | null;
            /**
             * Format: int64
             * @description The node of the run it is about; null where it has none.
             */
            run?: number | null;
            /** @description It in words, as a sentence without its full stop. */
            text: string;
        };
        /** @description What CPU time costs. */
        Price: {
            /** @description What it is counted in. */
            currency: string;
            /**
             * Format: double
             * @description An hour of one core.
             */
            per_core_hour: number;
        };
        /**
         * @description How far a query is by its earlier runs.
         * @example {
         *       "basis": "the last 40 runs of its plan",
         *       "change": null,
         *       "done": {
         *         "high": 0.88,
         *         "low": 0.66
         *       },
         *       "elapsed_ms": 61200,
         *       "is_late": false,
         *       "longer_than": 21,
         *       "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
         *       "remaining_ms": {
         *         "p10": 2100,
         *         "p50": 8300,
         *         "p90": 31000
         *       },
         *       "rows_read_factor": null,
         *       "runs": 40,
         *       "status": "running",
         *       "usual_wall_ms": 60400.5
         *     }
         */
        Progress: {
            /** @description Which runs it is judged by, in words; null where too few are known. */
            basis?: string | null;
            /** @description Id of the open change of its query's time; null where there is none. */
            change?: string | null;
            done?: components["schemas"]["Done"] | null;
            /**
             * Format: double
             * @description How long it has run, or ran, in milliseconds; null where unknown. While it runs: by this service's clock, or,
             *     where its start is ahead of that, by its last sample.
             */
            elapsed_ms?: Milliseconds | null;
            /** @description Whether it takes longer than nine tenths of them, also for the rows it reads beyond theirs. */
            is_late: boolean;
            /** @description How many of them took no longer than this one has by now; null where too few are known. */
            longer_than?: number | null;
            /** @description Id of the query. */
            query_id: string;
            remaining_ms?: components["schemas"]["Remaining"] | null;
            /**
             * Format: double
             * @description Rows it has read by those that they had read at their end: where it has read more, or has read all and less;
             *     null where neither is known.
             */
            rows_read_factor?: number | null;
            /**
             * @description The earlier finished runs that it is judged by, at most 100; nothing is said by fewer than 5. Of a running
             *     query: those since the open change of its query, of its plan where enough are. Of one that ended: those of its
             *     plan in its service, or, where these are fewer, of its label; while a change is open, those from before it, and
             *     before the changes that it followed.
             */
            runs: number;
            /** @description State of the query. */
            status: components["schemas"]["Status"];
            /**
             * Format: double
             * @description Median of their wall times in milliseconds; null where too few are known.
             */
            usual_wall_ms?: Milliseconds | null;
        };
        /**
         * @description How far a running query is.
         * @example {
         *       "busiest": {
         *         "id": 4294967299,
         *         "kind": "group-by",
         *         "threads": 1.391
         *       },
         *       "busy_known": true,
         *       "done": 2,
         *       "elapsed_ms": 2004.5,
         *       "nodes": 7,
         *       "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
         *       "quiet_ms": 0,
         *       "rows_read": 12500000,
         *       "threads": [
         *         1.874
         *       ],
         *       "user_code": null
         *     }
         */
        Pulse: {
            busiest?: components["schemas"]["Busiest"] | null;
            /**
             * @description Whether a node has told how long it worked. Where none has, `threads` holds zeros and says nothing: some
             *     engines do not count it.
             */
            busy_known: boolean;
            /** @description Nodes of the physical plan that have ended. */
            done: number;
            /**
             * Format: double
             * @description Time since its start at its last sample, in milliseconds.
             */
            elapsed_ms: Milliseconds;
            /** @description Nodes of the physical plan. */
            nodes: number;
            /** @description Id of the query, a UUID. */
            query_id: string;
            /**
             * Format: double
             * @description Time since any counter of the query changed, in milliseconds as of its last sample. A query whose
             *     process reports and whose counters stand still has a large one.
             */
            quiet_ms: Milliseconds;
            /**
             * Format: int64
             * @description Rows that nodes without inputs read so far; null where none has told.
             */
            rows_read?: number | null;
            /**
             * @description Threads that were busy on average between two samples, one number a sample: time all nodes worked per
             *     time that passed. In a `snapshot` those of the last samples, 120 at most; in a `pulse` those of its new
             *     samples alone: append them and keep the last 120.
             */
            threads: number[];
            user_code?: components["schemas"]["UserCode"] | null;
        };
        /** @description A note on a query. */
        QueryNote: {
            /** @description The name of the person who wrote it first; null where nobody says. */
            by?: string | null;
            /** @description The name of the person who edited it last; null where nobody did, or nobody says. */
            edited_by?: string | null;
            /**
             * Format: int64
             * @description When its text was edited last, in Unix nanoseconds; null where it never was, or by a version that kept no time.
             */
            edited_unix_ns?: UnixNs | null;
            /** @description Its id, unique. */
            id: string;
            /** @description The label of the query. */
            label: string;
            /** @description The project of the query. */
            project: string;
            /** @description The service of the query; null for programs that name none. */
            service?: string | null;
            /** @description The text. */
            text: string;
            /**
             * Format: int64
             * @description The moment it is about, in Unix nanoseconds.
             */
            unix_ns: UnixNs;
            /**
             * Format: int64
             * @description When it was written first, in Unix nanoseconds.
             */
            written_unix_ns: UnixNs;
        };
        /**
         * @description One query.
         * @example {
         *       "bytes_read": 1048576,
         *       "cpu_ms": 558.1463,
         *       "engine": "polars",
         *       "engine_version": "1.35.2",
         *       "environment": "prod",
         *       "failed": null,
         *       "fingerprint": "238b6af6d50a",
         *       "host": "worker-1",
         *       "label": "scan/parquet-filter-project",
         *       "peak_memory_bytes": null,
         *       "program_version": "2026.11.3",
         *       "project": "default",
         *       "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
         *       "recording": "2026/11/20/01a1faa8-1bd9-77b2-97ab-860dd7026506.jsonl.gz",
         *       "result_rows": 8059,
         *       "rules": [],
         *       "service": "orders-etl",
         *       "spilled_bytes": 0,
         *       "started_unix_ns": 1795206683609778700,
         *       "status": "finished",
         *       "stream_id": "210de94c-dce3-44f0-9cd3-2604c74dbeea",
         *       "wall_ms": 372.7242,
         *       "warnings": 0
         *     }
         */
        QuerySummary: {
            /**
             * Format: int64
             * @description Bytes read; null where unknown.
             */
            bytes_read?: number | null;
            /**
             * Format: double
             * @description CPU time over all threads in milliseconds; null where unknown.
             */
            cpu_ms?: Milliseconds | null;
            /** @description The engine its events name; null for the neutral format. */
            engine?: string | null;
            /**
             * @description Version of the engine; null where no profile says it yet, and where an earlier version of the service stored the
             *     query.
             */
            engine_version?: string | null;
            /** @description Where the sending process runs. */
            environment?: string | null;
            /** @description The engine's error text when the query failed. */
            failed?: string | null;
            /** @description Hash of the plan. */
            fingerprint?: string | null;
            /** @description Machine of the sending process. */
            host: string;
            /** @description Name the program gave the query. */
            label?: string | null;
            /**
             * Format: int64
             * @description The most memory the query used at a time, in bytes; null where unknown.
             */
            peak_memory_bytes?: number | null;
            /**
             * @description Version of the program; null where its process does not say it, and where an earlier version of the service
             *     stored the query.
             */
            program_version?: string | null;
            /** @description The project of the token it was sent with. */
            project: string;
            /** @description Id of the query, a UUID. */
            query_id: string;
            /** @description Path of the recording under the recordings' root; null while the query runs. */
            recording?: string | null;
            /**
             * Format: int64
             * @description Rows of the result; null where unknown.
             */
            result_rows?: number | null;
            /** @description Rules of the findings that warn, each once. */
            rules: string[];
            /** @description What the sending process is. */
            service?: string | null;
            /**
             * Format: int64
             * @description Bytes written to disk for want of memory; null where unknown.
             */
            spilled_bytes?: number | null;
            /**
             * Format: int64
             * @description When it started, in Unix nanoseconds.
             */
            started_unix_ns: UnixNs;
            /** @description State of the query. */
            status: components["schemas"]["Status"];
            /** @description Id of the event stream that reported it, a UUID. */
            stream_id: string;
            /**
             * Format: double
             * @description Wall time in milliseconds; null until it finished or failed.
             */
            wall_ms?: Milliseconds | null;
            /**
             * Format: int32
             * @description Findings that warn.
             */
            warnings: number;
        };
        /** @enum {string} */
        Readiness: "ready" | "degraded";
        /** @description A remaining time in milliseconds. */
        Remaining: {
            /**
             * Format: double
             * @description A tenth of the runs that took longer ended by then.
             */
            p10: number;
            /**
             * Format: double
             * @description Half of the runs that took longer ended by then.
             */
            p50: number;
            /**
             * Format: double
             * @description Nine tenths of the runs that took longer ended by then.
             */
            p90: number;
        };
        /**
         * @description What a user may do; each role may do what those before it may.
         * @enum {string}
         */
        Role: "viewer" | "editor" | "admin";
        /** @description A route, and what became of its messages. Secrets and addresses are not shown. */
        Route: {
            /**
             * Format: int64
             * @description Messages that were refused or given up in the last seven days.
             */
            failed: number;
            /** @description Keeps issues of these kinds; empty keeps all but `data_grew`. */
            kinds: components["schemas"]["IssueKind"][];
            /** @description Keeps issues whose label matches one of these patterns; empty keeps all. */
            labels: string[];
            /** @description Why an attempt failed last. */
            last_error?: string | null;
            /**
             * Format: int64
             * @description When that was, in Unix nanoseconds.
             */
            last_error_unix_ns?: UnixNs | null;
            /** @description Its name. */
            name: string;
            /** @description Keeps issues of these owners; empty keeps all. */
            owners: string[];
            /** @description Keeps issues of these projects; empty keeps all. */
            projects: string[];
            /** @description The name of its receiver. */
            receiver: string;
            /**
             * Format: int64
             * @description Messages that were sent in the last seven days.
             */
            sent: number;
            /**
             * Format: int64
             * @description When one was sent last, in Unix nanoseconds.
             */
            sent_unix_ns?: UnixNs | null;
            /** @description Keeps issues of these services; empty keeps all. */
            services: string[];
            /** @description The type of its receiver: `webhook`, `slack`, `alertmanager` or `email`. */
            type: string;
            /**
             * Format: int64
             * @description Messages that wait.
             */
            waiting: number;
            /**
             * Format: int64
             * @description When the oldest that waits was made, in Unix nanoseconds.
             */
            waiting_since_unix_ns?: UnixNs | null;
        };
        /** @description Where messages of issues go, by the file of settings. */
        Routes: {
            /** @description The rules of owners, in the order of the file: the last that matches counts. */
            owners: components["schemas"]["OwnerRule"][];
            /** @description The routes, in the order of the file; none without a file. */
            routes: components["schemas"]["Route"][];
        };
        /** @description Some runs that ended. */
        RunGroup: {
            /**
             * Format: double
             * @description The least of their wall times in milliseconds; null where there are none.
             */
            least_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description Median of their wall times in milliseconds; null where there are none.
             */
            median_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description The largest of their wall times in milliseconds; null where there are none.
             */
            most_ms?: Milliseconds | null;
            /** @description How many. */
            runs: number;
        };
        /**
         * @description What a token is for.
         * @enum {string}
         */
        Scope: "ingest" | "read" | "admin" | "invitation";
        /** @description A sender: a process, or the refused batches of one `User-Agent` that did not tell their process. */
        Sender: {
            /** @description Its last `User-Agent`, which names the sending library and its version. */
            agent?: string | null;
            /**
             * Format: int64
             * @description Batches that were stored.
             */
            batches: number;
            /**
             * Format: int64
             * @description By how much its clock is behind that of this collector, at most, in milliseconds; negative where it is ahead, at
             *     least by that. It is the time from the newest moment of a batch (the start of a run, plus its wall time so far)
             *     to the receipt of its head, so what a batch waits and travels is in it: the smallest of the last eight batches
             *     that told of a start or an end. Null where none did.
             */
            clock_behind_ms?: Milliseconds | null;
            /**
             * Format: int64
             * @description Events that the sender says it made for this service and dropped since its start; null where it does not say.
             */
            dropped?: number | null;
            /**
             * Format: int64
             * @description Events of them that had been stored before.
             */
            duplicates: number;
            /** @description Its environment; null as the service. */
            environment?: string | null;
            /**
             * Format: int64
             * @description Events that they added.
             */
            events: number;
            /**
             * Format: int64
             * @description When its first request came, in Unix nanoseconds.
             */
            first_unix_ns: UnixNs;
            /** @description Its host; null where no batch could be read so far. */
            host?: string | null;
            last_refusal?: components["schemas"]["LastRefusal"] | null;
            /**
             * Format: int64
             * @description When its last request came, in Unix nanoseconds.
             */
            last_unix_ns: UnixNs;
            /** @description The version of its program; null as the service. */
            program_version?: string | null;
            /** @description The project of its token. */
            project: string;
            /**
             * Format: int64
             * @description Batches that were refused, also those that the sender sends again.
             */
            refused: number;
            /** @description The service of the process; null also where no batch could be read so far. */
            service?: string | null;
            /** @description The stream of the process; null where none was told. */
            stream_id?: string | null;
        };
        /** @description The senders that this collector heard of. */
        SenderList: {
            /** @description How many are known, also those that are not listed. */
            known: number;
            /** @description That heard last first. */
            senders: components["schemas"]["Sender"][];
            /**
             * Format: int64
             * @description Since when: the start of this collector, in Unix nanoseconds.
             */
            since_unix_ns: UnixNs;
        };
        /**
         * @description How the wall times of some runs developed.
         * @example {
         *       "groups": [
         *         {
         *           "all": {
         *             "failed": 1,
         *             "p50_ms": 408.1,
         *             "p95_ms": 611.5,
         *             "runs": 7
         *           },
         *           "slices": [
         *             {
         *               "failed": 1,
         *               "p50_ms": 408.1,
         *               "p95_ms": 611.5,
         *               "runs": 7
         *             },
         *             {
         *               "failed": 0,
         *               "p50_ms": null,
         *               "p95_ms": null,
         *               "runs": 0
         *             }
         *           ],
         *           "total_wall_ms": 2448.6,
         *           "value": "worker-1",
         *           "values": 1
         *         }
         *       ],
         *       "since_unix_ns": 1795120283609778700,
         *       "slice_ns": 1000000000,
         *       "until_unix_ns": 1795120285609778700
         *     }
         */
        SeriesAnswer: {
            /** @description One for each value, that of the most wall time first. */
            groups: components["schemas"]["SeriesGroup"][];
            /**
             * Format: int64
             * @description The start of the range, in Unix nanoseconds.
             */
            since_unix_ns: UnixNs;
            /**
             * Format: int64
             * @description Length of a slice, in nanoseconds: 1, 5 or 15 seconds, as many minutes, an hour, 6 hours or a day, so that
             *     there are 96 at most. The first one begins where the range does.
             */
            slice_ns: number;
            /**
             * Format: int64
             * @description The end of the range, in Unix nanoseconds.
             */
            until_unix_ns: UnixNs;
        };
        /** @description The runs of one value of a field. */
        SeriesGroup: {
            /** @description The whole range. */
            all: components["schemas"]["SeriesSlice"];
            /** @description The slices of the range, in their order. */
            slices: components["schemas"]["SeriesSlice"][];
            /**
             * Format: double
             * @description Wall time of those that finished, together, in milliseconds.
             */
            total_wall_ms: Milliseconds;
            /** @description The value; null is that of runs without the field, and of all runs where they are not divided. */
            value?: string | null;
            /**
             * Format: int64
             * @description How many values stand together here: 1, and in the last group those that are not told of one by one.
             */
            values: number;
        };
        /** @description The runs that started in one slice of the range. */
        SeriesSlice: {
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /**
             * Format: double
             * @description Median wall time of those that finished, in milliseconds; null when none did.
             */
            p50_ms?: Milliseconds | null;
            /**
             * Format: double
             * @description 95th percentile of their wall times, in milliseconds; null when fewer than 5 finished.
             */
            p95_ms?: Milliseconds | null;
            /**
             * Format: int64
             * @description Runs, of every state.
             */
            runs: number;
            /**
             * Format: int64
             * @description Those of the runs of which nothing was heard for too long; they are not among the failed.
             */
            unfinished: number;
        };
        /** @description How the service is set up, and what its store holds. */
        Service: {
            /** @description Whether users log in here. */
            has_login: boolean;
            /** @description Whether a proxy names users. */
            has_proxy_users: boolean;
            /** @description Whether anybody who reaches this address may read and act on issues. */
            is_open: boolean;
            /**
             * Format: int64
             * @description Runs that started longer ago are deleted; null where all are kept.
             */
            keep_days?: number | null;
            /**
             * Format: int64
             * @description Of these, bytes of the log that is written ahead.
             */
            log_bytes: number;
            /**
             * Format: int64
             * @description When the oldest run started, in Unix nanoseconds; null where there is none.
             */
            oldest_unix_ns?: UnixNs | null;
            /** @description The host of the provider of logins; null where there is none. */
            provider?: string | null;
            /**
             * Format: int64
             * @description Runs that run.
             */
            running: number;
            /**
             * Format: int64
             * @description A running run that is silent for so long is unfinished, in seconds.
             */
            silent_after_s: number;
            /**
             * Format: int64
             * @description Bytes of the store without recordings.
             */
            store_bytes: number;
            /**
             * Format: int64
             * @description Runs that ended and have no recording yet, counted up to 10,000.
             */
            unsealed: number;
            /** @description Its version. */
            version: string;
        };
        /** @description A session. */
        SessionEntry: {
            /**
             * Format: int64
             * @description When the user logged in, in Unix nanoseconds.
             */
            created_unix_ns: UnixNs;
            /** @description Names the session here; its cookie does not follow from it. */
            id: string;
            /** @description Whether this request was made in it. */
            is_yours: boolean;
            /**
             * Format: int64
             * @description When it was used last, to the minute, in Unix nanoseconds.
             */
            used_unix_ns: UnixNs;
            /** @description The name of its user. */
            user: string;
        };
        /** @description The sessions that go on. */
        SessionList: {
            /** @description Up to 1,000, that with the latest use first. */
            sessions: components["schemas"]["SessionEntry"][];
        };
        /** @description A view that is shared in a project. */
        SharedView: {
            /** @description The name of the person who shared it last; null where nobody says. */
            by?: string | null;
            /** @description Its name, unique in the project. */
            name: string;
            /** @description The project it is shared in. */
            project: string;
            /** @description The query of the page's address, with its `?`; empty where the page has no filter. */
            search: string;
            /**
             * Format: int64
             * @description When it was shared last, in Unix nanoseconds.
             */
            unix_ns: UnixNs;
        };
        /**
         * @description State of a run.
         * @enum {string}
         */
        Status: "running" | "finished" | "failed" | "unfinished";
        /**
         * @description How the wall times of the first group are to those of the second.
         * @enum {string}
         */
        TimeJudgement: "slower" | "faster" | "alike";
        /** @description A token, without its text. */
        TokenEntry: {
            /**
             * Format: int64
             * @description When it was made, in Unix nanoseconds.
             */
            created_unix_ns: UnixNs;
            /**
             * Format: int64
             * @description From when on it is not taken any more, in Unix nanoseconds; null for never.
             */
            expires_unix_ns?: UnixNs | null;
            /** @description Its name. */
            name: string;
            /** @description The project its batches belong to, or the only one it reads; null for all. */
            project?: string | null;
            /** @description What it is for. */
            scope: components["schemas"]["Scope"];
            /**
             * Format: int64
             * @description When it was used last, to the minute, in Unix nanoseconds.
             */
            used_unix_ns?: UnixNs | null;
        };
        /** @description The tokens of the store. */
        TokenList: {
            /** @description By name. */
            tokens: components["schemas"]["TokenEntry"][];
        };
        /** @description A token that was made. */
        TokenMade: {
            /** @description Its text, told this once: the store has its hash alone. */
            token: string;
            /** @description All tokens as they are now. */
            tokens: components["schemas"]["TokenEntry"][];
        };
        /** @description A token to be made. */
        TokenToMake: {
            /**
             * Format: int64
             * @description From when on it is not taken any more, in Unix nanoseconds; it must be to come.
             */
            expires_unix_ns?: UnixNs | null;
            /** @description Its name: 1 to 64 letters, digits, `.`, `_` and `-`. */
            name: string;
            /**
             * @description The project its batches belong to, or the only one it reads. Without it, a token that sends belongs to
             *     `default`, and another reads all; one made by an administrator of one project is of that project.
             */
            project?: string | null;
            /** @description What it is for: `ingest`, `read` or `admin`. */
            scope: components["schemas"]["Scope"];
        };
        /** @description All entries together, whatever the limit. */
        Totals: {
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description Entries whose verdict is `faster`.
             */
            faster: number;
            /**
             * Format: int64
             * @description Entries with runs enough to be judged, whatever the verdict.
             */
            judged: number;
            /**
             * Format: int64
             * @description Entries there are: labels, or with `split=service` labels in one service.
             */
            labels: number;
            /**
             * Format: int64
             * @description Runs in the range, of every state.
             */
            runs: number;
            /**
             * Format: int64
             * @description Entries whose verdict is `slower`.
             */
            slower: number;
            /**
             * Format: double
             * @description Wall time of those of them that finished, together, in milliseconds.
             */
            total_wall_ms: Milliseconds;
            /**
             * Format: int64
             * @description Runs in the range of which nothing was heard for too long; they are not among the failed.
             */
            unfinished: number;
        };
        /**
         * @description What runs are told apart by.
         * @enum {string}
         */
        Trait: "host" | "environment" | "engine_version" | "program_version" | "plan" | "hour" | "rows_read" | "rows_out" | "bytes_read" | "spilled_bytes" | "peak_memory_bytes" | "waiting_ns" | "planning_ns" | "threads_permille";
        /** @description What a user gets: another role with its project, or another password. */
        UserChange: {
            /**
             * @description The password: 10 characters or more, 1,024 bytes at most. The sessions of the user end.
             * @default null
             */
            password: string | null;
            /**
             * @description With `role`: the only project the user may read; null for all that who asks manages.
             * @default null
             */
            project: string | null;
            /** @default null */
            role: components["schemas"]["Role"] | null;
        };
        /** @description A node that calls code of the program. */
        UserCode: {
            /**
             * Format: int64
             * @description Id of the node in the physical plan.
             */
            id: number;
            /** @description Its kind. */
            kind: string;
            /** @description The function it calls. */
            name: string;
        };
        /** @description A user. */
        UserEntry: {
            /**
             * Format: int64
             * @description When the user was made, in Unix nanoseconds.
             */
            created_unix_ns: UnixNs;
            /** @description Whether a provider of logins lets the user in and gives the role, and no password does. */
            is_of_provider: boolean;
            /** @description The name. */
            name: string;
            /** @description The only project the user may read; null for all. */
            project?: string | null;
            /** @description What the user may do. */
            role: components["schemas"]["Role"];
        };
        /** @description The users of the service. */
        UserList: {
            /** @description By name. */
            users: components["schemas"]["UserEntry"][];
        };
        /** @description A user to be made. */
        UserToMake: {
            /** @description The name: 1 to 64 letters, digits, `.`, `_`, `-`, `@` and `+`. */
            name: string;
            /** @description The password: 10 characters or more, 1,024 bytes at most. */
            password: string;
            /** @description The only project the user may read; null for all that who asks manages. */
            project?: string | null;
            /** @description What the user may do. */
            role: components["schemas"]["Role"];
        };
        /**
         * @description The queries of a label with one plan.
         * @example {
         *       "cancelled": 0,
         *       "failed": 0,
         *       "fingerprint": "238b6af6d50a",
         *       "first_started_unix_ns": 1794106683609778700,
         *       "last_started_unix_ns": 1795206683609778700,
         *       "latest_query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
         *       "rules": [
         *         "exploding_join"
         *       ],
         *       "runs": 12,
         *       "unfinished": 0,
         *       "usual_wall_ms": 408.1
         *     }
         */
        Version: {
            /**
             * Format: int64
             * @description Those of the failed ones that a person or the program stopped.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Those of them that failed.
             */
            failed: number;
            /** @description Hash of the plan. */
            fingerprint: string;
            /**
             * Format: int64
             * @description When the first of them started, in Unix nanoseconds.
             */
            first_started_unix_ns: UnixNs;
            /**
             * Format: int64
             * @description When the last of them started, in Unix nanoseconds.
             */
            last_started_unix_ns: UnixNs;
            /** @description The last of them, whatever its state. */
            latest_query_id: string;
            /** @description Rules that warned in any of them, by name. */
            rules: string[];
            /**
             * Format: int64
             * @description Queries, of every state.
             */
            runs: number;
            /**
             * Format: int64
             * @description Those of the runs of which nothing was heard for too long; they are not among the failed.
             */
            unfinished: number;
            /**
             * Format: double
             * @description Median wall time of those that finished, in milliseconds.
             */
            usual_wall_ms: Milliseconds;
        };
        /** @description A view that is to be shared. */
        ViewBody: {
            /** @description Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place. */
            by?: string | null;
            /**
             * @description The query of the address of the page of queries, with its `?`, up to 2,000 characters; empty for the page
             *     without filters.
             * @example ?view=runs&status=failed
             */
            search: string;
        };
        /** @description Views that are shared. */
        Views: {
            /** @description By name, then by project. */
            views: components["schemas"]["SharedView"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    you: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who you are */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Access"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    audit: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: its `next`.
                 * @example 4711
                 */
                before?: number;
                /**
                 * @description Entries on the page.
                 * @example 20
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Audit"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or the Host is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changes: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: its `next`, for the same parameters.
                 * @example Cg
                 */
                cursor?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps changes of this kind.
                 * @example slower
                 */
                kind?: "slower" | "faster" | "failing" | "data_grew";
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Changes on the page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps changes whose first run started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps changes in this state.
                 * @example open
                 */
                state?: "open" | "recovered" | "superseded";
                /**
                 * @description Keeps changes whose first run started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the change
                 * @example slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Change"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such change */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    compare: {
        parameters: {
            query: {
                /**
                 * @description Id of the query to compare it with
                 * @example 01a1f582-c3a4-71d0-9f0e-0d6f0bb3d1c5
                 */
                base?: string;
                /**
                 * @description Instead of `base`: a typical run with this plan fingerprint
                 * @example 238b6af6d50a
                 */
                base_fingerprint?: string;
                /**
                 * @description Instead of `base`: a typical run from a process on this host
                 * @example worker-1
                 */
                base_host?: string;
                /**
                 * @description Instead of `base`: a typical run of this version of the program
                 * @example 2026.11.3
                 */
                base_program_version?: string;
                /**
                 * @description Instead of `base`: a typical run that started at or after this, in Unix nanoseconds
                 * @example 1794000000000000000
                 */
                base_since?: UnixNs;
                /**
                 * @description Instead of `base`: a typical run that started at or before this, in Unix nanoseconds
                 * @example 1796000000000000000
                 */
                base_until?: UnixNs;
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Id of the query to judge; it may still run
                 * @example 01a1faa8-1bd9-77b2-97ab-860dd7026506
                 */
                run: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is different */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comparison"];
                };
            };
            /** @description A parameter is invalid, or run is missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such query, nothing to compare it with, or a plan has not been sent */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A query is known, and its recording is missing */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A profile that was sent cannot be read */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or a recording is damaged */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deploys: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: its `next`, for the same parameters.
                 * @example DA
                 */
                cursor?: string;
                /**
                 * @description Keeps deploys to this environment, those that were posted for all included; empty keeps those that name none.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Deploys on the page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Keeps deploys of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps deploys of this service; empty keeps those of programs without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps deploys at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps deploys at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The deploys */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deploys"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    differences: {
        parameters: {
            query?: {
                /**
                 * @description Holds the runs against those of this version of the program.
                 * @example 2026.11.2
                 */
                base_program_version?: string;
                /**
                 * @description Holds the runs against those that started at or after this, in Unix nanoseconds, instead of the slow
                 *     ones against the others.
                 * @example 1793000000000000000
                 */
                base_since?: UnixNs;
                /**
                 * @description The end of the time given by `base_since`: before `since`, where it is not given.
                 * @example 1793900000000000000
                 */
                base_until?: UnixNs;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Which runs are held against the others: `slow` (the default), or `failed` against those that finished. Not
                 *     beside `base_since` or `base_program_version`.
                 * @example failed
                 */
                first?: "slow" | "failed";
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps runs of this version of the program.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps runs that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps runs that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
                /**
                 * @description Minutes that local time is ahead of UTC: of the hours of the day.
                 * @example 60
                 */
                utc_offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Differences"];
                };
            };
            /** @description A parameter is invalid, or label or service is missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many others read */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    findings: {
        parameters: {
            query?: {
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
                 *     grammar is in docs/reference/api.md.
                 * @example wall>10s -status:finished
                 */
                filter?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description `parquet`, which is the default, `csv`, or `json` for an object a line.
                 * @example parquet
                 */
                format?: "parquet" | "csv" | "json";
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries whose label or error text holds this text in any case, or whose id holds it.
                 * @example daily
                 */
                q?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table, the oldest runs first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                    "text/csv; charset=utf-8": string;
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many tables are being made */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    exported_issues: {
        parameters: {
            query?: {
                /**
                 * @description `parquet`, which is the default, `csv`, or `json` for an object a line.
                 * @example parquet
                 */
                format?: "parquet" | "csv" | "json";
                /**
                 * @description Keeps issues of this kind.
                 * @example slower
                 */
                kind?: "slower" | "failing" | "data_grew" | "late" | "missing" | "new_finding";
                /**
                 * @description Keeps issues of queries with this label.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps issues of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps issues of queries with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps issues in this state, or in one of several, separated by commas.
                 * @example open,regressed
                 */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table, those with the most wall time a day at stake first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                    "text/csv; charset=utf-8": string;
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many tables are being made */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    nodes: {
        parameters: {
            query?: {
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
                 *     grammar is in docs/reference/api.md.
                 * @example wall>10s -status:finished
                 */
                filter?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description `parquet`, which is the default, `csv`, or `json` for an object a line.
                 * @example parquet
                 */
                format?: "parquet" | "csv" | "json";
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries whose label or error text holds this text in any case, or whose id holds it.
                 * @example daily
                 */
                q?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table, the oldest runs first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                    "text/csv; charset=utf-8": string;
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many tables are being made */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    runs: {
        parameters: {
            query?: {
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
                 *     grammar is in docs/reference/api.md.
                 * @example wall>10s -status:finished
                 */
                filter?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description `parquet`, which is the default, `csv`, or `json` for an object a line.
                 * @example parquet
                 */
                format?: "parquet" | "csv" | "json";
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries whose label or error text holds this text in any case, or whose id holds it.
                 * @example daily
                 */
                q?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table, the oldest runs first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                    "text/csv; charset=utf-8": string;
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many tables are being made */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    facets: {
        parameters: {
            query?: {
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
                 *     grammar is in docs/reference/api.md.
                 * @example wall>10s -status:finished
                 */
                filter?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts by field */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Facets"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    groups: {
        parameters: {
            query?: {
                /**
                 * @description `label`, which is the default, or `fingerprint` for their plan.
                 * @example label
                 */
                by?: "label" | "fingerprint";
                /**
                 * @description Goes on where a page ended: taken from the `Link` header of that page, for the same parameters.
                 * @example Ag
                 */
                cursor?: string;
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Entries on the page; all where it is left out.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The groups */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"][];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many others read */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    issues: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: its `next`, for the same parameters.
                 * @example Cg
                 */
                cursor?: string;
                /**
                 * @description Keeps issues of this kind.
                 * @example slower
                 */
                kind?: "slower" | "failing" | "data_grew" | "late" | "missing" | "new_finding";
                /**
                 * @description Keeps issues of queries with this label.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Issues on the page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Keeps issues of queries that this owner has; empty keeps those without one.
                 * @example team-orders
                 */
                owner?: string;
                /**
                 * @description Keeps issues of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps issues of queries with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps issues in this state, or in one of several, separated by commas: `open`, `acknowledged`, `muted`,
                 *     `resolved`, `regressed`.
                 * @example open,regressed
                 */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The issues */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Issues"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    issue: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the issue
                 * @example issue-slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The issue */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueDetail"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such issue */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    acknowledge: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the issue
                 * @example issue-slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueAct"];
            };
        };
        responses: {
            /** @description The issue as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueDetail"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such issue */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The state of the issue does not allow it */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    mute: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the issue
                 * @example issue-slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueMuteAct"];
            };
        };
        responses: {
            /** @description The issue as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueDetail"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such issue */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The state of the issue does not allow it */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    note: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the issue
                 * @example issue-slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueNoteAct"];
            };
        };
        responses: {
            /** @description The issue as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueDetail"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such issue */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The state of the issue does not allow it */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reopen: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the issue
                 * @example issue-slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueAct"];
            };
        };
        responses: {
            /** @description The issue as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueDetail"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such issue */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The state of the issue does not allow it */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resolve: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the issue
                 * @example issue-slower-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueAct"];
            };
        };
        responses: {
            /** @description The issue as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueDetail"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such issue */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The state of the issue does not allow it */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    running: {
        parameters: {
            query?: {
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
            };
            header?: {
                /**
                 * @description The `id` of the last message that arrived
                 * @example 9f3c01ab-17
                 */
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: snapshot, query, pulse, change, issue, omitted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There are as many live readers as may be, or the streams are not available now */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    one: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: {
                /**
                 * @description The `id` of the last message that arrived
                 * @example 9f3c01ab-17
                 */
                "Last-Event-ID"?: string | null;
            };
            path: {
                /**
                 * @description Id of the query
                 * @example 01a1faa8-1bd9-77b2-97ab-860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: events, finished */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description Nothing has come since the `finished` named by Last-Event-ID */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such query */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The query is known, and its recording is missing */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There are as many live readers as may be, or reading failed or found damage */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    query_notes: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: its `next`, for the same parameters.
                 * @example DQ
                 */
                cursor?: string;
                /**
                 * @description Keeps notes on queries with this label.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Notes on the page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Keeps notes of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps notes on queries of this service; empty keeps those of programs without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps notes about this moment or later, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps notes about this moment or before, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The notes */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notes"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    add_query_note: {
        parameters: {
            query?: {
                /**
                 * @description The project it belongs to. If access is to one project, it is that one.
                 * @example etl
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoteBody"];
            };
        };
        responses: {
            /** @description The note */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryNote"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no editor, the Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The query or the store has as many notes as it may have */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    edit_query_note: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the note
                 * @example note-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditBody"];
            };
        };
        responses: {
            /** @description The note as it is then */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryNote"];
                };
            };
            /** @description The body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no editor, the Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such note */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_query_note: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the note
                 * @example note-01a1faa81bd977b297ab860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The note is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no editor, the Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such note */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    overview: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: taken from the `Link` header of that page, for the same parameters.
                 * @example Ag
                 */
                cursor?: string;
                /**
                 * @description How many times 24 hours it covers; not together with `since`.
                 * @example 14
                 */
                days?: number;
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Entries on the page; all where it is left out.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description `time` lists what took the most time first, which is the default; `news` lists first what has something to
                 *     tell: a verdict, a failure lately, a new warning or a new plan.
                 * @example news
                 */
                order?: "time" | "news";
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description The start of what it covers, in Unix nanoseconds, instead of `days`; at most 90 days before its end.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description `service` makes an entry of each label in each service; without it an entry is a label.
                 * @example service
                 */
                split?: "service";
                /**
                 * @description The end of what it covers, in Unix nanoseconds: now, unless an earlier time is given. What started later
                 *     has no part in the answer, and lately and usual are as of then.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
                /**
                 * @description Minutes that local time is ahead of UTC: where local days start.
                 * @example 60
                 */
                utc_offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The labels that ran in the range */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many others read */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    owners: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The owners */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Owners"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    places: {
        parameters: {
            query?: {
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The places */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Places"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many others read */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    list: {
        parameters: {
            query?: {
                /**
                 * @description Goes on where a page ended: taken from the `Link` header of that page, and of its sort and order.
                 * @example ARjp2vei98pLAAAAAAAAAAE
                 */
                cursor?: string;
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
                 *     grammar is in docs/reference/api.md.
                 * @example wall>10s -status:finished
                 */
                filter?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description Queries on the page.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Queries to skip, from 0 to 9223372036854775807; not together with `cursor`.
                 * @example 0
                 */
                offset?: number;
                /**
                 * @description `newest` or `desc` (the largest first), which is the default, or `oldest` or `asc` (the smallest first). Queries
                 *     of one figure stand by their start, the newest first where the largest are.
                 * @example newest
                 */
                order?: "newest" | "oldest" | "desc" | "asc";
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries whose label or error text holds this text in any case, or whose id holds it.
                 * @example daily
                 */
                q?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description What the list is sorted by: `started`, which is the default, `wall`, `cpu`, `rows`, `read`, `spilled`, `memory`
                 *     or `warnings`. Queries of which it is not known come last in either order.
                 * @example started
                 */
                sort?: "started" | "wall" | "cpu" | "rows" | "read" | "spilled" | "memory" | "warnings";
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Queries in the order asked for */
            200: {
                headers: {
                    /** @description Address of the next page, where there is one */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuerySummary"][];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    query: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the query
                 * @example 01a1faa8-1bd9-77b2-97ab-860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The query */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuerySummary"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such query */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    insights: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the query
                 * @example 01a1faa8-1bd9-77b2-97ab-860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Insights"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such query, or its plan has not been sent */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A query is known, and its recording is missing */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The profile that was sent cannot be read */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or a recording is damaged */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    progress: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the query
                 * @example 01a1faa8-1bd9-77b2-97ab-860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far it is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Progress"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such query */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    recording: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the query
                 * @example 01a1faa8-1bd9-77b2-97ab-860dd7026506
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON Lines in the format events@1, always with Content-Encoding: gzip */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {"schema":"engine-telemetry/events@1","seq":1,"type":"process"} */
                    "application/x-ndjson": string;
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such query, or it still runs */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The query is known, and its recording is missing */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or the recording is damaged */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    routes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The routes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Routes"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    senders: {
        parameters: {
            query?: {
                /**
                 * @description Senders that are listed.
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The senders */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SenderList"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    series: {
        parameters: {
            query?: {
                /**
                 * @description What the runs are divided by: each value of it has a series of its own. Without it, there is one of all runs.
                 * @example host
                 */
                by?: "fingerprint" | "host" | "service" | "environment" | "engine_version" | "program_version";
                /**
                 * @description Keeps queries of this version of the engine; empty keeps those of which it is not known.
                 * @example 1.35.2
                 */
                engine_version?: string;
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
                 *     grammar is in docs/reference/api.md.
                 * @example wall>10s -status:finished
                 */
                filter?: string;
                /**
                 * @description Keeps queries with this plan fingerprint; empty keeps those without one.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description Keeps queries with this label; empty keeps those without one.
                 * @example orders/daily
                 */
                label?: string;
                /**
                 * @description So many series at most, those of the most wall time; the last one then holds all others.
                 * @example 8
                 */
                most?: number;
                /**
                 * @description Keeps queries of this version of the program; empty keeps those whose process does not say it.
                 * @example 2026.11.3
                 */
                program_version?: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The series */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesAnswer"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed, or too many others read */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    service: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Service"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You may read one project alone, or the Host is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or the Host is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    end_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the session
                 * @example 72cd6e8422c407fb6d098690f1130b7d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description The sessions that are left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such session */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or the Host is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    add_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenToMake"];
            };
        };
        responses: {
            /** @description The token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenMade"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is a token of that name */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the token
                 * @example ci
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description The tokens that are left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such token */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    users: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The users */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or the Host is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    add_user: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserToMake"];
            };
        };
        responses: {
            /** @description The users as they are now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is a user of that name */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    change_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the user
                 * @example ada
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChange"];
            };
        };
        responses: {
            /** @description The users as they are now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such user */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The user is the last administrator, or of a provider */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    remove_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the user
                 * @example ada
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description The users that are left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no administrator, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such user */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The user is the last administrator */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing or reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    versions: {
        parameters: {
            query: {
                /**
                 * @description Keeps queries from processes with this environment; empty keeps those without one.
                 * @example prod
                 */
                environment?: string;
                /**
                 * @description Keeps queries with this plan fingerprint.
                 * @example 238b6af6d50a
                 */
                fingerprint?: string;
                /**
                 * @description Keeps queries from processes on this host.
                 * @example worker-1
                 */
                host?: string;
                /**
                 * @description The label; empty is that of queries without one
                 * @example orders/daily
                 */
                label: string;
                /**
                 * @description Keeps queries of this project.
                 * @example default
                 */
                project?: string;
                /**
                 * @description Keeps queries from processes with this service; empty keeps those without one.
                 * @example orders-etl
                 */
                service?: string;
                /**
                 * @description Keeps queries that started at or after this, in Unix nanoseconds.
                 * @example 1794000000000000000
                 */
                since?: UnixNs;
                /**
                 * @description Keeps queries in this state.
                 * @example finished
                 */
                status?: "running" | "finished" | "failed" | "unfinished";
                /**
                 * @description Keeps queries that started at or before this, in Unix nanoseconds.
                 * @example 1796000000000000000
                 */
                until?: UnixNs;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plans */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"][];
                };
            };
            /** @description A parameter is invalid, or label is missing */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    shared_views: {
        parameters: {
            query?: {
                /**
                 * @description Answers as if there were only this project's queries.
                 * @example default
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The views */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Views"];
                };
            };
            /** @description A parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The Host is a name that is not served */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    share_view: {
        parameters: {
            query?: {
                /**
                 * @description The project it belongs to. If access is to one project, it is that one.
                 * @example etl
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the view, 1 to 60 characters
                 * @example Failed runs
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ViewBody"];
            };
        };
        responses: {
            /** @description The view */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedView"];
                };
            };
            /** @description The name, the body or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no editor, the Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project or the store has as many views as it may have */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    unshare_view: {
        parameters: {
            query?: {
                /**
                 * @description The project it belongs to. If access is to one project, it is that one.
                 * @example etl
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Name of the view
                 * @example Failed runs
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The view is not shared any more */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The name or a parameter is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Reading is restricted, and no session or token says who asks */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description You are no editor, the Host is a name that is not served, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such view */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployBody"];
            };
        };
        responses: {
            /** @description The deploy that had been posted before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deploy"];
                };
            };
            /** @description The deploy, stored */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deploy"];
                };
            };
            /** @description The body is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Who asks is no editor, or a page of another site asks */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive within 10 s */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than 64 KiB */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is not application/json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed: send again */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    events: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description How many events the process made for this service and dropped since its start, up to 999999999999999, for `/api/senders`
                 * @example 0
                 */
                "queryscope-dropped"?: string | null;
                /**
                 * @description `1` for events of the past, as from a file: a run among them without an end is `unfinished` at once, not `running`
                 * @example 1
                 */
                "queryscope-imported"?: string | null;
                /**
                 * @description The stream of the batch: `/api/senders` then knows its sender, too, where the body is refused unread
                 * @example 210de94c-dce3-44f0-9cd3-2604c74dbeea
                 */
                "queryscope-stream"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 8 MiB as sent, also without Content-Encoding, and 64 MiB decompressed, of at most 65536 queries */
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Every event is stored */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventsAnswer"];
                };
            };
            /** @description Not valid gzip, not events@1, or a query of another stream: drop the batch */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The stream belongs to another project */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too large: split the batch */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A Content-Encoding other than gzip or identity */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Storing failed, or too much is in flight: send again after Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It lives */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
}
