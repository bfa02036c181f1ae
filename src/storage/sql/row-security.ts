import type { RowGuard } from '../../access/index.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { type SqlWriter, writeCompare } from './sql-writer.ts';
import { writeSources, writeSubject } from './subject-visibility.ts';

/** Writes the condition under which a caller may see or change a record. Reads, writes and sub-queries share it. */
export function writeGuard(out: SqlWriter, guard: RowGuard, table: TableSchema, alias: string): void {
  switch (guard.kind) {
    case 'acl':
      out.dialect.aclAllows(out, alias, 'ACL', guard.right, guard.identities);
      break;
    case 'record':
      out.column(alias, 'objectId').add(' = ').bind(guard.objectId);
      break;
    case 'oneOf':
      writeOneOf(out, guard, table, alias);
      break;
    case 'subject':
      writeSubject(out, guard, table, alias, writeGuard);
      break;
    case 'sources':
      writeSources(out, guard, table, alias, writeGuard);
      break;
    case 'all':
      writeGuards(out, guard.guards, ' AND ', table, alias);
      break;
    case 'any':
      writeGuards(out, guard.guards, ' OR ', table, alias);
      break;
    case 'not':
      writeGuard(out.add('(('), guard.guard, table, alias);
      out.add(') IS NOT TRUE)');
      break;
    case 'userFields':
      out.add('(false');
      for (const name of guard.fields) writeHolds(out, table, name, guard.userId, alias);
      out.add(')');
      break;
  }
}

function writeOneOf(
  out: SqlWriter,
  { field, values }: Extract<RowGuard, { kind: 'oneOf' }>,
  table: TableSchema,
  alias: string,
): void {
  const { column } = fieldOf(table, field);
  values.forEach((value, at) => {
    out.add(at > 0 ? ' OR ' : '(').column(alias, column);
    if (value === null) out.add(' IS NULL');
    else out.add(' = ').bind(value);
  });
  out.add(values.length > 0 ? ')' : 'false');
}

function writeGuards(out: SqlWriter, guards: readonly RowGuard[], operator: string, table: TableSchema, alias: string): void {
  if (guards.length === 0) {
    out.add(operator === ' OR ' ? 'false' : 'true');
    return;
  }
  out.add('(');
  guards.forEach((part, index) => {
    writeGuard(index > 0 ? out.add(operator) : out, part, table, alias);
  });
  out.add(')');
}

function writeHolds(out: SqlWriter, table: TableSchema, name: string, userId: string, alias: string): void {
  const field = table.fields.get(name);
  if (field?.type === 'Pointer' && field.targetClass === '_User') {
    writeCompare(out.add(' OR ('), alias, field, 'eq', userId);
    out.add(')');
  } else if (field?.type === 'Array') {
    const user = { kind: 'pointer', className: '_User', objectId: userId } as const;
    out.dialect.jsonHas(out.add(' OR '), alias, { field, path: [] }, 'any', [user]);
  }
}
