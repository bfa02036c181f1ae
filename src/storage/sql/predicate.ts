import type { Comparison } from '../../query/filter.ts';
import type { Field } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { StoredValue } from '../../values/type.ts';
import { comparisonSigns } from './dialect.ts';
import type { SqlWriter } from './writer.ts';

const actors: ReadonlySet<string> = new Set(['createdBy', 'updatedBy', 'user']);

/** Fields that name the actor hold the master dummy user nearly everywhere, in logs too; their indexes leave it out. */
export function isActorField(field: Field): boolean {
  return field.targetClass === '_User' && actors.has(field.name);
}

const required: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt']);

/** Fields that every record has: their columns are NOT NULL, and neither their indexes nor their order speak of absent values. */
export function isRequired(field: Field): boolean {
  return required.has(field.name);
}

/** A plain column against a value, in the form that an index can answer. */
export function writeCompare(out: SqlWriter, alias: string, field: Field, op: Comparison, value: StoredValue): void {
  out
    .column(alias, field.column)
    .add(comparisonSigns[op])
    .bind(out.dialect.toColumn(storageOf(field), value));
  if (op === 'eq' && value !== 'master') writeIndexCondition(out, alias, field);
}

/** A plain column against a list. One value is an equality, of which planners know more. */
export function writeIn(out: SqlWriter, alias: string, field: Field, values: readonly StoredValue[]): void {
  const [first] = values;
  if (first === undefined) {
    out.add('false');
    return;
  }
  if (values.length === 1) {
    writeCompare(out, alias, field, 'eq', first);
    return;
  }
  out.dialect.isMember(out, () => out.column(alias, field.column), values, storageOf(field));
  if (!values.includes('master')) writeIndexCondition(out, alias, field);
}

/** The condition of a partial index, said again: without it the planner may not use the index. */
function writeIndexCondition(out: SqlWriter, alias: string, field: Field): void {
  if (isActorField(field)) out.add(' AND ').column(alias, field.column).add(" <> 'master'");
}
