-- name: find_head
-- Where a session stands, and who drives it.
SELECT epoch, seq, head, owner FROM session_heads WHERE id = ?;

-- name: begin_session
-- A session begins, driven by this worker. Changes nothing if there is one: another was quicker.
INSERT INTO session_heads (id, epoch, owner, head, created_at, updated_at) VALUES (?, 1, ?, zeroblob(32), ?, ?)
ON CONFLICT (id) DO NOTHING;

-- name: take_over
-- Raise the epoch of a session: whoever held it is fenced from now on. Changes nothing if another was quicker.
UPDATE session_heads SET epoch = epoch + 1, owner = ? WHERE id = ? AND epoch = ? AND owner IS ?;

-- name: guard
-- First statement of every journal write: moves the head if the epoch and the expected seq still hold. Whoever writes
-- holds the session, until the turn has ended.
UPDATE session_heads SET seq = ?, head = ?, updated_at = ?, owner = ? WHERE id = ? AND epoch = ? AND seq = ?;

-- name: let_go
-- A driver that leaves a turn open lets others go on with it.
UPDATE session_heads SET owner = NULL WHERE id = ? AND epoch = ? AND owner = ?;

-- name: add_worker
-- A process that writes; it shows that it lives by beating. The dead are forgotten.
INSERT INTO workers (id, pid, beat_at) VALUES (?, ?, CAST(unixepoch('subsec') * 1000000 AS INTEGER));

-- name: drop_dead_workers
-- Workers that have not beaten for too long; one that comes back finds that it is fenced.
DELETE FROM workers WHERE beat_at < CAST(unixepoch('subsec') * 1000000 AS INTEGER) - ?;

-- name: beat
-- A worker lives; no row: it was taken for dead.
UPDATE workers SET beat_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) WHERE id = ? RETURNING id;

-- name: beats
-- Whether a worker has beaten lately.
SELECT 1 FROM workers WHERE id = ? AND beat_at >= CAST(unixepoch('subsec') * 1000000 AS INTEGER) - ?;

-- name: drop_worker
-- A worker that is gone.
DELETE FROM workers WHERE id = ?;

-- name: post_letter
-- Mail for a session that another process drives; sent twice under one key, it is one letter.
INSERT INTO inbox (session_id, kind, payload, client_key, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session_id, client_key) WHERE client_key IS NOT NULL DO UPDATE SET client_key = excluded.client_key
RETURNING id;

-- name: waiting_letters
-- A session's mail that nobody has taken, in the order it came.
SELECT id, kind, payload FROM inbox WHERE session_id = ? AND taken_seq IS NULL ORDER BY id;

-- name: joining_letters
-- Of these, what concerns the open turn: inputs wait for its end, and may be large.
SELECT id, kind, payload FROM inbox WHERE session_id = ? AND taken_seq IS NULL AND id > ? AND kind <> 'Input'
ORDER BY id;

-- name: letter_state
-- Which record took a letter; no row: it was withdrawn.
SELECT taken_seq FROM inbox WHERE id = ?;

-- name: take_letter
-- A record uses a letter, once.
UPDATE inbox SET taken_seq = ? WHERE id = ? AND session_id = ? AND taken_seq IS NULL;

-- name: withdraw_letter
-- The sender does not wait any longer; no row: it was taken already.
DELETE FROM inbox WHERE id = ? AND taken_seq IS NULL RETURNING id;

-- name: last_letter
-- The newest letter's number.
SELECT coalesce(max(id), 0) FROM inbox;

-- name: unfinished_sessions
-- Sessions with an open turn or with waiting inputs, the oldest first, and who drives them.
SELECT h.id, h.owner FROM session_heads AS h
WHERE EXISTS (SELECT 1 FROM turns AS t WHERE t.session_id = h.id AND t.ended_at IS NULL)
    OR EXISTS (SELECT 1 FROM inbox AS i WHERE i.session_id = h.id AND i.taken_seq IS NULL
        AND i.kind IN ('Input', 'Steer'))
ORDER BY h.updated_at;

