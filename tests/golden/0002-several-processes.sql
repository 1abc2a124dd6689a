PRAGMA user_version = 2;
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
CREATE INDEX open_turns ON turns (session_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX inbox_keys ON inbox (session_id, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX inbox_waiting ON inbox (session_id, id) WHERE taken_seq IS NULL;
INSERT INTO events VALUES ('cut-off', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'49BD3569843E06B830F9D6B80FFDF3602015BE067A5224B4548D926E96F539AD', NULL);
INSERT INTO events VALUES ('cut-off', 10, 't1', 'TurnEnded', 1, 1790000010000000, '{"end":{"$type":"Completed","text":"I do not know."}}', X'31D59D4012F9AD6FCA36A52D1683DE1E15E8B6A6BDC79F559030CECC0C95BB56', X'E2803D15F98AA1619C8F474DC411F70F97D115ECD5D740FBCEC705306D0F48CA', NULL);
INSERT INTO events VALUES ('cut-off', 11, 't2', 'TurnStarted', 1, 1790000011000000, '{"turn_id":"t2","input":{"text":"Send it again."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'E2803D15F98AA1619C8F474DC411F70F97D115ECD5D740FBCEC705306D0F48CA', X'7F1F54D3A6A3A1C6B7CCA2C7CB87AE1576368C8365158CFE4D238181E58009B6', NULL);
INSERT INTO events VALUES ('cut-off', 12, 't2', 'ModelAsked', 1, 1790000012000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'7F1F54D3A6A3A1C6B7CCA2C7CB87AE1576368C8365158CFE4D238181E58009B6', X'B31642421563FC4D64006804180F74C166BC60864A6F2546CFD2997A764662B2', NULL);
INSERT INTO events VALUES ('cut-off', 13, 't2', 'ModelReplied', 1, 1790000013000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}},{"id":"c2","name":"look","arguments":{"path":"b"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'B31642421563FC4D64006804180F74C166BC60864A6F2546CFD2997A764662B2', X'0077BDFCF2B133D7D18AF6EC77533EA98C2E4AEA8FF9DC5C3655B576AF100284', NULL);
INSERT INTO events VALUES ('cut-off', 14, 't2', 'CallJudged', 1, 1790000014000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'0077BDFCF2B133D7D18AF6EC77533EA98C2E4AEA8FF9DC5C3655B576AF100284', X'EC0312BEEEB4C70EA71D48FD4463F47A000AF3D0B6C39B766A1148F37FA8F24C', NULL);
INSERT INTO events VALUES ('cut-off', 15, 't2', 'ToolStarted', 1, 1790000015000000, '{"step":1,"call_id":"c1"}', X'EC0312BEEEB4C70EA71D48FD4463F47A000AF3D0B6C39B766A1148F37FA8F24C', X'E99FE4F389DBA834A2C7579EEE9126A1C1519DED5283918FD4138BA3DB23172B', NULL);
INSERT INTO events VALUES ('cut-off', 16, 't2', 'CallJudged', 1, 1790000016000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'E99FE4F389DBA834A2C7579EEE9126A1C1519DED5283918FD4138BA3DB23172B', X'E3AA1578A17176081736D793D4F0AA584A537E4A0A286AC3F1CB56F6EAA87176', NULL);
INSERT INTO events VALUES ('cut-off', 17, 't2', 'ToolStarted', 1, 1790000017000000, '{"step":1,"call_id":"c2"}', X'E3AA1578A17176081736D793D4F0AA584A537E4A0A286AC3F1CB56F6EAA87176', X'44DB3E175D66E95B6CFA8CC9854145A3B4107E721191295BAF6030ED8F4DEA56', NULL);
INSERT INTO events VALUES ('cut-off', 18, 't2', 'ToolSettled', 1, 1790000018000000, '{"step":1,"call_id":"c2","result":{"$type":"Succeeded","text":"seen"}}', X'44DB3E175D66E95B6CFA8CC9854145A3B4107E721191295BAF6030ED8F4DEA56', X'C014E55639C7ED25B98632E5E6ECB65B0E230F69DA8612C9CD4672AA9BAC6CB9', NULL);
INSERT INTO events VALUES ('cut-off', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Send it."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'49BD3569843E06B830F9D6B80FFDF3602015BE067A5224B4548D926E96F539AD', X'1BD078B4B59E7366B3963683BAD4AB92C9F4644D3412341C60FC7A173D64EB0E', NULL);
INSERT INTO events VALUES ('cut-off', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'1BD078B4B59E7366B3963683BAD4AB92C9F4644D3412341C60FC7A173D64EB0E', X'A8D5BC1199F6C8C4AFF7FFB6C6B167DA82CE5449B4B2FA4D3FF68C93C5EBAEF1', NULL);
INSERT INTO events VALUES ('cut-off', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'A8D5BC1199F6C8C4AFF7FFB6C6B167DA82CE5449B4B2FA4D3FF68C93C5EBAEF1', X'0DE8D60D3F1D9F36981888C03DE76DF275F20E1FE8C1C36CE63B894507AE6220', NULL);
INSERT INTO events VALUES ('cut-off', 5, 't1', 'CallJudged', 1, 1790000005000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'0DE8D60D3F1D9F36981888C03DE76DF275F20E1FE8C1C36CE63B894507AE6220', X'02BDE7E6AF7B8E176C7BA68849C6D03E469E7CEE53E55197C838132AE557CDDC', NULL);
INSERT INTO events VALUES ('cut-off', 6, 't1', 'ToolStarted', 1, 1790000006000000, '{"step":1,"call_id":"c1"}', X'02BDE7E6AF7B8E176C7BA68849C6D03E469E7CEE53E55197C838132AE557CDDC', X'EAAF169B6448B41A02466031E9727D9B7613965D349E4BB0660D5851B9DEF568', NULL);
INSERT INTO events VALUES ('cut-off', 7, 't1', 'ToolSettled', 1, 1790000007000000, '{"step":1,"call_id":"c1","result":{"$type":"Unknown","reason":"it was cut off while it ran"}}', X'EAAF169B6448B41A02466031E9727D9B7613965D349E4BB0660D5851B9DEF568', X'222A24C28F5929272297EAE0BD32975D02081B1D6B8EB56A60DA243D5C237065', NULL);
INSERT INTO events VALUES ('cut-off', 8, 't1', 'ModelAsked', 1, 1790000008000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'222A24C28F5929272297EAE0BD32975D02081B1D6B8EB56A60DA243D5C237065', X'988FF9E93A64E707B05C06C79172A5D0F0272659447852AF98E2C78B90E7B4F8', NULL);
INSERT INTO events VALUES ('cut-off', 9, 't1', 'ModelReplied', 1, 1790000009000000, '{"step":2,"attempt":1,"reply":{"text":"I do not know.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'988FF9E93A64E707B05C06C79172A5D0F0272659447852AF98E2C78B90E7B4F8', X'31D59D4012F9AD6FCA36A52D1683DE1E15E8B6A6BDC79F559030CECC0C95BB56', NULL);
INSERT INTO events VALUES ('ends', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'4F01C9C8B5BE9FFB74BD81823E85483FC6B997A8BA3B31C6F9541039B9145EE9', NULL);
INSERT INTO events VALUES ('ends', 10, 't3', 'TurnStarted', 1, 1790000010000000, '{"turn_id":"t3","input":{"text":"input 3"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'F96217A2240CDFECD88EEB16DCB2CD22E6863B72611DA5359D0C244A96D9FD2C', X'4ECABB36F2299C1B66C3F5092896503EEE79D2945F5B24A84B744551E14D805B', NULL);
INSERT INTO events VALUES ('ends', 11, 't3', 'ModelAsked', 1, 1790000011000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'4ECABB36F2299C1B66C3F5092896503EEE79D2945F5B24A84B744551E14D805B', X'ABB338DAB7E1EB3D85911A8CC7A09E23684D90063E5D71CE076B457D5D722F21', NULL);
INSERT INTO events VALUES ('ends', 12, 't3', 'ModelReplied', 1, 1790000012000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'ABB338DAB7E1EB3D85911A8CC7A09E23684D90063E5D71CE076B457D5D722F21', X'0266BD0263B10F602E2D7D70D677E9954708B7A8814AF0C33755FFB699F1625F', NULL);
INSERT INTO events VALUES ('ends', 13, 't3', 'TurnEnded', 1, 1790000013000000, '{"end":{"$type":"BudgetSpent","limit":"tool_calls","text":"Done."}}', X'0266BD0263B10F602E2D7D70D677E9954708B7A8814AF0C33755FFB699F1625F', X'DE9B56C66ABCA5476B8DFC23998FF376FB1B1ED4F36A44EE511581CA82CDC353', NULL);
INSERT INTO events VALUES ('ends', 14, 't4', 'TurnStarted', 1, 1790000014000000, '{"turn_id":"t4","input":{"text":"input 4"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'DE9B56C66ABCA5476B8DFC23998FF376FB1B1ED4F36A44EE511581CA82CDC353', X'D70A3E638A0C2A05E79671D8C2C302AEE100F54B5F13938A3F0A92ECF3884E66', NULL);
INSERT INTO events VALUES ('ends', 15, 't4', 'ModelAsked', 1, 1790000015000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'D70A3E638A0C2A05E79671D8C2C302AEE100F54B5F13938A3F0A92ECF3884E66', X'E5358AC98FF7D37E861D95B97E36FCBCB91B51ED89CB30C641D0975B2D1C4C2C', NULL);
INSERT INTO events VALUES ('ends', 16, 't4', 'ModelReplied', 1, 1790000016000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'E5358AC98FF7D37E861D95B97E36FCBCB91B51ED89CB30C641D0975B2D1C4C2C', X'88781A70A261120F5A88A9151B5B9461BC00F5A23E06328F684140003E6D971E', NULL);
INSERT INTO events VALUES ('ends', 17, 't4', 'TurnEnded', 1, 1790000017000000, '{"end":{"$type":"DeadlinePassed","text":"Done."}}', X'88781A70A261120F5A88A9151B5B9461BC00F5A23E06328F684140003E6D971E', X'7E4DDA22F908C8513298D3A831AEAEF1BA8C2E2DFA3F8C638B310C8A6D018995', NULL);
INSERT INTO events VALUES ('ends', 18, 't5', 'TurnStarted', 1, 1790000018000000, '{"turn_id":"t5","input":{"text":"input 5"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'7E4DDA22F908C8513298D3A831AEAEF1BA8C2E2DFA3F8C638B310C8A6D018995', X'CE43861939C7B53263E26345837A63921331C4E975BBB78E45C09DDE445D3E56', NULL);
INSERT INTO events VALUES ('ends', 19, 't5', 'ModelAsked', 1, 1790000019000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'CE43861939C7B53263E26345837A63921331C4E975BBB78E45C09DDE445D3E56', X'87E6FA9572CE469622E11C1B6A4DE4886082CAD4827EDF5207E908AB56475988', NULL);
INSERT INTO events VALUES ('ends', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"input 1"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'4F01C9C8B5BE9FFB74BD81823E85483FC6B997A8BA3B31C6F9541039B9145EE9', X'20526ABB747EFDD717A9CEA453FA624A1770C3D1E3C98B819DB6E6E70ABF9CA6', NULL);
INSERT INTO events VALUES ('ends', 20, 't5', 'ModelFaulted', 1, 1790000020000000, '{"step":1,"attempt":1,"kind":"context_length","message":"too long"}', X'87E6FA9572CE469622E11C1B6A4DE4886082CAD4827EDF5207E908AB56475988', X'671BE086EAAAB0D20CDA5B64A6DC1B20E3B125F5723C11BBACACA4562B7535C8', NULL);
INSERT INTO events VALUES ('ends', 21, 't5', 'TurnEnded', 1, 1790000021000000, '{"end":{"$type":"ContextExhausted","message":"too long"}}', X'671BE086EAAAB0D20CDA5B64A6DC1B20E3B125F5723C11BBACACA4562B7535C8', X'56C0E9739208B1D9442CA347D08E0E4A4A3F4AAE5B13B1B59AFF52879EEFF20B', NULL);
INSERT INTO events VALUES ('ends', 22, 't6', 'TurnStarted', 1, 1790000022000000, '{"turn_id":"t6","input":{"text":"input 6"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'56C0E9739208B1D9442CA347D08E0E4A4A3F4AAE5B13B1B59AFF52879EEFF20B', X'986AF8423B02B8D68AED1EA8DC61246C68928D387B74A91A5CC81E71A407C190', NULL);
INSERT INTO events VALUES ('ends', 23, 't6', 'ModelAsked', 1, 1790000023000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'986AF8423B02B8D68AED1EA8DC61246C68928D387B74A91A5CC81E71A407C190', X'D0584E5136912B5F3F23EECE6A6C3CA61A3C7D933DCAF2F096FB723833FB65F6', NULL);
INSERT INTO events VALUES ('ends', 24, 't6', 'InterruptAsked', 1, 1790000024000000, '{"by":"me"}', X'D0584E5136912B5F3F23EECE6A6C3CA61A3C7D933DCAF2F096FB723833FB65F6', X'B52DC8717364A86A58CDA6432CEC3D33FE85BE56F50FFD05ACDB36C48E84F9EC', NULL);
INSERT INTO events VALUES ('ends', 25, 't6', 'TurnEnded', 1, 1790000025000000, '{"end":{"$type":"Interrupted","by":"me"}}', X'B52DC8717364A86A58CDA6432CEC3D33FE85BE56F50FFD05ACDB36C48E84F9EC', X'3A0C7503209475836EF7DAD1C14019AF0690D4D95C3970A0EAAF8A4159AA7197', NULL);
INSERT INTO events VALUES ('ends', 26, 't7', 'TurnStarted', 1, 1790000026000000, '{"turn_id":"t7","input":{"text":"input 7"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'3A0C7503209475836EF7DAD1C14019AF0690D4D95C3970A0EAAF8A4159AA7197', X'2024E91E1B493E680A92C7121F458FCA423737FCBE7A47F70319C085779A9597', NULL);
INSERT INTO events VALUES ('ends', 27, 't7', 'ModelAsked', 1, 1790000027000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'2024E91E1B493E680A92C7121F458FCA423737FCBE7A47F70319C085779A9597', X'CB82C37DF00D39ED8773AAA813D2F0D30981D9E0348C87723FC2D610E58010FA', NULL);
INSERT INTO events VALUES ('ends', 28, 't7', 'RevokeAsked', 1, 1790000028000000, '{"what":"tool send"}', X'CB82C37DF00D39ED8773AAA813D2F0D30981D9E0348C87723FC2D610E58010FA', X'F2ADB15762B42280BF27B93C7DD139272B3DCC02A84951B596C996F5CC974520', NULL);
INSERT INTO events VALUES ('ends', 29, 't7', 'TurnEnded', 1, 1790000029000000, '{"end":{"$type":"Revoked","what":"tool send"}}', X'F2ADB15762B42280BF27B93C7DD139272B3DCC02A84951B596C996F5CC974520', X'859B26413C202798339A55DD7B22684D1E0DA35B3FE11F9DE39BF128D1C8BDF9', NULL);
INSERT INTO events VALUES ('ends', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'20526ABB747EFDD717A9CEA453FA624A1770C3D1E3C98B819DB6E6E70ABF9CA6', X'A604DE8B450E3A24963E3BE22E64F864BA00D9B85FEF0462595CBD48E4128EBB', NULL);
INSERT INTO events VALUES ('ends', 30, 't8', 'TurnStarted', 1, 1790000030000000, '{"turn_id":"t8","input":{"text":"input 8"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'859B26413C202798339A55DD7B22684D1E0DA35B3FE11F9DE39BF128D1C8BDF9', X'81E9D7CADD3D7A89E0CA6367EF93BDCFA9365D74CDAF59584FE3BB2820A915B4', NULL);
INSERT INTO events VALUES ('ends', 31, 't8', 'ModelAsked', 1, 1790000031000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'81E9D7CADD3D7A89E0CA6367EF93BDCFA9365D74CDAF59584FE3BB2820A915B4', X'C7554C6B25D54C4B55A41CF99E9697E2033E04063A541862A147A769F5AA7B0C', NULL);
INSERT INTO events VALUES ('ends', 32, 't8', 'ModelFaulted', 1, 1790000032000000, '{"step":1,"attempt":1,"kind":"auth","message":"bad key"}', X'C7554C6B25D54C4B55A41CF99E9697E2033E04063A541862A147A769F5AA7B0C', X'66EFD53CAF9025724F422F3B67A1F01AA63BA4446FB87C8021A9683F8569BB2E', NULL);
INSERT INTO events VALUES ('ends', 33, 't8', 'TurnEnded', 1, 1790000033000000, '{"end":{"$type":"ModelFailed","kind":"auth","message":"bad key"}}', X'66EFD53CAF9025724F422F3B67A1F01AA63BA4446FB87C8021A9683F8569BB2E', X'176E3A1AA9D00299810BE757754F37C44FE72CDCF387FFD35C9A518E2479FF8C', NULL);
INSERT INTO events VALUES ('ends', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'A604DE8B450E3A24963E3BE22E64F864BA00D9B85FEF0462595CBD48E4128EBB', X'28D3D8F144AD9CFB11019303AB1399E7E18CBB453B76020E7F3881AB3B4336B0', NULL);
INSERT INTO events VALUES ('ends', 5, 't1', 'TurnEnded', 1, 1790000005000000, '{"end":{"$type":"Completed","text":"Done."}}', X'28D3D8F144AD9CFB11019303AB1399E7E18CBB453B76020E7F3881AB3B4336B0', X'2683A22F39F70E170536C0896D159940074A87F624F0C95921B837EB08853B96', NULL);
INSERT INTO events VALUES ('ends', 6, 't2', 'TurnStarted', 1, 1790000006000000, '{"turn_id":"t2","input":{"text":"input 2"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'2683A22F39F70E170536C0896D159940074A87F624F0C95921B837EB08853B96', X'3665B98CF4620D949AAA9D6F91E4BFDB4060466039269FFC7C892A75E2D64837', NULL);
INSERT INTO events VALUES ('ends', 7, 't2', 'ModelAsked', 1, 1790000007000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'3665B98CF4620D949AAA9D6F91E4BFDB4060466039269FFC7C892A75E2D64837', X'0084CF50579F2B6A3BE608503CFF9D61EAEA3267B31A64D50B94F5F1D3E30E6E', NULL);
INSERT INTO events VALUES ('ends', 8, 't2', 'ModelReplied', 1, 1790000008000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'0084CF50579F2B6A3BE608503CFF9D61EAEA3267B31A64D50B94F5F1D3E30E6E', X'793559D57C1F22315BB2FB3BFC12452C0F284D5D74B64D191DBD403538D050C6', NULL);
INSERT INTO events VALUES ('ends', 9, 't2', 'TurnEnded', 1, 1790000009000000, '{"end":{"$type":"MaxSteps","limit":1,"text":"Done."}}', X'793559D57C1F22315BB2FB3BFC12452C0F284D5D74B64D191DBD403538D050C6', X'F96217A2240CDFECD88EEB16DCB2CD22E6863B72611DA5359D0C244A96D9FD2C', NULL);
INSERT INTO events VALUES ('full', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'39592F735E561F591C58CD2B99BAC45EC2D956BA5F1CFD92DCEA715D49339CDE', NULL);
INSERT INTO events VALUES ('full', 10, 't1', 'ModelReplied', 1, 1790000010000000, '{"step":1,"attempt":3,"reply":{"text":"I will.","calls":{"$json":"659a0a6e58bb728cd74a05b84e6718a641437df01b3e8e44eb25b1b2eedc714d"},"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","reasoning":{"$erasable":"ec3eaff85877a22549c1acfd7c169b61ec2dfb9ad91add452a7153a4d5ee0d30"},"raw":{"$erasable":"153e61f56342ed6815426650495777b5160408612d243efd3bfa59c6462d8dbc"}}}', X'8411C65391F3FBB83606FA3DA27A76228F543F010969BACAF0902084C0A73178', X'91D8E71319E38804EC7B32C23E5D5288FB715488536E179D3043435745E88FAF', NULL);
INSERT INTO events VALUES ('full', 11, 't1', 'CallJudged', 1, 1790000011000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'91D8E71319E38804EC7B32C23E5D5288FB715488536E179D3043435745E88FAF', X'45C43C3B254F0F445294D1FA96E0B24E0A7FDE21040C4B73173C0B5BDFE18512', NULL);
INSERT INTO events VALUES ('full', 12, 't1', 'ToolStarted', 1, 1790000012000000, '{"step":1,"call_id":"c1"}', X'45C43C3B254F0F445294D1FA96E0B24E0A7FDE21040C4B73173C0B5BDFE18512', X'4D4C1538C1BC769C931FFAB09F87C1AD4CE3A5C4C3C0025398C341AC66819A27', NULL);
INSERT INTO events VALUES ('full', 13, 't1', 'ToolSettled', 1, 1790000013000000, '{"step":1,"call_id":"c1","result":{"$type":"Succeeded","text":{"$text":"b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a"}}}', X'4D4C1538C1BC769C931FFAB09F87C1AD4CE3A5C4C3C0025398C341AC66819A27', X'8C4E23673E3C3E52038AE2286DB70525B858E6DB32B665BA8C42133B98048C0C', NULL);
INSERT INTO events VALUES ('full', 14, 't1', 'CallJudged', 1, 1790000014000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'8C4E23673E3C3E52038AE2286DB70525B858E6DB32B665BA8C42133B98048C0C', X'40CFB5422BFA9BC28B00399AE4567DE63A17B69DD2E7AF3457197870487023AE', NULL);
INSERT INTO events VALUES ('full', 15, 't1', 'ToolStarted', 1, 1790000015000000, '{"step":1,"call_id":"c2"}', X'40CFB5422BFA9BC28B00399AE4567DE63A17B69DD2E7AF3457197870487023AE', X'CB82910709CC662A2CEBAEC9179C186A8D644140BADDEBFB9D76C7C60B696B61', NULL);
INSERT INTO events VALUES ('full', 16, 't1', 'ToolSettled', 1, 1790000016000000, '{"step":1,"call_id":"c2","result":{"$type":"Failed","text":"no route","retryable":true}}', X'CB82910709CC662A2CEBAEC9179C186A8D644140BADDEBFB9D76C7C60B696B61', X'05A3D519324F0A9945E9ECC79270848D94A457FA78ECC9D826F65C3B26D7A234', NULL);
INSERT INTO events VALUES ('full', 17, 't1', 'CallJudged', 1, 1790000017000000, '{"step":1,"call_id":"c3","verdict":{"$type":"Deny","rule":"people","reason":"not to Bob"}}', X'05A3D519324F0A9945E9ECC79270848D94A457FA78ECC9D826F65C3B26D7A234', X'EC0CE907C10FEEE237F04B9EA5943146B6EE4652D9AFE94E1BF69F1D1F0590FB', NULL);
INSERT INTO events VALUES ('full', 18, 't1', 'CallJudged', 1, 1790000018000000, '{"step":1,"call_id":"c4","verdict":{"$type":"Allow","rule":"catalogue"}}', X'EC0CE907C10FEEE237F04B9EA5943146B6EE4652D9AFE94E1BF69F1D1F0590FB', X'2DE79BCBACE0D324EA8C061F86D7CD43D0FCE265573EC0A1B6568ACB4768F214', NULL);
INSERT INTO events VALUES ('full', 19, 't1', 'ToolStarted', 1, 1790000019000000, '{"step":1,"call_id":"c4"}', X'2DE79BCBACE0D324EA8C061F86D7CD43D0FCE265573EC0A1B6568ACB4768F214', X'FD91DE04D505B991E10EDBDA0E6A06AA7D0F011AF2172EC7D1A85D6CD2167CE1', NULL);
INSERT INTO events VALUES ('full', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Schick es, bitte: äöü","parts":[{"$type":"TextPart","name":"notes.txt","text":"All is well.\n"},{"$type":"ImagePart","name":"a.png","media_type":"image/png","data":"iVBO"}]},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"output_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}', X'39592F735E561F591C58CD2B99BAC45EC2D956BA5F1CFD92DCEA715D49339CDE', X'8AE4D94F82DB9DF1F1D5D3BF811E1A83DBE2E86E3C4D1DB0BE40ECB01E3D3590', NULL);
INSERT INTO events VALUES ('full', 20, 't1', 'ToolSettled', 1, 1790000020000000, '{"step":1,"call_id":"c4","result":{"$type":"Succeeded","text":""}}', X'FD91DE04D505B991E10EDBDA0E6A06AA7D0F011AF2172EC7D1A85D6CD2167CE1', X'F6317C6D9DCBA15B1BE8AA380A46B3C1C865FCBEFF586896767E4ABA583DD684', NULL);
INSERT INTO events VALUES ('full', 21, 't1', 'ModelAsked', 1, 1790000021000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'F6317C6D9DCBA15B1BE8AA380A46B3C1C865FCBEFF586896767E4ABA583DD684', X'86FC95582B0E959873BD049F2EA05BA1A3A9ED14BFF417EE4599B33F385E76D7', NULL);
INSERT INTO events VALUES ('full', 22, 't1', 'ModelReplied', 1, 1790000022000000, '{"step":2,"attempt":1,"reply":{"text":"{\"n\": \"x\"}","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","reasoning":{"$erasable":"63b286048dabf7b406e39140652f0d1b6a6ab8bbff1e739574800bad211a6c77"},"raw":{"$erasable":"86316bd3be8eefd0f1b598c5b1b4531557acd243a84a0cf9241b2b4161dd4b1d"}}}', X'86FC95582B0E959873BD049F2EA05BA1A3A9ED14BFF417EE4599B33F385E76D7', X'C90027A6913E9B6FB7F87591FFEE94F40D57D1656BFEC8E9E35AA15FD2FC6D3A', NULL);
INSERT INTO events VALUES ('full', 23, 't1', 'AnswerChecked', 1, 1790000023000000, '{"step":2,"problem":"n: ''x'' is not of type \"integer\""}', X'C90027A6913E9B6FB7F87591FFEE94F40D57D1656BFEC8E9E35AA15FD2FC6D3A', X'B6EEA752DAAEF4833BAAB6C162881734CC23A95C2604BE95652215782572A525', NULL);
INSERT INTO events VALUES ('full', 24, 't1', 'NoticeGiven', 1, 1790000024000000, '{"step":2,"text":"Your answer cannot be used."}', X'B6EEA752DAAEF4833BAAB6C162881734CC23A95C2604BE95652215782572A525', X'E1745917038F2BB7988E8938AB2BF6ADA4BD58B1FD19D5FBE4921E8D5FB01BA6', NULL);
INSERT INTO events VALUES ('full', 25, 't1', 'ModelAsked', 1, 1790000025000000, '{"step":3,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'E1745917038F2BB7988E8938AB2BF6ADA4BD58B1FD19D5FBE4921E8D5FB01BA6', X'297D57809DA3B2AEC796AE8EBDBFC142847666A917471F25D8AE6367785D6E17', NULL);
INSERT INTO events VALUES ('full', 26, 't1', 'ModelReplied', 1, 1790000026000000, '{"step":3,"attempt":1,"reply":{"text":"{\"n\": 1}","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'297D57809DA3B2AEC796AE8EBDBFC142847666A917471F25D8AE6367785D6E17', X'4A25F68FAA0FF78E72E0A1A5846E6D8E114E4DB3771978844B35267EDE888395', NULL);
INSERT INTO events VALUES ('full', 27, 't1', 'AnswerChecked', 1, 1790000027000000, '{"step":3,"value":{"n":1}}', X'4A25F68FAA0FF78E72E0A1A5846E6D8E114E4DB3771978844B35267EDE888395', X'CAD5196266C7A9D97E34AFA42533B9FA0F1CD1A2F580BD5321E71B8B6D4AA4ED', NULL);
INSERT INTO events VALUES ('full', 28, 't1', 'TurnEnded', 1, 1790000028000000, '{"end":{"$type":"Completed","text":"{\"n\": 1}","value":{"n":1}}}', X'CAD5196266C7A9D97E34AFA42533B9FA0F1CD1A2F580BD5321E71B8B6D4AA4ED', X'87654935BE243664B62D33E7362BA754C1D0013899C80F6E73D589564750CD43', NULL);
INSERT INTO events VALUES ('full', 3, 't1', 'FilesRead', 1, 1790000003000000, '{"bootstrap":{"$text":"b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a"},"skills":"","memory":"- likes tea","memory_read":11,"sources":["USER.md","MEMORY.md"]}', X'8AE4D94F82DB9DF1F1D5D3BF811E1A83DBE2E86E3C4D1DB0BE40ECB01E3D3590', X'97DAFBBE86B651F33CE2D46293589132E9286CC4B4E23E34E6BAF2B59EDDCFF0', NULL);
INSERT INTO events VALUES ('full', 4, 't1', 'ModelAsked', 1, 1790000004000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'97DAFBBE86B651F33CE2D46293589132E9286CC4B4E23E34E6BAF2B59EDDCFF0', X'C36D34FA140BADA0744E8E40E57346C1FBC1D37BC94E4732601B53173A7FEDEA', NULL);
INSERT INTO events VALUES ('full', 5, 't1', 'ModelFaulted', 1, 1790000005000000, '{"step":1,"attempt":1,"kind":"rate","message":"slow down","retry_after_seconds":1.5,"partial":"Let me"}', X'C36D34FA140BADA0744E8E40E57346C1FBC1D37BC94E4732601B53173A7FEDEA', X'AD8B5B1B1FC22533B312CAF636767B0CEE4878077EC34B8F6059D94F1551156C', NULL);
INSERT INTO events VALUES ('full', 6, 't1', 'ModelAsked', 1, 1790000006000000, '{"step":1,"attempt":2,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":1,"model":"scripted:other"}', X'AD8B5B1B1FC22533B312CAF636767B0CEE4878077EC34B8F6059D94F1551156C', X'D8B2FD74D1F6E9D1796EAAC81846EA0C2D2E4FDA81B8BAA21A5A75A006C3DAF8', NULL);
INSERT INTO events VALUES ('full', 7, 't1', 'ModelFaulted', 1, 1790000007000000, '{"step":1,"attempt":2,"kind":"context_length","message":"too long"}', X'D8B2FD74D1F6E9D1796EAAC81846EA0C2D2E4FDA81B8BAA21A5A75A006C3DAF8', X'DB33B045304AEAE5375EDD39B27800382224D76C424FCC7C76854A030FC3184C', NULL);
INSERT INTO events VALUES ('full', 8, 't1', 'ContextCut', 1, 1790000008000000, '{"step":1,"attempt":2,"history_turns":0,"result_characters":500,"characters_before":9000,"characters_after":900}', X'DB33B045304AEAE5375EDD39B27800382224D76C424FCC7C76854A030FC3184C', X'36E67E87905506BC86C3F2606C16D10F0FB41B00E3F38E20C4D49DB5F1D82570', NULL);
INSERT INTO events VALUES ('full', 9, 't1', 'ModelAsked', 1, 1790000009000000, '{"step":1,"attempt":3,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":1,"model":"scripted:other"}', X'36E67E87905506BC86C3F2606C16D10F0FB41B00E3F38E20C4D49DB5F1D82570', X'8411C65391F3FBB83606FA3DA27A76228F543F010969BACAF0902084C0A73178', NULL);
INSERT INTO events VALUES ('letters', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli","forked_from":"ends","forked_seq":1,"forked_hash":"0000000000000000000000000000000000000000000000000000000000000000"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'CAF26BB29E49089D825C325C4FDD0F24B9DDEB636F4B1710AE1C0C0DFD42C26C', NULL);
INSERT INTO events VALUES ('letters', 10, 't1', 'InputAdded', 1, 1790000010000000, '{"input":{"text":"and hurry"},"mail":1}', X'C73B93E7BD159979E4128544473248BB033F48A7F58057685A04B029D1395612', X'588A18EE9542F6C86CC427CF8D7EBE20A43A1C6D78346522A872B252B8B14922', NULL);
INSERT INTO events VALUES ('letters', 11, 't1', 'CallJudged', 1, 1790000011000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'588A18EE9542F6C86CC427CF8D7EBE20A43A1C6D78346522A872B252B8B14922', X'AF70C4AB64CC30572A958C0DA1C79FDAC0B21B6E43CE0EDF9EDCC24F7FBCA199', NULL);
INSERT INTO events VALUES ('letters', 12, 't1', 'ToolStarted', 1, 1790000012000000, '{"step":1,"call_id":"c2"}', X'AF70C4AB64CC30572A958C0DA1C79FDAC0B21B6E43CE0EDF9EDCC24F7FBCA199', X'6A8DA9077D63ACE9E3955FFFD536AC9B367732537AEE2FA487EBDD7F0BD5DABB', NULL);
INSERT INTO events VALUES ('letters', 13, 't1', 'CallProbed', 1, 1790000013000000, '{"step":1,"call_id":"c2"}', X'6A8DA9077D63ACE9E3955FFFD536AC9B367732537AEE2FA487EBDD7F0BD5DABB', X'804CF6973A8BABC4234BB619B852C23D2869196E3AFDBD4F8162BB8681A973E7', NULL);
INSERT INTO events VALUES ('letters', 14, 't1', 'ToolStarted', 1, 1790000014000000, '{"step":1,"call_id":"c2"}', X'804CF6973A8BABC4234BB619B852C23D2869196E3AFDBD4F8162BB8681A973E7', X'BA1CD1A4D608560129DD6D9883F17363F16A32C6A058263991B7ECF15D1B9AB7', NULL);
INSERT INTO events VALUES ('letters', 15, 't1', 'ToolSettled', 1, 1790000015000000, '{"step":1,"call_id":"c2","result":{"$type":"Succeeded","text":"sent"}}', X'BA1CD1A4D608560129DD6D9883F17363F16A32C6A058263991B7ECF15D1B9AB7', X'ECF1BDD9847E6CA4D2189B2551ECE68E04298587574D9E5D1749F953729C9539', NULL);
INSERT INTO events VALUES ('letters', 16, 't1', 'ModelAsked', 1, 1790000016000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'ECF1BDD9847E6CA4D2189B2551ECE68E04298587574D9E5D1749F953729C9539', X'A48D5B3B63E8B4497E8AB30B086062F0D73184966EC131BB8B8ED1AFC1E52F54', NULL);
INSERT INTO events VALUES ('letters', 17, 't1', 'ModelReplied', 1, 1790000017000000, '{"step":2,"attempt":1,"reply":{"text":"Sent.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'A48D5B3B63E8B4497E8AB30B086062F0D73184966EC131BB8B8ED1AFC1E52F54', X'FC1B62F3B0608B50D0589B054FFC76FFA471ED355F30FDE8CE5B61EB5AE1A0A2', NULL);
INSERT INTO events VALUES ('letters', 18, 't1', 'TurnEnded', 1, 1790000018000000, '{"end":{"$type":"Completed","text":"Sent."}}', X'FC1B62F3B0608B50D0589B054FFC76FFA471ED355F30FDE8CE5B61EB5AE1A0A2', X'D7AB090C96C15517D74BBDFBBF672DC93281D87042171A2C30C4FD5B12FBDBC9', NULL);
INSERT INTO events VALUES ('letters', 19, 't1', 'CallResolved', 1, 1790000019000000, '{"call_turn":"t1","step":1,"call_id":"c1","result":{"$type":"Succeeded","text":"it arrived"},"by":"me"}', X'D7AB090C96C15517D74BBDFBBF672DC93281D87042171A2C30C4FD5B12FBDBC9', X'9ED64F41CE8CFF70A04B5565398D0CCA9433D91F4C09D9E56C3993C541945251', NULL);
INSERT INTO events VALUES ('letters', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Send it."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","busy":"queue","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"lock":{"agent":"0000000000000000000000000000000000000000000000000000000000000000"}}', X'CAF26BB29E49089D825C325C4FDD0F24B9DDEB636F4B1710AE1C0C0DFD42C26C', X'6B559BFA37E9D410E942757530EB8EDD5A85EF04586328CFCA056D27ABF089C0', NULL);
INSERT INTO events VALUES ('letters', 3, 't1', 'ModelChosen', 1, 1790000003000000, '{"model":{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}}', X'6B559BFA37E9D410E942757530EB8EDD5A85EF04586328CFCA056D27ABF089C0', X'56C6FB4C9E8352FE3E8B8264525CEB9497E62487751BF7F1F0F966B4CADBAF20', NULL);
INSERT INTO events VALUES ('letters', 4, 't1', 'ModelAsked', 1, 1790000004000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'56C6FB4C9E8352FE3E8B8264525CEB9497E62487751BF7F1F0F966B4CADBAF20', X'3172046C7D112A042BA8EECDFA2D9DE6298C63C843E24F00724A81A44F5572C5', NULL);
INSERT INTO events VALUES ('letters', 5, 't1', 'ModelReplied', 1, 1790000005000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}},{"id":"c2","name":"send","arguments":{"to":"bob"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'3172046C7D112A042BA8EECDFA2D9DE6298C63C843E24F00724A81A44F5572C5', X'A9AFB7EC3AC80E5E7992DCA341E4A5C45257D37A22765C4A6A59D5C578CB22F4', NULL);
INSERT INTO events VALUES ('letters', 6, 't1', 'CallJudged', 1, 1790000006000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'A9AFB7EC3AC80E5E7992DCA341E4A5C45257D37A22765C4A6A59D5C578CB22F4', X'66FA98F874FC44897E456A98A0AACC9B68DFEE1629D4A7B25DE7E7628C6A37C1', NULL);
INSERT INTO events VALUES ('letters', 7, 't1', 'ToolStarted', 1, 1790000007000000, '{"step":1,"call_id":"c1"}', X'66FA98F874FC44897E456A98A0AACC9B68DFEE1629D4A7B25DE7E7628C6A37C1', X'C7EBCE12046853797CC7A8D6297A853DE092DB530170D4B646D6134F99AB93BD', NULL);
INSERT INTO events VALUES ('letters', 8, 't1', 'CallProbed', 1, 1790000008000000, '{"step":1,"call_id":"c1","found":{"$type":"Unknown","reason":"nobody can tell"}}', X'C7EBCE12046853797CC7A8D6297A853DE092DB530170D4B646D6134F99AB93BD', X'2B22E50AF9450BDAD2701AD7A02AC13060AD2EF6532032A80415C960943D47CD', NULL);
INSERT INTO events VALUES ('letters', 9, 't1', 'ToolSettled', 1, 1790000009000000, '{"step":1,"call_id":"c1","result":{"$type":"Unknown","reason":"nobody can tell"}}', X'2B22E50AF9450BDAD2701AD7A02AC13060AD2EF6532032A80415C960943D47CD', X'C73B93E7BD159979E4128544473248BB033F48A7F58057685A04B029D1395612', NULL);
INSERT INTO blobs VALUES ('153e61f56342ed6815426650495777b5160408612d243efd3bfa59c6462d8dbc', '{"salt":"795ffbb577983926","value":{"type":"thinking","signature":"abc"}}');
INSERT INTO blobs VALUES ('659a0a6e58bb728cd74a05b84e6718a641437df01b3e8e44eb25b1b2eedc714d', '[{"id":"c1","name":"look","arguments":{"path":"a"}},{"id":"c2","name":"send","arguments":{"to":"ann"}},{"id":"c3","name":"send","arguments":{"to":"bob"}},{"id":"c4","name":"look","arguments":{"path":"Ein längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\n"}}]');
INSERT INTO blobs VALUES ('86316bd3be8eefd0f1b598c5b1b4531557acd243a84a0cf9241b2b4161dd4b1d', '{"salt":"83c5e0f140df9b0e","value":{"type":"thinking","signature":"abc"}}');
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
INSERT INTO session_heads VALUES ('cut-off', 'ops', 'me', 'cli', 1, '23283-83e57ada', 18, X'C014E55639C7ED25B98632E5E6ECB65B0E230F69DA8612C9CD4672AA9BAC6CB9', NULL, 1790000001000000, 1790000018000000, NULL);
INSERT INTO session_heads VALUES ('ends', 'ops', 'me', 'cli', 1, NULL, 33, X'176E3A1AA9D00299810BE757754F37C44FE72CDCF387FFD35C9A518E2479FF8C', NULL, 1790000001000000, 1790000033000000, NULL);
INSERT INTO session_heads VALUES ('full', 'ops', 'me', 'cli', 1, NULL, 28, X'87654935BE243664B62D33E7362BA754C1D0013899C80F6E73D589564750CD43', NULL, 1790000001000000, 1790000028000000, NULL);
INSERT INTO session_heads VALUES ('letters', 'ops', 'me', 'cli', 1, '23283-83e57ada', 19, X'9ED64F41CE8CFF70A04B5565398D0CCA9433D91F4C09D9E56C3993C541945251', NULL, 1790000001000000, 1790000019000000, NULL);
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
INSERT INTO turns VALUES ('letters', 't1', 'ops', 1790000002000000, 2, 1790000018000000, 'Completed', '');
INSERT INTO workers VALUES ('23283-83e57ada', 23283, 1796021583241000);
INSERT INTO inbox VALUES (1, 'letters', 'Steer', '{"mail":{"text":"and hurry"},"opening":{"agent":"ops","principal":"me","channel":"cli"}}', NULL, 1796021583821293, 10);
INSERT INTO inbox VALUES (2, 'letters', 'Input', '{"mail":{"text":"and then?"},"opening":{"agent":"ops","principal":"me","channel":"cli"}}', NULL, 1796021583890424, NULL);
