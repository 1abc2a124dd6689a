-- Commands and nested turns: the call that an input meant, what a router said, and which session answers which call.

-- A nested session by the call it answers.
CREATE INDEX child_sessions ON events (json_extract(payload, '$.parent.session_id'))
WHERE type = 'SessionOpened' AND json_extract(payload, '$.parent.session_id') IS NOT NULL;

DROP VIEW sessions;
DROP VIEW messages;
DROP VIEW tool_invocations;

-- One row a tool call that the model made or a command meant (O-23, Y-12, M-3), whatever came of it. `asked_seq` is the
-- record that asked for it, `position` its place there; `starts` counts how often it began (Y-7), `duration_ms` is that
-- of the last time.
CREATE VIEW tool_invocations AS
WITH calls AS (
    SELECT
        asked.session_id, asked.seq, asked.turn_id, asked.at,
        coalesce(json_extract(asked.payload, '$.step'), 1) AS step,  -- a command is called in step 1
        each.key                                AS position,
        json_extract(each.value, '$.id')        AS call_id,
        json_extract(each.value, '$.name')      AS tool_name,
        CASE json_type(each.value, '$.arguments."$json"')
            WHEN 'text' THEN (SELECT body FROM blobs WHERE hash = json_extract(each.value, '$.arguments."$json"'))
            ELSE json_extract(each.value, '$.arguments') END AS stored_input,
        -- the events of this step stand between this record and the next model call
        (SELECT later.seq FROM events AS later
         WHERE later.session_id = asked.session_id AND later.seq > asked.seq
             AND later.type IN ('ModelAsked', 'TurnEnded')
         ORDER BY later.seq LIMIT 1)            AS next_seq
    FROM events AS asked,
        json_each(
            CASE
                WHEN asked.type = 'TurnStarted' THEN json_array(json(json_extract(asked.payload, '$.command')))
                WHEN json_type(asked.payload, '$.reply.calls') = 'object'
                    THEN (SELECT body FROM blobs WHERE hash = json_extract(asked.payload, '$.reply.calls."$json"'))
                ELSE coalesce(json_extract(asked.payload, '$.reply.calls'), '[]') END) AS each
    WHERE (asked.type = 'ModelReplied' AND json_extract(asked.payload, '$.step') IS NOT 0)  -- step 0 only chose a mode
        OR (asked.type = 'TurnStarted' AND json_type(asked.payload, '$.command') = 'object')
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
        'unixepoch') AS finished_at,
    (SELECT count(*) FROM events AS s
     WHERE s.session_id = calls.session_id AND s.seq > calls.seq AND s.seq < coalesce(calls.next_seq, 9e18)
         AND s.type = 'ToolStarted' AND json_extract(s.payload, '$.call_id') = calls.call_id) AS starts,
    calls.seq                                       AS asked_seq,
    calls.position                                  AS position
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
SELECT  -- the call that a command meant stands as if a reply had asked for it
    session_id, seq, 1, turn_id, 'assistant', '',
    json_array(json_set(json_extract(payload, '$.command'), '$.arguments', json(coalesce(
        (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.command.arguments."$json"')),
        json_extract(payload, '$.command.arguments'))))),
    NULL, NULL,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e6, 'unixepoch')
FROM events WHERE type = 'TurnStarted' AND json_type(payload, '$.command') = 'object'
UNION ALL
SELECT
    session_id, seq, 1, turn_id, 'assistant',
    CASE json_type(payload, '$.reply.text')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.reply.text."$text"'))
        ELSE json_extract(payload, '$.reply.text') END,
    CASE json_type(payload, '$.reply.calls')
        WHEN 'object' THEN (SELECT body FROM blobs WHERE hash = json_extract(payload, '$.reply.calls."$json"'))
        ELSE json_extract(payload, '$.reply.calls') END,
    NULL, NULL,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e6, 'unixepoch')
FROM events WHERE type = 'ModelReplied' AND json_extract(payload, '$.step') IS NOT 0  -- step 0 only chose a mode
UNION ALL
SELECT
    session_id, asked_seq, 2 + position, turn_id, 'tool', result, NULL, call_id, tool_name, finished_at
FROM tool_invocations WHERE status NOT IN ('Asked', 'Started');

-- The sessions, with the whole conversation as JSON (O-13), and the call that a nested one answers (M-42).
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
        FROM messages WHERE messages.session_id = heads.id ORDER BY seq, position)) AS messages_json,
    json_extract(opened.payload, '$.parent.session_id') AS parent_session,
    json_extract(opened.payload, '$.parent.turn_id')    AS parent_turn,
    json_extract(opened.payload, '$.parent.step')       AS parent_step,
    json_extract(opened.payload, '$.parent.call_id')    AS parent_call
FROM session_heads AS heads
LEFT JOIN events AS opened ON opened.session_id = heads.id AND opened.seq = 1
WHERE heads.seq > 0;

-- What each record spends of its principal's daily quota (M-16). A call that was cut off and begins again is the same
-- call, one that is tried again is another; what a fork repeats was spent before. `row` grows with every record.
CREATE VIEW spending AS
SELECT
    spent.rowid AS row, spent.session_id, spent.seq, spent.turn_id, heads.principal, heads.agent, spent.at,
    spent.type = 'ModelAsked' AS model_calls,
    CASE spent.type WHEN 'ToolStarted' THEN coalesce((
        SELECT before.type <> 'ToolStarted' FROM events AS before
        WHERE before.session_id = spent.session_id AND before.seq < spent.seq
            AND (before.type IN ('ModelReplied', 'TurnStarted') OR (before.type IN ('ToolStarted', 'ToolFaulted')
                AND json_extract(before.payload, '$.call_id') = json_extract(spent.payload, '$.call_id')))
        ORDER BY before.seq DESC LIMIT 1), 1) ELSE 0 END AS tool_calls,
    CASE spent.type WHEN 'ModelReplied' THEN coalesce(json_extract(spent.payload, '$.reply.usage.input_tokens'), 0)
        + coalesce(json_extract(spent.payload, '$.reply.usage.output_tokens'), 0) ELSE 0 END AS tokens
FROM events AS spent CROSS JOIN session_heads AS heads ON heads.id = spent.session_id
WHERE spent.type IN ('ModelAsked', 'ModelReplied', 'ToolStarted') AND spent.seq > coalesce((
    SELECT json_extract(first.payload, '$.forked_seq') FROM events AS first
    WHERE first.session_id = spent.session_id AND first.seq = 1), 0);
