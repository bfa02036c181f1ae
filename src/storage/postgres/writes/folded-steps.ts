import type { Mutation } from '../../port.ts';
import { writeFoldedInsert } from '../../sql/insert.ts';
import { writeUnmark } from '../../sql/mutation.ts';
import type { SqlWriter } from '../../sql/writer.ts';
import { writeSnapshot } from '../sql/snapshot.ts';

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;

/**
 * A row about another step, written by the same statement (a CTE). Where that step matches no record nothing is written, and the transaction
 * goes on for the other writes.
 */
export type FoldedStep = Of<'insert' | 'unmark'>;

/** Whether all these steps may go along with a step. None of them sees what it does, but for what they take of its record. */
export function canFold(main: Of<'insert' | 'update' | 'delete'>, others: readonly Mutation[]): others is readonly FoldedStep[] {
  return others.every((other) => isFoldable(main, other));
}

function isFoldable(main: Of<'insert' | 'update' | 'delete'>, other: Mutation): other is FoldedStep {
  if (other.table.className === main.table.className) return false;
  if (other.kind === 'unmark') return main.kind !== 'insert';
  if (other.kind !== 'insert' || !other.isNote) return false;
  const { source } = other;
  if (!source) return true;
  const { from, objectId } = source;
  // A record that is deleted tells what it held, but not as a snapshot, which is bounded.
  const tells = main.kind === 'update' || (main.kind === 'delete' && source.kind === 'copy');
  return tells && main.objectId === objectId && main.table.className === from.className;
}

/** What such steps take of the record that an update leaves, or that is deleted: columns of its rows, by name. Each writes its value, over the alias `t`. */
export function takenBy(along: readonly FoldedStep[]): ReadonlyMap<string, (out: SqlWriter) => void> {
  const taken = new Map<string, (out: SqlWriter) => void>();
  along.forEach((step, at) => {
    if (step.kind !== 'insert') return;
    const { source } = step;
    if (source?.kind === 'snapshot') taken.set(snapshotColumn(at), (out) => writeSnapshot(out, 't', source.fields));
    else for (const [, { column }] of source?.fields ?? []) taken.set(copyColumn(column), (out) => out.column('t', column));
  });
  return taken;
}

function columnsTaken({ source }: Of<'insert'>, at: number): string[] {
  if (source?.kind === 'snapshot') return [snapshotColumn(at)];
  return source?.fields.map(([, from]) => copyColumn(from.column)) ?? [];
}

const copyColumn = (column: string): string => `copy~${column}`;
const snapshotColumn = (at: number): string => `picture~${at}`;

/**
 * Writes the steps as further parts of WITH.
 * @param rows the name of the main step's part, which returns a row where it takes effect, with the columns of `takenBy`
 */
export function writeFoldedSteps(out: SqlWriter, along: readonly FoldedStep[], rows: string): void {
  along.forEach((step, at) => {
    out.add(`, along${at} AS (`);
    if (step.kind === 'unmark') {
      writeUnmark(out, step);
      out.add(` AND EXISTS (SELECT 1 FROM ${rows})`);
    } else {
      writeFoldedInsert(out, step, rows, columnsTaken(step, at));
    }
    out.add(')');
  });
}
