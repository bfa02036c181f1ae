// Shared by the unit tests of aggregations: a table of sales, and the steps from a pipeline to result objects.

import { authorize, master } from '../../../access/index.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { AggregateParameters, buildAggregation } from '../../../query/aggregate/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { rowWriter } from '../../../values/rows/encode.ts';
import { type AggregateStatement, compileAggregation } from '../aggregate/compile.ts';
import type { AggregateDialect } from '../aggregate/dialect.ts';
import { compileDeleteAll } from '../mutation.ts';
import { rowContext } from './addresses.ts';
import type { EngineTables } from './tables.ts';

export const date = (iso: string) => ({ __type: 'Date', iso });
export const buyer = (objectId: string) => ({ __type: 'Pointer', className: 'Buyers', objectId });

/** A table of sales. Records without ids get r1, r2, ... */
export class SalesTable {
  readonly #tables: EngineTables;
  readonly #aggregate: AggregateDialect;

  private constructor(tables: EngineTables, aggregate: AggregateDialect) {
    this.#tables = tables;
    this.#aggregate = aggregate;
  }

  static async make(tables: EngineTables, aggregate: AggregateDialect, records: readonly JsonObject[]): Promise<SalesTable> {
    await tables.make('Buyers', { Name: 'String' });
    await tables.make('Sales', {
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
    const sales = new SalesTable(tables, aggregate);
    await sales.fill(records);
    return sales;
  }

  get schema(): TableSchema {
    return this.#tables.table('Sales');
  }

  /** Replaces all records with these. */
  async fill(records: readonly JsonObject[]): Promise<void> {
    const all = { kind: 'deleteAll', table: this.schema, filter: { kind: 'always' } } as const;
    await this.#tables.run(compileDeleteAll(all, this.#tables.dialect));
    for (const [at, record] of records.entries()) await this.#tables.add('Sales', { objectId: `r${at + 1}`, ...record });
  }

  compile(parameters: Readonly<Record<string, JsonValue>>): AggregateStatement {
    const grant = authorize(master, 'find', this.schema);
    const schema = { ...this.#tables.schema, tables: new Map([['Sales', this.schema]]), referencesTo: new Map() };
    const aggregation = buildAggregation(new AggregateParameters(new Map(Object.entries(parameters))), grant, {
      schema,
      principal: master,
    });
    return compileAggregation(aggregation, this.#tables.dialect, this.#aggregate, rowContext);
  }

  /** Returns the result objects of an aggregation given by its parameters. */
  async run(parameters: Readonly<Record<string, JsonValue>>): Promise<JsonObject[]> {
    const statement = this.compile(parameters);
    const write = rowWriter({ columns: statement.columns });
    const rows = await this.#tables.run(statement);
    return rows.map((row) => JSON.parse(write(row)) as JsonObject);
  }

  pipeline(...stages: readonly JsonObject[]): Promise<JsonObject[]> {
    return this.run({ pipeline: [...stages] });
  }
}
