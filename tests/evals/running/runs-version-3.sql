CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY,
    created TEXT NOT NULL,               -- ISO 8601, UTC
    status TEXT NOT NULL,                -- running, finished, incomplete, interrupted
    reason TEXT NOT NULL DEFAULT '',     -- why it is not finished
    plan TEXT NOT NULL                   -- JSON: everything needed to go on, see toolbelt.evals.running.plan
);
CREATE TABLE IF NOT EXISTS arms (
    run TEXT NOT NULL,
    arm INTEGER NOT NULL,                -- 0-based, in the order asked for
    model TEXT NOT NULL,
    toolset TEXT NOT NULL,
    variant TEXT NOT NULL DEFAULT '',
    tokenizer TEXT NOT NULL DEFAULT '',  -- what counted the definitions
    planned INTEGER NOT NULL,            -- trials
    PRIMARY KEY (run, arm)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (    -- every request that came to an end, also of trials under way
    run TEXT NOT NULL,
    trial INTEGER NOT NULL,              -- 0-based number in the plan
    request INTEGER NOT NULL,            -- 0-based within the trial
    attempt INTEGER NOT NULL,            -- 0-based; the last one of a request is the one that counted
    failure TEXT,                        -- NULL where it was answered
    message TEXT NOT NULL DEFAULT '',    -- what the provider said to a failure
    reply TEXT,                          -- JSON
    offer TEXT NOT NULL,                 -- what was offered, see offers
    tools INTEGER NOT NULL,              -- how many that were
    definition_tokens INTEGER NOT NULL,  -- estimated
    prompt_tokens INTEGER,               -- this and the next three as reported; NULL where the provider does not say
    completion_tokens INTEGER,
    cached_read_tokens INTEGER,
    cached_write_tokens INTEGER,
    latency_seconds REAL NOT NULL,
    cost_usd REAL,                       -- NULL where the price is unknown
    PRIMARY KEY (run, trial, request, attempt)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offers (      -- what was shown, each list of names once
    offer TEXT PRIMARY KEY,              -- a digest of the names
    names TEXT NOT NULL                  -- JSON: wire names in order
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cases (       -- what was asked and what was right: a run is read without its dataset
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,
    content TEXT NOT NULL,               -- JSON: messages, answers, forbidden, allowed_extra, role
    PRIMARY KEY (run, case_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trials (      -- every trial that came to an end
    run TEXT NOT NULL,
    trial INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    kind TEXT NOT NULL,
    finished TEXT NOT NULL,              -- ISO 8601, UTC
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    ending TEXT NOT NULL,
    expects_nothing INTEGER NOT NULL,    -- 0 or 1, as the next ones
    covered INTEGER NOT NULL,            -- a complete accepted answer could be reached
    surfaced INTEGER NOT NULL,           -- and was really offered at some request
    would_dispatch INTEGER NOT NULL,     -- unoffered tools alone were called, which tiers would have run (rule T4)
    selections INTEGER NOT NULL,         -- calls of tools, those of meta-tools not among them
    hits INTEGER, made INTEGER, wanted INTEGER,   -- for precision and recall; NULL where they mean nothing
    called TEXT NOT NULL,                -- JSON list: ids of those calls in order; the name as written if of no tool
    missing TEXT NOT NULL,               -- JSON list: ids asked for by the nearest answer and not called
    surplus TEXT NOT NULL,               -- JSON list: as called, those neither asked for nor permitted
    arguments_checked INTEGER NOT NULL,
    arguments_right INTEGER NOT NULL,
    definition_tokens INTEGER NOT NULL,  -- at the first request
    definition_tokens_total INTEGER NOT NULL,
    own_prompt_tokens INTEGER,           -- counted here: messages and definitions, over all requests
    prompt_tokens INTEGER,               -- this and the next three as reported, NULL unless of all answered requests
    completion_tokens INTEGER,
    cached_read_tokens INTEGER,
    cached_write_tokens INTEGER,
    invalidated_tokens INTEGER,          -- estimated: prefix made uncacheable by changes of the tools offered
    repeated_tokens INTEGER,             -- estimated: prompts of all requests but the last, which the next begin with
    requests INTEGER NOT NULL,           -- retries not among them
    retries INTEGER NOT NULL,
    latency_seconds REAL NOT NULL,       -- of all answered requests together
    cost_usd REAL,                       -- retries included; NULL where the price is unknown
    PRIMARY KEY (run, trial)
) WITHOUT ROWID;
