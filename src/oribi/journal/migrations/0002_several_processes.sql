-- Several processes on one file: who works, what waits; erasure that still verifies; what shaped each turn.

-- SHA-256 of the payload that stood here before it was erased; it takes the payload's place in the row's hash.
ALTER TABLE events ADD COLUMN erased BLOB;

-- What shaped the turn, as one hash (G13); empty in turns of before.
ALTER TABLE turns ADD COLUMN lock_hash TEXT NOT NULL DEFAULT '';

-- When the whole session was erased (microseconds since the epoch); its rows are tombstones.
ALTER TABLE session_heads ADD COLUMN erased_at INTEGER;

-- The processes that write this file. One that has not beaten for a while is dead: its sessions may be taken over.
CREATE TABLE workers (
    id      TEXT PRIMARY KEY,
    pid     INTEGER NOT NULL,
    beat_at INTEGER NOT NULL               -- microseconds since the epoch, by the database's clock
) WITHOUT ROWID;

-- What waits for a session that another process drives. A row is used once: `taken_seq` is the record that used it.
CREATE TABLE inbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    kind       TEXT NOT NULL,              -- Input, Steer, Interrupt, Revoke
    payload    TEXT NOT NULL,              -- JSON, as in events
    client_key TEXT,                       -- the sender's own name for it: sent twice, it is one row
    created_at INTEGER NOT NULL,
    taken_seq  INTEGER
);
CREATE UNIQUE INDEX inbox_keys ON inbox (session_id, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX inbox_waiting ON inbox (session_id, id) WHERE taken_seq IS NULL;

DROP VIEW sessions;
DROP VIEW messages;
DROP VIEW tool_invocations;

-- One row a tool call the model made (O-23, Y-12), whatever came of it.
CREATE VIEW tool_invocations AS
WITH calls AS (
    SELECT
        replied.session_id, replied.seq, replied.turn_id, replied.at,
        json_extract(replied.payload, '$.step') AS step,
        each.key                                AS position,
        json_extract(each.value, '$.id')        AS call_id,
        json_extract(each.value, '$.name')      AS tool_name,
        CASE json_type(each.value, '$.arguments."$json"')
            WHEN 'text' THEN (SELECT body FROM blobs WHERE hash = json_extract(each.value, '$.arguments."$json"'))
            ELSE json_extract(each.value, '$.arguments') END AS stored_input,
        -- the events of this step stand between this reply and the next model call
        (SELECT later.seq FROM events AS later
         WHERE later.session_id = replied.session_id AND later.seq > replied.seq
             AND later.type IN ('ModelAsked', 'TurnEnded')
         ORDER BY later.seq LIMIT 1)            AS next_seq
    FROM events AS replied,
        json_each(
            CASE json_type(replied.payload, '$.reply.calls')
                WHEN 'object' THEN (SELECT body FROM blobs
                                    WHERE hash = json_extract(replied.payload, '$.reply.calls."$json"'))
                ELSE coalesce(json_extract(replied.payload, '$.reply.calls'), '[]') END) AS each
    WHERE replied.type = 'ModelReplied'
)
SELECT
    calls.session_id || '/' || calls.turn_id || '/' || calls.step || '/' || calls.call_id AS id,
    calls.session_id                                AS session_id,
    calls.turn_id                                   AS turn_id,
    calls.step                                      AS step,
    calls.call_id                                   AS call_id,
    calls.tool_name                                 AS tool_name,
    CASE json_type(calls.stored_input, '$."$as_is"')  -- arguments whose keys look like the journal's own marks
        WHEN 'object' THEN json_extract(calls.stored_input, '$."$as_is"')
        ELSE calls.stored_input END                 AS input,
    CASE
        WHEN resolved.seq IS NOT NULL THEN coalesce(
            (SELECT body FROM blobs WHERE hash = json_extract(resolved.payload, '$.result.text."$text"')),
            json_extract(resolved.payload, '$.result.text'),
            json_extract(resolved.payload, '$.result.reason'))
        WHEN json_type(coalesce(settled.payload, judged.payload), '$.verdict.reason') = 'object'
            THEN (SELECT body FROM blobs WHERE hash = json_extract(judged.payload, '$.verdict.reason."$text"'))
        WHEN settled.seq IS NULL AND json_extract(judged.payload, '$.verdict."$type"') = 'Deny'
            THEN json_extract(judged.payload, '$.verdict.reason')
        WHEN json_type(settled.payload, '$.result.reason') = 'object'
            THEN (SELECT body FROM blobs WHERE hash = json_extract(settled.payload, '$.result.reason."$text"'))
        WHEN json_extract(settled.payload, '$.result."$type"') IN ('Denied', 'Unknown')
            THEN json_extract(settled.payload, '$.result.reason')
        WHEN json_type(settled.payload, '$.result.text') = 'object'
            THEN (SELECT body FROM blobs WHERE hash = json_extract(settled.payload, '$.result.text."$text"'))
        ELSE json_extract(settled.payload, '$.result.text') END AS result,
    CASE
        WHEN resolved.seq IS NOT NULL THEN json_extract(resolved.payload, '$.result."$type"')
        WHEN settled.seq IS NOT NULL THEN json_extract(settled.payload, '$.result."$type"')
        WHEN json_extract(judged.payload, '$.verdict."$type"') = 'Deny' THEN 'Denied'
        WHEN started.seq IS NOT NULL THEN 'Started'
        ELSE 'Asked' END                            AS status,
    coalesce(json_extract(coalesce(resolved.payload, settled.payload), '$.result."$type"') = 'Succeeded', 0) AS success,
    json_extract(resolved.payload, '$.by')          AS resolved_by,
    json_extract(judged.payload, '$.verdict.rule')  AS rule,
    (settled.at - started.at) / 1000.0              AS duration_ms,
    strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(started.at, calls.at) / 1e6, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ',
        coalesce(settled.at,
            CASE json_extract(judged.payload, '$.verdict."$type"') WHEN 'Deny' THEN judged.at END) / 1e6,
        'unixepoch') AS finished_at
