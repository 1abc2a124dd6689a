PRAGMA user_version = 3;
CREATE TABLE events (
session_id TEXT NOT NULL,
seq        INTEGER NOT NULL,
turn_id    TEXT,
type       TEXT NOT NULL,
version    INTEGER NOT NULL,
at         INTEGER NOT NULL,          -- microseconds since the epoch, UTC
payload    TEXT NOT NULL,             -- JSON; large parts stand in blobs
prev_hash  BLOB NOT NULL,
hash       BLOB NOT NULL, erased BLOB,
PRIMARY KEY (session_id, seq)
);
CREATE TABLE blobs (
hash TEXT PRIMARY KEY,                -- SHA-256 of body, hex
body TEXT NOT NULL
) WITHOUT ROWID;
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
, erased_at INTEGER);
CREATE TABLE turns (
session_id  TEXT NOT NULL,
turn_id     TEXT NOT NULL,
agent       TEXT NOT NULL,
started_at  INTEGER NOT NULL,
started_seq INTEGER NOT NULL,
ended_at    INTEGER,
turn_end    TEXT, lock_hash TEXT NOT NULL DEFAULT '',                     -- the end's name: Completed, MaxSteps, ...
PRIMARY KEY (session_id, turn_id)
) WITHOUT ROWID;
CREATE TABLE workers (
id      TEXT PRIMARY KEY,
pid     INTEGER NOT NULL,
beat_at INTEGER NOT NULL               -- microseconds since the epoch, by the database's clock
) WITHOUT ROWID;
CREATE TABLE inbox (
id         INTEGER PRIMARY KEY AUTOINCREMENT,
session_id TEXT NOT NULL,
kind       TEXT NOT NULL,              -- Input, Steer, Interrupt, Revoke
payload    TEXT NOT NULL,              -- JSON, as in events
client_key TEXT,                       -- the sender's own name for it: sent twice, it is one row
created_at INTEGER NOT NULL,
taken_seq  INTEGER
);
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
CREATE VIEW turn_ends AS
SELECT agent, coalesce(turn_end, 'open') AS turn_end, count(*) AS turns FROM turns GROUP BY agent, turn_end;
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
CREATE INDEX open_turns ON turns (session_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX inbox_keys ON inbox (session_id, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX inbox_waiting ON inbox (session_id, id) WHERE taken_seq IS NULL;
CREATE INDEX child_sessions ON events (json_extract(payload, '$.parent.session_id'))
WHERE type = 'SessionOpened' AND json_extract(payload, '$.parent.session_id') IS NOT NULL;
INSERT INTO events VALUES ('child', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli","parent":{"$type":"ParentCall","session_id":"policies","turn_id":"t1","step":1,"call_id":"c1","depth":1}}', X'0000000000000000000000000000000000000000000000000000000000000000', X'BCF99A346287224BB55FCBD6522A86AB530F50C9F550480A27D838FF5FB83B4A', NULL);
INSERT INTO events VALUES ('child', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Look for me."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'BCF99A346287224BB55FCBD6522A86AB530F50C9F550480A27D838FF5FB83B4A', X'73AA0A5EB8E5EBABDDD49392AE84134843CEFFBE7CFDA4161E57414C14503A70', NULL);
INSERT INTO events VALUES ('child', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'73AA0A5EB8E5EBABDDD49392AE84134843CEFFBE7CFDA4161E57414C14503A70', X'E3419F5BD7E1B0D6BBBF38873EF7EEBD98C447E8FB710B6BBD8BDBBA5F195BE6', NULL);
INSERT INTO events VALUES ('child', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"Seen.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'E3419F5BD7E1B0D6BBBF38873EF7EEBD98C447E8FB710B6BBD8BDBBA5F195BE6', X'8F0643F8BE53D6E778DAA4663FA1F396C1554D4019181AEEC8C2A500C6248E55', NULL);
INSERT INTO events VALUES ('child', 5, 't1', 'TurnEnded', 1, 1790000005000000, '{"end":{"$type":"Completed","text":"Seen."}}', X'8F0643F8BE53D6E778DAA4663FA1F396C1554D4019181AEEC8C2A500C6248E55', X'6C6BDF5D7E2C15806CE300950D74EC98A5C14FFD7E5A69F3E0051C384C62D645', NULL);
INSERT INTO events VALUES ('cut-off', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'49BD3569843E06B830F9D6B80FFDF3602015BE067A5224B4548D926E96F539AD', NULL);
INSERT INTO events VALUES ('cut-off', 10, 't1', 'TurnEnded', 1, 1790000010000000, '{"end":{"$type":"Completed","text":"I do not know."}}', X'84E672017A9CE146A225C003E0BB786D48A2946D26036CA462611AC0D461AFC0', X'0D33C520C480CD2987470B249F7605E548B49992A8BF35FDC8B9816810833AD7', NULL);
INSERT INTO events VALUES ('cut-off', 11, 't2', 'TurnStarted', 1, 1790000011000000, '{"turn_id":"t2","input":{"text":"Send it again."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'0D33C520C480CD2987470B249F7605E548B49992A8BF35FDC8B9816810833AD7', X'7CF69849735F7264B91034DCCF5119086CC194269DF60570BC289DFA69C3C4FA', NULL);
INSERT INTO events VALUES ('cut-off', 12, 't2', 'ModelAsked', 1, 1790000012000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'7CF69849735F7264B91034DCCF5119086CC194269DF60570BC289DFA69C3C4FA', X'8E30639BEF641C7AC2E62FBC5522303EF03F69F5BC8879A7FF1F1B2165092FB9', NULL);
INSERT INTO events VALUES ('cut-off', 13, 't2', 'ModelReplied', 1, 1790000013000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}},{"id":"c2","name":"look","arguments":{"path":"b"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'8E30639BEF641C7AC2E62FBC5522303EF03F69F5BC8879A7FF1F1B2165092FB9', X'8CD88DB8814066E2A4085981CB884C73A4C0F6F1D3511853C66D6F60C0AE5EA9', NULL);
INSERT INTO events VALUES ('cut-off', 14, 't2', 'CallJudged', 1, 1790000014000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'8CD88DB8814066E2A4085981CB884C73A4C0F6F1D3511853C66D6F60C0AE5EA9', X'A5D30914B9A621DE3B1F50369D429774461A40151921FDD257BCA30C3E224AE3', NULL);
INSERT INTO events VALUES ('cut-off', 15, 't2', 'ToolStarted', 1, 1790000015000000, '{"step":1,"call_id":"c1"}', X'A5D30914B9A621DE3B1F50369D429774461A40151921FDD257BCA30C3E224AE3', X'8D54AA3F1E23F5E6C712E8ABFC71DBDAE2145384C49F0786369CB4BECC015D4E', NULL);
INSERT INTO events VALUES ('cut-off', 16, 't2', 'CallJudged', 1, 1790000016000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'8D54AA3F1E23F5E6C712E8ABFC71DBDAE2145384C49F0786369CB4BECC015D4E', X'7E99A5C89394084F3106B3A926379E34EC034E1A348FAD03F9D38E830CCD6A3A', NULL);
INSERT INTO events VALUES ('cut-off', 17, 't2', 'ToolStarted', 1, 1790000017000000, '{"step":1,"call_id":"c2"}', X'7E99A5C89394084F3106B3A926379E34EC034E1A348FAD03F9D38E830CCD6A3A', X'FB05CF4BE466AE480253851C3532003A04BF1DC61A8770A1FBDD3421C9646C93', NULL);
INSERT INTO events VALUES ('cut-off', 18, 't2', 'ToolSettled', 1, 1790000018000000, '{"step":1,"call_id":"c2","result":{"$type":"Succeeded","text":"seen"}}', X'FB05CF4BE466AE480253851C3532003A04BF1DC61A8770A1FBDD3421C9646C93', X'F7C30AF3864040CD45B7F1DAD162A00619579C96E1335033CAE3E73279684925', NULL);
INSERT INTO events VALUES ('cut-off', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Send it."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'49BD3569843E06B830F9D6B80FFDF3602015BE067A5224B4548D926E96F539AD', X'0285CAD0906296FF2BB2A7B1564EA287D247B8C359F1890ADF30CA77AECAA396', NULL);
INSERT INTO events VALUES ('cut-off', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'0285CAD0906296FF2BB2A7B1564EA287D247B8C359F1890ADF30CA77AECAA396', X'6ACC1C9F46878A4AC779E0B5CC07289269B4DEC0C03200973C0E037EE1E50EC4', NULL);
INSERT INTO events VALUES ('cut-off', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'6ACC1C9F46878A4AC779E0B5CC07289269B4DEC0C03200973C0E037EE1E50EC4', X'03C05AAE3C017C6B20E7390780131DBAD89B1F676050A1DB7DA8AD80671D395D', NULL);
INSERT INTO events VALUES ('cut-off', 5, 't1', 'CallJudged', 1, 1790000005000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'03C05AAE3C017C6B20E7390780131DBAD89B1F676050A1DB7DA8AD80671D395D', X'08CE39FD8180AB6679ED471CAC0A248A620FB65F7772BDB92C794F5305C042B9', NULL);
INSERT INTO events VALUES ('cut-off', 6, 't1', 'ToolStarted', 1, 1790000006000000, '{"step":1,"call_id":"c1"}', X'08CE39FD8180AB6679ED471CAC0A248A620FB65F7772BDB92C794F5305C042B9', X'9A73B2A3F14FF8FD54BF4DE0C47CAD19AF1E152D8100FB407E70AD8CC375F53C', NULL);
INSERT INTO events VALUES ('cut-off', 7, 't1', 'ToolSettled', 1, 1790000007000000, '{"step":1,"call_id":"c1","result":{"$type":"Unknown","reason":"it was cut off while it ran"}}', X'9A73B2A3F14FF8FD54BF4DE0C47CAD19AF1E152D8100FB407E70AD8CC375F53C', X'C4475698E4CF9BA0845987A42E3494C689DBC8C9984B5256B234BC9F88C672B8', NULL);
INSERT INTO events VALUES ('cut-off', 8, 't1', 'ModelAsked', 1, 1790000008000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'C4475698E4CF9BA0845987A42E3494C689DBC8C9984B5256B234BC9F88C672B8', X'A010D414AE6D42EF905BB805FE2E9FEB0EC0EF9498124F4FABC12856550A8FC0', NULL);
INSERT INTO events VALUES ('cut-off', 9, 't1', 'ModelReplied', 1, 1790000009000000, '{"step":2,"attempt":1,"reply":{"text":"I do not know.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'A010D414AE6D42EF905BB805FE2E9FEB0EC0EF9498124F4FABC12856550A8FC0', X'84E672017A9CE146A225C003E0BB786D48A2946D26036CA462611AC0D461AFC0', NULL);
INSERT INTO events VALUES ('ends', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'4F01C9C8B5BE9FFB74BD81823E85483FC6B997A8BA3B31C6F9541039B9145EE9', NULL);
INSERT INTO events VALUES ('ends', 10, 't3', 'TurnStarted', 1, 1790000010000000, '{"turn_id":"t3","input":{"text":"input 3"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'CA7F43B59340DB87571E086989DBACA2DB034F68063FF204EF08E6FE947875E8', X'AF8020F24ECE0FC1699A38D9F571EF51A8C46574029170A74FA550A16D7E0E47', NULL);
INSERT INTO events VALUES ('ends', 11, 't3', 'ModelAsked', 1, 1790000011000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'AF8020F24ECE0FC1699A38D9F571EF51A8C46574029170A74FA550A16D7E0E47', X'E59E1094728551E228CE50F48090B6B924449F439C76B4B3BC900DC55A53F27D', NULL);
INSERT INTO events VALUES ('ends', 12, 't3', 'ModelReplied', 1, 1790000012000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'E59E1094728551E228CE50F48090B6B924449F439C76B4B3BC900DC55A53F27D', X'4DBEBE6B70B6D163A1A3CD50AED2A212C4D7F81B84C3E3B5605CC1AAD080893B', NULL);
INSERT INTO events VALUES ('ends', 13, 't3', 'TurnEnded', 1, 1790000013000000, '{"end":{"$type":"BudgetSpent","limit":"tool_calls","text":"Done."}}', X'4DBEBE6B70B6D163A1A3CD50AED2A212C4D7F81B84C3E3B5605CC1AAD080893B', X'A93410C2C6443A0590ED8CD360BAD2046C7D952EFF1010A232BDECB91987882B', NULL);
INSERT INTO events VALUES ('ends', 14, 't4', 'TurnStarted', 1, 1790000014000000, '{"turn_id":"t4","input":{"text":"input 4"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'A93410C2C6443A0590ED8CD360BAD2046C7D952EFF1010A232BDECB91987882B', X'9CAFDE13553268C6987FD9529675F0DC084E8AEA73B3B8667EFA431FC9A0582E', NULL);
INSERT INTO events VALUES ('ends', 15, 't4', 'ModelAsked', 1, 1790000015000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'9CAFDE13553268C6987FD9529675F0DC084E8AEA73B3B8667EFA431FC9A0582E', X'740AD5B6425BAC8AA9E69858D988492D59FE58324E153281FB7651FAA6F34C28', NULL);
INSERT INTO events VALUES ('ends', 16, 't4', 'ModelReplied', 1, 1790000016000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'740AD5B6425BAC8AA9E69858D988492D59FE58324E153281FB7651FAA6F34C28', X'8A6FA6FBC8A0191E20A1E8DA803A06DDE2496FE6B4E410A51CC1ADF11E66DA49', NULL);
INSERT INTO events VALUES ('ends', 17, 't4', 'TurnEnded', 1, 1790000017000000, '{"end":{"$type":"DeadlinePassed","text":"Done."}}', X'8A6FA6FBC8A0191E20A1E8DA803A06DDE2496FE6B4E410A51CC1ADF11E66DA49', X'F9EE0584F79E18EAA0C56CDD6004DCA2F938DA8E073AD1FCF499C9C1F9FADA48', NULL);
INSERT INTO events VALUES ('ends', 18, 't5', 'TurnStarted', 1, 1790000018000000, '{"turn_id":"t5","input":{"text":"input 5"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'F9EE0584F79E18EAA0C56CDD6004DCA2F938DA8E073AD1FCF499C9C1F9FADA48', X'4F5918ADD83A38FCCD2F0C50D4023CE6C8AADB544FB329914AFBC9B836B50BCB', NULL);
INSERT INTO events VALUES ('ends', 19, 't5', 'ModelAsked', 1, 1790000019000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'4F5918ADD83A38FCCD2F0C50D4023CE6C8AADB544FB329914AFBC9B836B50BCB', X'D20E16877ACC99C93AC61DF778449C6A9174C871EEE32034E8340047510DA6B6', NULL);
INSERT INTO events VALUES ('ends', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"input 1"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'4F01C9C8B5BE9FFB74BD81823E85483FC6B997A8BA3B31C6F9541039B9145EE9', X'1388DA52B5E33C58E4A5DF72A4D6B29BF9EA69155D06CE2A7547E760134EEBC5', NULL);
INSERT INTO events VALUES ('ends', 20, 't5', 'ModelFaulted', 1, 1790000020000000, '{"step":1,"attempt":1,"kind":"context_length","message":"too long"}', X'D20E16877ACC99C93AC61DF778449C6A9174C871EEE32034E8340047510DA6B6', X'B773C152185DA11E38E854ACF37EE78CD8C59FB7F8F274E670F51F449FAD86DD', NULL);
INSERT INTO events VALUES ('ends', 21, 't5', 'TurnEnded', 1, 1790000021000000, '{"end":{"$type":"ContextExhausted","message":"too long"}}', X'B773C152185DA11E38E854ACF37EE78CD8C59FB7F8F274E670F51F449FAD86DD', X'C7148B31763D3770BD240BF57FA8DA7DF17A5401E14763C25A285F9DD2DC1DD5', NULL);
INSERT INTO events VALUES ('ends', 22, 't6', 'TurnStarted', 1, 1790000022000000, '{"turn_id":"t6","input":{"text":"input 6"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'C7148B31763D3770BD240BF57FA8DA7DF17A5401E14763C25A285F9DD2DC1DD5', X'A59BB252E4F8AC897BDBDB520A69BAC1EC755063574FFAD20419341796A83106', NULL);
INSERT INTO events VALUES ('ends', 23, 't6', 'ModelAsked', 1, 1790000023000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'A59BB252E4F8AC897BDBDB520A69BAC1EC755063574FFAD20419341796A83106', X'0E3D328BDA9A66A52A0008B51194195E717EF7893676DCE7E0E179A78CDFE680', NULL);
INSERT INTO events VALUES ('ends', 24, 't6', 'InterruptAsked', 1, 1790000024000000, '{"by":"me"}', X'0E3D328BDA9A66A52A0008B51194195E717EF7893676DCE7E0E179A78CDFE680', X'23CE2EBFC0CF4F9D7E8BE61EFE5A0290760A62C4BDC9BFFB7AB255B32C37E959', NULL);
INSERT INTO events VALUES ('ends', 25, 't6', 'TurnEnded', 1, 1790000025000000, '{"end":{"$type":"Interrupted","by":"me"}}', X'23CE2EBFC0CF4F9D7E8BE61EFE5A0290760A62C4BDC9BFFB7AB255B32C37E959', X'E39F4189F62398619FDD619B8E5DBF58C894B01231287EF400B3E00B325F1EAD', NULL);
INSERT INTO events VALUES ('ends', 26, 't7', 'TurnStarted', 1, 1790000026000000, '{"turn_id":"t7","input":{"text":"input 7"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'E39F4189F62398619FDD619B8E5DBF58C894B01231287EF400B3E00B325F1EAD', X'C797E0AD12B01D0609B9404274BA327CDBD53FFBCF5F4C9E93DEA87EDBCD22B4', NULL);
INSERT INTO events VALUES ('ends', 27, 't7', 'ModelAsked', 1, 1790000027000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'C797E0AD12B01D0609B9404274BA327CDBD53FFBCF5F4C9E93DEA87EDBCD22B4', X'BEC7744D0FC82903608CF6FF757B5BCE1BA8D6E39626910FCFA561BE59353B9D', NULL);
INSERT INTO events VALUES ('ends', 28, 't7', 'RevokeAsked', 1, 1790000028000000, '{"what":"tool send"}', X'BEC7744D0FC82903608CF6FF757B5BCE1BA8D6E39626910FCFA561BE59353B9D', X'76AF1D1CEA6F44AFC808A8A922542F37DA76D3C91EB1E620FAF2D6F3D7965860', NULL);
INSERT INTO events VALUES ('ends', 29, 't7', 'TurnEnded', 1, 1790000029000000, '{"end":{"$type":"Revoked","what":"tool send"}}', X'76AF1D1CEA6F44AFC808A8A922542F37DA76D3C91EB1E620FAF2D6F3D7965860', X'D08C7409D4B25FF7326E918E520CA6692927DE146FFA2998C988D5A9640638C3', NULL);
INSERT INTO events VALUES ('ends', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'1388DA52B5E33C58E4A5DF72A4D6B29BF9EA69155D06CE2A7547E760134EEBC5', X'DF7A1D94F2229205C561A6C8027682B5AC204D567DEF84699DF4F090D4F2C7C6', NULL);
INSERT INTO events VALUES ('ends', 30, 't8', 'TurnStarted', 1, 1790000030000000, '{"turn_id":"t8","input":{"text":"input 8"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'D08C7409D4B25FF7326E918E520CA6692927DE146FFA2998C988D5A9640638C3', X'86CEA454E664126A89470320D15436EEA7BFF74F8894DB2A5EEC99181C92B2DE', NULL);
INSERT INTO events VALUES ('ends', 31, 't8', 'ModelAsked', 1, 1790000031000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'86CEA454E664126A89470320D15436EEA7BFF74F8894DB2A5EEC99181C92B2DE', X'DEF2138BD5B63F8384710DE71A6B635C73625A0029E02E5DFA6FD458A9D381B2', NULL);
INSERT INTO events VALUES ('ends', 32, 't8', 'ModelFaulted', 1, 1790000032000000, '{"step":1,"attempt":1,"kind":"auth","message":"bad key"}', X'DEF2138BD5B63F8384710DE71A6B635C73625A0029E02E5DFA6FD458A9D381B2', X'13039F16909E09D0AED3B8402826943BE61A24C2D2C00F13CD201C6FCC220D91', NULL);
INSERT INTO events VALUES ('ends', 33, 't8', 'TurnEnded', 1, 1790000033000000, '{"end":{"$type":"ModelFailed","kind":"auth","message":"bad key"}}', X'13039F16909E09D0AED3B8402826943BE61A24C2D2C00F13CD201C6FCC220D91', X'12B1F72A2A3B1814B7664DEBAF8702D7284DC7C5077C420B4952EC0B62B7FB64', NULL);
INSERT INTO events VALUES ('ends', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'DF7A1D94F2229205C561A6C8027682B5AC204D567DEF84699DF4F090D4F2C7C6', X'353A9848D0F8670B7836BED314F5440293EC2F640FF1201ABE182FF7249B1FF2', NULL);
INSERT INTO events VALUES ('ends', 5, 't1', 'TurnEnded', 1, 1790000005000000, '{"end":{"$type":"Completed","text":"Done."}}', X'353A9848D0F8670B7836BED314F5440293EC2F640FF1201ABE182FF7249B1FF2', X'0FF478E3764D23418930FFC01C53BD8B933AED60B04DC97574CE22DD9376C555', NULL);
INSERT INTO events VALUES ('ends', 6, 't2', 'TurnStarted', 1, 1790000006000000, '{"turn_id":"t2","input":{"text":"input 2"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'0FF478E3764D23418930FFC01C53BD8B933AED60B04DC97574CE22DD9376C555', X'81B4552C33C9E089D92A52FC459063AD2A51082015E155EC07636A3A81C3D905', NULL);
INSERT INTO events VALUES ('ends', 7, 't2', 'ModelAsked', 1, 1790000007000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'81B4552C33C9E089D92A52FC459063AD2A51082015E155EC07636A3A81C3D905', X'F8F56408160F4368C439013FE56AF46713A65D13F60C9DFD829B49B2FDFF77C5', NULL);
INSERT INTO events VALUES ('ends', 8, 't2', 'ModelReplied', 1, 1790000008000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'F8F56408160F4368C439013FE56AF46713A65D13F60C9DFD829B49B2FDFF77C5', X'91C488570E81BDD6AA9ECF20B706CF264CA5D5CF7FE9EEE751526273759DF237', NULL);
INSERT INTO events VALUES ('ends', 9, 't2', 'TurnEnded', 1, 1790000009000000, '{"end":{"$type":"MaxSteps","limit":1,"text":"Done."}}', X'91C488570E81BDD6AA9ECF20B706CF264CA5D5CF7FE9EEE751526273759DF237', X'CA7F43B59340DB87571E086989DBACA2DB034F68063FF204EF08E6FE947875E8', NULL);
INSERT INTO events VALUES ('full', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'39592F735E561F591C58CD2B99BAC45EC2D956BA5F1CFD92DCEA715D49339CDE', NULL);
INSERT INTO events VALUES ('full', 10, 't1', 'ModelReplied', 1, 1790000010000000, '{"step":1,"attempt":3,"reply":{"text":"I will.","calls":{"$json":"659a0a6e58bb728cd74a05b84e6718a641437df01b3e8e44eb25b1b2eedc714d"},"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","reasoning":{"$erasable":"419f35149f07c2ecf32bc56d12e1151587a30f0f6e054805504d2bfec783cee8"},"raw":{"$erasable":"4296066c66e7a6d1adf4994c014232f45cd794635df36c3676e9ea14031542da"},"action":false}}', X'71FB583F26051F922D178C7D276B060F87C9DFBB68E0335A4AAE8C0EF0734D97', X'7FB27842D4CF04EF2D838D48FE5695B81FDE68DC4800A8C718AE53235EA312AF', NULL);
INSERT INTO events VALUES ('full', 11, 't1', 'CallJudged', 1, 1790000011000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'7FB27842D4CF04EF2D838D48FE5695B81FDE68DC4800A8C718AE53235EA312AF', X'A27C3DEE17ABD3DC9DF74F348EB9636F153B6C76621F924CEAF00B9A101732FD', NULL);
INSERT INTO events VALUES ('full', 12, 't1', 'ToolStarted', 1, 1790000012000000, '{"step":1,"call_id":"c1"}', X'A27C3DEE17ABD3DC9DF74F348EB9636F153B6C76621F924CEAF00B9A101732FD', X'D010E885C6CD36B01CB913A1C379ABC6311FD6981D993096A9D3D824CD1D0AD9', NULL);
INSERT INTO events VALUES ('full', 13, 't1', 'ToolSettled', 1, 1790000013000000, '{"step":1,"call_id":"c1","result":{"$type":"Succeeded","text":{"$text":"b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a"}}}', X'D010E885C6CD36B01CB913A1C379ABC6311FD6981D993096A9D3D824CD1D0AD9', X'F99E06F7A418F1BB1BBE7EEC3CD108439D8BAA038A9AC4E6EF28CB64F6DC984D', NULL);
INSERT INTO events VALUES ('full', 14, 't1', 'CallJudged', 1, 1790000014000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'F99E06F7A418F1BB1BBE7EEC3CD108439D8BAA038A9AC4E6EF28CB64F6DC984D', X'51E7B9C2EA24A2CB6B2AAFD9A3C36B4C66B7214EA9705D6FDC6500A2A268DE35', NULL);
INSERT INTO events VALUES ('full', 15, 't1', 'ToolStarted', 1, 1790000015000000, '{"step":1,"call_id":"c2"}', X'51E7B9C2EA24A2CB6B2AAFD9A3C36B4C66B7214EA9705D6FDC6500A2A268DE35', X'D8EA0DFEEA3FDFA26988431AC756A63EB1A195D4DF3FDF44A59F4E8E1551E4A7', NULL);
INSERT INTO events VALUES ('full', 16, 't1', 'ToolSettled', 1, 1790000016000000, '{"step":1,"call_id":"c2","result":{"$type":"Failed","text":"no route","retryable":true}}', X'D8EA0DFEEA3FDFA26988431AC756A63EB1A195D4DF3FDF44A59F4E8E1551E4A7', X'493D196068F5642CDE67D65D9DBAD6DCA30901DA9D109B97EB921A6AA37DAB4F', NULL);
INSERT INTO events VALUES ('full', 17, 't1', 'CallJudged', 1, 1790000017000000, '{"step":1,"call_id":"c3","verdict":{"$type":"Deny","rule":"people","reason":"not to Bob"}}', X'493D196068F5642CDE67D65D9DBAD6DCA30901DA9D109B97EB921A6AA37DAB4F', X'888C998E0EDD930CBBA48ECD4E18FDF007FAB5676A89D0D03D70AF7B750B6E9D', NULL);
INSERT INTO events VALUES ('full', 18, 't1', 'CallJudged', 1, 1790000018000000, '{"step":1,"call_id":"c4","verdict":{"$type":"Allow","rule":"catalogue"}}', X'888C998E0EDD930CBBA48ECD4E18FDF007FAB5676A89D0D03D70AF7B750B6E9D', X'18C51874C5957FBECBEF1B8673474DA629B31FA741A4B5CF4A52EFC16B7E8161', NULL);
INSERT INTO events VALUES ('full', 19, 't1', 'ToolStarted', 1, 1790000019000000, '{"step":1,"call_id":"c4"}', X'18C51874C5957FBECBEF1B8673474DA629B31FA741A4B5CF4A52EFC16B7E8161', X'B26AA82712136EF2830DC3302B3DDC093E851A84342C55E8DD3D39E93FD9E8CC', NULL);
INSERT INTO events VALUES ('full', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Schick es, bitte: äöü","parts":[{"$type":"TextPart","name":"notes.txt","text":"All is well.\n"},{"$type":"ImagePart","name":"a.png","media_type":"image/png","data":"iVBO"}]},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"output_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}', X'39592F735E561F591C58CD2B99BAC45EC2D956BA5F1CFD92DCEA715D49339CDE', X'C6E1E0608DDD1964DAF31D93F2213D4FCC3CB41D9B7812D1CCEB0D81D1FDC099', NULL);
INSERT INTO events VALUES ('full', 20, 't1', 'ToolSettled', 1, 1790000020000000, '{"step":1,"call_id":"c4","result":{"$type":"Succeeded","text":""}}', X'B26AA82712136EF2830DC3302B3DDC093E851A84342C55E8DD3D39E93FD9E8CC', X'6ED7E6BD913E88490A2BA966467845EDCCDB0C76C4895EAAE7CC7488A82564F9', NULL);
INSERT INTO events VALUES ('full', 21, 't1', 'ModelAsked', 1, 1790000021000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'6ED7E6BD913E88490A2BA966467845EDCCDB0C76C4895EAAE7CC7488A82564F9', X'FAC44466AB3BB079D93734A8FC220EC8675038A005A76F99C811B2C418BC4009', NULL);
INSERT INTO events VALUES ('full', 22, 't1', 'ModelReplied', 1, 1790000022000000, '{"step":2,"attempt":1,"reply":{"text":"{\"n\": \"x\"}","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","reasoning":{"$erasable":"9fa5cca1c2ea73612d41bcb92644d25222b141c3948591332ccc9a92df90b4b2"},"raw":{"$erasable":"164ce2917d86404ed0708e86fcaa006486bad3a74c601c12eb6083b6ffd270b9"},"action":false}}', X'FAC44466AB3BB079D93734A8FC220EC8675038A005A76F99C811B2C418BC4009', X'DF252B2AA0EF6B15BF8E504205F12C789D49215DDCF03EED87BC005350EE940C', NULL);
INSERT INTO events VALUES ('full', 23, 't1', 'AnswerChecked', 1, 1790000023000000, '{"step":2,"problem":"n: ''x'' is not of type \"integer\""}', X'DF252B2AA0EF6B15BF8E504205F12C789D49215DDCF03EED87BC005350EE940C', X'310946EF1707514B4158235ADAE05F7FA28B3756BA0A87C22182A84A6BAF746D', NULL);
INSERT INTO events VALUES ('full', 24, 't1', 'NoticeGiven', 1, 1790000024000000, '{"step":2,"text":"Your answer cannot be used."}', X'310946EF1707514B4158235ADAE05F7FA28B3756BA0A87C22182A84A6BAF746D', X'81AC981F362E7137E2FCFFBC0FF0F69474BA8106687D3DDDFD69A04F7FBFDA47', NULL);
INSERT INTO events VALUES ('full', 25, 't1', 'ModelAsked', 1, 1790000025000000, '{"step":3,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'81AC981F362E7137E2FCFFBC0FF0F69474BA8106687D3DDDFD69A04F7FBFDA47', X'87DC9BF7D8F8F583EF79D5F4ED42D7B934EA39340CD702D892A1CA7366FE3BF8', NULL);
INSERT INTO events VALUES ('full', 26, 't1', 'ModelReplied', 1, 1790000026000000, '{"step":3,"attempt":1,"reply":{"text":"{\"n\": 1}","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'87DC9BF7D8F8F583EF79D5F4ED42D7B934EA39340CD702D892A1CA7366FE3BF8', X'5FA72F70142911B2923EA5561634B87A59E0961B9231405BD5209521A8B12F49', NULL);
INSERT INTO events VALUES ('full', 27, 't1', 'AnswerChecked', 1, 1790000027000000, '{"step":3,"value":{"n":1}}', X'5FA72F70142911B2923EA5561634B87A59E0961B9231405BD5209521A8B12F49', X'D5C821F810A143A6C325E2FDD14744E8EA8684AD6C9D455AD5E8CA42D0D5598E', NULL);
INSERT INTO events VALUES ('full', 28, 't1', 'TurnEnded', 1, 1790000028000000, '{"end":{"$type":"Completed","text":"{\"n\": 1}","value":{"n":1}}}', X'D5C821F810A143A6C325E2FDD14744E8EA8684AD6C9D455AD5E8CA42D0D5598E', X'694C883D4FB1CE24B5DF79658D15E846DA52BC7ADAC3403A6462E332B893F3E7', NULL);
INSERT INTO events VALUES ('full', 3, 't1', 'FilesRead', 1, 1790000003000000, '{"bootstrap":{"$text":"b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a"},"skills":"","memory":"- likes tea","memory_read":11,"sources":["USER.md","MEMORY.md"]}', X'C6E1E0608DDD1964DAF31D93F2213D4FCC3CB41D9B7812D1CCEB0D81D1FDC099', X'E8DFFC68AD85A7402E18B3E3EE5F27F6A6F539C60F3F784FB8C25327E4680624', NULL);
INSERT INTO events VALUES ('full', 4, 't1', 'ModelAsked', 1, 1790000004000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'E8DFFC68AD85A7402E18B3E3EE5F27F6A6F539C60F3F784FB8C25327E4680624', X'79FA4DAE20961411AF00276FE9A113AF8AB126C30FDFED6046CD3B116B74AA4E', NULL);
INSERT INTO events VALUES ('full', 5, 't1', 'ModelFaulted', 1, 1790000005000000, '{"step":1,"attempt":1,"kind":"rate","message":"slow down","retry_after_seconds":1.5,"partial":"Let me"}', X'79FA4DAE20961411AF00276FE9A113AF8AB126C30FDFED6046CD3B116B74AA4E', X'E1531E50DFFB93E888C7D5D8C87F2FB9738B3C53356902FEAFEA16CEC7151359', NULL);
INSERT INTO events VALUES ('full', 6, 't1', 'ModelAsked', 1, 1790000006000000, '{"step":1,"attempt":2,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":1,"model":"scripted:other"}', X'E1531E50DFFB93E888C7D5D8C87F2FB9738B3C53356902FEAFEA16CEC7151359', X'092B631D6489256E660437483EF855B1B9F68E009452D0206864A7E0EABA0061', NULL);
INSERT INTO events VALUES ('full', 7, 't1', 'ModelFaulted', 1, 1790000007000000, '{"step":1,"attempt":2,"kind":"context_length","message":"too long"}', X'092B631D6489256E660437483EF855B1B9F68E009452D0206864A7E0EABA0061', X'4EDBABC9C0465D861258B828E6136FBA69DF22729861C914D18A8D85BF3AF941', NULL);
INSERT INTO events VALUES ('full', 8, 't1', 'ContextCut', 1, 1790000008000000, '{"step":1,"attempt":2,"history_turns":0,"result_characters":500,"characters_before":9000,"characters_after":900}', X'4EDBABC9C0465D861258B828E6136FBA69DF22729861C914D18A8D85BF3AF941', X'C89B73F38535ECC31998915F96A4C79331A013332E9E5E8BB9359604DEADE2CE', NULL);
INSERT INTO events VALUES ('full', 9, 't1', 'ModelAsked', 1, 1790000009000000, '{"step":1,"attempt":3,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":1,"model":"scripted:other"}', X'C89B73F38535ECC31998915F96A4C79331A013332E9E5E8BB9359604DEADE2CE', X'71FB583F26051F922D178C7D276B060F87C9DFBB68E0335A4AAE8C0EF0734D97', NULL);
INSERT INTO events VALUES ('letters', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli","forked_from":"ends","forked_seq":1,"forked_hash":"0000000000000000000000000000000000000000000000000000000000000000"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'CAF26BB29E49089D825C325C4FDD0F24B9DDEB636F4B1710AE1C0C0DFD42C26C', NULL);
INSERT INTO events VALUES ('letters', 10, 't1', 'InputAdded', 1, 1790000010000000, '{"input":{"text":"and hurry"},"mail":1}', X'7FA5F7491918D7989A4E3FF37A7D6536722E9443DFE263239C5E0C1E440D1EF5', X'DAAC23FD24225156F5DAE15A0DE54E5EC69EB6AEAA636CE96DE558933F19BEAD', NULL);
INSERT INTO events VALUES ('letters', 11, 't1', 'CallJudged', 1, 1790000011000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'DAAC23FD24225156F5DAE15A0DE54E5EC69EB6AEAA636CE96DE558933F19BEAD', X'0ABB34864B3A89CD6A1B90A51ACF2269B9AB841ABF739D8DA585E820914A40EF', NULL);
INSERT INTO events VALUES ('letters', 12, 't1', 'ToolStarted', 1, 1790000012000000, '{"step":1,"call_id":"c2"}', X'0ABB34864B3A89CD6A1B90A51ACF2269B9AB841ABF739D8DA585E820914A40EF', X'064B82DA3B63F5605FBCEE2FD8D35C716DFDA54EAD9AB108DE176B5C3901F1CD', NULL);
INSERT INTO events VALUES ('letters', 13, 't1', 'CallProbed', 1, 1790000013000000, '{"step":1,"call_id":"c2"}', X'064B82DA3B63F5605FBCEE2FD8D35C716DFDA54EAD9AB108DE176B5C3901F1CD', X'8BE279B36F321C5570F79CF31F61BC8A089D92891E7115EA567ED24AFF983282', NULL);
INSERT INTO events VALUES ('letters', 14, 't1', 'ToolStarted', 1, 1790000014000000, '{"step":1,"call_id":"c2"}', X'8BE279B36F321C5570F79CF31F61BC8A089D92891E7115EA567ED24AFF983282', X'017BCD2F7CA825954807A3FAC5A9A89FDEA6A89B6FE7BADAACC7CF32B2EB620A', NULL);
INSERT INTO events VALUES ('letters', 15, 't1', 'ToolSettled', 1, 1790000015000000, '{"step":1,"call_id":"c2","result":{"$type":"Succeeded","text":"sent"}}', X'017BCD2F7CA825954807A3FAC5A9A89FDEA6A89B6FE7BADAACC7CF32B2EB620A', X'9BF4F1DBDEDAF68E64B3F17070DB8E091E83115A36B21295CEB97324D0DD9083', NULL);
INSERT INTO events VALUES ('letters', 16, 't1', 'ModelAsked', 1, 1790000016000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'9BF4F1DBDEDAF68E64B3F17070DB8E091E83115A36B21295CEB97324D0DD9083', X'C08419ACC5280BF67BD84952F6CE3332ADA6A0A8889903A173EAB352E132F420', NULL);
INSERT INTO events VALUES ('letters', 17, 't1', 'ModelReplied', 1, 1790000017000000, '{"step":2,"attempt":1,"reply":{"text":"Sent.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'C08419ACC5280BF67BD84952F6CE3332ADA6A0A8889903A173EAB352E132F420', X'BBBB3B0BB041F9FE740A22BB496C9361E52281A551D6385B972BFD6064F11F78', NULL);
INSERT INTO events VALUES ('letters', 18, 't1', 'TurnEnded', 1, 1790000018000000, '{"end":{"$type":"Completed","text":"Sent."}}', X'BBBB3B0BB041F9FE740A22BB496C9361E52281A551D6385B972BFD6064F11F78', X'9D16F34535F464D4AA91C24F2A6A882C57F7A57A1DA5CBC8EAFCB60BCA042445', NULL);
INSERT INTO events VALUES ('letters', 19, 't1', 'CallResolved', 1, 1790000019000000, '{"call_turn":"t1","step":1,"call_id":"c1","result":{"$type":"Succeeded","text":"it arrived"},"by":"me"}', X'9D16F34535F464D4AA91C24F2A6A882C57F7A57A1DA5CBC8EAFCB60BCA042445', X'81FC3AE210C62B7CEE4241E6F4B21F073A77ABA26033B04120B2B00BE40ECC23', NULL);
INSERT INTO events VALUES ('letters', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Send it."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"lock":{"agent":"0000000000000000000000000000000000000000000000000000000000000000"}}', X'CAF26BB29E49089D825C325C4FDD0F24B9DDEB636F4B1710AE1C0C0DFD42C26C', X'11C6381A0A44ABD281E1AD28E76ECD60D169C58A37E9BD34C0903E42A469E0E8', NULL);
INSERT INTO events VALUES ('letters', 3, 't1', 'ModelChosen', 1, 1790000003000000, '{"model":{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}}', X'11C6381A0A44ABD281E1AD28E76ECD60D169C58A37E9BD34C0903E42A469E0E8', X'7BCAF642650F16146581C9DB50D8FD0123DF78CB43CF7B94C39D714DC42F8D16', NULL);
INSERT INTO events VALUES ('letters', 4, 't1', 'ModelAsked', 1, 1790000004000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'7BCAF642650F16146581C9DB50D8FD0123DF78CB43CF7B94C39D714DC42F8D16', X'CDA1A5F5A002639808B429BF94251A133ABB9B7E5B9608CFFCDF432C3ED577DF', NULL);
INSERT INTO events VALUES ('letters', 5, 't1', 'ModelReplied', 1, 1790000005000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}},{"id":"c2","name":"send","arguments":{"to":"bob"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'CDA1A5F5A002639808B429BF94251A133ABB9B7E5B9608CFFCDF432C3ED577DF', X'42ACF9A4F4C0FD2B04D03D01157FD2196804D94E0499214E18F978FDD1F49C2F', NULL);
INSERT INTO events VALUES ('letters', 6, 't1', 'CallJudged', 1, 1790000006000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'42ACF9A4F4C0FD2B04D03D01157FD2196804D94E0499214E18F978FDD1F49C2F', X'6910A328C4EC9EB05B4424C7EB6F4743514FE2FE752BF0FAE4EC0A29CC85C11D', NULL);
INSERT INTO events VALUES ('letters', 7, 't1', 'ToolStarted', 1, 1790000007000000, '{"step":1,"call_id":"c1"}', X'6910A328C4EC9EB05B4424C7EB6F4743514FE2FE752BF0FAE4EC0A29CC85C11D', X'D9EC3644133DDDDAA4E24C450B908BD221D887D6BF81218048965B3EA8791B38', NULL);
INSERT INTO events VALUES ('letters', 8, 't1', 'CallProbed', 1, 1790000008000000, '{"step":1,"call_id":"c1","found":{"$type":"Unknown","reason":"nobody can tell"}}', X'D9EC3644133DDDDAA4E24C450B908BD221D887D6BF81218048965B3EA8791B38', X'782F9563DF7FFA25CD80A0BE6618E141D0CB24D5CEFEE32C9AA5E3E80E35B17A', NULL);
INSERT INTO events VALUES ('letters', 9, 't1', 'ToolSettled', 1, 1790000009000000, '{"step":1,"call_id":"c1","result":{"$type":"Unknown","reason":"nobody can tell"}}', X'782F9563DF7FFA25CD80A0BE6618E141D0CB24D5CEFEE32C9AA5E3E80E35B17A', X'7FA5F7491918D7989A4E3FF37A7D6536722E9443DFE263239C5E0C1E440D1EF5', NULL);
INSERT INTO events VALUES ('policies', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'AC920037CE96AEA542F1237A50894082C6A9AE57F40919A1710B26E140ABB8BA', NULL);
INSERT INTO events VALUES ('policies', 10, 't1', 'ToolStarted', 1, 1790000010000000, '{"step":1,"call_id":"c1"}', X'00DCEC25CD1359FEEC7C3FE33FB9F1EEE9585541AC2602B67214438ECA9B8A2B', X'5DC552593B30CDB7CA76EE55270B97A58D324D20CC88D814E2CA90F01D097A66', NULL);
INSERT INTO events VALUES ('policies', 11, 't1', 'CallCharged', 1, 1790000011000000, '{"step":1,"call_id":"c1","spent":{"model_calls":1,"tool_calls":1,"write_calls":0,"input_tokens":120,"output_tokens":0},"child":"child"}', X'5DC552593B30CDB7CA76EE55270B97A58D324D20CC88D814E2CA90F01D097A66', X'6FE37EF5AB2DED551F9C4E245A90FB9A82E1C36CA95BDAAF5FEE26AEBC250ED9', NULL);
INSERT INTO events VALUES ('policies', 12, 't1', 'ToolFaulted', 1, 1790000012000000, '{"step":1,"call_id":"c1","result":{"text":"try again","retryable":true}}', X'6FE37EF5AB2DED551F9C4E245A90FB9A82E1C36CA95BDAAF5FEE26AEBC250ED9', X'D77A7CF29A279A8F207F484527C4B353CEBDDC0B29B4699DFAAD81512A2EB4BF', NULL);
INSERT INTO events VALUES ('policies', 13, 't1', 'ToolStarted', 1, 1790000013000000, '{"step":1,"call_id":"c1"}', X'D77A7CF29A279A8F207F484527C4B353CEBDDC0B29B4699DFAAD81512A2EB4BF', X'CC80BEDCEDC05CB5FCBA2791F01FFC035EE80977DE23D8327BFA84C4C9E48C7E', NULL);
INSERT INTO events VALUES ('policies', 14, 't1', 'ToolSettled', 1, 1790000014000000, '{"step":1,"call_id":"c1","result":{"$type":"Failed","text":"no luck","retryable":false,"kind":"recoverable"}}', X'CC80BEDCEDC05CB5FCBA2791F01FFC035EE80977DE23D8327BFA84C4C9E48C7E', X'37E7964E5425EEA1748E4AA3E14835A67E98DC0C3CD290513AF05B3D516D7E27', NULL);
INSERT INTO events VALUES ('policies', 15, 't1', 'WrapUpBegan', 1, 1790000015000000, '{"reason":"look failed"}', X'37E7964E5425EEA1748E4AA3E14835A67E98DC0C3CD290513AF05B3D516D7E27', X'552787F1E177F2CE507D228F9224BBBDEC48F20F499335C7C1B185F950C55202', NULL);
INSERT INTO events VALUES ('policies', 16, 't1', 'ModelAsked', 1, 1790000016000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'552787F1E177F2CE507D228F9224BBBDEC48F20F499335C7C1B185F950C55202', X'106A83FC588BAE56A74404A849F1C03C788554A1CC90FAE7D3034A9B30DFB0B3', NULL);
INSERT INTO events VALUES ('policies', 17, 't1', 'ModelReplied', 1, 1790000017000000, '{"step":2,"attempt":1,"reply":{"text":"Not much.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'106A83FC588BAE56A74404A849F1C03C788554A1CC90FAE7D3034A9B30DFB0B3', X'CA37A44C1179373C82587DCE983599A5C1FED1194DDEE7BFD970563815B66CDA', NULL);
INSERT INTO events VALUES ('policies', 18, 't1', 'TurnEnded', 1, 1790000018000000, '{"end":{"$type":"Completed","text":"Not much."}}', X'CA37A44C1179373C82587DCE983599A5C1FED1194DDEE7BFD970563815B66CDA', X'7F526AD7B57DA4C83DB4D5C91D2C9AE308A67D11C5A6CCE6B71812046C128940', NULL);
INSERT INTO events VALUES ('policies', 19, 't2', 'TurnStarted', 1, 1790000019000000, '{"turn_id":"t2","input":{"text":"look it up"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"command":{"$type":"ToolCall","id":"command","name":"look","arguments":{"$json":"73930db669af642e7ecd1b1c76c80b59fc09b6e6b24a8178603bb25a87249166"}}}', X'7F526AD7B57DA4C83DB4D5C91D2C9AE308A67D11C5A6CCE6B71812046C128940', X'72F2F3C154C4D1E058160AD9A4CB0109471A6E0ADF67A6E42B5A828B302DADE8', NULL);
INSERT INTO events VALUES ('policies', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Look into it."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"routes":[{"name":"deep","description":"With care.","aliases":["深"]}]}', X'AC920037CE96AEA542F1237A50894082C6A9AE57F40919A1710B26E140ABB8BA', X'8450079421FAB14493DE53B155A8E2032AA871A4250B9850DB3ED783CF0F3AA8', NULL);
INSERT INTO events VALUES ('policies', 20, 't2', 'CallJudged', 1, 1790000020000000, '{"step":1,"call_id":"command","verdict":{"$type":"Allow","rule":"catalogue"}}', X'72F2F3C154C4D1E058160AD9A4CB0109471A6E0ADF67A6E42B5A828B302DADE8', X'D965695790A58E0C2F21D162EE825A204CE1EFC9D6DC80AB3FC42915712ED53F', NULL);
INSERT INTO events VALUES ('policies', 21, 't2', 'ToolStarted', 1, 1790000021000000, '{"step":1,"call_id":"command"}', X'D965695790A58E0C2F21D162EE825A204CE1EFC9D6DC80AB3FC42915712ED53F', X'1EAC0564BF1E622F3242A5E48324A71F74716BE417190837DE9D4E43D311E62D', NULL);
INSERT INTO events VALUES ('policies', 22, 't2', 'ToolSettled', 1, 1790000022000000, '{"step":1,"call_id":"command","result":{"$type":"Succeeded","text":"seen"}}', X'1EAC0564BF1E622F3242A5E48324A71F74716BE417190837DE9D4E43D311E62D', X'946B460B14BD17E3508F8F4B4562B6201098C371F59BD7F9BA3813B04BB876B3', NULL);
INSERT INTO events VALUES ('policies', 23, 't2', 'TurnEnded', 1, 1790000023000000, '{"end":{"$type":"Completed","text":"seen"}}', X'946B460B14BD17E3508F8F4B4562B6201098C371F59BD7F9BA3813B04BB876B3', X'B16ED61213C30A5E4FA49F9F011D3E4875AE640BABF6C1DBC4CF8420F83C6E89', NULL);
INSERT INTO events VALUES ('policies', 24, 't3', 'TurnStarted', 1, 1790000024000000, '{"turn_id":"t3","input":{"text":"Once more."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'B16ED61213C30A5E4FA49F9F011D3E4875AE640BABF6C1DBC4CF8420F83C6E89', X'871EFF57A18D665CA3EB8B89D9742923598D4FBA2A78CEE802D50F002AF55659', NULL);
INSERT INTO events VALUES ('policies', 25, 't3', 'QuotaReached', 1, 1790000025000000, '{"limit":"daily model_calls"}', X'871EFF57A18D665CA3EB8B89D9742923598D4FBA2A78CEE802D50F002AF55659', X'D920FEE3F016CC1055A6CB1FF99C502E1DDC0813CE828EBDBE82860236B04421', NULL);
INSERT INTO events VALUES ('policies', 26, 't3', 'TurnEnded', 1, 1790000026000000, '{"end":{"$type":"BudgetSpent","limit":"daily model_calls","text":""}}', X'D920FEE3F016CC1055A6CB1FF99C502E1DDC0813CE828EBDBE82860236B04421', X'40093C2BB294410584EA351262F73893BCB25A47644BD1219FA05B39F192EEF5', NULL);
INSERT INTO events VALUES ('policies', 27, 't4', 'TurnStarted', 1, 1790000027000000, '{"turn_id":"t4","input":{"text":"And now?"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'40093C2BB294410584EA351262F73893BCB25A47644BD1219FA05B39F192EEF5', X'AC1A43264A31D69DEA0A34211535D6BC7EEF8F902A4ED460822981206D5B5FED', NULL);
INSERT INTO events VALUES ('policies', 28, 't4', 'ModelAsked', 1, 1790000028000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'AC1A43264A31D69DEA0A34211535D6BC7EEF8F902A4ED460822981206D5B5FED', X'9F39A56C4A4E5E9215C455F23C46E7E0D3CE88C5AE6EFD6670AB7083A0724836', NULL);
INSERT INTO events VALUES ('policies', 29, 't4', 'ModelReplied', 1, 1790000029000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'9F39A56C4A4E5E9215C455F23C46E7E0D3CE88C5AE6EFD6670AB7083A0724836', X'CAD319EEE6E0C5FD0A3E25B4403D527306707BA9476E78EEBCAB39848BF9AE31', NULL);
INSERT INTO events VALUES ('policies', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":0,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'8450079421FAB14493DE53B155A8E2032AA871A4250B9850DB3ED783CF0F3AA8', X'6B838DED6132E14466EA537A8916C50F77E748D267FE4591BFB1744325596A27', NULL);
INSERT INTO events VALUES ('policies', 30, 't4', 'CallJudged', 1, 1790000030000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'CAD319EEE6E0C5FD0A3E25B4403D527306707BA9476E78EEBCAB39848BF9AE31', X'86E3BCD3D10551DF6E3CBB92C6FB8CC7C13633171A6BE7914D705BC61AB67B09', NULL);
INSERT INTO events VALUES ('policies', 31, 't4', 'ToolStarted', 1, 1790000031000000, '{"step":1,"call_id":"c1"}', X'86E3BCD3D10551DF6E3CBB92C6FB8CC7C13633171A6BE7914D705BC61AB67B09', X'616E757A278F7FB464071792C891486639013ADA2489A9AA0778C42AA4A53CD6', NULL);
INSERT INTO events VALUES ('policies', 32, 't4', 'ToolSettled', 1, 1790000032000000, '{"step":1,"call_id":"c1","result":{"$type":"Failed","text":"no right to","retryable":false,"kind":"terminal"}}', X'616E757A278F7FB464071792C891486639013ADA2489A9AA0778C42AA4A53CD6', X'765424566EBFFE32ED5666A42E766EF36DCC712D3B39D8AA201EF12BF0414AE3', NULL);
INSERT INTO events VALUES ('policies', 33, 't4', 'TurnEnded', 1, 1790000033000000, '{"end":{"$type":"ToolFailed","tool":"send","message":"no right to"}}', X'765424566EBFFE32ED5666A42E766EF36DCC712D3B39D8AA201EF12BF0414AE3', X'F59A0D51AA657AC65DF1F42E6B9D43B4E28706315F7E5B3D9E877D0E324B2A6E', NULL);
INSERT INTO events VALUES ('policies', 34, 't5', 'TurnStarted', 1, 1790000034000000, '{"turn_id":"t5","input":{"text":"And now?"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"protocol":"native","action_form":"type","calls_per_step":"many","parallel_calls":1,"max_steps":10,"cap_outcome":"last_response","degrade":"none","max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"allow","remind_after":3,"catalogue":"listed","confirm_writes":false,"max_depth":2,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":true,"prompt_snapshot":false,"store_reasoning":"turn","limits":{},"model_timeout_seconds":600.0,"busy":"queue"},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0,"failure":"model_visible","parallel":false,"may_repeat":false},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'F59A0D51AA657AC65DF1F42E6B9D43B4E28706315F7E5B3D9E877D0E324B2A6E', X'AD65EE7FE8DC540B8C4F05A63408DABE43B419E4BD6EFD0C3FB0033AB9484AD8', NULL);
INSERT INTO events VALUES ('policies', 35, 't5', 'ModelAsked', 1, 1790000035000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'AD65EE7FE8DC540B8C4F05A63408DABE43B419E4BD6EFD0C3FB0033AB9484AD8', X'9781B3579592CF22DA0AC0DA10C39646785CE8740F0EBE75B79CB68351AC517C', NULL);
INSERT INTO events VALUES ('policies', 36, 't5', 'ModelReplied', 1, 1790000036000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'9781B3579592CF22DA0AC0DA10C39646785CE8740F0EBE75B79CB68351AC517C', X'A670E40905B28BCE2FF87FF727264ED9CB305593CBB342186C4320C06EE3DDB2', NULL);
INSERT INTO events VALUES ('policies', 37, 't5', 'CallJudged', 1, 1790000037000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'A670E40905B28BCE2FF87FF727264ED9CB305593CBB342186C4320C06EE3DDB2', X'D9F0ACCCB508B019C9734D29414231535D07C07AC26540F04E0FACF74005F442', NULL);
INSERT INTO events VALUES ('policies', 38, 't5', 'ToolStarted', 1, 1790000038000000, '{"step":1,"call_id":"c1"}', X'D9F0ACCCB508B019C9734D29414231535D07C07AC26540F04E0FACF74005F442', X'8CCDEF976A2D1E09AC6F572563234DC1A02CB15F5D74ACD564CA75B685042DA3', NULL);
INSERT INTO events VALUES ('policies', 39, 't5', 'ToolSettled', 1, 1790000039000000, '{"step":1,"call_id":"c1","result":{"$type":"Failed","text":"no right to","retryable":false,"kind":"terminal"}}', X'8CCDEF976A2D1E09AC6F572563234DC1A02CB15F5D74ACD564CA75B685042DA3', X'DE8818FCCEDCD133E2A1B47C42691D194068F437142B682C47C90CAA0E69613A', NULL);
INSERT INTO events VALUES ('policies', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":0,"attempt":1,"reply":{"text":"deep","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'6B838DED6132E14466EA537A8916C50F77E748D267FE4591BFB1744325596A27', X'76EB77064B3EB9B718FECBD7DD7D0E19D3E4AF8738D50BE2AED10DDEFDD1E23C', NULL);
INSERT INTO events VALUES ('policies', 40, 't5', 'TurnEnded', 1, 1790000040000000, '{"end":{"$type":"Unfinished","reason":"look failed"}}', X'DE8818FCCEDCD133E2A1B47C42691D194068F437142B682C47C90CAA0E69613A', X'DECDD4CC6D28748A121C720EAE01D040621B318092D795E26217BA5D1FFDA67A', NULL);
INSERT INTO events VALUES ('policies', 5, 't1', 'ModeChosen', 1, 1790000005000000, '{"mode":"deep","policy":{"protocol":"json_action","action_form":"type","calls_per_step":"one","parallel_calls":1,"max_steps":6,"cap_outcome":"final_only","degrade":"wrap_up","max_asks":1,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":6,"max_starts":3,"tool_attempts":1,"tool_retry_seconds":0.5,"failures":{},"repeat":"finalize","remind_after":3,"catalogue":"for_reasoning","confirm_writes":false,"max_depth":0,"max_history_turns":20,"keep_messages":4,"estimator":"cjk_aware","summary":"off","memory_characters":4000,"memory_scope":"agent","result_characters":30000,"skills_mode":"pointer","prompt_order":["instructions","bootstrap","skills"],"datetime_line":false,"prompt_snapshot":true,"store_reasoning":"never","limits":{"model_calls":6,"tool_calls":9,"total_steps":20,"write_calls":0,"input_bytes":65536,"output_tokens":1536,"total_tokens":262144,"deadline_seconds":90.0},"model_timeout_seconds":20.0,"busy":"queue"},"tools":[{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0,"failure":"model_visible","parallel":false,"may_repeat":false}],"instructions":"You look with care."}', X'76EB77064B3EB9B718FECBD7DD7D0E19D3E4AF8738D50BE2AED10DDEFDD1E23C', X'552D10B006987AC9644F421DFBF513E55D0037DDA5749E76565D79BF8F099A61', NULL);
INSERT INTO events VALUES ('policies', 6, 't1', 'ContextTrimmed', 1, 1790000006000000, '{"history_turns":0,"steps_left_out":0,"removed":3,"tokens_before":1200,"tokens_after":700}', X'552D10B006987AC9644F421DFBF513E55D0037DDA5749E76565D79BF8F099A61', X'BF3AD0DF6BEBA3C23CA635CCE97DC2D91BF0F0BA7579B45BAFF51FDF4F556E3B', NULL);
INSERT INTO events VALUES ('policies', 7, 't1', 'ModelAsked', 1, 1790000007000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'BF3AD0DF6BEBA3C23CA635CCE97DC2D91BF0F0BA7579B45BAFF51FDF4F556E3B', X'D4F12998B2715588EA941E1A5A3DC44DC8F1B154E2D72EC0AA9173214EB8941D', NULL);
INSERT INTO events VALUES ('policies', 8, 't1', 'ModelReplied', 1, 1790000008000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"look","arguments":{"path":"a"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","action":false}}', X'D4F12998B2715588EA941E1A5A3DC44DC8F1B154E2D72EC0AA9173214EB8941D', X'0B13572966C3FCF57A450AD5406388E5CB42026CC2C995B7A51171547683D817', NULL);
INSERT INTO events VALUES ('policies', 9, 't1', 'CallJudged', 1, 1790000009000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue","key":"look a"}}', X'0B13572966C3FCF57A450AD5406388E5CB42026CC2C995B7A51171547683D817', X'00DCEC25CD1359FEEC7C3FE33FB9F1EEE9585541AC2602B67214438ECA9B8A2B', NULL);
INSERT INTO blobs VALUES ('164ce2917d86404ed0708e86fcaa006486bad3a74c601c12eb6083b6ffd270b9', '{"salt":"c91e33ddb55d4e37","value":{"type":"thinking","signature":"abc"}}');
INSERT INTO blobs VALUES ('4296066c66e7a6d1adf4994c014232f45cd794635df36c3676e9ea14031542da', '{"salt":"41a80f0835cfa848","value":{"type":"thinking","signature":"abc"}}');
INSERT INTO blobs VALUES ('659a0a6e58bb728cd74a05b84e6718a641437df01b3e8e44eb25b1b2eedc714d', '[{"id":"c1","name":"look","arguments":{"path":"a"}},{"id":"c2","name":"send","arguments":{"to":"ann"}},{"id":"c3","name":"send","arguments":{"to":"bob"}},{"id":"c4","name":"look","arguments":{"path":"Ein längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\n"}}]');
INSERT INTO blobs VALUES ('73930db669af642e7ecd1b1c76c80b59fc09b6e6b24a8178603bb25a87249166', '{"path":"Ein längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\n"}');
INSERT INTO blobs VALUES ('b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a', 'Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
Ein längerer Text, größer als ein Satz. 🦌
');
INSERT INTO session_heads VALUES ('child', 'ops', 'me', 'cli', 1, NULL, 5, X'6C6BDF5D7E2C15806CE300950D74EC98A5C14FFD7E5A69F3E0051C384C62D645', NULL, 1790000001000000, 1790000005000000, NULL);
INSERT INTO session_heads VALUES ('cut-off', 'ops', 'me', 'cli', 1, '5458-eca0001e', 18, X'F7C30AF3864040CD45B7F1DAD162A00619579C96E1335033CAE3E73279684925', NULL, 1790000001000000, 1790000018000000, NULL);
INSERT INTO session_heads VALUES ('ends', 'ops', 'me', 'cli', 1, NULL, 33, X'12B1F72A2A3B1814B7664DEBAF8702D7284DC7C5077C420B4952EC0B62B7FB64', NULL, 1790000001000000, 1790000033000000, NULL);
INSERT INTO session_heads VALUES ('full', 'ops', 'me', 'cli', 1, NULL, 28, X'694C883D4FB1CE24B5DF79658D15E846DA52BC7ADAC3403A6462E332B893F3E7', NULL, 1790000001000000, 1790000028000000, NULL);
INSERT INTO session_heads VALUES ('letters', 'ops', 'me', 'cli', 1, '5458-eca0001e', 19, X'81FC3AE210C62B7CEE4241E6F4B21F073A77ABA26033B04120B2B00BE40ECC23', NULL, 1790000001000000, 1790000019000000, NULL);
INSERT INTO session_heads VALUES ('policies', 'ops', 'me', 'cli', 1, NULL, 40, X'DECDD4CC6D28748A121C720EAE01D040621B318092D795E26217BA5D1FFDA67A', NULL, 1790000001000000, 1790000040000000, NULL);
INSERT INTO turns VALUES ('child', 't1', 'ops', 1790000002000000, 2, 1790000005000000, 'Completed', '');
INSERT INTO turns VALUES ('cut-off', 't1', 'ops', 1790000002000000, 2, 1790000010000000, 'Completed', '');
INSERT INTO turns VALUES ('cut-off', 't2', 'ops', 1790000011000000, 11, NULL, NULL, '');
INSERT INTO turns VALUES ('ends', 't1', 'ops', 1790000002000000, 2, 1790000005000000, 'Completed', '');
INSERT INTO turns VALUES ('ends', 't2', 'ops', 1790000006000000, 6, 1790000009000000, 'MaxSteps', '');
INSERT INTO turns VALUES ('ends', 't3', 'ops', 1790000010000000, 10, 1790000013000000, 'BudgetSpent', '');
INSERT INTO turns VALUES ('ends', 't4', 'ops', 1790000014000000, 14, 1790000017000000, 'DeadlinePassed', '');
INSERT INTO turns VALUES ('ends', 't5', 'ops', 1790000018000000, 18, 1790000021000000, 'ContextExhausted', '');
INSERT INTO turns VALUES ('ends', 't6', 'ops', 1790000022000000, 22, 1790000025000000, 'Interrupted', '');
INSERT INTO turns VALUES ('ends', 't7', 'ops', 1790000026000000, 26, 1790000029000000, 'Revoked', '');
INSERT INTO turns VALUES ('ends', 't8', 'ops', 1790000030000000, 30, 1790000033000000, 'ModelFailed', '');
INSERT INTO turns VALUES ('full', 't1', 'ops', 1790000002000000, 2, 1790000028000000, 'Completed', '');
INSERT INTO turns VALUES ('letters', 't1', 'ops', 1790000002000000, 2, 1790000018000000, 'Completed', '978b4b7d7a78696fc85df911b975788c54a6740a1a77cd29940601ebe0c0728e');
INSERT INTO turns VALUES ('policies', 't1', 'ops', 1790000002000000, 2, 1790000018000000, 'Completed', '');
INSERT INTO turns VALUES ('policies', 't2', 'ops', 1790000019000000, 19, 1790000023000000, 'Completed', '');
INSERT INTO turns VALUES ('policies', 't3', 'ops', 1790000024000000, 24, 1790000026000000, 'BudgetSpent', '');
INSERT INTO turns VALUES ('policies', 't4', 'ops', 1790000027000000, 27, 1790000033000000, 'ToolFailed', '');
INSERT INTO turns VALUES ('policies', 't5', 'ops', 1790000034000000, 34, 1790000040000000, 'Unfinished', '');
INSERT INTO workers VALUES ('5458-eca0001e', 5458, 1796029749540000);
INSERT INTO inbox VALUES (1, 'letters', 'Steer', '{"mail":{"text":"and hurry"},"opening":{"agent":"ops","principal":"me","channel":"cli"}}', NULL, 1796029749607300, 10);
INSERT INTO inbox VALUES (2, 'letters', 'Input', '{"mail":{"text":"and then?","confirm_writes":false},"opening":{"agent":"ops","principal":"me","channel":"cli"}}', NULL, 1796029749620060, NULL);
