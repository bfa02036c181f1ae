import { type HeldWork, heldWork } from '../../automation/index.ts';
import { changesTo } from '../../schema/replay.ts';
import type { Store } from '../../storage/port.ts';
import { chunkedRows, type StoredRow, type StoreSnapshot } from '../../storage/raw-access.ts';
import { NewStore } from '../backup/new-store.ts';
import { chunkedMembers, type Part, partIn, partsOf } from '../migrate/copy.ts';
import { clearFiles, RowChanges } from './row-changes.ts';
import { areMembersTaken, type Extent, fileTable, Shares, usageTable } from './shares.ts';

/** What a clone takes of a system. */
export interface CloneOptions {
  readonly extent: Extent;
  readonly withFiles: boolean;
  /** Whether users keep their passwords. */
  readonly withLogins: boolean;
}

/** Progress events of a clone. */
export interface CloneEvents {
  /** @param records number written so far @param share of all records, from 0 to 1 */
  copying(what: string, records: number, share: number): void;
  /** @param files number written so far */
  files(files: number): void;
}

/** The records of a clone. */
export interface ClonedRecords {
  readonly records: number;
  /** Values of File fields that were cleared because files are left out. */
  readonly clearedFiles: number;
  /** Work that waits until the clone is resumed. */
  readonly held: HeldWork;
}

/**
 * Fills a store with the records of a snapshot. Memory holds some thousand records at a time.
 * @param store empty
 * @param lookups names of the lookup tables of the template
 * @param admit called with the share of all records that are taken, before the first is written
 * @throws OperatorError if the engine refuses a record; errors of both stores
 */
export async function cloneRecords(
  snapshot: StoreSnapshot,
  store: Store,
  options: CloneOptions & { readonly lookups: ReadonlySet<string> },
  { admit, events }: { readonly admit: (share: number) => Promise<void>; readonly events: CloneEvents },
): Promise<ClonedRecords> {
  const parts = partsOf(snapshot.schema);
  const shares = new Shares(options.extent, snapshot.schema, options);
  const taken = new Set<string>();
  let total = 0;
  let all = 1;
  for (const part of parts) {
    if (part.kind !== 'table') continue;
    const records = await snapshot.count(part.table);
    all += records;
    if (shares.of(part.table, records) === 'none') continue;
    taken.add(part.table.className);
    total += records;
  }
  await admit(total / all);
  const filling = new NewStore(store, (what, records) =>
    events.copying(what, records, total === 0 ? 1 : Math.min(1, records / total)),
  );
  await filling.makeTables(changesTo(snapshot.schema), snapshot.schema);
  let clearedFiles = 0;
  for (const part of parts) {
    const target = partIn(store, part);
    const name = nameOf(part);
    if (part.kind === 'table' && target.kind === 'table') {
      if (!taken.has(part.table.className)) continue;
      const changes = changesOf(part, options, shares, () => clearedFiles++);
      await filling.addRows(name, target, changedRows(chunkedRows(snapshot, part.table, 0), changes));
    } else if (part.kind === 'relation' && target.kind === 'relation') {
      if (areMembersTaken(part, (className) => taken.has(className)))
        await filling.addMembers(name, target, chunkedMembers(snapshot, part.field, null));
    }
  }
  await filling.finish();
  return { records: filling.records, clearedFiles, held: await heldWork(store) };
}

/** Name of a part, for messages. */
const nameOf = (part: Part) => (part.kind === 'table' ? part.table.className : `${part.table.className}.${part.field.name}`);

function changesOf(
  { table }: Extract<Part, { kind: 'table' }>,
  { withFiles, withLogins }: CloneOptions,
  shares: Shares,
  cleared: () => void,
): RowChanges {
  const changes = new RowChanges(table);
  const { className } = table;
  if (!withFiles) clearFiles(changes, table, cleared);
  if (className === '_User') {
    // Links to reset a password are for the address of the original.
    for (const field of ['_reset_token', '_reset_expires_at']) changes.clear(field);
    if (!withLogins) changes.clear('password');
  } else if (className === '_Trigger' && !shares.hasUsers) changes.clear('_author');
  else if (className === fileTable) {
    // Assigned by the file store; the copied bytes have new ones.
    changes.clear('version');
    // A large upload that has not arrived goes to the original.
    changes.require('size');
  } else if (className === usageTable && !withFiles) for (const field of ['files', 'bytes']) changes.change(field, () => 0);
  return changes;
}

async function* changedRows(
  batches: AsyncIterable<readonly StoredRow[]>,
  changes: RowChanges,
): AsyncGenerator<readonly StoredRow[]> {
  for await (const rows of batches) {
    const taken = changes.of(rows);
    if (taken.length > 0) yield taken;
  }
}
