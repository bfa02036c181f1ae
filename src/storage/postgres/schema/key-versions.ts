import { hash, randomBytes } from 'node:crypto';
import type { KeyVersion } from '../../port.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { quotedName } from '../sql/names.ts';
import { catalogVersionSql } from './catalog.ts';

/** Number of rows that all keys share: few enough to keep permanently, enough to make collisions of unrelated writes rare. */
const SLOTS = 4_096;

const keysTable = (schemaName: string) => `${quotedName(schemaName)}.rds_keys`;

/**
 * Returns the statements that create the table of the last writer under each key. A low fillfactor leaves room in each page for updates in place
 * (HOT).
 */
export function keyStatements(schemaName: string): Statement[] {
  const text = `CREATE TABLE ${keysTable(schemaName)} (
    slot integer PRIMARY KEY, writer text COLLATE "C" NOT NULL, before text COLLATE "C" NOT NULL
  ) WITH (fillfactor = 50)`;
  return [{ text, params: [] }];
}

/** Bytes of the row of the probe write: more than any table's free space, so that it must allocate on the disk. */
const PROBE_BYTES = 24_000;

/** Returns a small write that shows whether a system's store works. It allocates disk space and leaves nothing behind. */
export function probeStatements(schemaName: string): Statement[] {
  return [
    {
      text: `INSERT INTO ${keysTable(schemaName)} (slot, writer, before) VALUES (-1, $1, '')
        ON CONFLICT (slot) DO UPDATE SET writer = excluded.writer`,
      params: [randomBytes(PROBE_BYTES / 2).toString('hex')],
    },
    { text: `DELETE FROM ${keysTable(schemaName)} WHERE slot = -1`, params: [] },
  ];
}

/** Returns a signed 32-bit number for a text, the same in every process. */
export function numberFor(text: string): number {
  return hash('sha1', text, 'buffer').readInt32BE();
}

const slotOf = (key: string): number => (numberFor(key) >>> 0) % SLOTS;

/** Reads the version of the schema, and the last writers under some keys, for `versionsFrom`. */
export function versionsStatement(schemaName: string, keys: readonly string[]): Statement {
  const text = `SELECT (${catalogVersionSql(schemaName)}),
    (SELECT json_agg(json_build_array(slot, writer)) FROM ${keysTable(schemaName)} WHERE slot = ANY($1::integer[]))`;
  return { text, params: [arrayLiteral([...new Set(keys.map(slotOf))])] };
}

/** @param written second column of `versionsStatement` */
export function versionsFrom(keys: readonly string[], written: unknown): KeyVersion[] {
  const writers = new Map<number, string>(written === null ? [] : JSON.parse(written as string));
  return keys.map((key) => {
    const slot = slotOf(key);
    return { slot, writer: writers.get(slot) ?? '' };
  });
}

/**
 * Records a writer under the keys. Returns a row for each key whose last writer is still the one that was read, or already this one; other rows
 * stay unchanged. The caller holds the locks of the slots.
 */
export function recordWriter(schemaName: string, versions: readonly KeyVersion[], writer: string): Statement {
  const before = new Map(versions.map((version) => [version.slot, version.writer]));
  return {
    text: `INSERT INTO ${keysTable(schemaName)} AS k (slot, writer, before)
      SELECT slot, $3, before FROM unnest($1::integer[], $2::text[]) AS read (slot, before)
      ON CONFLICT (slot) DO UPDATE SET writer = excluded.writer, before = excluded.before
      WHERE k.writer IN (excluded.writer, excluded.before) RETURNING slot`,
    params: [arrayLiteral([...before.keys()]), arrayLiteral([...before.values()]), writer],
  };
}
