PRAGMA user_version = 1;
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
CREATE VIEW turn_ends AS
SELECT agent, coalesce(turn_end, 'open') AS turn_end, count(*) AS turns FROM turns GROUP BY agent, turn_end;
CREATE INDEX open_turns ON turns (session_id) WHERE ended_at IS NULL;
INSERT INTO events VALUES ('cut-off', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'49BD3569843E06B830F9D6B80FFDF3602015BE067A5224B4548D926E96F539AD');
INSERT INTO events VALUES ('cut-off', 10, 't1', 'TurnEnded', 1, 1790000010000000, '{"end":{"$type":"Completed","text":"I do not know."}}', X'1F7B7DDBB63E2F269FB15A16EA2732A1B329048FDBE33EC310468B9BA1265C00', X'AF18C5A497AD9FD5B10C3C79FB02979050D5B2698EE7A0C329213CEA034B5831');
INSERT INTO events VALUES ('cut-off', 11, 't2', 'TurnStarted', 1, 1790000011000000, '{"turn_id":"t2","input":{"text":"Send it again."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'AF18C5A497AD9FD5B10C3C79FB02979050D5B2698EE7A0C329213CEA034B5831', X'DFC1DE6B46F6EDF10F8C95B7D41118D9BB95CA886DFA5F8E8041CACEF24D684F');
INSERT INTO events VALUES ('cut-off', 12, 't2', 'ModelAsked', 1, 1790000012000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'DFC1DE6B46F6EDF10F8C95B7D41118D9BB95CA886DFA5F8E8041CACEF24D684F', X'F8B88BC011A4BD833E16E96193EC2627A02A7CFD706BD0EEA8EC81DF94A9DCE8');
INSERT INTO events VALUES ('cut-off', 13, 't2', 'ModelReplied', 1, 1790000013000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}},{"id":"c2","name":"look","arguments":{"path":"b"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'F8B88BC011A4BD833E16E96193EC2627A02A7CFD706BD0EEA8EC81DF94A9DCE8', X'2574B55C375549E142F908660D3755C0733654DBC64E657B4FDF618DBBE74029');
INSERT INTO events VALUES ('cut-off', 14, 't2', 'CallJudged', 1, 1790000014000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'2574B55C375549E142F908660D3755C0733654DBC64E657B4FDF618DBBE74029', X'3E926CF196FE6BA3577ECFE13064D99C0AE69EB74CCE5B47577A450AB681E2B4');
INSERT INTO events VALUES ('cut-off', 15, 't2', 'ToolStarted', 1, 1790000015000000, '{"step":1,"call_id":"c1"}', X'3E926CF196FE6BA3577ECFE13064D99C0AE69EB74CCE5B47577A450AB681E2B4', X'90B0B3616D597B0795927BF77452F20D2077B2285D7A040464AA354ECF76DACD');
INSERT INTO events VALUES ('cut-off', 16, 't2', 'CallJudged', 1, 1790000016000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'90B0B3616D597B0795927BF77452F20D2077B2285D7A040464AA354ECF76DACD', X'027AA39DFB22D413820E6F0A49CCAF9AC217DD85093413243A195F26F29D647D');
INSERT INTO events VALUES ('cut-off', 17, 't2', 'ToolStarted', 1, 1790000017000000, '{"step":1,"call_id":"c2"}', X'027AA39DFB22D413820E6F0A49CCAF9AC217DD85093413243A195F26F29D647D', X'BFDCA0C8A6703926334631D9B7E70A2C90321CA6A4CCA09600D162DBDC6D2FC5');
INSERT INTO events VALUES ('cut-off', 18, 't2', 'ToolSettled', 1, 1790000018000000, '{"step":1,"call_id":"c2","result":{"$type":"Succeeded","text":"seen"}}', X'BFDCA0C8A6703926334631D9B7E70A2C90321CA6A4CCA09600D162DBDC6D2FC5', X'88EE620095C561CEDAD6CD574A33AF99E26E9F5C7B4754E37E3B8F2797219827');
INSERT INTO events VALUES ('cut-off', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Send it."},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'49BD3569843E06B830F9D6B80FFDF3602015BE067A5224B4548D926E96F539AD', X'BA6D5A4CF89F6F6C7F4A45EEF8FAD2F1A5A4FC1486B7723B9E7A66EA55B5753D');
INSERT INTO events VALUES ('cut-off', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'BA6D5A4CF89F6F6C7F4A45EEF8FAD2F1A5A4FC1486B7723B9E7A66EA55B5753D', X'2A263101389FA1305E711E5CE9BCE12168F4DE3B5FDC8C08919012A05FB949A0');
INSERT INTO events VALUES ('cut-off', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"","calls":[{"id":"c1","name":"send","arguments":{"to":"ann"}}],"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'2A263101389FA1305E711E5CE9BCE12168F4DE3B5FDC8C08919012A05FB949A0', X'5535F3BFBE27E5C7E57E974CC1B2915784740D52B443DC5778C1B43A14E8D9D9');
INSERT INTO events VALUES ('cut-off', 5, 't1', 'CallJudged', 1, 1790000005000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'5535F3BFBE27E5C7E57E974CC1B2915784740D52B443DC5778C1B43A14E8D9D9', X'6259BBAB474B03C91B386E2A6063F2FCAF6BCC7719ACDABF4FF3FA61550FCE25');
INSERT INTO events VALUES ('cut-off', 6, 't1', 'ToolStarted', 1, 1790000006000000, '{"step":1,"call_id":"c1"}', X'6259BBAB474B03C91B386E2A6063F2FCAF6BCC7719ACDABF4FF3FA61550FCE25', X'353E927EE4EF1B5BCF508C55584727277D57CE3DE2F867B80DFE4E0EC4A410C2');
INSERT INTO events VALUES ('cut-off', 7, 't1', 'ToolSettled', 1, 1790000007000000, '{"step":1,"call_id":"c1","result":{"$type":"Unknown","reason":"it was cut off while it ran"}}', X'353E927EE4EF1B5BCF508C55584727277D57CE3DE2F867B80DFE4E0EC4A410C2', X'AE34D338D6B3F5ACD9E53D286781D2AF38F80EC68AB3CD3921DD922D728A6E58');
INSERT INTO events VALUES ('cut-off', 8, 't1', 'ModelAsked', 1, 1790000008000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'AE34D338D6B3F5ACD9E53D286781D2AF38F80EC68AB3CD3921DD922D728A6E58', X'00CFF53D4C4C765F0B362823078103EA7C3343DCC90F57716906BDD2003C4880');
INSERT INTO events VALUES ('cut-off', 9, 't1', 'ModelReplied', 1, 1790000009000000, '{"step":2,"attempt":1,"reply":{"text":"I do not know.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'00CFF53D4C4C765F0B362823078103EA7C3343DCC90F57716906BDD2003C4880', X'1F7B7DDBB63E2F269FB15A16EA2732A1B329048FDBE33EC310468B9BA1265C00');
INSERT INTO events VALUES ('ends', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'4F01C9C8B5BE9FFB74BD81823E85483FC6B997A8BA3B31C6F9541039B9145EE9');
INSERT INTO events VALUES ('ends', 10, 't3', 'TurnStarted', 1, 1790000010000000, '{"turn_id":"t3","input":{"text":"input 3"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'D2BB23BC01189C0EE7EAAF4F23EAD1CEE5EAB37D0FD05D21C86B4FD853D3F4F6', X'641DD949625EC5CF78E7F83ECBB64076FDD76CA9FF3EC3960B1D26649DF341CC');
INSERT INTO events VALUES ('ends', 11, 't3', 'ModelAsked', 1, 1790000011000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'641DD949625EC5CF78E7F83ECBB64076FDD76CA9FF3EC3960B1D26649DF341CC', X'9EB89C37FAE87199000D1E2F0AFC17B0155DDF8953F51D300A71B77FC03B947F');
INSERT INTO events VALUES ('ends', 12, 't3', 'ModelReplied', 1, 1790000012000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'9EB89C37FAE87199000D1E2F0AFC17B0155DDF8953F51D300A71B77FC03B947F', X'036759A496796C36536B2EF69368ED540DA89D71AD7557BCD8AFA892360C0D77');
INSERT INTO events VALUES ('ends', 13, 't3', 'TurnEnded', 1, 1790000013000000, '{"end":{"$type":"BudgetSpent","limit":"tool_calls","text":"Done."}}', X'036759A496796C36536B2EF69368ED540DA89D71AD7557BCD8AFA892360C0D77', X'1EC06AFA5B0BA4D89F08F6CDD9E446ECF901C1D7A953781918D1090ACC58E6FA');
INSERT INTO events VALUES ('ends', 14, 't4', 'TurnStarted', 1, 1790000014000000, '{"turn_id":"t4","input":{"text":"input 4"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'1EC06AFA5B0BA4D89F08F6CDD9E446ECF901C1D7A953781918D1090ACC58E6FA', X'9914B4275E7CB30953AEC1E3E4611EE2638C72E1C63D01969BB5DF644440A59E');
INSERT INTO events VALUES ('ends', 15, 't4', 'ModelAsked', 1, 1790000015000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'9914B4275E7CB30953AEC1E3E4611EE2638C72E1C63D01969BB5DF644440A59E', X'48F4B57563E9AA66B08D6C13F8E9B1BED9E9F94B0152EC5619338D4412120DD8');
INSERT INTO events VALUES ('ends', 16, 't4', 'ModelReplied', 1, 1790000016000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'48F4B57563E9AA66B08D6C13F8E9B1BED9E9F94B0152EC5619338D4412120DD8', X'E2E501D0D5210514383994572959C24B638D8A984C9AC349545213E4226E80ED');
INSERT INTO events VALUES ('ends', 17, 't4', 'TurnEnded', 1, 1790000017000000, '{"end":{"$type":"DeadlinePassed","text":"Done."}}', X'E2E501D0D5210514383994572959C24B638D8A984C9AC349545213E4226E80ED', X'0A64D017A22A9DB2AF72176653DB1D0C3900AF6FB9CF3925753D3044635CBEBB');
INSERT INTO events VALUES ('ends', 18, 't5', 'TurnStarted', 1, 1790000018000000, '{"turn_id":"t5","input":{"text":"input 5"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'0A64D017A22A9DB2AF72176653DB1D0C3900AF6FB9CF3925753D3044635CBEBB', X'914DE1635817DD84F30E6F00B7838D6C85D5103FE346ECBDDE20E38E8D566DCF');
INSERT INTO events VALUES ('ends', 19, 't5', 'ModelAsked', 1, 1790000019000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'914DE1635817DD84F30E6F00B7838D6C85D5103FE346ECBDDE20E38E8D566DCF', X'C181F38685747244859F59307F408F6A0F4EF876F3EE7248A898DED70232C7F5');
INSERT INTO events VALUES ('ends', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"input 1"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'4F01C9C8B5BE9FFB74BD81823E85483FC6B997A8BA3B31C6F9541039B9145EE9', X'15325D4E1313D8AE0DFACBDB873B35FCA150F62D1FB72FD462719536365E8AD6');
INSERT INTO events VALUES ('ends', 20, 't5', 'ModelFaulted', 1, 1790000020000000, '{"step":1,"attempt":1,"kind":"context_length","message":"too long"}', X'C181F38685747244859F59307F408F6A0F4EF876F3EE7248A898DED70232C7F5', X'49305E55A2D5D06A01183B6B581424A4940CA9F7A1FFAF5B412AE2F74DB127A7');
INSERT INTO events VALUES ('ends', 21, 't5', 'TurnEnded', 1, 1790000021000000, '{"end":{"$type":"ContextExhausted","message":"too long"}}', X'49305E55A2D5D06A01183B6B581424A4940CA9F7A1FFAF5B412AE2F74DB127A7', X'22F8599EF49AD04FFDB86A5F5C748773B82FEB5A8C0B293A7B07627C64C7271E');
INSERT INTO events VALUES ('ends', 22, 't6', 'TurnStarted', 1, 1790000022000000, '{"turn_id":"t6","input":{"text":"input 6"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'22F8599EF49AD04FFDB86A5F5C748773B82FEB5A8C0B293A7B07627C64C7271E', X'049724718E8229E4D84F685215BDD4823FB92F5BE0A55361049A02B6EDCC5DB7');
INSERT INTO events VALUES ('ends', 23, 't6', 'ModelAsked', 1, 1790000023000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'049724718E8229E4D84F685215BDD4823FB92F5BE0A55361049A02B6EDCC5DB7', X'597348032B4B87574B06D27A64129868CE21427CBE0EC7268025FD71EDFEA5E6');
INSERT INTO events VALUES ('ends', 24, 't6', 'InterruptAsked', 1, 1790000024000000, '{"by":"me"}', X'597348032B4B87574B06D27A64129868CE21427CBE0EC7268025FD71EDFEA5E6', X'86CF5EFC5EDCC7F7F1A11269FDC313BA96C03BB733BEB648E028D4B4D07BF910');
INSERT INTO events VALUES ('ends', 25, 't6', 'TurnEnded', 1, 1790000025000000, '{"end":{"$type":"Interrupted","by":"me"}}', X'86CF5EFC5EDCC7F7F1A11269FDC313BA96C03BB733BEB648E028D4B4D07BF910', X'549A4C786417CD06DC32B5A7B9DBC2D0CB3AD93ED9A40FC4B9419EB0393D9174');
INSERT INTO events VALUES ('ends', 26, 't7', 'TurnStarted', 1, 1790000026000000, '{"turn_id":"t7","input":{"text":"input 7"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'549A4C786417CD06DC32B5A7B9DBC2D0CB3AD93ED9A40FC4B9419EB0393D9174', X'281FB856195BCB20658C545AC709E0622C029E628CE7781127DF951177C8ABD4');
INSERT INTO events VALUES ('ends', 27, 't7', 'ModelAsked', 1, 1790000027000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'281FB856195BCB20658C545AC709E0622C029E628CE7781127DF951177C8ABD4', X'1CA1A722BD9D7C96343C4A2ED02F2873F174C8DDE922367ECF547FAF3D8DB268');
INSERT INTO events VALUES ('ends', 28, 't7', 'RevokeAsked', 1, 1790000028000000, '{"what":"tool send"}', X'1CA1A722BD9D7C96343C4A2ED02F2873F174C8DDE922367ECF547FAF3D8DB268', X'3BF416154FCAABFF0B63F0397381D81A5C295CF1C75E80BB196E28A406EF459A');
INSERT INTO events VALUES ('ends', 29, 't7', 'TurnEnded', 1, 1790000029000000, '{"end":{"$type":"Revoked","what":"tool send"}}', X'3BF416154FCAABFF0B63F0397381D81A5C295CF1C75E80BB196E28A406EF459A', X'331B3FC9CAE35626B933AFF9E7003D58B4B5313E90C8CCDD69B2F9F12CFCC298');
INSERT INTO events VALUES ('ends', 3, 't1', 'ModelAsked', 1, 1790000003000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'15325D4E1313D8AE0DFACBDB873B35FCA150F62D1FB72FD462719536365E8AD6', X'80BDD2010C8B1071F9F5CA6F993F1FAF9810A4F0B0301221C1350A35E8DBA735');
INSERT INTO events VALUES ('ends', 30, 't8', 'TurnStarted', 1, 1790000030000000, '{"turn_id":"t8","input":{"text":"input 8"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'331B3FC9CAE35626B933AFF9E7003D58B4B5313E90C8CCDD69B2F9F12CFCC298', X'80F532239DC726D7348C64CCFBC37A1DF85509CBA5DB15793F2E6799EEE70222');
INSERT INTO events VALUES ('ends', 31, 't8', 'ModelAsked', 1, 1790000031000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'80F532239DC726D7348C64CCFBC37A1DF85509CBA5DB15793F2E6799EEE70222', X'92C53F20DB5F9FDA6280B95602727911BC97367E1AEBE66FE08922901CEAD614');
INSERT INTO events VALUES ('ends', 32, 't8', 'ModelFaulted', 1, 1790000032000000, '{"step":1,"attempt":1,"kind":"auth","message":"bad key"}', X'92C53F20DB5F9FDA6280B95602727911BC97367E1AEBE66FE08922901CEAD614', X'98C4C1AB85E0E2C95E47EA4F9FA67E273F3C56A7CEBA6E38F6209D71B0A4E0FA');
INSERT INTO events VALUES ('ends', 33, 't8', 'TurnEnded', 1, 1790000033000000, '{"end":{"$type":"ModelFailed","kind":"auth","message":"bad key"}}', X'98C4C1AB85E0E2C95E47EA4F9FA67E273F3C56A7CEBA6E38F6209D71B0A4E0FA', X'59230F02C4B5727A78D4A856FAB693F408E1BD13B4119EA4D5F8451B7CE58F2C');
INSERT INTO events VALUES ('ends', 4, 't1', 'ModelReplied', 1, 1790000004000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'80BDD2010C8B1071F9F5CA6F993F1FAF9810A4F0B0301221C1350A35E8DBA735', X'D15599F16AA79D4D110F0D8B75F72A0E47C3312A15D573F22A89195A4D5B6053');
INSERT INTO events VALUES ('ends', 5, 't1', 'TurnEnded', 1, 1790000005000000, '{"end":{"$type":"Completed","text":"Done."}}', X'D15599F16AA79D4D110F0D8B75F72A0E47C3312A15D573F22A89195A4D5B6053', X'D5ADC8B82CB3C72B19887A9ABF2D9BFE3D6B53B7C70F23ABE5B59BDD6D3C3099');
INSERT INTO events VALUES ('ends', 6, 't2', 'TurnStarted', 1, 1790000006000000, '{"turn_id":"t2","input":{"text":"input 2"},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}]}', X'D5ADC8B82CB3C72B19887A9ABF2D9BFE3D6B53B7C70F23ABE5B59BDD6D3C3099', X'5462520B647C7D125594ED8B2D72C7FB47CFA87681FA44F05627695DDDACFB23');
INSERT INTO events VALUES ('ends', 7, 't2', 'ModelAsked', 1, 1790000007000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'5462520B647C7D125594ED8B2D72C7FB47CFA87681FA44F05627695DDDACFB23', X'3BBA0F057B59FFF25CBA2B4232BD5FF9D4FC366C2F266B68B5CC571729F92B52');
INSERT INTO events VALUES ('ends', 8, 't2', 'ModelReplied', 1, 1790000008000000, '{"step":1,"attempt":1,"reply":{"text":"Done.","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'3BBA0F057B59FFF25CBA2B4232BD5FF9D4FC366C2F266B68B5CC571729F92B52', X'34CEC294752AFB8CD5B1D262BF9D08D0390D2C5BA4717BBD8E7F445B8465C8CB');
INSERT INTO events VALUES ('ends', 9, 't2', 'TurnEnded', 1, 1790000009000000, '{"end":{"$type":"MaxSteps","limit":1,"text":"Done."}}', X'34CEC294752AFB8CD5B1D262BF9D08D0390D2C5BA4717BBD8E7F445B8465C8CB', X'D2BB23BC01189C0EE7EAAF4F23EAD1CEE5EAB37D0FD05D21C86B4FD853D3F4F6');
INSERT INTO events VALUES ('full', 1, NULL, 'SessionOpened', 1, 1790000001000000, '{"agent":"ops","principal":"me","channel":"cli"}', X'0000000000000000000000000000000000000000000000000000000000000000', X'39592F735E561F591C58CD2B99BAC45EC2D956BA5F1CFD92DCEA715D49339CDE');
INSERT INTO events VALUES ('full', 10, 't1', 'ModelReplied', 1, 1790000010000000, '{"step":1,"attempt":3,"reply":{"text":"I will.","calls":{"$json":"659a0a6e58bb728cd74a05b84e6718a641437df01b3e8e44eb25b1b2eedc714d"},"stop":"tool_calls","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","reasoning":{"$erasable":"9f89805a07f658fdd1795a257e2e5441700f1467a956e6aa4f947b9155220360"},"raw":{"$erasable":"c3974ce8b3ecebd5ac9b61f2884c43e4a343ee263870bad8b41a93b439486444"}}}', X'271EC5930A6B0C613A04393E98E4B6BC25A261F64C55AFFBA93DDA84A8CCE1BA', X'55837A7173C85C0DA6927B0CCA14B4B658EB45A366E622BECA09ABF901EB9B90');
INSERT INTO events VALUES ('full', 11, 't1', 'CallJudged', 1, 1790000011000000, '{"step":1,"call_id":"c1","verdict":{"$type":"Allow","rule":"catalogue"}}', X'55837A7173C85C0DA6927B0CCA14B4B658EB45A366E622BECA09ABF901EB9B90', X'4DDBC0C81765AFC51663A57741F795C7B21C50D79A3C977EAF36E9CEC1A30984');
INSERT INTO events VALUES ('full', 12, 't1', 'ToolStarted', 1, 1790000012000000, '{"step":1,"call_id":"c1"}', X'4DDBC0C81765AFC51663A57741F795C7B21C50D79A3C977EAF36E9CEC1A30984', X'B32FF52782C1E5425C1F7FB1A37DEACCE669A4FCECF32E7FE1852FD06AF6FF98');
INSERT INTO events VALUES ('full', 13, 't1', 'ToolSettled', 1, 1790000013000000, '{"step":1,"call_id":"c1","result":{"$type":"Succeeded","text":{"$text":"b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a"}}}', X'B32FF52782C1E5425C1F7FB1A37DEACCE669A4FCECF32E7FE1852FD06AF6FF98', X'D762003039EA78D5D4E593D0F61CB467CF3EF61850D3676B92A694DF4A033260');
INSERT INTO events VALUES ('full', 14, 't1', 'CallJudged', 1, 1790000014000000, '{"step":1,"call_id":"c2","verdict":{"$type":"Allow","rule":"catalogue"}}', X'D762003039EA78D5D4E593D0F61CB467CF3EF61850D3676B92A694DF4A033260', X'CA0111350518A7F20B0F1485A70F0D26C800BA734A45006958697D9CE0CA01F3');
INSERT INTO events VALUES ('full', 15, 't1', 'ToolStarted', 1, 1790000015000000, '{"step":1,"call_id":"c2"}', X'CA0111350518A7F20B0F1485A70F0D26C800BA734A45006958697D9CE0CA01F3', X'E32B471F468AF30CE90A6C8B29E110116B9E6603A8F9939945D46B6695C956B4');
INSERT INTO events VALUES ('full', 16, 't1', 'ToolSettled', 1, 1790000016000000, '{"step":1,"call_id":"c2","result":{"$type":"Failed","text":"no route","retryable":true}}', X'E32B471F468AF30CE90A6C8B29E110116B9E6603A8F9939945D46B6695C956B4', X'3F6AC1B1BCB822B920ED000A5F44E8CFFB61297DD2F8D7538F77E212338F09D4');
INSERT INTO events VALUES ('full', 17, 't1', 'CallJudged', 1, 1790000017000000, '{"step":1,"call_id":"c3","verdict":{"$type":"Deny","rule":"people","reason":"not to Bob"}}', X'3F6AC1B1BCB822B920ED000A5F44E8CFFB61297DD2F8D7538F77E212338F09D4', X'AD0E2BC31E40387AC6A675F8D2F73472FD2598D1CEC6DB64952BDC058F4A08E3');
INSERT INTO events VALUES ('full', 18, 't1', 'CallJudged', 1, 1790000018000000, '{"step":1,"call_id":"c4","verdict":{"$type":"Allow","rule":"catalogue"}}', X'AD0E2BC31E40387AC6A675F8D2F73472FD2598D1CEC6DB64952BDC058F4A08E3', X'94AD86BE2A0C1AA8758AAF76B5D8AF622C5A223036C2BFDFAEA800704041E491');
INSERT INTO events VALUES ('full', 19, 't1', 'ToolStarted', 1, 1790000019000000, '{"step":1,"call_id":"c4"}', X'94AD86BE2A0C1AA8758AAF76B5D8AF622C5A223036C2BFDFAEA800704041E491', X'E3958A28AF682ED0C3B4CD6ACB55034E1377C282A880DDCB9F470057D42BF9EF');
INSERT INTO events VALUES ('full', 2, 't1', 'TurnStarted', 1, 1790000002000000, '{"turn_id":"t1","input":{"text":"Schick es, bitte: äöü","parts":[{"$type":"TextPart","name":"notes.txt","text":"All is well.\n"},{"$type":"ImagePart","name":"a.png","media_type":"image/png","data":"iVBO"}]},"agent":"ops","model":{"provider":"scripted","name":"demo","wire":"scripted","parameters":{"temperature":0.5}},"policy":{"max_steps":10,"max_history_turns":20,"max_asks":4,"retry_seconds":1.0,"longest_wait_seconds":60.0,"max_notices":2,"max_starts":3,"memory_characters":4000,"result_characters":30000,"model_timeout_seconds":600.0,"datetime_line":true,"store_reasoning":"turn","limits":{}},"tools":[{"name":"send","description":"Sends it.","parameters":{"$as_is":{"type":"object","$defs":{}}},"effect":"once","timeout_seconds":60.0},{"name":"look","description":"Looks.","parameters":{"type":"object"},"effect":"pure","timeout_seconds":5.0}],"instructions":"You are ops.","datetime_line":"It is Monday.","fallbacks":[{"provider":"scripted","name":"other","wire":"scripted","parameters":{}}],"output_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}', X'39592F735E561F591C58CD2B99BAC45EC2D956BA5F1CFD92DCEA715D49339CDE', X'C701D6095EF42A811F67F1F2B9C8E68DD731F40E43AC0605965625DA22DA702D');
INSERT INTO events VALUES ('full', 20, 't1', 'ToolSettled', 1, 1790000020000000, '{"step":1,"call_id":"c4","result":{"$type":"Succeeded","text":""}}', X'E3958A28AF682ED0C3B4CD6ACB55034E1377C282A880DDCB9F470057D42BF9EF', X'6E83144C6D795DE3CEC9B89BA3A200501DB934CA301E77175066D820B8DC086F');
INSERT INTO events VALUES ('full', 21, 't1', 'ModelAsked', 1, 1790000021000000, '{"step":2,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'6E83144C6D795DE3CEC9B89BA3A200501DB934CA301E77175066D820B8DC086F', X'E69536CDE47480321F9CE8586B03311CE4834CF8C57776808D8CB5246662C96A');
INSERT INTO events VALUES ('full', 22, 't1', 'ModelReplied', 1, 1790000022000000, '{"step":2,"attempt":1,"reply":{"text":"{\"n\": \"x\"}","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo","reasoning":{"$erasable":"f14a526ed7cf25c5f0181c307bc014fca90836891316a4c7c621f3c1870c414a"},"raw":{"$erasable":"dc66f445e0e33aed8e586d316df8b00082c55fc44ab34d7533e18eafb7b37431"}}}', X'E69536CDE47480321F9CE8586B03311CE4834CF8C57776808D8CB5246662C96A', X'7EB4F3E7D0C9C2332DF19B0C3BF713B6F055F1672EA9D617AB683F67AA3050D7');
INSERT INTO events VALUES ('full', 23, 't1', 'AnswerChecked', 1, 1790000023000000, '{"step":2,"problem":"n: ''x'' is not of type \"integer\""}', X'7EB4F3E7D0C9C2332DF19B0C3BF713B6F055F1672EA9D617AB683F67AA3050D7', X'E26DE06DF73CCC42D695108843BA97D1A6C750322556B034B13195E60E37223A');
INSERT INTO events VALUES ('full', 24, 't1', 'NoticeGiven', 1, 1790000024000000, '{"step":2,"text":"Your answer cannot be used."}', X'E26DE06DF73CCC42D695108843BA97D1A6C750322556B034B13195E60E37223A', X'FEB8C92F43031BAE5EB41C3C69D1C33F04F1220CF5EF85DE3C56C4ED8765B96B');
INSERT INTO events VALUES ('full', 25, 't1', 'ModelAsked', 1, 1790000025000000, '{"step":3,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'FEB8C92F43031BAE5EB41C3C69D1C33F04F1220CF5EF85DE3C56C4ED8765B96B', X'7D34E58A480B277B608280A050E5BF2301E34097AF19BF8CD64F9042D52AF753');
INSERT INTO events VALUES ('full', 26, 't1', 'ModelReplied', 1, 1790000026000000, '{"step":3,"attempt":1,"reply":{"text":"{\"n\": 1}","stop":"stop","usage":{"input_tokens":120,"output_tokens":14,"cached_tokens":100},"model":"demo"}}', X'7D34E58A480B277B608280A050E5BF2301E34097AF19BF8CD64F9042D52AF753', X'1C655A187883161CD97FBE2F25623DC9DFF080818029AC51CF2B54EDC27D0AB9');
INSERT INTO events VALUES ('full', 27, 't1', 'AnswerChecked', 1, 1790000027000000, '{"step":3,"value":{"n":1}}', X'1C655A187883161CD97FBE2F25623DC9DFF080818029AC51CF2B54EDC27D0AB9', X'DB7504E652D37A0A209D00E4C76D684283264F116CADE69A66E6CAC1C9585E1D');
INSERT INTO events VALUES ('full', 28, 't1', 'TurnEnded', 1, 1790000028000000, '{"end":{"$type":"Completed","text":"{\"n\": 1}","value":{"n":1}}}', X'DB7504E652D37A0A209D00E4C76D684283264F116CADE69A66E6CAC1C9585E1D', X'11E192330EFA68672823750D9B1B4FC35A3E982A2C9D9407C218587922EBB9AB');
INSERT INTO events VALUES ('full', 3, 't1', 'FilesRead', 1, 1790000003000000, '{"bootstrap":{"$text":"b9c62a663e839c64ad5b4b94874d8203ab41479f168d18432c9daa47f2dc389a"},"skills":"","memory":"- likes tea","memory_read":11,"sources":["USER.md","MEMORY.md"]}', X'C701D6095EF42A811F67F1F2B9C8E68DD731F40E43AC0605965625DA22DA702D', X'C79C3E30710514EB69BF6DCB4742E362D6576F130950297E41BA4D88E9784C4D');
INSERT INTO events VALUES ('full', 4, 't1', 'ModelAsked', 1, 1790000004000000, '{"step":1,"attempt":1,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":0}', X'C79C3E30710514EB69BF6DCB4742E362D6576F130950297E41BA4D88E9784C4D', X'08D033539D0F71244B0381E02113F8989F0B9159229C84235213877B045E0978');
INSERT INTO events VALUES ('full', 5, 't1', 'ModelFaulted', 1, 1790000005000000, '{"step":1,"attempt":1,"kind":"rate","message":"slow down","retry_after_seconds":1.5,"partial":"Let me"}', X'08D033539D0F71244B0381E02113F8989F0B9159229C84235213877B045E0978', X'FDB34F914758F2049E56A5A68E667877249756127CFA0BFCA0CABB79F707ABD9');
INSERT INTO events VALUES ('full', 6, 't1', 'ModelAsked', 1, 1790000006000000, '{"step":1,"attempt":2,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":1,"model":"scripted:other"}', X'FDB34F914758F2049E56A5A68E667877249756127CFA0BFCA0CABB79F707ABD9', X'317C6E372705578218DC62D320994DF0E78B10D180BE380C30420F24DEC52570');
INSERT INTO events VALUES ('full', 7, 't1', 'ModelFaulted', 1, 1790000007000000, '{"step":1,"attempt":2,"kind":"context_length","message":"too long"}', X'317C6E372705578218DC62D320994DF0E78B10D180BE380C30420F24DEC52570', X'15F9483534B38F55B17095702F2251C3349949D5DDCB99B49B1368C8DA5FE172');
INSERT INTO events VALUES ('full', 8, 't1', 'ContextCut', 1, 1790000008000000, '{"step":1,"attempt":2,"history_turns":0,"result_characters":500,"characters_before":9000,"characters_after":900}', X'15F9483534B38F55B17095702F2251C3349949D5DDCB99B49B1368C8DA5FE172', X'D2E4EA42863A57618571BD2BE63A7F6CC6C92CEF5A6259D2911C6DB351267FC8');
INSERT INTO events VALUES ('full', 9, 't1', 'ModelAsked', 1, 1790000009000000, '{"step":1,"attempt":3,"request":{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","bytes":321,"system_characters":90,"memory_characters":4,"history_turns":1,"turns_left_out":0,"messages":2,"tools":2},"choice":1,"model":"scripted:other"}', X'D2E4EA42863A57618571BD2BE63A7F6CC6C92CEF5A6259D2911C6DB351267FC8', X'271EC5930A6B0C613A04393E98E4B6BC25A261F64C55AFFBA93DDA84A8CCE1BA');
INSERT INTO blobs VALUES ('659a0a6e58bb728cd74a05b84e6718a641437df01b3e8e44eb25b1b2eedc714d', '[{"id":"c1","name":"look","arguments":{"path":"a"}},{"id":"c2","name":"send","arguments":{"to":"ann"}},{"id":"c3","name":"send","arguments":{"to":"bob"}},{"id":"c4","name":"look","arguments":{"path":"Ein längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\nEin längerer Text, größer als ein Satz. 🦌\n"}}]');
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
INSERT INTO blobs VALUES ('c3974ce8b3ecebd5ac9b61f2884c43e4a343ee263870bad8b41a93b439486444', '{"salt":"adda70865ff3f503","value":{"type":"thinking","signature":"abc"}}');
INSERT INTO session_heads VALUES ('cut-off', 'ops', 'me', 'cli', 1, 'process 23248', 18, X'88EE620095C561CEDAD6CD574A33AF99E26E9F5C7B4754E37E3B8F2797219827', NULL, 1790000001000000, 1790000018000000);
INSERT INTO session_heads VALUES ('ends', 'ops', 'me', 'cli', 1, 'process 23248', 33, X'59230F02C4B5727A78D4A856FAB693F408E1BD13B4119EA4D5F8451B7CE58F2C', NULL, 1790000001000000, 1790000033000000);
INSERT INTO session_heads VALUES ('full', 'ops', 'me', 'cli', 1, 'process 23248', 28, X'11E192330EFA68672823750D9B1B4FC35A3E982A2C9D9407C218587922EBB9AB', NULL, 1790000001000000, 1790000028000000);
INSERT INTO turns VALUES ('cut-off', 't1', 'ops', 1790000002000000, 2, 1790000010000000, 'Completed');
INSERT INTO turns VALUES ('cut-off', 't2', 'ops', 1790000011000000, 11, NULL, NULL);
INSERT INTO turns VALUES ('ends', 't1', 'ops', 1790000002000000, 2, 1790000005000000, 'Completed');
INSERT INTO turns VALUES ('ends', 't2', 'ops', 1790000006000000, 6, 1790000009000000, 'MaxSteps');
INSERT INTO turns VALUES ('ends', 't3', 'ops', 1790000010000000, 10, 1790000013000000, 'BudgetSpent');
INSERT INTO turns VALUES ('ends', 't4', 'ops', 1790000014000000, 14, 1790000017000000, 'DeadlinePassed');
INSERT INTO turns VALUES ('ends', 't5', 'ops', 1790000018000000, 18, 1790000021000000, 'ContextExhausted');
INSERT INTO turns VALUES ('ends', 't6', 'ops', 1790000022000000, 22, 1790000025000000, 'Interrupted');
INSERT INTO turns VALUES ('ends', 't7', 'ops', 1790000026000000, 26, 1790000029000000, 'Revoked');
INSERT INTO turns VALUES ('ends', 't8', 'ops', 1790000030000000, 30, 1790000033000000, 'ModelFailed');
INSERT INTO turns VALUES ('full', 't1', 'ops', 1790000002000000, 2, 1790000028000000, 'Completed');
