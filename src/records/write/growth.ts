import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { applyChange, type NewField, type SchemaChange } from '../../schema/change.ts';
import { type Field, fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { checkFieldName } from '../../schema/naming.ts';
import { settledType } from '../../schema/system-tables.ts';
import type { InferredType } from '../../values/index.ts';

/** A table in the course of planning a write: the fields that the write brings are added as they are met. */
export class GrowingTable {
  readonly #grant: Pick<Grant, 'mayAddField'>;
  readonly changes: SchemaChange[] = [];
  /** Whether some of them are the caller's, not the service's own. */
  isGrown = false;
  schema: Schema;
  table: TableSchema;

  constructor(schema: Schema, table: TableSchema, grant: Pick<Grant, 'mayAddField'>) {
    this.schema = schema;
    this.table = table;
    this.#grant = grant;
  }

  /** Starts with a table that does not exist yet. */
  static create(schema: Schema, className: string): GrowingTable {
    const change: SchemaChange = { kind: 'createTable', className };
    const grown = applyChange(schema, change);
    const growing = new GrowingTable(grown, tableOf(grown, className), { mayAddField: true });
    growing.changes.push(change);
    growing.isGrown = true;
    return growing;
  }

  /** The field of a name, added with the type of its first value where it is new and nothing has settled it. @throws invalidFieldName, permissionDenied, fieldCannotBeAdded */
  fieldFor(name: string, type: InferredType): Field {
    const known = this.table.fields.get(name);
    if (known) return known;
    checkFieldName(name);
    const settled = settledType(this.table.className, name);
    // A field that every system has once it is written is no new one of the caller's (SPEC "`_User`").
    if (!settled && !this.#grant.mayAddField) fail('permissionDenied', 'addField', this.table.className);
    if (this.table.fields.size >= limits.fieldsPerTable) fail('fieldCannotBeAdded', name);
    this.isGrown ||= !settled;
    return this.#add({ name, ...(settled ? { type: settled } : type) });
  }

  /** A field of the service's own, whatever the caller may add; `undefined` where the table is full. */
  ownField(name: string): Field | undefined {
    const known = this.table.fields.get(name);
    if (known || this.table.fields.size >= limits.fieldsPerTable) return known;
    return this.#add({ name, type: 'String' });
  }

  #add(field: NewField): Field {
    const { className } = this.table;
    const change: SchemaChange = { kind: 'addField', className, ...field };
    this.schema = applyChange(this.schema, change);
    this.table = tableOf(this.schema, className);
    this.changes.push(change);
    return fieldOf(this.table, field.name);
  }
}
