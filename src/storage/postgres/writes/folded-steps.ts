import type { Mutation } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { writeInsertAlong } from '../../sql/insert.ts';
import { writeUnmark } from '../../sql/mutation.ts';
import type { SqlWriter } from '../../sql/writer.ts';

type Of<K extends Mutation['kind']> = Extract<Mutation, { kind: K }>;

/**
 * A step that goes along with another one in its statement, which it tells of. So a write that its record refuses does not fail the others of
 * its transaction.
 */
export type Along = Of<'insert' | 'unmark'>;

/** Whether all these steps may go along with a step. None of them sees what it does, but for what they copy or picture. */
export function goAlong(main: Of<'insert' | 'update' | 'delete'>, others: readonly Mutation[]): others is readonly Along[] {
  return others.every((other) => isAlong(main, other));
}

function isAlong(main: Of<'insert' | 'update' | 'delete'>, other: Mutation): other is Along {
  if (other.table.className === main.table.className) return false;
  if (other.kind === 'unmark') return main.kind !== 'insert';
  if (other.kind !== 'insert' || !other.isNote) return false;
  const source = other.copies ?? other.picture;
  if (!source) return true;
  const { from, objectId } = source;
  // A record that is deleted tells what it held, but not as a picture, which is bounded.
  const tells = main.kind === 'update' || (main.kind === 'delete' && other.copies !== undefined);
  return tells && main.objectId === objectId && main.table.className === from.className;
}

/** What such steps take of the record that an update leaves, or that is deleted: columns of its rows, by name. Each writes its value, over the alias `t`. */
export function takenBy(along: readonly Along[], dialect: Dialect): ReadonlyMap<string, (out: SqlWriter) => void> {
  const taken = new Map<string, (out: SqlWriter) => void>();
  along.forEach((step, at) => {
    if (step.kind !== 'insert') return;
    const { copies, picture } = step;
    for (const [, { column }] of copies?.fields ?? []) taken.set(copied(column), (out) => out.column('t', column));
    if (picture) taken.set(pictured(at), (out) => dialect.picture(out, 't', picture.fields));
  });
  return taken;
}

const copied = (column: string): string => `copy~${column}`;
const pictured = (at: number): string => `picture~${at}`;

/**
 * Writes the steps as further parts of WITH.
 * @param rows the name of the main step's part, which returns a row where it takes effect, with the columns of `takenBy`
 */
export function writeAlong(out: SqlWriter, along: readonly Along[], rows: string): void {
  along.forEach((step, at) => {
    out.add(`, along${at} AS (`);
    if (step.kind === 'unmark') {
      writeUnmark(out, step);
      out.add(` AND EXISTS (SELECT 1 FROM ${rows})`);
    } else {
      const { copies, picture } = step;
      const taken = copies?.fields.map(([, from]) => copied(from.column)) ?? [];
      writeInsertAlong(out, step, rows, picture ? [pictured(at)] : taken);
    }
    out.add(')');
  });
}
