import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { FieldRef, Filter, OrderKey } from '../../../query/model/filter.ts';
import { applyChange, emptySchema, type SchemaChange } from '../../../schema/change.ts';
import { type Field, type FieldType, fieldOf, type Schema, type TableSchema, tableOf } from '../../../schema/model.ts';
import { valueTypes } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Dialect } from '../dialect.ts';
import { writeWhere } from '../filter.ts';
import { compileInsert } from '../insert.ts';
import { compileLink } from '../mutation.ts';
import { writeOrder } from '../select.ts';
import { SqlWriter, type Statement } from '../sql-writer.ts';

/** Engines that answer synchronously return the value itself. */
type Soon<T> = T | Promise<T>;

/** Tables as an engine creates them, for the unit tests that both engines pass. */
export abstract class EngineTables {
  abstract readonly dialect: Dialect;
  #schema: Schema = emptySchema;
  #records = 0;

  /** Executes a schema change in the database. */
  protected abstract apply(change: SchemaChange, before: Schema, after: Schema): Soon<void>;
  abstract run(statement: Statement): Soon<readonly (readonly unknown[])[]>;

  get schema(): Schema {
    return this.#schema;
  }

  change(change: SchemaChange): Soon<void> {
    const before = this.#schema;
    this.#schema = applyChange(before, change);
    return this.apply(change, before, this.#schema);
  }

  /** Creates a table from `{field: type}`; `Pointer:Target` names the target. */
  async make(className: string, fields: Readonly<Record<string, string>>): Promise<void> {
    for (const change of tableChanges(className, fields)) await this.change(change);
  }

  table(className: string): TableSchema {
    return tableOf(this.#schema, className);
  }

  field(className: string, name: string): Field {
    return fieldOf(this.table(className), name);
  }

  /** Returns a field, or a path inside it: `obj.a.0`. */
  ref(className: string, path: string): FieldRef {
    const [name, ...rest] = path.split('.');
    return { field: this.field(className, name as string), path: rest };
  }

  /** Adds a record of wire values; `objectId` names it in results. */
  async add(className: string, record: JsonObject): Promise<void> {
    await this.run(this.insertion(className, record));
  }

  /** Adds members to a Relation of a record. */
  async link(className: string, name: string, ownerId: string, memberIds: readonly string[]): Promise<void> {
    const relation = this.field(className, name);
    await this.run(compileLink({ kind: 'link', table: this.table(className), relation, ownerId, memberIds }, this.dialect));
  }

  /** Returns the objectIds of the records that the filter finds, in order, separated by spaces. */
  async ids(className: string, filter: Filter, order: readonly OrderKey[] = [], interruptible = false): Promise<string> {
    const rows = await this.run(this.compile(className, filter, order, interruptible));
    return rows.map(([id]) => id).join(' ');
  }

  compile(className: string, filter: Filter, order: readonly OrderKey[] = [], interruptible = false): Statement {
    const out = new SqlWriter(this.dialect, interruptible);
    out.add('SELECT "objectId" FROM ').table(this.table(className).sqlName).add(' AS t');
    writeWhere(out, filter, 't');
    writeOrder(out.add(' ORDER BY '), order, filter, 't');
    return out.statement();
  }

  protected insertion(className: string, record: JsonObject): Statement {
    this.#records += 1;
    const values: [Field, StoredValue][] = [
      [this.field(className, 'createdAt'), this.#records],
      [this.field(className, 'updatedAt'), this.#records],
    ];
    for (const [name, value] of Object.entries(record)) {
      const field = this.field(className, name);
      if (value !== null) values.push([field, valueTypes.get(field.type)?.decode(value as JsonValue, field, className) ?? null]);
    }
    return compileInsert({ kind: 'insert', table: this.table(className), values }, this.dialect);
  }
}

/** Returns the changes that create a table from `{field: type}`. */
export function tableChanges(className: string, fields: Readonly<Record<string, string>>): SchemaChange[] {
  const added = Object.entries(fields).map(([name, described]): SchemaChange => {
    const [type, targetClass] = described.split(':') as [FieldType, string?];
    return { kind: 'addField', className, name, type, ...(targetClass === undefined ? {} : { targetClass }) };
  });
  return [{ kind: 'createTable', className }, ...added];
}
