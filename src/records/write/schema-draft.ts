import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { createdTable, type NewField, type SchemaChange } from '../../schema/change.ts';
import { checkFieldName, type Field, type Schema, type TableSchema } from '../../schema/model.ts';
import { fixedType } from '../../schema/system-tables.ts';
import { TableGrowth } from '../../schema/table-growth.ts';
import type { InferredType } from '../../values/index.ts';

/** A table while a write is planned. Fields that the write brings are added as they are met. */
export class SchemaDraft {
  readonly #grant: Pick<Grant, 'mayAddField'>;
  readonly #isNew: boolean;
  #table: TableSchema;
  #growth: TableGrowth | undefined;
  readonly #added: NewField[] = [];
  /** Whether the caller made some of its changes, not only the service. */
  isGrown: boolean;

  constructor(table: TableSchema, grant: Pick<Grant, 'mayAddField'>, isNew = false) {
    this.#table = table;
    this.#grant = grant;
    this.#isNew = isNew;
    this.isGrown = isNew;
  }

  /** Starts with a table that does not exist yet. */
  static create(schema: Schema, className: string): SchemaDraft {
    return new SchemaDraft(createdTable(schema, className), { mayAddField: true }, true);
  }

  /** The table with the fields added so far. */
  get table(): TableSchema {
    return this.#table;
  }

  /** A new table is created with its fields, in one statement. */
  get changes(): readonly SchemaChange[] {
    const { className } = this.#table;
    if (this.#isNew) return [{ kind: 'createTable', className, ...(this.#added.length > 0 && { fields: this.#added }) }];
    return this.#added.map((field) => ({ kind: 'addField', className, ...field }));
  }

  /**
   * Returns the field of a name. Adds it if it is new: with its fixed type if it has one, otherwise with the type of its first value. @throws
   * invalidFieldName, permissionDenied, fieldCannotBeAdded
   */
  fieldFor(name: string, type: InferredType): Field {
    const known = this.table.fields.get(name);
    if (known) return known;
    checkFieldName(name);
    const settled = fixedType(this.table.className, name);
    // A field with a fixed type exists in every system once it is written, so it needs no `addField` (system-tables.md#_user).
    if (!settled && !this.#grant.mayAddField) fail('permissionDenied', 'addField', this.table.className);
    if (this.table.fields.size >= limits.fieldsPerTable) fail('fieldCannotBeAdded', name);
    this.isGrown ||= !settled;
    return this.#add({ name, ...(settled ? { type: settled } : type) });
  }

  /** Returns a field of the service itself, regardless of the caller's `addField`; `undefined` if the table is full. */
  ownField(name: string): Field | undefined {
    const known = this.table.fields.get(name);
    if (known || this.table.fields.size >= limits.fieldsPerTable) return known;
    return this.#add({ name, type: 'String' });
  }

  #add(field: NewField): Field {
    this.#growth ??= new TableGrowth(this.#table);
    this.#table = this.#growth.table;
    this.#added.push(field);
    return this.#growth.add(field);
  }
}
