import { fail, isRefusal, type ServiceError } from '../../../errors/fail.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Mutation, Store } from '../../../storage/port.ts';
import type { StoredValue } from '../../../values/index.ts';
import type { ParseRecord } from '../source/source.ts';
import { batchesOf } from './batches.ts';
import type { FileCopier } from './copy-files.ts';
import type { Findings } from './findings.ts';
import { knownIds } from './known-ids.ts';
import type { MappedRecord, RecordMapper } from './record-mapper.ts';
import type { Target } from './target.ts';

/** Limits of a commit, which makes other writers wait. */
export interface BatchBounds {
  readonly items: number;
  readonly size: number;
}

/** Context for writing the objects of a class. */
export interface ClassWrite {
  readonly className: string;
  readonly mapper: RecordMapper;
  readonly findings: Findings;
  /** `null` if files are not copied. */
  readonly copier: FileCopier | null;
  readonly bounds: () => BatchBounds;
  /** A batch was committed. @param done number of objects of the class so far */
  progressed(done: number): void;
  /** Pauses for the benefit of other writers. @param heldMs time for which they waited */
  yieldTurn(heldMs: number): Promise<void>;
}

/** Writes passed to the store at once. */
const BATCH_RECORDS = 1_000;

/** Adds objects that do not exist yet, with their ids, times and ACLs. No hooks run. */
export async function writeRecords({ store }: Target, records: AsyncIterable<ParseRecord>, write: ClassWrite): Promise<void> {
  const { className, findings, mapper } = write;
  const mapped = async function* () {
    for await (const record of records) yield mapper.map(record);
  };
  let done = 0;
  let present = 0;
  for await (const batch of batchesOf(mapped(), ({ size }) => size, write.bounds)) {
    const known = await knownIds(
      store,
      className,
      batch.map(({ objectId }) => objectId),
    );
    await write.copier?.copy(batch.flatMap(({ files }) => files));
    const fresh = batch.filter(({ objectId }) => !known.has(objectId));
    const began = performance.now();
    if (fresh.length > 0) present += await insertAll(store, className, fresh, findings);
    const heldMs = performance.now() - began;
    present += known.size;
    done += batch.length;
    findings.records.set(className, done);
    findings.present.set(className, present);
    write.progressed(done);
    await write.yieldTurn(heldMs);
  }
}

/** @returns number of objects that existed after all */
async function insertAll(store: Store, className: string, records: readonly MappedRecord[], findings: Findings): Promise<number> {
  const failed: [MappedRecord, ServiceError][] = [];
  await store.bulkTransaction(async (within) => {
    for (let from = 0; from < records.length; from += BATCH_RECORDS) {
      const chunk = records.slice(from, from + BATCH_RECORDS);
      const done = await Promise.allSettled(chunk.map((record) => insert(within, className, record.values)));
      for (const [at, one] of done.entries()) {
        if (one.status === 'fulfilled') continue;
        if (!isRefusal(one.reason)) throw one.reason;
        const record = chunk[at] as MappedRecord;
        const left = className === '_User' ? await insertWithoutLogin(within, record, one.reason, findings) : one.reason;
        if (left) failed.push([record, left]);
      }
    }
  });
  let present = 0;
  for (const [{ objectId }, error] of failed)
    if (error.key === 'duplicateValue') present++;
    else findings.refused.add(className, objectId, error.message);
  return present;
}

async function insert(store: Store, className: string, values: ReadonlyMap<string, StoredValue>): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, className);
      for (const { name, required } of table.fields.values())
        if (required && (values.get(name) ?? '') === '') fail('fieldRequired', name);
      return { changes: [], mutations: [insertOf(table, values)] };
    },
  });
}

/** Returns the mutation that adds an object. */
export function insertOf(table: Mutation['table'], values: ReadonlyMap<string, StoredValue>): Mutation {
  return { kind: 'insert', table, values: Array.from(values, ([name, value]) => [fieldOf(table, name), value] as const) };
}

const keys: ReadonlyMap<string, string> = new Map([
  ['usernameTaken', '_username_key'],
  ['emailTaken', '_email_key'],
]);

/** Inserts a user whose login name or address is taken: the first user keeps it for signing in, as in upgrades of older systems. */
async function insertWithoutLogin(
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
