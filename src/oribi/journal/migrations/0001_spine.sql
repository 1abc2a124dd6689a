-- The spine: events, blobs, and the index of sessions and turns; the documents' tables as views over the events.

CREATE TABLE events (
    session_id TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    turn_id    TEXT,
    type       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    at         INTEGER NOT NULL,          -- microseconds since the epoch, UTC
    payload    TEXT NOT NULL,             -- JSON; large parts stand in blobs
    prev_hash  BLOB NOT NULL,
    hash       BLOB NOT NULL,
    PRIMARY KEY (session_id, seq)
);

CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,                -- SHA-256 of body, hex
    body TEXT NOT NULL
) WITHOUT ROWID;

-- One row a session: its fence (epoch), its head in the chain. `sessions` is the view to query.
CREATE TABLE session_heads (
    id         TEXT PRIMARY KEY,
    agent      TEXT NOT NULL DEFAULT '',
    principal  TEXT NOT NULL DEFAULT '',
    channel    TEXT NOT NULL DEFAULT '',
    epoch      INTEGER NOT NULL,
    owner      TEXT,
    seq        INTEGER NOT NULL DEFAULT 0,
    head       BLOB NOT NULL,
    next_at    INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE turns (
    session_id  TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    started_seq INTEGER NOT NULL,
    ended_at    INTEGER,
    turn_end    TEXT,                     -- the end's name: Completed, MaxSteps, ...
    PRIMARY KEY (session_id, turn_id)
) WITHOUT ROWID;

CREATE INDEX open_turns ON turns (session_id) WHERE ended_at IS NULL;

-- One row a model call (O-6, Y-12).
CREATE VIEW llm_calls AS
SELECT
    asked.session_id || '/' || asked.seq                         AS id,
    asked.session_id                                             AS session_id,
    asked.turn_id                                                AS turn_id,
    json_extract(asked.payload, '$.step')                        AS step,
    json_extract(asked.payload, '$.attempt')                     AS attempt,
    turns.agent                                                  AS agent,
    coalesce(  -- a fallback stands in the call itself, as provider:name
        substr(json_extract(asked.payload, '$.model'), 1, instr(json_extract(asked.payload, '$.model'), ':') - 1),
        json_extract(started.payload, '$.model.provider'))       AS provider,
    coalesce(
        substr(json_extract(asked.payload, '$.model'), instr(json_extract(asked.payload, '$.model'), ':') + 1),
        json_extract(started.payload, '$.model.name'))           AS model,
    CASE done.type WHEN 'ModelReplied' THEN 'ok' WHEN 'ModelFaulted' THEN 'failed' ELSE 'cut_off' END AS status,
    done.type IS 'ModelReplied'                                  AS success,
    json_extract(done.payload, '$.reply.usage.input_tokens')     AS prompt_tokens,
    json_extract(done.payload, '$.reply.usage.output_tokens')    AS completion_tokens,
    json_extract(done.payload, '$.reply.usage.input_tokens')
        + json_extract(done.payload, '$.reply.usage.output_tokens') AS total_tokens,
    json_extract(done.payload, '$.reply.usage.cached_tokens')    AS cached_tokens,
    (done.at - asked.at) / 1000.0                                AS duration_ms,
    json_extract(done.payload, '$.reply.stop')                   AS stop_reason,
    CASE json_type(done.payload, '$.reply.text')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(done.payload, '$.reply.text."$text"'))
        ELSE json_extract(done.payload, '$.reply.text') END      AS response,
    CASE json_type(done.payload, '$.reply.calls')
        WHEN 'object' THEN (SELECT json_array_length(body) FROM blobs
                            WHERE hash = json_extract(done.payload, '$.reply.calls."$json"'))
        ELSE json_array_length(done.payload, '$.reply.calls') END AS tool_calls,
    json_extract(done.payload, '$.kind')                         AS error_kind,
    CASE json_type(done.payload, '$.message')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(done.payload, '$.message."$text"'))
        ELSE json_extract(done.payload, '$.message') END         AS error,
    json_extract(asked.payload, '$.request.sha256')              AS request_sha256,
    json_extract(asked.payload, '$.request.bytes')               AS request_bytes,
    json_extract(asked.payload, '$.request.messages')            AS request_messages,
    strftime('%Y-%m-%dT%H:%M:%fZ', asked.at / 1e6, 'unixepoch')  AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', done.at / 1e6, 'unixepoch')   AS finished_at
FROM events AS asked
JOIN turns ON turns.session_id = asked.session_id AND turns.turn_id = asked.turn_id
JOIN events AS started ON started.session_id = asked.session_id AND started.seq = turns.started_seq
LEFT JOIN events AS done
    ON done.session_id = asked.session_id
    AND done.seq = (
        SELECT later.seq FROM events AS later
        WHERE later.session_id = asked.session_id AND later.seq > asked.seq
            AND later.type IN ('ModelReplied', 'ModelFaulted', 'ModelAsked', 'TurnEnded')
        ORDER BY later.seq LIMIT 1)
    AND done.type IN ('ModelReplied', 'ModelFaulted')
WHERE asked.type = 'ModelAsked';

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
        WHEN settled.seq IS NOT NULL THEN json_extract(settled.payload, '$.result."$type"')
        WHEN json_extract(judged.payload, '$.verdict."$type"') = 'Deny' THEN 'Denied'
        WHEN started.seq IS NOT NULL THEN 'Started'
        ELSE 'Asked' END                            AS status,
    coalesce(json_extract(settled.payload, '$.result."$type"') = 'Succeeded', 0) AS success,
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
    AND settled.type = 'ToolSettled' AND json_extract(settled.payload, '$.call_id') = calls.call_id;

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

-- How turns end (T-14).
CREATE VIEW turn_ends AS
SELECT agent, coalesce(turn_end, 'open') AS turn_end, count(*) AS turns FROM turns GROUP BY agent, turn_end;
