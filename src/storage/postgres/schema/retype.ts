import { setImmediate as turn } from 'node:timers/promises';
import type { SchemaStep } from '../../../schema/change.ts';
import { type Field, fieldOf, type Schema, type TableSchema } from '../../../schema/model.ts';
import { type StoredValue, storageOf, ValueConverter } from '../../../values/index.ts';
import type { Session } from '../connection/database.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { quotedName as quote } from '../sql/names.ts';
import { buildUniqueIndex } from './constraints.ts';
import { qualified } from './index-names.ts';

/** Records whose values are in memory at the same time: the first page, the maximum, and the approximate number of characters of a page. */
const INITIAL_PAGE_ROWS = 100;
const MAX_PAGE_ROWS = 2_000;
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;
/** Milliseconds that the end of a change waits for readers of the old table, before it is tried again from the start. */
const READERS_LIMIT_MS = 5_000;

const casts = {
  text: '',
  pointer: '',
  number: '::double precision',
  boolean: '::boolean',
  date: '::bigint',
  json: '::json',
  relation: '',
} as const;

/** A change of type: the table before it, and its copy. */
export interface Retyping {
  readonly change: Extract<SchemaStep, { kind: 'retypeField' }>;
  readonly old: TableSchema;
  readonly table: TableSchema;
  /** The schema with the copy. */
  readonly after: Schema;
}

/** The statements that make the parts of the copy. */
export interface CopyStatements {
  /** Creates the table, without keys and indexes, which are built faster when it is filled. */
  readonly create: readonly string[];
  readonly indexes: readonly string[];
  /** Names of columns beside those of fields. */
  readonly companions: readonly string[];
}

/**
 * Copies a table with the values of one field converted, and drops the old one, inside the caller's transaction. Readers of the table are not blocked
 * until its end; writers are, from the time when all values are known to be convertible.
 * @throws cannotConvert (111); contradictedIndex (137) if converted values contradict a unique index
 */
export async function retypeTable(
  session: Session,
  schemaName: string,
  retyping: Retyping,
  { create, indexes, companions }: CopyStatements,
): Promise<void> {
  const { change, old, table } = retyping;
  const source = qualified(schemaName, old.sqlName);
  const run = (text: string, params: readonly unknown[] = []) =>
    session.query({ text, params } as Parameters<Session['query']>[0]);
  const refuses = change.onError === 'refuse' || fieldOf(old, change.name).required === true;
  const pages = new ConvertedPages(session, schemaName, retyping);
  if (refuses) {
    const tried = pages.converter();
    for await (const _ of pages.read(tried));
    if (tried.failures > 0) throw tried.refusal();
  }
  await run(`LOCK TABLE ${source} IN SHARE ROW EXCLUSIVE MODE`);
  for (const text of create) await run(text);
  const converter = pages.converter();
  const insert = insertOf(schemaName, retyping, companions);
  let last = 0;
  for await (const page of pages.read(converter)) {
    const [first] = page.places;
    last = page.places.at(-1) ?? last;
    await run(insert, [arrayLiteral(page.places), arrayLiteral(page.values.map(textOf)), first, last]);
  }
  if (refuses && converter.failures > 0) throw converter.refusal();
  const into = qualified(schemaName, table.sqlName);
  if (last > 0) await run(`SELECT setval(s, $2) FROM CAST(pg_get_serial_sequence($1, '_seq') AS regclass) AS s`, [into, last]);
  for (const text of indexes) await run(text);
  for (const index of table.uniqueIndexes.values()) await buildUniqueIndex(session, schemaName, table, index);
  await run(`ANALYZE ${into}`);
  await run(`SELECT set_config('lock_timeout', $1, true)`, [String(READERS_LIMIT_MS)]);
  await run(`DROP TABLE ${source}`);
}

const textOf = (value: StoredValue): StoredValue => (value === null ? null : String(value));

