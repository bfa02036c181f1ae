import type { JsonObject } from '../../../kernel/json.ts';
import type { Filter, OrderKey } from '../../../query/model/filter.ts';
import { type SchemaChange, stepsOf } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import { writeFilter } from '../../sql/filter.ts';
import { SqlWriter, type Statement } from '../../sql/sql-writer.ts';
import { EngineTables, tableChanges } from '../../sql/testing/tables.ts';
import { Connection } from '../connection/connection.ts';
import type { Row } from '../connection/statements.ts';
import { applyDdl } from '../schema/ddl.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** In-memory tables, created as the engine creates them, for unit tests of compiled SQL. */
export class TestTables extends EngineTables {
  readonly dialect = sqliteDialect;
  readonly connection: Connection;

  constructor(tick?: () => void) {
    super();
    this.connection = new Connection(':memory:', 'write', tick ? { tick } : {});
  }

  protected apply(change: SchemaChange, before: Schema, after: Schema): void {
    for (const step of stepsOf([change])) applyDdl(this.connection, step, before, after);
  }

  /** Creates a table from `{field: type}`; `Pointer:Target` names the target. */
  define(className: string, fields: Readonly<Record<string, string>>): void {
    for (const change of tableChanges(className, fields)) this.change(change);
  }

  /** Adds a record of wire values; `objectId` names it in results. */
  insert(className: string, record: JsonObject): void {
    this.run(this.insertion(className, record));
  }

  run(statement: Statement): Row[] {
    return this.connection.all(statement);
  }

  /** Returns the objectIds of the records that the filter finds, in order, separated by spaces. */
  find(className: string, filter: Filter, order: readonly OrderKey[] = [], interruptible = false): string {
    return this.run(this.compile(className, filter, order, interruptible))
      .map(([id]) => id)
      .join(' ');
  }

  /** Returns SQLite's plan for a filter. */
  plan(className: string, filter: Filter): string {
    const out = new SqlWriter(sqliteDialect)
      .add('EXPLAIN QUERY PLAN SELECT "objectId" FROM ')
      .name(this.table(className).sqlName);
    writeFilter(out.add(' AS t WHERE '), filter, 't');
    return this.#steps(out.statement());
  }

  /** Returns SQLite's plan for a statement. */
  planOf({ text, params }: Statement): string {
    return this.#steps({ text: `EXPLAIN QUERY PLAN ${text}`, params });
  }

  #steps(explain: Statement): string {
    return this.run(explain)
      .map((row) => row[3])
      .join('; ');
  }
}
