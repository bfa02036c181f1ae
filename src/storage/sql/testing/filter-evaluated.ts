import { evaluate } from '../../../query/evaluate/index.ts';
import type { Filter } from '../../../query/model/filter.ts';
import { columnFields, snapshotValues } from '../../column-values.ts';
import { SqlWriter } from '../sql-writer.ts';
import type { EngineTables } from './tables.ts';

/** What the evaluator finds, in the form of `EngineTables.ids`, and the parts of the filter that it delegated to the engine. */
export interface Evaluated {
  readonly found: string;
  readonly asked: ReadonlySet<Filter>;
}

/** Returns a function that finds the records of a table that a filter matches, by the evaluator over their present stored values. */
export async function evaluatorOf(tables: EngineTables, className: string): Promise<(filter: Filter) => Promise<Evaluated>> {
  const objectId = tables.field(className, 'objectId');
  const records = await storedRecords(tables, className);

  return async (filter) => {
    const found: string[] = [];
    const asked = new Set<Filter>();
    for (const record of records) {
      const id = record.get(objectId) as string;
      const ask = async (part: Filter) => {
        asked.add(part);
        const alone: Filter = { kind: 'compare', field: objectId, op: 'eq', value: id };
        return (await tables.ids(className, { kind: 'and', items: [alone, part] })) !== '';
      };
      if (await evaluate(filter, (field) => record.get(field) ?? null, ask)) found.push(id);
    }
    return { found: found.join(' '), asked };
  };
}

/** Stored values by field, in creation order. */
async function storedRecords(tables: EngineTables, className: string) {
  const table = tables.table(className);
  const fields = columnFields(table);
  const out = new SqlWriter(tables.dialect).add('SELECT ');
  fields.forEach(({ column }, at) => {
    (at > 0 ? out.add(', ') : out).column('t', column);
  });
  out.add(' FROM ').table(table.sqlName).add(' AS t ORDER BY ').column('t', '_seq');
  const rows = await tables.run(out.statement());
  return rows.map((row) => {
    const values = snapshotValues(JSON.stringify(row), fields);
    return new Map(fields.map((field, at) => [field, values[at] ?? null]));
  });
}
