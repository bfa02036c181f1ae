import { fail } from '../../../errors/fail.ts';
import type { Reference, Schema, TableSchema } from '../../../schema/model.ts';
import { writePointing } from '../../sql/mutation.ts';
import { SqlWriter } from '../../sql/sql-writer.ts';
import type { Connection } from '../connection/connection.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Pointer fields that one statement looks up: each adds some 10 µs to its preparation. */
const POINTERS_PER_CHECK = 100;

/** A statement for the position of the first of some Pointer fields through which a record is pointed at, or null. Its parameter is the record's id. */
interface Check {
  readonly text: string;
  readonly pointers: readonly Reference[];
}

/** Checks by the references of a schema to a table: compiling one takes longer than running it. */
const checks = new WeakMap<readonly Reference[], readonly Check[]>();

/**
 * Rejects the delete of a record that others point at, from system tables too: one index lookup per Pointer field. Reference: errors.md#codes.
 * @throws pointedAt (119)
 */
export function refusePointedAt(connection: Connection, { className }: TableSchema, objectId: string, schema: Schema): void {
  const references = schema.referencesTo.get(className);
  if (!references) return;
  for (const { text, pointers } of checksOf(references, className)) {
    const [at] = connection.first({ text, params: [objectId] }) as [number | null];
    const pointer = at === null ? undefined : pointers[at];
    if (pointer) fail('pointedAt', objectId, pointer.table.className, pointer.field.name);
  }
}

function checksOf(references: readonly Reference[], className: string): readonly Check[] {
  let known = checks.get(references);
  if (!known) {
    const pointers = references.filter(({ field }) => field.type === 'Pointer');
    known = Array.from({ length: Math.ceil(pointers.length / POINTERS_PER_CHECK) }, (_, index) =>
      compileCheck(pointers.slice(index * POINTERS_PER_CHECK, (index + 1) * POINTERS_PER_CHECK), className),
    );
    checks.set(references, known);
  }
  return known;
}

function compileCheck(pointers: readonly Reference[], className: string): Check {
  const out = new SqlWriter(sqliteDialect).add('SELECT CASE');
  pointers.forEach((pointer, at) => {
    writePointing(out.add(' WHEN EXISTS ('), pointer, className, '?1');
    out.add(`) THEN ${at}`);
  });
  return { text: out.add(' END').text, pointers };
}
