import { fail, ServiceError, serviceError } from '../../../errors/fail.ts';
import {
  checkWrites,
  exclusively,
  followAllRenames,
  type RecordContext,
  switchOffDefinitions,
  updateSchema,
  writeAtomically,
} from '../../../records/index.ts';
import type { Schema } from '../../../schema/model.ts';
import { type Comparison, compare } from '../diff/compare.ts';
import { countConcerned } from '../diff/counts.ts';
import type { Delta } from '../diff/delta.ts';
import { describeDelta } from '../diff/describe.ts';
import { named } from '../diff/step.ts';
import type { Change } from '../model/change.ts';
import type { Scope, Snapshot } from '../model/snapshot.ts';
import { isSameDescribed } from './described.ts';
import { type LateIndex, planTables } from './plan-tables.ts';
import { type NamedWrite, rowWrites } from './row-writes.ts';

/** Differences of a system from a snapshot. */
export interface SchemaDiff {
  /** Of what the system has in the scope. */
  readonly hash: string;
  readonly changes: readonly Change[];
  /** What is no change and worth knowing: references that lead nowhere, former names that are not there. */
  readonly notes: readonly string[];
}

/** How a snapshot is applied. */
export interface ApplyOptions extends Scope {
  /** Of the diff that was read: if the system has changed since, nothing is done. */
  readonly hash?: string | undefined;
  readonly allowsDestructive: boolean;
  /** Only what would be refused is refused; nothing is done. */
  readonly isDryRun?: boolean;
}

/** Under this key one snapshot is applied at a time, in all processes. */
const KEY = 'schema apply';

/**
 * Compares a system with a snapshot, changing nothing. Reference: schema-as-code.md#changes.
 * @throws SnapshotFault
 */
export async function diffSchema(context: RecordContext, snapshot: Snapshot, scope: Scope): Promise<SchemaDiff> {
  const { diff } = await compared(context, snapshot, scope);
  return diff;
}

/**
 * Makes a system what a snapshot says: everything in one commit, then the indexes of tables with records one by one.
 * Reference: schema-as-code.md#apply.
 * @returns the changes that were made
 * @throws SnapshotFault; schemaChangedSince (409); destructiveChanges, brokenReferences; the error of the first step that fails, with its name
 */
export function applySchema(context: RecordContext, snapshot: Snapshot, options: ApplyOptions): Promise<SchemaDiff> {
  return exclusively(context, KEY, async (held) => {
    const { diff, comparison } = await compared(held, snapshot, options);
    if (options.hash !== undefined && options.hash !== diff.hash) fail('schemaChangedSince');
    refuse(diff, comparison, options);
    if (diff.changes.length > 0) await commit(held, comparison, options.isDryRun ?? false);
    return diff;
  });
}

async function compared(
  context: RecordContext,
  snapshot: Snapshot,
  scope: Scope,
): Promise<{ readonly diff: SchemaDiff; readonly comparison: Comparison }> {
  const comparison = await compare(context, snapshot, scope);
  const { delta, hash, unresolved } = comparison;
  const changes = describeDelta(delta, await countConcerned(context.store, delta));
  return { diff: { hash, changes, notes: [...delta.notes, ...unresolved] }, comparison };
}

/** Number of things that an error names. */
const MAX_NAMED = 5;

function refuse({ changes }: SchemaDiff, { unresolved }: Comparison, { allowsDestructive }: ApplyOptions): void {
  const destructive = changes.filter((change) => change.destructive);
  if (destructive.length > 0 && !allowsDestructive)
    fail('destructiveChanges', destructive.length, firstOf(destructive.map(({ text }) => text)));
  if (unresolved.length > 0) fail('brokenReferences', firstOf(unresolved));
}

function firstOf(texts: readonly string[]): string {
  const more = texts.length - MAX_NAMED;
  return `${texts.slice(0, MAX_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

const nothing = { conditions: () => [], steps: () => [] };

async function commit(context: RecordContext, { state, delta, renames }: Comparison, isDryRun: boolean): Promise<void> {
  const { changes, late } = planTables(state.schema, delta, state.references);
  const writes = rowWrites(delta, state);
  const before = (schema: Schema) => {
    // Called again if the schema changed before the commit.
    if (schema !== state.schema && !isSameDescribed(schema, state.schema)) fail('schemaChangedSince');
    return changes;
  };
  const all = writes.map(({ write }) => write);
  // Records that differ beyond the new names are written whole here.
  const written = delta.rows.flatMap((row) => (row.op === 'add' ? [] : [row.found.objectId]));
  const followed = renames.size > 0 ? await followAllRenames(context, renames, new Set(written)) : nothing;
  const steps = (schema: Schema) => [
    ...followed.steps(schema),
    ...delta.gone.flatMap((className) => switchOffDefinitions(schema, className)),
  ];
  try {
    if (isDryRun) await checkWrites(context, all, before);
    else await writeAtomically(context, all, before, { conditions: followed.conditions, steps });
  } catch (error) {
    throw explained(error, writes, delta);
  }
  if (isDryRun) return;
  for (const index of late) await build(context, index);
}

/** Returns the error of a commit with the name of the step that failed. */
function explained(error: unknown, writes: readonly NamedWrite[], { tables, gone }: Delta): unknown {
  if (!(error instanceof ServiceError)) return error;
  // A record is not as it was read.
  if (error.key === 'objectNotFound') return serviceError('schemaChangedSince');
  // A single write has no position.
  const isSingle = writes.length === 1 && tables.length + gone.length === 0;
  const item = error.item ?? (isSingle ? 0 : undefined);
  const failed = item === undefined ? undefined : writes[item];
  if (failed) return named(failed.step, error);
  // Records contradict a change of a table. The store names the field or index, not the table.
  const concerned = tables.filter(({ retyped, options, added, uniqueIndexes }) =>
    [...retyped.map(({ name }) => name), ...options, ...added, ...uniqueIndexes.made].some((name) =>
      mentions(error.message, name),
    ),
  );
  return error.details && concerned.length > 0 ? named(concerned.map(({ className }) => className).join(' or '), error) : error;
}

/** Whether a text has a name as a whole word. */
const mentions = (text: string, name: string): boolean => text.split(/\W+/).includes(name);

async function build(context: RecordContext, { className, what, body }: LateIndex): Promise<void> {
  try {
    await updateSchema(context, className, body);
  } catch (error) {
    throw named(`all but indexes is applied; ${what}`, error);
  }
}
