import { isRefusal, type ServiceError } from '../../../errors/fail.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Mutation, Store } from '../../../storage/port.ts';
import type { StoredValue } from '../../../values/index.ts';
import type { ParseRecord } from '../source/source.ts';
import { batchesOf } from './batches.ts';
import type { FileBringer } from './files-from.ts';
import type { Findings } from './findings.ts';
import { knownIds } from './known-ids.ts';
import type { MappedRecord, RecordMapper } from './record-mapper.ts';
import type { Target } from './target.ts';

/** Who else works on the store: what shares a commit keeps others waiting. */
export interface BatchBounds {
  readonly items: number;
  readonly size: number;
}

/** How the objects of a class are written. */
export interface ClassWrite {
  readonly className: string;
  readonly mapper: RecordMapper;
  readonly findings: Findings;
  /** `null`: no bytes of files come along. */
  readonly bringer: FileBringer | null;
  readonly bounds: () => BatchBounds;
  /** A batch is durable. @param done objects of the class so far */
  progressed(done: number): void;
  /** Lets others have their turn. @param heldMs for how long they waited */
  rest(heldMs: number): Promise<void>;
}

/** Writes given to the store at once. */
const SLICE_RECORDS = 1_000;

/** Adds the objects of a class that are not here yet, with their ids, times and ACLs. Nothing else hears of it. */
export async function writeRecords({ store }: Target, records: AsyncIterable<ParseRecord>, write: ClassWrite): Promise<void> {
  const { className, findings, mapper } = write;
  const mapped = async function* () {
    for await (const record of records) yield mapper.map(record);
  };
  let done = 0;
  let there = 0;
  for await (const batch of batchesOf(mapped(), ({ size }) => size, write.bounds)) {
    const known = await knownIds(
      store,
      className,
      batch.map(({ objectId }) => objectId),
    );
    await write.bringer?.bring(batch.flatMap(({ files }) => files));
    const fresh = batch.filter(({ objectId }) => !known.has(objectId));
    const began = performance.now();
    if (fresh.length > 0) there += await insertAll(store, className, fresh, findings);
    const heldMs = performance.now() - began;
    there += known.size;
    done += batch.length;
    findings.records.set(className, done);
    findings.there.set(className, there);
    write.progressed(done);
    await write.rest(heldMs);
  }
}

/** @returns how many were there all the same */
async function insertAll(store: Store, className: string, records: readonly MappedRecord[], findings: Findings): Promise<number> {
  const failed: [MappedRecord, ServiceError][] = [];
  await store.bulkTransaction(async (within) => {
    for (let from = 0; from < records.length; from += SLICE_RECORDS) {
      const slice = records.slice(from, from + SLICE_RECORDS);
      const done = await Promise.allSettled(slice.map((record) => insert(within, className, record.values)));
      for (const [at, one] of done.entries()) {
        if (one.status === 'fulfilled') continue;
        if (!isRefusal(one.reason)) throw one.reason;
        const record = slice[at] as MappedRecord;
        const left = className === '_User' ? await insertNameless(within, record, one.reason, findings) : one.reason;
        if (left) failed.push([record, left]);
      }
    }
  });
  let there = 0;
  for (const [{ objectId }, error] of failed)
    if (error.key === 'duplicateValue') there++;
    else findings.refused.note(className, objectId, error.message);
  return there;
}

async function insert(store: Store, className: string, values: ReadonlyMap<string, StoredValue>): Promise<void> {
  await store.write({ plan: (schema) => ({ changes: [], mutations: [insertOf(tableOf(schema, className), values)] }) });
}

/** The step that adds an object. */
export function insertOf(table: Mutation['table'], values: ReadonlyMap<string, StoredValue>): Mutation {
  return { kind: 'insert', table, values: Array.from(values, ([name, value]) => [fieldOf(table, name), value] as const) };
}

const keys: ReadonlyMap<string, string> = new Map([
  ['usernameTaken', '_username_key'],
  ['emailTaken', '_email_key'],
]);

/** Of users with one name or address here the first keeps it to sign in with, as in a system of an earlier version. */
async function insertNameless(
  store: Store,
  { values }: MappedRecord,
  error: ServiceError,
  findings: Findings,
): Promise<ServiceError | null> {
  const left = new Map(values);
  let reason = error;
  for (let key = keys.get(reason.key); key !== undefined && left.delete(key); key = keys.get(reason.key))
    try {
      await insert(store, '_User', left);
      findings.sharedNames++;
      return null;
    } catch (again) {
      if (!isRefusal(again)) throw again;
      reason = again;
    }
  return reason;
}
