import { ServiceError } from '../../errors/fail.ts';
import type { Comparison, Filter } from '../../query/model/filter.ts';
import { readRow, readRows } from '../../records/index.ts';
import { type Field, fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, columnsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import type { FileRow } from './model.ts';
import { countFiles, countWithin, readUsage } from './usage.ts';

export { readUsage, setQuota } from './usage.ts';

/** Rows that `eachFile` reads at once. */
const PAGE_SIZE = 1_000;

/** The hidden table with a row for each file of a system. */
export const fileTable = '_StoredFile';

/** The hidden table of imports over HTTP, which keep the id of their body until they have ended. */
const importTable = '_ImportJob';

const fields: readonly string[] = [
  ...['objectId', 'createdAt', 'updatedAt', 'name', 'size', 'contentType', 'version'],
  ...['isPublic', 'isPrivate'],
];

interface Row {
  readonly objectId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly name?: string;
  readonly size?: number;
  readonly contentType?: string;
  readonly version?: string;
  readonly isPublic?: boolean;
  readonly isPrivate?: boolean;
}

function fileRow(row: Row): FileRow {
  return {
    id: row.objectId,
    name: row.name ?? '',
    size: row.size ?? null,
    contentType: row.contentType ?? 'application/octet-stream',
    ...(row.version !== undefined && { version: row.version }),
    isPublic: row.isPublic === true,
    isPrivate: row.isPrivate === true,
    createdAt: Date.parse(row.createdAt),
    updatedAt: Date.parse(row.updatedAt),
  };
}

/** Whether bytes without a row are what an import over HTTP is still to read. @param id of the bytes */
export async function isKept(store: Store, id: string): Promise<boolean> {
  const field = store.schema().tables.get(importTable)?.fields.get('body');
  if (!field) return false;
  const filter: Filter = { kind: 'compare', field, op: 'eq', value: id };
  return (await readRows(store, { className: importTable, fields: ['objectId'], filter: () => filter, limit: 1 })).length > 0;
}

/** A file to note. */
export interface NewFile {
  readonly id: string;
  readonly name: string;
  /** Bytes; `null` for a large upload that is awaited, which is not counted yet. */
  readonly size: number | null;
  readonly contentType: string;
  /** Whether a `File` field holds it already, or a `PrivateFile` field. */
  readonly isPublic?: boolean;
  readonly isPrivate?: boolean;
}

/** When uploads were announced, in milliseconds since 1970. */
interface Period {
  readonly from: number;
  readonly before: number;
}

/** What is known of an upload once its bytes are there. */
export type UploadedBytes = Pick<FileRow, 'contentType' | 'version'> & { readonly size: number };

/** The file of an id, awaited ones too; `null` where there is none. */
export async function findFile(store: Store, id: string): Promise<FileRow | null> {
  const row = await readRow<Row>(store, fileTable, fields, id);
  return row && fileRow(row);
}

/** Notes a file, and counts it. Durable when it resolves. */
export async function addFile(store: Store, { id, ...file }: NewFile): Promise<void> {
  const at = Date.now();
  const values = { objectId: id, createdAt: at, updatedAt: at, isPublic: false, isPrivate: false, ...file };
  await store.write({
    plan(schema) {
      const table = tableOf(schema, fileTable);
      return {
        changes: [],
        mutations: [{ kind: 'insert', table, values: columnsOf(table, values) }, ...counted(schema, 1, file.size)],
      };
    },
  });
}

/**
 * Notes that the bytes of an awaited upload are there, and counts it. The first call decides.
 * @returns whether it was this call: the file may be there already, or gone
 */
export async function completeFile(store: Store, id: string, bytes: UploadedBytes): Promise<boolean> {
  return decided(store, (schema) => [noted(schema, id, bytes), ...counted(schema, 1, bytes.size)]);
}

/** The same where the system's quota leaves room for it; the commit decides. @throws outOfStorage (140) */
export async function completeWithinQuota(store: Store, id: string, bytes: UploadedBytes): Promise<boolean> {
  for (;;) {
    const { quota } = await readUsage(store);
    try {
      return await decided(store, (schema) => [noted(schema, id, bytes), countWithin(schema, bytes.size, quota)]);
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.key === 'outOfStorage';
      // The quota may be another one by now.
      if (!isRefused || (await readUsage(store)).quota === quota) throw error;
    }
  }
}

function noted(schema: Schema, id: string, bytes: UploadedBytes): Mutation {
  const table = tableOf(schema, fileTable);
  return update(table, id, absent(fieldOf(table, 'size')), { ...bytes, updatedAt: Date.now() });
}

/**
 * Forgets a file, and no longer counts it. Its bytes are the caller's to remove.
 * @param onlyIfUntouched not where it was attached, or an awaited upload came, since the row was read
 * @returns whether it was this call: another may have been quicker
 */
export async function removeFile(store: Store, file: FileRow, onlyIfUntouched = false): Promise<boolean> {
  const removed = await decided(store, (schema) => {
    const table = tableOf(schema, fileTable);
    const items = [file.size === null ? absent(fieldOf(table, 'size')) : compare(table, 'size', 'eq', file.size)];
    if (onlyIfUntouched) items.push(compare(table, 'updatedAt', 'eq', file.updatedAt));
    return [
      // Takes the row, so that of two that remove it one finds none.
      update(table, file.id, { kind: 'and', items }, { updatedAt: Date.now() }),
      // A record that a client made point at it does not keep it.
      { kind: 'deleteAll', table, filter: compare(table, 'objectId', 'eq', file.id) },
      ...counted(schema, -1, file.size),
    ];
  });
  if (removed || onlyIfUntouched || file.size !== null) return removed;
  // An upload that came meanwhile is gone with the next try: its size changes once.
  const now = await findFile(store, file.id);
  return now !== null && now.size !== null && removeFile(store, now);
}

/**
 * Files that have been there unchanged for long, by id.
 * @param updatedBefore milliseconds since 1970: uploaded and last attached before
 * @param after the last id of the page before; `null` for the first page
 * @param limit how many at most
 */
export function filesBefore(store: Store, updatedBefore: number, after: string | null, limit: number): Promise<FileRow[]> {
  return readPage(store, (table) => [compare(table, 'updatedAt', 'lt', updatedBefore)], after, limit);
}

/**
 * Large uploads that are awaited, by id.
 * @param after the last id of the page before; `null` for the first page
 * @param limit how many at most
 */
export function awaitedFiles(store: Store, period: Period, after: string | null, limit: number): Promise<FileRow[]> {
  const isAwaited = (table: TableSchema) => [
    absent(fieldOf(table, 'size')),
    compare(table, 'createdAt', 'gte', period.from),
    compare(table, 'createdAt', 'lt', period.before),
  ];
  return readPage(store, isAwaited, after, limit);
}

async function readPage(
  store: Store,
  wanted: (table: TableSchema) => readonly Filter[],
  after: string | null,
  limit: number,
): Promise<FileRow[]> {
  const rows = await readRows<Row>(store, {
    className: fileTable,
    fields,
    filter(table) {
      const items = wanted(table);
      return { kind: 'and', items: after === null ? items : [...items, compare(table, 'objectId', 'gt', after)] };
    },
    orderBy: 'objectId',
    limit,
  });
  return rows.map(fileRow);
}

/** The files of all pages, each page read when it is needed. @param page the first so many after an id; `null`: from the first */
export async function* eachFile(
  page: (after: string | null, limit: number) => Promise<FileRow[]>,
): AsyncGenerator<FileRow, void> {
  let last: string | null = null;
  for (;;) {
    const rows: FileRow[] = await page(last, PAGE_SIZE);
    yield* rows;
    if (rows.length < PAGE_SIZE) return;
    last = rows.at(-1)?.id ?? null;
  }
}

/**
 * The step of attaching: the file's row learns what holds it, where the file is there.
 * @param isGranted whether a private file may be attached, too
 * @throws unknownFile (1) where it is not, or may not be
 */
export function attachFile(
  schema: Schema,
  { id, name }: Pick<FileRow, 'id' | 'name'>,
  flags: OwnValues,
  isGranted: boolean,
): Mutation {
  const table = tableOf(schema, fileTable);
  const items: Filter[] = [
    { kind: 'exists', ref: { field: fieldOf(table, 'size'), path: [] } },
    compare(table, 'name', 'eq', name),
  ];
  const is = (flag: string) => compare(table, flag, 'eq', true);
  if (!isGranted) items.push({ kind: 'or', items: [{ kind: 'not', item: is('isPrivate') }, is('isPublic')] });
  const condition: Filter = { kind: 'and', items };
  return { ...update(table, id, condition, { ...flags, updatedAt: Date.now() }), missing: 'unknownFile' };
}

type Update = Extract<Mutation, { kind: 'update' }>;

function update(table: TableSchema, objectId: string, condition: Filter, values: OwnValues): Update {
  return { kind: 'update', table, objectId, guard: null, condition, assignments: assignmentsOf(table, values), returning: [] };
}

/** An awaited upload is not counted. */
function counted(schema: Schema, files: 1 | -1, size: number | null): Mutation[] {
  return size === null ? [] : [countFiles(schema, files, files * size)];
}

const compare = (table: TableSchema, name: string, op: Comparison, value: StoredValue): Filter => ({
  kind: 'compare',
  field: fieldOf(table, name),
  op,
  value,
});

const absent = (field: Field): Filter => ({ kind: 'not', item: { kind: 'exists', ref: { field, path: [] } } });

/** Carries steps out of which the first decides. @returns whether it found its record */
async function decided(store: Store, mutations: (schema: Schema) => readonly Mutation[]): Promise<boolean> {
  try {
    await store.write({ plan: (schema) => ({ changes: [], mutations: mutations(schema) }) });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') return false;
    throw error;
  }
}
