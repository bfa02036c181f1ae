import type { Field } from '../../../schema/model.ts';
import type { Mutation } from '../../port.ts';
import { writeInsertAlong } from '../../sql/insert.ts';
import { writeUnmark } from '../../sql/mutation.ts';
import type { SqlWriter } from '../../sql/writer.ts';

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;

/**
 * A step that goes along with another one in its statement, which it tells of. So a write that its record refuses does not fail the others of
 * its transaction.
 */
export type Along = Of<'insert' | 'unmark'>;

/** Whether all these steps may go along with a step. None of them sees what it does, but for the values that they copy. */
export function goAlong(main: Of<'insert' | 'update' | 'delete'>, others: readonly Mutation[]): others is readonly Along[] {
  return others.every((other) => isAlong(main, other));
}

function isAlong(main: Of<'insert' | 'update' | 'delete'>, other: Mutation): other is Along {
  if (other.table.className === main.table.className) return false;
  if (other.kind === 'unmark') return main.kind !== 'insert';
  if (other.kind !== 'insert' || !other.isNote) return false;
  if (!other.copies) return true;
  const { from, objectId } = other.copies;
  return main.kind === 'update' && main.objectId === objectId && main.table.className === from.className;
}

/** The fields whose values such steps copy. */
export function copiedBy(along: readonly Along[]): readonly Field[] {
  const fields = along.flatMap((step) => (step.kind === 'insert' && step.copies ? step.copies.fields : []));
  return [...new Set(fields.map(([, from]) => from))];
}

/** The name that the value of such a field has in the rows of the main step. */
export const copied = ({ column }: Field): string => `copy~${column}`;

/**
 * Writes the steps as further parts of WITH.
 * @param rows the name of the main step's part, which returns a row where it takes effect, with the `copied` fields
 */
export function writeAlong(out: SqlWriter, along: readonly Along[], rows: string): void {
  along.forEach((step, at) => {
    out.add(`, along${at} AS (`);
    if (step.kind === 'unmark') {
      writeUnmark(out, step);
      out.add(` AND EXISTS (SELECT 1 FROM ${rows})`);
    } else
      writeInsertAlong(out, step, rows, (n) => {
        const [, from] = step.copies?.fields[n] ?? [];
        if (from) out.add(', ').name(copied(from));
      });
    out.add(')');
  });
}
