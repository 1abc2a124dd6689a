-- name: take_over
-- Raise the epoch of a session, or begin it at 1: whoever held it before is fenced from now on.
INSERT INTO session_heads (id, epoch, owner, head, created_at, updated_at) VALUES (?, 1, ?, zeroblob(32), ?, ?)
ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1, owner = excluded.owner
RETURNING epoch, seq, head;

-- name: guard
-- First statement of every journal write: moves the head if the epoch and the expected seq still hold.
UPDATE session_heads SET seq = ?, head = ?, updated_at = ? WHERE id = ? AND epoch = ? AND seq = ?;

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
INSERT INTO turns (session_id, turn_id, agent, started_at, started_seq) VALUES (?, ?, ?, ?, ?);

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
        json_extract(replied.payload, '$.reply.reasoning."$erasable"'),
        -- the blocks that led to calls stay: wires want them back as long as the calls are in the history
        CASE WHEN json_extract(replied.payload, '$.reply.calls') IS NULL
            THEN json_extract(replied.payload, '$.reply.raw."$erasable"') END)) AS parts
    WHERE turns.session_id = ? AND turns.turn_id = ? AND replied.type = 'ModelReplied' AND parts.value IS NOT NULL
        AND json_extract(started.payload, '$.policy.store_reasoning') = 'turn');

-- name: read_events
-- A session's records after a seq, in order.
SELECT seq, turn_id, type, version, at, payload, prev_hash, hash FROM events
WHERE session_id = ? AND seq > ? ORDER BY seq;

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
