import type { RowGuard } from '../../access/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { writeCompare } from './predicate.ts';
import type { SqlWriter } from './writer.ts';

/** Writes the condition under which a caller may see or change a record; the same for reads, writes and sub-queries. */
export function writeGuard(out: SqlWriter, guard: RowGuard, table: TableSchema, alias: string): void {
  switch (guard.kind) {
    case 'nobody':
      out.add('false');
      break;
    case 'acl':
      out.dialect.aclAllows(out, alias, 'ACL', guard.right, guard.identities);
      break;
    case 'all':
      out.add('(true');
      for (const part of guard.guards) writeGuard(out.add(' AND '), part, table, alias);
      out.add(')');
      break;
    case 'userFields':
      out.add('(false');
      for (const name of guard.fields) writeHolds(out, table, name, guard.userId, alias);
      out.add(')');
      break;
  }
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
