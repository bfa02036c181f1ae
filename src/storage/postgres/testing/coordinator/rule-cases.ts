/** Statements by which the rules are tested. All were sent to Citus 13.2.2. Tables are in the schema `s`. */

export interface RuleCases {
  /** Break the rule, and no other. */
  readonly broken: readonly string[];
  /** Near forms that a coordinator takes. */
  readonly allowed: readonly string[];
}

/** By the name of a rule. */
export const cases: Readonly<Record<string, RuleCases>> = {
  'lock in INSERT … SELECT': {
    broken: [
      'INSERT INTO s.log (id, about) SELECT $1, r.v FROM s.t AS r WHERE r.id = $2 FOR UPDATE OF r',
      'INSERT INTO s.log (about) SELECT r.v FROM s.t AS r FOR SHARE',
    ],
    allowed: [
      'WITH r AS MATERIALIZED (SELECT v FROM s.t WHERE id = $2 FOR UPDATE) INSERT INTO s.log (id, about) SELECT $1, v FROM r',
      'INSERT INTO s.log (id, about) SELECT $1, r.v FROM s.t AS r WHERE r.id = $2',
      'SELECT 1 FROM s.t AS t WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE OF t',
    ],
  },
  'two tables in INSERT … SELECT': {
    broken: [
      'INSERT INTO s.log (id, about) SELECT $1, r.v FROM s.t AS r JOIN s.c ON true WHERE r.id = $2',
      'INSERT INTO s.log (id, about) SELECT $1, v FROM (SELECT r.v FROM s.t AS r JOIN s.u ON u.id = r.id) AS x',
      'INSERT INTO s.log (id, about) SELECT $1, r.v FROM s.t AS r WHERE EXISTS (SELECT 1 FROM s.u WHERE u.id = r.id)',
      'INSERT INTO s.log (id) SELECT c FROM unnest($1::text[]) AS r (c) LEFT JOIN LATERAL (SELECT v FROM s.t WHERE id = r.c) AS y ON true',
    ],
    allowed: [
      'WITH x AS MATERIALIZED (SELECT r.v FROM s.t AS r, s.u WHERE u.id = r.id) INSERT INTO s.log (id, about) SELECT $1, v FROM x',
      'WITH x AS MATERIALIZED (SELECT v FROM s.u) INSERT INTO s.log (id, about) SELECT r.v, x.v FROM s.t AS r, x',
    ],
  },
  'INSERT … SELECT that reads a table only in a subselect': {
    broken: [
      'INSERT INTO s.log (id, about) SELECT $1, (SELECT r.v FROM s.t AS r WHERE r.id = $2)',
      'INSERT INTO s.log (id, about) SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM s.t)',
      'INSERT INTO s.log (id) SELECT c FROM unnest($1::text[]) AS r (c) WHERE $2 IN (SELECT id FROM s.t)',
      'INSERT INTO s.log (id) SELECT y FROM (SELECT (SELECT v FROM s.t WHERE id = $1) AS y) AS x',
      'WITH x AS MATERIALIZED (SELECT 1 AS v) INSERT INTO s.log (id) SELECT v FROM x WHERE EXISTS (SELECT 1 FROM s.u)',
    ],
    allowed: [
      'INSERT INTO s.log (id, about) SELECT $1, r.v FROM s.t AS r WHERE r.id = $2',
      'INSERT INTO s.log (id, about) SELECT $1, $2',
      'INSERT INTO s.log (id) SELECT c FROM unnest($1::text[]) WITH ORDINALITY AS r (c, n) ORDER BY n ON CONFLICT (id) DO NOTHING RETURNING id',
      'WITH u AS (UPDATE s.t SET n = $1 WHERE id = $2 RETURNING v), a AS (INSERT INTO s.log (id, about) SELECT $3, v FROM u) SELECT * FROM u',
      `WITH added AS (INSERT INTO s.t (id) SELECT c FROM unnest($1::text[]) AS r (c) RETURNING id),
        a AS (INSERT INTO s.log (id) SELECT c FROM unnest($2::text[], $3::text[]) AS r (c, of) WHERE of IN (SELECT id FROM added))
        SELECT id FROM added`,
      'INSERT INTO s.rds_fields (name) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM s.rds_fields)',
      'INSERT INTO rds.installation (salt) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM rds.systems)',
    ],
  },
  'subselect in VALUES, ON CONFLICT or RETURNING of INSERT': {
    broken: [
      'INSERT INTO s.log (id, about) VALUES ($1, (SELECT v FROM s.t WHERE id = $2))',
      'INSERT INTO s.log (id) VALUES ($1) RETURNING 1 / (CASE WHEN (SELECT changes FROM s.c) = $2::bigint THEN 1 ELSE 0 END)',
      'WITH x AS (INSERT INTO s.log (id) VALUES ($1) RETURNING (SELECT changes FROM s.c)) SELECT * FROM x',
      'INSERT INTO s.log (id) SELECT c FROM unnest($1::text[]) AS r (c) RETURNING (SELECT changes FROM s.c)',
      'INSERT INTO s.log (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET about = (SELECT v FROM s.t)',
    ],
    allowed: [
      `WITH x AS (INSERT INTO s.log (id) VALUES ($1) RETURNING id)
        SELECT 1 / (CASE WHEN (SELECT changes FROM s.c) = $2::bigint THEN 1 ELSE 0 END) FROM x`,
      'UPDATE s.t SET n = $1 WHERE id = $2 RETURNING 1 / (CASE WHEN (SELECT changes FROM s.c) = $3::bigint THEN 1 ELSE 0 END)',
    ],
  },
  'parameter in RETURNING or ON CONFLICT of INSERT … SELECT': {
    broken: [
      'INSERT INTO s.log (id) SELECT c FROM unnest($1::text[]) AS r (c) RETURNING $2::int',
      'INSERT INTO s.log (id) SELECT c FROM unnest($1::text[]) AS r (c) ON CONFLICT (id) DO UPDATE SET about = $2',
    ],
    allowed: [
      'INSERT INTO s.log (id) VALUES ($1), ($2) RETURNING id, $3::int',
      'INSERT INTO s.log (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET about = $2',
      'INSERT INTO s.log (id, about) SELECT c, $2 FROM unnest($1::text[]) AS r (c) ON CONFLICT (id) DO UPDATE SET about = excluded.about RETURNING 1',
    ],
  },
  'function in ON CONFLICT that is not immutable': {
    broken: [
      'INSERT INTO s.log (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET about = now()::text',
      "INSERT INTO s.log AS t (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET about = 'x' WHERE t.about < CURRENT_TIMESTAMP::text",
    ],
    allowed: ['INSERT INTO s.log AS t (id, n) VALUES ($1, now()) ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE t.n < $2'],
  },
  'recursive WITH over a table, beside INSERT … SELECT': {
    broken: [
      'WITH RECURSIVE x (k) AS (SELECT id FROM s.t UNION ALL SELECT t.id FROM x JOIN s.t ON t.v = x.k) INSERT INTO s.log (id) SELECT k FROM x',
    ],
    allowed: [
      'WITH RECURSIVE x (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM x WHERE k < 3) INSERT INTO s.log (id) SELECT k FROM x',
      'WITH RECURSIVE x (k) AS (SELECT id FROM s.t UNION ALL SELECT t.id FROM x JOIN s.t ON t.v = x.k) SELECT * FROM x',
    ],
  },
  'function in RETURNING that is not immutable': {
    broken: [
      'WITH u AS (UPDATE s.t SET n = $1 WHERE id = $2 RETURNING to_json(v)) SELECT * FROM u',
      'DELETE FROM s.t WHERE id = $1 RETURNING concat(v, $2)',
      'INSERT INTO s.log (id) VALUES ($1) RETURNING clock_timestamp()',
    ],
    allowed: [
      'WITH u AS (UPDATE s.t SET n = $1 WHERE id = $2 RETURNING id, v, n::text) SELECT to_json(v) FROM u',
      'UPDATE s.t SET n = $1 WHERE id = $2 RETURNING (SELECT to_json(t.v)::text)',
    ],
  },
  'volatile function in UPDATE or DELETE': {
    broken: [
      'UPDATE s.t SET b = extract(epoch FROM clock_timestamp())::bigint WHERE id = $1',
      'WITH x AS (UPDATE s.t SET n = 1 WHERE b < extract(epoch FROM clock_timestamp()) RETURNING 1) SELECT count(*) FROM x',
      'DELETE FROM s.t WHERE random() < 0',
    ],
    allowed: [
      `UPDATE s.t SET b = (extract(epoch FROM statement_timestamp()) * 1000)::bigint WHERE job =
        (SELECT job FROM s.t WHERE job = $1 AND b <= (extract(epoch FROM statement_timestamp()) * 1000)::bigint FOR UPDATE SKIP LOCKED)`,
      'INSERT INTO s.c (n) VALUES (extract(epoch FROM clock_timestamp()))',
    ],
  },
  'stable function of a column, or in CASE or coalesce, in UPDATE or DELETE': {
    broken: [
      'UPDATE s.t SET v = to_json(t.v)::text WHERE id = $1',
      'DELETE FROM s.t WHERE to_jsonb(t.v) = to_jsonb($1::text)',
      'UPDATE s.t SET b = coalesce(t.b, extract(epoch FROM now())::bigint) WHERE id = $1',
      "UPDATE s.t SET n = 1 WHERE CASE WHEN t.v = 'x' THEN now() > '2020-01-01' ELSE true END",
      "UPDATE s.t SET n = 1 WHERE to_tsvector(t.v) @@ to_tsquery('simple', 'a')",
    ],
    allowed: [
      'UPDATE s.t SET n = coalesce(t.n, 0) + $2 WHERE id = $1',
      'DELETE FROM s.t WHERE t.j::jsonb @> to_jsonb($1::text)',
      "UPDATE s.t SET n = 1 WHERE to_tsvector('simple', t.v) @@ to_tsquery('simple', 'a')",
      "UPDATE s.t SET v = coalesce((SELECT string_agg(to_json(e.key)::text, ',') FROM json_each(t.j) AS e), '') WHERE id = $1",
    ],
  },
  'ctid in a statement that modifies': {
    broken: [
      `WITH f AS MATERIALIZED (SELECT t.id, t.ctid AS place FROM s.t WHERE id = $1 FOR UPDATE),
        gone AS (DELETE FROM s.t WHERE id = (SELECT f.id FROM f) RETURNING v), a AS (INSERT INTO s.log (id, about) SELECT $2, v FROM gone)
        SELECT count(*) FROM gone`,
    ],
    allowed: [
      `WITH f AS MATERIALIZED (SELECT t.id, t.ctid::text AS place FROM s.t WHERE id = $1 FOR UPDATE),
        gone AS (DELETE FROM s.t WHERE id = (SELECT f.id FROM f) RETURNING v), a AS (INSERT INTO s.log (id, about) SELECT $2, v FROM gone)
        SELECT count(*) FROM gone`,
      'SELECT ctid FROM s.t',
    ],
  },
  'WHERE CURRENT OF': {
    broken: ['UPDATE s.t SET n = 1 WHERE CURRENT OF c'],
    allowed: ['DECLARE c CURSOR FOR SELECT id FROM s.t'],
  },
  MERGE: {
    broken: ["MERGE INTO s.t USING (VALUES ('a')) AS x (id) ON x.id = t.id WHEN MATCHED THEN UPDATE SET n = 1"],
    allowed: ['UPDATE s.t SET n = x.n FROM unnest($1::text[], $2::int[]) AS x (id, n) WHERE x.id = t.id'],
  },
  'tables of two schemas in one statement': {
    broken: [
      'SELECT a.v FROM s.t AS a JOIN r.t AS b ON a.id = b.id',
      'UPDATE s.t SET n = 1 WHERE id IN (SELECT id FROM r.t)',
      'SELECT v FROM s.t WHERE id IN (SELECT "appId" FROM rds.systems)',
    ],
    allowed: [
      'SELECT v, (SELECT count(*) FROM pg_catalog.pg_class) FROM s.t',
      'SELECT a.v FROM s.t AS a JOIN s.u AS b ON a.id = b.id',
    ],
  },
  'function of the session or clock in a SELECT from a table': {
    broken: [
      "SELECT pg_notify('c', id) FROM s.t WHERE id = $1",
      'SELECT pg_advisory_xact_lock(1) WHERE EXISTS (SELECT 1 FROM s.t)',
      'SELECT id FROM s.t WHERE b < extract(epoch FROM now())',
      "SELECT set_config('a.b', v, true) FROM s.t",
      'WITH x AS (UPDATE s.t SET n = 1 WHERE id = $1 RETURNING 1) SELECT pg_backend_pid() FROM x',
    ],
    allowed: [
      "SELECT pg_notify('c', $1)",
      'SELECT pg_advisory_xact_lock(1, n) FROM unnest($1::int[]) AS n',
      'SELECT pg_try_advisory_xact_lock(1) FROM rds.systems WHERE "appId" = $1',
      'UPDATE s.t SET n = 1 WHERE b < extract(epoch FROM now())',
      'SELECT to_json(v) FROM s.t',
    ],
  },
  'CREATE SCHEMA IF NOT EXISTS': { broken: ['CREATE SCHEMA IF NOT EXISTS "rds_a"'], allowed: ['CREATE SCHEMA "rds_x"'] },
  'identity or serial column added to a table': {
    broken: [
      'ALTER TABLE s.t ADD COLUMN "_seq" bigint GENERATED BY DEFAULT AS IDENTITY',
      'ALTER TABLE s.t ADD COLUMN n bigserial',
    ],
    allowed: [
      'CREATE TABLE s.x ("_seq" bigint GENERATED BY DEFAULT AS IDENTITY)',
      'ALTER TABLE s.t ADD COLUMN x text, ADD COLUMN y bigint',
    ],
  },
  'ALTER of a sequence': {
    broken: ['ALTER SEQUENCE s."t__seq_seq" RESTART WITH 5', 'ALTER TABLE s.t ALTER COLUMN "_seq" RESTART WITH 5'],
    allowed: ["SELECT setval('s.t__seq_seq', 5)", 'ALTER TABLE s.t ALTER COLUMN b TYPE bigint USING b::bigint'],
  },
  'trigger, or inheritance between tables': {
    broken: ['CREATE TRIGGER g BEFORE INSERT ON s.t FOR EACH ROW EXECUTE FUNCTION f()', 'CREATE TABLE s.a () INHERITS (s.b)'],
    allowed: ['CREATE TABLE s.a (LIKE s.b)'],
  },
};
