import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { FieldRef, Filter, OrderKey } from '../../../query/filter.ts';
import { applyChange, emptySchema, type SchemaChange } from '../../../schema/change.ts';
import type { Field, FieldType, Schema, TableSchema } from '../../../schema/model.ts';
import { valueTypes } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/type.ts';
import { writeFilter, writeWhere } from '../../sql/filter.ts';
import { compileInsert } from '../../sql/insert.ts';
import { writeOrder } from '../../sql/order.ts';
import { SqlWriter, type Statement } from '../../sql/writer.ts';
import { Connection, type Row } from '../connection.ts';
import { applyDdl } from '../schema/ddl.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Tables in memory, made as the engine makes them, for the unit tests of what is compiled. */
export class TestTables {
  readonly connection: Connection;
  #schema: Schema = emptySchema;
  #records = 0;

  constructor(tick?: () => void) {
    this.connection = new Connection(':memory:', 'write', tick);
  }

  change(change: SchemaChange): void {
    const after = applyChange(this.#schema, change);
    applyDdl(this.connection.db, change, this.#schema, after);
    this.#schema = after;
  }

  /** A table of `{field: type}`; `Pointer:Target` names the target. */
  define(className: string, fields: Readonly<Record<string, string>>): void {
    this.change({ kind: 'createTable', className });
    for (const [name, described] of Object.entries(fields)) {
      const [type, targetClass] = described.split(':') as [FieldType, string?];
      this.change({ kind: 'addField', className, name, type, ...(targetClass === undefined ? {} : { targetClass }) });
    }
  }

  table(className: string): TableSchema {
    return this.#schema.tables.get(className) as TableSchema;
  }

  field(className: string, name: string): Field {
    const field = this.table(className).fields.get(name);
    if (!field) throw new Error(`no field ${className}.${name}`);
    return field;
  }

  /** A field, or a place inside it: `obj.a.0`. */
  ref(className: string, path: string): FieldRef {
    const [name, ...rest] = path.split('.');
    return { field: this.field(className, name as string), path: rest };
  }

  /** Adds a record of wire values; `objectId` names it in results. */
  insert(className: string, record: JsonObject): void {
    this.#records += 1;
    const values: [Field, StoredValue][] = [
      [this.field(className, 'createdAt'), this.#records],
      [this.field(className, 'updatedAt'), this.#records],
    ];
    for (const [name, value] of Object.entries(record)) {
      const field = this.field(className, name);
      if (value !== null) values.push([field, valueTypes.get(field.type)?.decode(value as JsonValue, field, className) ?? null]);
    }
    this.run(compileInsert({ kind: 'insert', table: this.table(className), values }, sqliteDialect));
  }

  run(statement: Statement): Row[] {
    return this.connection.all(statement);
  }

  compile(className: string, filter: Filter, order: readonly OrderKey[] = [], interruptible = false) {
    const out = new SqlWriter(sqliteDialect, interruptible);
    out.add('SELECT "objectId" FROM ').name(this.table(className).sqlName).add(' AS t');
    writeWhere(out, filter, 't');
    writeOrder(out.add(' ORDER BY '), order, filter, 't');
    return out.statement();
  }

  /** objectIds of the records that the filter finds, in order, with spaces between. */
  find(className: string, filter: Filter, order: readonly OrderKey[] = [], interruptible = false): string {
    return this.run(this.compile(className, filter, order, interruptible))
      .map(([id]) => id)
      .join(' ');
  }

  /** How SQLite would find the records of a filter. */
  plan(className: string, filter: Filter): string {
    const out = new SqlWriter(sqliteDialect)
      .add('EXPLAIN QUERY PLAN SELECT "objectId" FROM ')
      .name(this.table(className).sqlName);
    writeFilter(out.add(' AS t WHERE '), filter, 't');
    return this.run(out.statement())
      .map((row) => row[3])
      .join('; ');
  }
}
