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

/** Rows per read of `eachFile`. */
const PAGE_SIZE = 1_000;

/** The hidden table with a row for each file of a system. */
export const fileTable = '_StoredFile';

/** The hidden table of imports over HTTP. A row stores the id of its body until the import has ended. */
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

/** Whether bytes without a row are the body of a pending import. @param id of the bytes */
export async function isKept(store: Store, id: string): Promise<boolean> {
  const field = store.schema().tables.get(importTable)?.fields.get('body');
  if (!field) return false;
  const filter: Filter = { kind: 'compare', field, op: 'eq', value: id };
  return (await readRows(store, { className: importTable, fields: ['objectId'], filter: () => filter, limit: 1 })).length > 0;
}

/** A file to record. */
export interface NewFile {
  readonly id: string;
  readonly name: string;
  /** Bytes; `null` for an awaited large upload, which does not count yet. */
  readonly size: number | null;
  readonly contentType: string;
  /** Whether a `File` or `PrivateFile` field holds it already. */
  readonly isPublic?: boolean;
  readonly isPrivate?: boolean;
}

/** Times of announcement, in milliseconds since 1970. */
interface Period {
  readonly from: number;
  readonly before: number;
}

/** Properties that are known once the bytes of an upload have arrived. */
export type UploadedBytes = Pick<FileRow, 'contentType' | 'version'> & { readonly size: number };

/** Finds a file by id, including awaited ones; `null` if there is none. */
export async function findFile(store: Store, id: string): Promise<FileRow | null> {
  const row = await readRow<Row>(store, fileTable, fields, id);
  return row && fileRow(row);
}

/** Adds a file to the metadata and the usage. Durable when it resolves. */
export async function addFile(store: Store, { id, ...file }: NewFile): Promise<void> {
  const at = Date.now();
  const values = { objectId: id, createdAt: at, updatedAt: at, isPublic: false, isPrivate: false, ...file };
  await store.write({
    plan(schema) {
      const table = tableOf(schema, fileTable);
      return {
        changes: [],
        mutations: [{ kind: 'insert', table, values: columnsOf(table, values) }, ...usageChange(schema, 1, file.size)],
      };
    },
  });
}

/**
 * Records that the bytes of an awaited upload have arrived, and counts them. The first call wins.
 * @returns whether this call did it; if not, the file was completed already, or deleted
 */
export async function completeFile(store: Store, id: string, bytes: UploadedBytes): Promise<boolean> {
  return executeConditional(store, (schema) => [markArrived(schema, id, bytes), ...usageChange(schema, 1, bytes.size)]);
}

/** As `completeFile`, if the quota has room for the bytes; checked in the commit. @throws outOfStorage (140) */
export async function completeWithinQuota(store: Store, id: string, bytes: UploadedBytes): Promise<boolean> {
  for (;;) {
    const { quota } = await readUsage(store);
    try {
      return await executeConditional(store, (schema) => [
        markArrived(schema, id, bytes),
        countWithin(schema, bytes.size, quota),
      ]);
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.key === 'outOfStorage';
      // Retry if the quota was changed meanwhile.
      if (!isRefused || (await readUsage(store)).quota === quota) throw error;
    }
  }
}

function markArrived(schema: Schema, id: string, bytes: UploadedBytes): Mutation {
  const table = tableOf(schema, fileTable);
  return update(table, id, absent(fieldOf(table, 'size')), { ...bytes, updatedAt: Date.now() });
}

/**
 * Removes a file from the metadata and the usage. The caller removes its bytes.
 * @param onlyIfUntouched fail if the file was attached, or its upload arrived, since the row was read
 * @returns whether this call did it; another may have been faster
 */
export async function removeFile(store: Store, file: FileRow, onlyIfUntouched = false): Promise<boolean> {
  const removed = await executeConditional(store, (schema) => {
    const table = tableOf(schema, fileTable);
    const items = [file.size === null ? absent(fieldOf(table, 'size')) : compare(table, 'size', 'eq', file.size)];
    if (onlyIfUntouched) items.push(compare(table, 'updatedAt', 'eq', file.updatedAt));
    return [
      // Locks the row, so that of two concurrent removals one fails.
      update(table, file.id, { kind: 'and', items }, { updatedAt: Date.now() }),
      // By `deleteAll`, because a Pointer made by a client must not prevent the deletion.
      { kind: 'deleteAll', table, filter: compare(table, 'objectId', 'eq', file.id) },
      ...usageChange(schema, -1, file.size),
    ];
  });
  if (removed || onlyIfUntouched || file.size !== null) return removed;
  // The awaited upload arrived meanwhile. One retry suffices, because the size changes only once.
  const now = await findFile(store, file.id);
  return now !== null && now.size !== null && removeFile(store, now);
}

/**
 * Returns files that have not changed since a time, ordered by id.
 * @param updatedBefore milliseconds since 1970; upload and last attachment must be older
 * @param after the last id of the previous page; `null` for the first page
 * @param limit maximum number of files
 */
export function filesBefore(store: Store, updatedBefore: number, after: string | null, limit: number): Promise<FileRow[]> {
  return readPage(store, (table) => [compare(table, 'updatedAt', 'lt', updatedBefore)], after, limit);
}

/**
 * Returns awaited large uploads, ordered by id.
 * @param after the last id of the previous page; `null` for the first page
 * @param limit maximum number of files
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

/** Iterates over the files of all pages, reading each page on demand. @param page returns a number of files after an id; `null`: from the first */
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
 * Returns the mutation that attaches a file: it sets flags in the file's row, if the file exists.
 * @param isGranted whether a private file may be attached
 * @throws unknownFile (1) if the file does not exist or may not be attached
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

/** Awaited uploads do not count. */
function usageChange(schema: Schema, files: 1 | -1, size: number | null): Mutation[] {
  return size === null ? [] : [countFiles(schema, files, files * size)];
}

const compare = (table: TableSchema, name: string, op: Comparison, value: StoredValue): Filter => ({
  kind: 'compare',
  field: fieldOf(table, name),
  op,
  value,
});

const absent = (field: Field): Filter => ({ kind: 'not', item: { kind: 'exists', ref: { field, path: [] } } });

/** Executes mutations of which the first is conditional. @returns whether its condition held */
async function executeConditional(store: Store, mutations: (schema: Schema) => readonly Mutation[]): Promise<boolean> {
  try {
    await store.write({ plan: (schema) => ({ changes: [], mutations: mutations(schema) }) });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') return false;
    throw error;
  }
}
