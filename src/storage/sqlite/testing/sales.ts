// What the unit tests of aggregations share: a table of sales in memory, and the way from a pipeline to result objects.

import { authorize, master } from '../../../access/index.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { parseAggregation } from '../../../query/aggregate/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { rowWriter } from '../../../values/encode.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import { sqliteAggregate } from '../sql/aggregate.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { TestTables } from './tables.ts';

export const date = (iso: string) => ({ __type: 'Date', iso });
export const buyer = (objectId: string) => ({ __type: 'Pointer', className: 'Buyers', objectId });

/** Sales of the given records; their ids are r1, r2, ..., where they bring none. */
export class SalesTable {
  readonly #tables: TestTables;

  constructor(records: readonly JsonObject[], tick?: () => void) {
    this.#tables = new TestTables(tick);
    this.#tables.define('Buyers', { Name: 'String' });
    this.#tables.define('Sales', {
      k: 'String',
      city: 'String',
      n: 'Number',
      p: 'Number',
      paid: 'Boolean',
      when: 'Date',
      owner: 'Pointer:Buyers',
      friends: 'Relation:Buyers',
      tags: 'Array',
      o: 'Object',
    });
    records.forEach((record, at) => {
      this.#tables.insert('Sales', { objectId: `r${at + 1}`, ...record });
    });
  }

  get schema(): TableSchema {
    return this.#tables.table('Sales');
  }

  /** The result objects of an aggregation given by its parameters. */
  run(parameters: Readonly<Record<string, JsonValue>>): JsonObject[] {
    const grant = authorize(master, 'find', this.schema);
    const schema = { version: 1, tables: new Map([['Sales', this.schema]]), referencesTo: new Map() };
    const aggregation = parseAggregation(new Map(Object.entries(parameters)), grant, { schema, principal: master });
    const statement = compileAggregation(aggregation, sqliteDialect, sqliteAggregate);
    const write = rowWriter({ columns: statement.columns });
    return this.#tables.run(statement).map((row) => JSON.parse(write(row)) as JsonObject);
  }

  pipeline(...stages: readonly JsonObject[]): JsonObject[] {
    return this.run({ pipeline: [...stages] });
  }
}
