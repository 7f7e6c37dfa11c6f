-- What repairs found to be lost, apart from what retention deleted: of which stream and which query, null where
-- nothing tells which, how many events, and when it was found, null where that was not noted. It outlives the query,
-- while `loss` says how many of the events of a row that is there are lost.
CREATE TABLE recorded_loss (
    stream_id     BLOB NOT NULL,
    query_id      BLOB,
    events        INTEGER NOT NULL,
    found_unix_ms INTEGER
);
CREATE INDEX recorded_loss_by_stream ON recorded_loss (stream_id);

INSERT INTO recorded_loss (stream_id, query_id, events)
SELECT stream.stream_id, query.query_id, loss.events FROM loss
JOIN query ON query.id = loss.query JOIN stream ON stream.id = query.stream;