/** Returns the statement that copies a page: of places and new values, with the first and the last place. */
function insertOf(schemaName: string, { change, old, table }: Retyping, companions: readonly string[]): string {
  const field = fieldOf(table, change.name);
  const kept = [
    '_seq',
    ...columnsOf(old)
      .filter(({ name }) => name !== change.name)
      .map(({ column }) => column),
    ...companions,
  ];
  const names = kept.map(quote);
  const value = `u.v${casts[storageOf(field)]}`;
  // Two tables in one INSERT … SELECT are refused by a coordinator.
  return `WITH page AS MATERIALIZED (SELECT ${names.map((name) => `t.${name}`).join(', ')}, ${value} AS "new~value"
      FROM ${qualified(schemaName, old.sqlName)} AS t JOIN unnest($1::bigint[], $2::text[]) AS u (s, v) ON u.s = t."_seq"
      WHERE t."_seq" BETWEEN $3::bigint AND $4::bigint)
    INSERT INTO ${qualified(schemaName, table.sqlName)} (${names.join(', ')}, ${quote(field.column)})
    SELECT ${names.join(', ')}, "new~value" FROM page`;
}

const columnsOf = ({ fields }: TableSchema): Field[] => [...fields.values()].filter(({ type }) => type !== 'Relation');

interface ConvertedPage {
  readonly places: number[];
  readonly values: readonly StoredValue[];
}

/** Reads a table page by page, and converts the values of one field. */
class ConvertedPages {
  readonly #session: Session;
  readonly #schemaName: string;
  readonly #retyping: Retyping;
  readonly #from: Field;
  readonly #to: Field;

  constructor(session: Session, schemaName: string, retyping: Retyping) {
    this.#session = session;
    this.#schemaName = schemaName;
    this.#retyping = retyping;
    this.#from = fieldOf(retyping.old, retyping.change.name);
    this.#to = fieldOf(retyping.table, retyping.change.name);
  }

  converter(): ValueConverter {
    return new ValueConverter(this.#from.name, this.#from, this.#to, this.#from.required);
  }

  async *read(converter: ValueConverter): AsyncGenerator<ConvertedPage> {
    const source = qualified(this.#schemaName, this.#retyping.old.sqlName);
    const text = `SELECT "_seq", "objectId", ${quote(this.#from.column)} FROM ${source} WHERE "_seq" > $1 ORDER BY "_seq" LIMIT $2`;
    const isBoolean = storageOf(this.#from) === 'boolean';
    let last = -1;
    for (let size = INITIAL_PAGE_ROWS; ; ) {
      const { rows } = await this.#session.query({ text, params: [last, size] });
      if (rows.length === 0) return;
      let length = 0;
      const values = rows.map(([, objectId, stored]) => {
        if (typeof stored === 'string') length += stored.length;
        const value = (isBoolean && stored !== null ? stored === 1 : stored) as StoredValue;
        return converter.convert(objectId as string, value);
      });
      const places = rows.map(([place]) => place as number);
      last = places.at(-1) ?? last;
      yield { places, values: this.#to.type === 'Pointer' ? await this.#existing(rows, values, converter) : values };
      if (rows.length < size) return;
      size = Math.max(1, Math.min(MAX_PAGE_ROWS, Math.floor((MAX_PAGE_LENGTH * rows.length) / Math.max(1, length))));
      await turn();
    }
  }

  /** Notes and clears Pointers to records that do not exist. */
  async #existing(
    rows: readonly (readonly unknown[])[],
    values: readonly StoredValue[],
    converter: ValueConverter,
  ): Promise<StoredValue[]> {
    const { old, after } = this.#retyping;
    const className = this.#to.targetClass ?? '';
    // The copy is not filled yet.
    const pointedAt = className === old.className ? old : after.tables.get(className);
    const ids = [...new Set(values.filter((value) => value !== null))];
    const found = new Set<unknown>();
    if (pointedAt && ids.length > 0) {
      const text = `SELECT "objectId" FROM ${qualified(this.#schemaName, pointedAt.sqlName)} WHERE "objectId" = ANY($1::text[])`;
      const answer = await this.#session.query({ text, params: [arrayLiteral(ids)] });
      for (const [id] of answer.rows) found.add(id);
    }
    return values.map((value, at) => {
      if (value === null || found.has(value)) return value;
      const [, objectId, stored] = rows[at] ?? [];
      converter.fail(objectId as string, stored as StoredValue);
      return null;
    });
  }
}
