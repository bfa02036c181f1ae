import { hash, randomBytes } from 'node:crypto';
import type { KeyVersion } from '../../port.ts';
import type { Statement } from '../../sql/writer.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { quotedName } from '../sql/names.ts';
import { catalogVersionSql } from './catalog.ts';

/** Keys share so many rows: few enough to be kept for ever, so many that works about different things seldom meet. */
const SLOTS = 4_096;

const own = (schemaName: string) => `${quotedName(schemaName)}.rds_keys`;

/** The table of the last writer under each key. Its rows are changed in place: half of each page is left free for that. */
export function keyStatements(schemaName: string): Statement[] {
  const text = `CREATE TABLE ${own(schemaName)} (
    slot integer PRIMARY KEY, writer text COLLATE "C" NOT NULL, before text COLLATE "C" NOT NULL
  ) WITH (fillfactor = 50)`;
  return [{ text, params: [] }];
}

/** Bytes of the row that is written to try whether rows can be: more than is free in a table for certain. */
const TRIAL_BYTES = 24_000;

/** A small write by which a system's store is tried: it takes room on the disk, and leaves nothing. */
export function probeStatements(schemaName: string): Statement[] {
  return [
    {
      text: `INSERT INTO ${own(schemaName)} (slot, writer, before) VALUES (-1, $1, '')
        ON CONFLICT (slot) DO UPDATE SET writer = excluded.writer`,
      params: [randomBytes(TRIAL_BYTES / 2).toString('hex')],
    },
    { text: `DELETE FROM ${own(schemaName)} WHERE slot = -1`, params: [] },
  ];
}

/** A number for a text, the same in every process: 32 bits, signed. */
export function numberFor(text: string): number {
  return hash('sha1', text, 'buffer').readInt32BE();
}

const slotOf = (key: string): number => (numberFor(key) >>> 0) % SLOTS;

/** Reads the number of changes of the schema, and the last writers under some keys, for `versionsFrom`. */
export function versionsStatement(schemaName: string, keys: readonly string[]): Statement {
  const text = `SELECT (${catalogVersionSql(schemaName)}),
    (SELECT json_agg(json_build_array(slot, writer)) FROM ${own(schemaName)} WHERE slot = ANY($1::integer[]))`;
  return { text, params: [arrayLiteral([...new Set(keys.map(slotOf))])] };
}

/** @param written the second column of `versionsStatement` */
export function versionsFrom(keys: readonly string[], written: unknown): KeyVersion[] {
  const writers = new Map<number, string>(written === null ? [] : JSON.parse(written as string));
  return keys.map((key) => {
    const slot = slotOf(key);
    return { slot, writer: writers.get(slot) ?? '' };
  });
}

/**
 * Notes a writer under the keys, and returns a row for each of them that is as it was read, or was the writer's already. The rows of others
 * stay. The caller has the locks of the slots.
 */
export function noteWriter(schemaName: string, versions: readonly KeyVersion[], writer: string): Statement {
  const before = new Map(versions.map((version) => [version.slot, version.writer]));
  return {
    text: `INSERT INTO ${own(schemaName)} AS k (slot, writer, before)
      SELECT slot, $3, before FROM unnest($1::integer[], $2::text[]) AS read (slot, before)
      ON CONFLICT (slot) DO UPDATE SET writer = excluded.writer, before = excluded.before
      WHERE k.writer IN (excluded.writer, excluded.before) RETURNING slot`,
    params: [arrayLiteral([...before.keys()]), arrayLiteral([...before.values()]), writer],
  };
}
