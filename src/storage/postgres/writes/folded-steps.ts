import type { Mutation, Snapshot } from '../../port.ts';
import { writeFoldedInsert } from '../../sql/insert.ts';
import { writeUnmark } from '../../sql/mutation.ts';
import type { SqlWriter } from '../../sql/sql-writer.ts';
import { writeSnapshot } from '../sql/snapshot.ts';

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;

/**
 * A row about another step, written by the same statement (a CTE). If that step matches no record, nothing is written, and the transaction
 * continues for the other writes.
 */
export type FoldedStep = Of<'insert' | 'unmark'>;

/** Returns the snapshot that a step takes of another record, which it locks. */
export function snapshotOf(mutation: Mutation): Snapshot | undefined {
  return mutation.kind === 'insert' && mutation.source?.kind === 'snapshot' ? mutation.source : undefined;
}

/**
 * Returns whether all these steps can be folded into a step's statement. Folded steps do not see its effects, except for what they read of its
 * record.
 */
export function canFold(main: Of<'insert' | 'update' | 'delete'>, others: readonly Mutation[]): others is readonly FoldedStep[] {
  return others.every((other) => isFoldable(main, other));
}

function isFoldable(main: Of<'insert' | 'update' | 'delete'>, other: Mutation): other is FoldedStep {
  if (other.table.className === main.table.className) return false;
  if (other.kind === 'unmark') return main.kind !== 'insert';
  if (other.kind !== 'insert' || !(other.isNote || other.isJoined)) return false;
  const { source } = other;
  if (!source) return true;
  const { from, objectId } = source;
  // A deleted record can be copied, but not as a snapshot, which is size-limited.
  const isReadable = main.kind === 'update' || (main.kind === 'delete' && source.kind === 'copy');
  return isReadable && main.objectId === objectId && main.table.className === from.className;
}

/**
 * Returns the columns that such steps read of the record after an update, or of the deleted record, by name in its rows. Each function writes its
 * value, over the alias `t`.
 */
export function sourceColumns(folded: readonly FoldedStep[]): ReadonlyMap<string, (out: SqlWriter) => void> {
  const columns = new Map<string, (out: SqlWriter) => void>();
  folded.forEach((step, at) => {
    if (step.kind !== 'insert') return;
    const { source } = step;
    if (source?.kind === 'snapshot') columns.set(snapshotColumn(at), (out) => writeSnapshot(out, 't', source.fields));
    else for (const [, { column }] of source?.fields ?? []) columns.set(copyColumn(column), (out) => out.column('t', column));
  });
  return columns;
}

function sourceColumnNames({ source }: Of<'insert'>, at: number): string[] {
  if (source?.kind === 'snapshot') return [snapshotColumn(at)];
  return source?.fields.map(([, from]) => copyColumn(from.column)) ?? [];
}

const copyColumn = (column: string): string => `copy~${column}`;
const snapshotColumn = (at: number): string => `picture~${at}`;

/**
 * Writes the steps as further CTEs.
 * @param rows name of the main step's CTE, which returns a row if it takes effect, with the columns of `sourceColumns`
 */
export function writeFoldedSteps(out: SqlWriter, folded: readonly FoldedStep[], rows: string): void {
  folded.forEach((step, at) => {
    out.add(`, along${at} AS (`);
    if (step.kind === 'unmark') {
      writeUnmark(out, step);
      out.add(` AND EXISTS (SELECT 1 FROM ${rows})`);
    } else {
      writeFoldedInsert(out, step, rows, sourceColumnNames(step, at));
    }
    out.add(')');
  });
}