-- name: append_event
-- One record.
INSERT INTO events (session_id, seq, turn_id, type, version, at, payload, prev_hash, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_blob
-- Content is stored once.
INSERT OR IGNORE INTO blobs (hash, body) VALUES (?, ?);

-- name: get_blob
-- A blob by its hash.
SELECT body FROM blobs WHERE hash = ?;

-- name: name_session
-- What the opening event says of the session.
UPDATE session_heads SET agent = ?, principal = ?, channel = ?, created_at = ? WHERE id = ?;

-- name: start_turn
-- The index row of a turn.
INSERT INTO turns (session_id, turn_id, agent, started_at, started_seq, lock_hash) VALUES (?, ?, ?, ?, ?, ?);

-- name: end_turn
-- The index row of a turn that ended.
UPDATE turns SET ended_at = ?, turn_end = ? WHERE session_id = ? AND turn_id = ?;

-- name: forget_reasoning
-- A turn that ended keeps no private reasoning, if its policy says so: the content goes, its hash stays in the rows.
DELETE FROM blobs WHERE hash IN (
    SELECT parts.value
    FROM turns
    JOIN events AS started ON started.session_id = turns.session_id AND started.seq = turns.started_seq
    JOIN events AS replied ON replied.session_id = turns.session_id AND replied.seq > turns.started_seq
    JOIN json_each(json_array(
        -- the one wire on which readable reasoning is itself sent back with its calls is openai-chat, in some dialects
        CASE WHEN json_extract(replied.payload, '$.reply.wire') IS NOT 'openai-chat'
                OR json_extract(replied.payload, '$.reply.calls') IS NULL
            THEN json_extract(replied.payload, '$.reply.reasoning."$erasable"') END,
        -- blocks that were sent back within the turn stay: wires want them with their calls, a replay needs them
        CASE WHEN json_extract(replied.payload, '$.reply.calls') IS NULL AND NOT EXISTS (
                SELECT 1 FROM events AS later
                WHERE later.session_id = replied.session_id AND later.seq > replied.seq
                    AND later.turn_id = replied.turn_id AND later.type IN ('ModelAsked', 'NoticeGiven', 'InputAdded'))
            THEN json_extract(replied.payload, '$.reply.raw."$erasable"') END)) AS parts
    WHERE turns.session_id = ? AND turns.turn_id = ? AND replied.type = 'ModelReplied' AND parts.value IS NOT NULL
        AND json_extract(started.payload, '$.policy.store_reasoning') = 'turn');

-- name: read_events
-- A session's records after a seq, in order.
SELECT seq, turn_id, type, version, at, payload, prev_hash, hash, erased FROM events
WHERE session_id = ? AND seq > ? ORDER BY seq;

-- name: read_end
-- Where a session's chain has to end, and when all of it was erased.
SELECT seq, erased_at FROM session_heads WHERE id = ?;

-- name: hash_at
-- The hash of one record.
SELECT hash FROM events WHERE session_id = ? AND seq = ?;

-- name: list_sessions
-- Sessions, the last used first, without their messages.
SELECT h.id, h.agent, h.principal, h.channel, h.created_at, h.updated_at, h.seq,
    (SELECT count(*) FROM turns AS t WHERE t.session_id = h.id) AS turns,
    (SELECT turn_end FROM turns AS t WHERE t.session_id = h.id ORDER BY started_seq DESC LIMIT 1) AS last_end,
    EXISTS (SELECT 1 FROM turns AS t WHERE t.session_id = h.id AND t.ended_at IS NULL) AS is_open
FROM session_heads AS h WHERE h.seq > 0 ORDER BY h.updated_at DESC, h.id LIMIT ?;

-- name: open_sessions
-- Sessions with a turn that has not ended, the oldest first.
SELECT session_id FROM turns WHERE ended_at IS NULL GROUP BY session_id ORDER BY min(started_at);

-- name: child_sessions
-- The sessions that answer calls of a session, with the payload that says which, the oldest first.
SELECT session_id, payload FROM events
WHERE type = 'SessionOpened' AND json_extract(payload, '$.parent.session_id') = ? ORDER BY rowid;

-- name: principal_of
-- For whom a session is.
SELECT principal FROM session_heads WHERE id = ?;

-- name: last_row
-- The newest record's row: what is appended later has a higher one.
SELECT coalesce(max(rowid), 0) FROM events;

-- name: spent_since
-- What one principal's sessions have spent from a time on, and before another: model calls begun, tool calls begun, tokens.
SELECT coalesce(sum(model_calls), 0), coalesce(sum(tool_calls), 0), coalesce(sum(tokens), 0) FROM spending
WHERE session_id IN (SELECT id FROM session_heads WHERE principal = ?1 AND updated_at >= ?2) AND at >= ?2 AND at < ?3
    AND seq >= (SELECT min(t.started_seq) FROM turns AS t
        WHERE t.session_id = spending.session_id AND (t.ended_at IS NULL OR t.ended_at >= ?2));

-- name: spent_after
-- The same by principal, of the records after a row.
SELECT principal, sum(model_calls), sum(tool_calls), sum(tokens) FROM spending
WHERE row > ? AND at >= ? AND at < ? GROUP BY principal;

-- name: keep_model_calls
-- Last statements of a write that spends: nothing is changed, and the write fails, if it is beyond the quota. The plus
-- keeps SQLite from making its plan anew for each value.
UPDATE session_heads SET seq = seq WHERE id = ? AND ? >= ? + (
    SELECT coalesce(sum(model_calls), 0) FROM spending WHERE row > ? AND +principal = ? AND at >= ? AND at < ?);

-- name: keep_tool_calls
-- As above.
UPDATE session_heads SET seq = seq WHERE id = ? AND ? >= ? + (
    SELECT coalesce(sum(tool_calls), 0) FROM spending WHERE row > ? AND +principal = ? AND at >= ? AND at < ?);

-- name: keep_total_tokens
-- As above: there is room for another call as long as they are fewer than the quota.
UPDATE session_heads SET seq = seq WHERE id = ? AND ? > ? + (
    SELECT coalesce(sum(tokens), 0) FROM spending WHERE row > ? AND +principal = ? AND at >= ? AND at < ?);
