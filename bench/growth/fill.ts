/**
 * Fills tables below the interface, since ten million records would take ten minutes above it: indexes are dropped, the database makes the records by
 * itself, and indexes are built again.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestDatabase, TestServer } from '../../src/storage/postgres/testing/server.ts';
import { count, note } from '../support/report.ts';
import { type SizedTable, storedRecords } from './records.ts';

/** Records of one commit, so that the log stays small. */
const PER_COMMIT = 500_000;

/** Fills tables of a stopped service with the embedded engine. */
export function fillSqlite(dataDir: string, tables: readonly SizedTable[]): void {
  const file = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('records.sqlite'));
  if (file === undefined) throw new Error(`no system in ${dataDir}`);
  const db = new DatabaseSync(join(dataDir, file));
  try {
    db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; PRAGMA temp_store = FILE');
    for (const table of tables) {
      const started = performance.now();
      const sqlName = `t_${table.className}`;
      const indexes = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ?").all(sqlName);
      for (const { name } of indexes) db.exec(`DROP INDEX "${name}"`);
      const { columns, values } = storedRecords(table, (number) => `printf('%010x', ${number})`);
      for (let at = 0; at < table.records; at += PER_COMMIT)
        db.exec(
          `WITH RECURSIVE n(i) AS (SELECT ${at} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${Math.min(at + PER_COMMIT, table.records)})
           INSERT INTO "${sqlName}" (${columns}) SELECT ${values} FROM n`,
        );
      for (const { sql } of indexes) db.exec(String(sql));
      told('embedded', table, started);
    }
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** Fills tables of a system on PostgreSQL, and brings statistics and the visibility map up to date, as autovacuum does in time. */
export async function fillPostgres(server: TestServer, database: TestDatabase, tables: readonly SizedTable[]): Promise<void> {
  for (const table of tables) {
    const started = performance.now();
    const sqlName = `t_${table.className}`;
    const [place] = (await server.query(`SELECT schemaname FROM pg_tables WHERE tablename = '${sqlName}'`, database)) as Row[];
    const name = `"${place?.schemaname}"."${sqlName}"`;
    const run = (sql: string) =>
      server.query(`SET maintenance_work_mem = '512MB'; SET synchronous_commit = off; ${sql}`, database);
    const indexes = (await server.query(indexesOf(name), database)) as Row[];
    await run(indexes.map(({ remove }) => remove).join('; '));
    const { columns, values } = storedRecords(table, (number) => `lpad(to_hex(${number}), 10, '0')`);
    await run(`INSERT INTO ${name} (${columns}) SELECT ${values} FROM generate_series(0::bigint, ${table.records - 1}) AS i`);
    for (const { create } of indexes) await run(String(create));
    await server.query(`VACUUM ANALYZE ${name}`, database);
    told('PostgreSQL', table, started);
  }
  await server.query('CHECKPOINT', database);
}

type Row = Readonly<Record<string, string>>;

/** Returns a query for the statements that drop and create the indexes of a table. A constraint has an index of its name. */
const indexesOf = (table: string): string => `
  SELECT CASE WHEN c.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
           ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname) END AS remove,
         CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
           ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) END AS create
  FROM pg_index AS i LEFT JOIN pg_constraint AS c ON c.conindid = i.indexrelid
  WHERE i.indrelid = '${table}'::regclass`;

function told(engine: string, { records }: SizedTable, started: number): void {
  const seconds = (performance.now() - started) / 1000;
  note(`${engine}: ${count(records)} records in ${seconds.toFixed(1)} s, ${count(records / seconds)} a second`);
}