FROM calls
LEFT JOIN events AS judged
    ON judged.session_id = calls.session_id AND judged.seq > calls.seq
    AND judged.seq < coalesce(calls.next_seq, 9e18)
    AND judged.type = 'CallJudged' AND json_extract(judged.payload, '$.call_id') = calls.call_id
LEFT JOIN events AS started
    ON started.session_id = calls.session_id AND started.seq = (
        SELECT max(s.seq) FROM events AS s
        WHERE s.session_id = calls.session_id AND s.seq > calls.seq AND s.seq < coalesce(calls.next_seq, 9e18)
            AND s.type = 'ToolStarted' AND json_extract(s.payload, '$.call_id') = calls.call_id)
LEFT JOIN events AS settled
    ON settled.session_id = calls.session_id AND settled.seq > calls.seq
    AND settled.seq < coalesce(calls.next_seq, 9e18)
    AND settled.type = 'ToolSettled' AND json_extract(settled.payload, '$.call_id') = calls.call_id
LEFT JOIN events AS resolved  -- a person's word about a call whose outcome was unknown
    ON resolved.session_id = calls.session_id AND resolved.type = 'CallResolved'
    AND json_extract(resolved.payload, '$.call_turn') = calls.turn_id
    AND json_extract(resolved.payload, '$.step') = calls.step
    AND json_extract(resolved.payload, '$.call_id') = calls.call_id;

-- The conversation, one row a message (O-4).
CREATE VIEW messages AS
SELECT
    session_id, seq, 0 AS position, turn_id, 'user' AS role,
    CASE json_type(payload, '$.input.text')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.input.text."$text"'))
        ELSE json_extract(payload, '$.input.text') END AS content,
    NULL AS tool_calls, NULL AS tool_call_id, NULL AS tool_name,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e6, 'unixepoch') AS created_at
FROM events WHERE type = 'TurnStarted'
UNION ALL
SELECT  -- what the runtime told the model in the place of a person
    session_id, seq, 0, turn_id, 'user',
    CASE json_type(payload, '$.text')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.text."$text"'))
        ELSE json_extract(payload, '$.text') END,
    NULL, NULL, NULL,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e6, 'unixepoch')
FROM events WHERE type = 'NoticeGiven'
UNION ALL
SELECT  -- what a person added to the turn while it was open
    session_id, seq, 0, turn_id, 'user',
    CASE json_type(payload, '$.input.text')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.input.text."$text"'))
        ELSE json_extract(payload, '$.input.text') END,
    NULL, NULL, NULL,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e6, 'unixepoch')
FROM events WHERE type = 'InputAdded'
UNION ALL
SELECT
    session_id, seq, 0, turn_id, 'assistant',
    CASE json_type(payload, '$.reply.text')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.reply.text."$text"'))
        ELSE json_extract(payload, '$.reply.text') END,
    CASE json_type(payload, '$.reply.calls')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.reply.calls."$json"'))
        ELSE json_extract(payload, '$.reply.calls') END,
    NULL, NULL,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e6, 'unixepoch')
FROM events WHERE type = 'ModelReplied'
UNION ALL
SELECT
    i.session_id, replied.seq, 1 + calls.key, i.turn_id, 'tool', i.result, NULL, i.call_id, i.tool_name, i.finished_at
FROM tool_invocations AS i
JOIN events AS replied
    ON replied.session_id = i.session_id AND replied.turn_id = i.turn_id AND replied.type = 'ModelReplied'
    AND json_extract(replied.payload, '$.step') = i.step
JOIN json_each(
    CASE json_type(replied.payload, '$.reply.calls')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(replied.payload, '$.reply.calls."$json"'))
        ELSE json_extract(replied.payload, '$.reply.calls') END) AS calls
    ON json_extract(calls.value, '$.id') = i.call_id
WHERE i.status NOT IN ('Asked', 'Started');

-- The sessions, with the whole conversation as JSON (O-13).
CREATE VIEW sessions AS
SELECT
    heads.id, heads.agent, heads.principal, heads.channel, heads.epoch, heads.owner, heads.seq, heads.next_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', heads.created_at / 1e6, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', heads.updated_at / 1e6, 'unixepoch') AS updated_at,
    (SELECT count(*) FROM turns WHERE turns.session_id = heads.id) AS turns,
    (SELECT turn_end FROM turns WHERE turns.session_id = heads.id ORDER BY started_seq DESC LIMIT 1) AS last_end,
    (SELECT count(*) FROM turns WHERE turns.session_id = heads.id AND ended_at IS NULL) AS open_turns,
    (SELECT json_group_array(json(message)) FROM (
        SELECT json_object(
            'role', role, 'content', content, 'tool_calls', json(tool_calls),
            'tool_call_id', tool_call_id, 'name', tool_name) AS message
        FROM messages WHERE messages.session_id = heads.id ORDER BY seq, position)) AS messages_json
FROM session_heads AS heads WHERE heads.seq > 0;
