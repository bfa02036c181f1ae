import { isDefaultField, type NewField, type SchemaChange } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { Store } from '../../../storage/port.ts';

/** Rows of a group. A group locks the store while it is tried. */
const GROUP_SIZE = 500;
/** For tables with unique values: a duplicate is only detected within the same group. */
const UNIQUE_GROUP_SIZE = 20_000;

/** Thrown to roll back a group of a dry run. */
export class RolledBack extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('tried, not done');
    this.result = result;
  }
}

/** The fields, and possibly the table, that earlier groups of a dry run would have created. */
export class WouldBeFields {
  readonly #className: string;
  #fields: readonly NewField[] | null = null;

  constructor(className: string) {
    this.#className = className;
  }

  /** Returns the changes that create them in a schema, which may contain some by now. */
  changes(schema: Schema): readonly SchemaChange[] {
    const className = this.#className;
    const known = schema.tables.get(className);
    if (!this.#fields) return [];
    if (!known) return [{ kind: 'createTable', className, fields: this.#fields }];
    const missing = this.#fields.filter(({ name }) => !known.fields.has(name));
    return missing.map((field) => ({ kind: 'addField', className, ...field }));
  }

  /** Records what the table has gained. */
  learn(before: Schema, after: Schema): void {
    const known = before.tables.get(this.#className);
    const table = after.tables.get(this.#className);
    if (!table) return;
    this.#fields = [...table.fields.values()]
      .filter(({ name }) => (known ? !known.fields.has(name) : !isDefaultField(name)))
      .map(({ name, type, targetClass }) => ({ name, type, ...(targetClass !== undefined && { targetClass }) }));
  }
}

/** Dry run: each group begins with the fields that earlier groups would have created, and is rolled back at its end. */
export class DryRun {
  readonly groupSize: number;
  readonly #fields: WouldBeFields;
  #before: Schema | null = null;

  constructor(className: string) {
    this.#fields = new WouldBeFields(className);
    this.groupSize = uniqueFieldsOf(className).size > 0 ? UNIQUE_GROUP_SIZE : GROUP_SIZE;
  }

  async begin(within: Store): Promise<void> {
    this.#before = within.schema();
    if (this.#fields.changes(this.#before).length === 0) return;
    await within.write({ plan: (schema) => ({ changes: this.#fields.changes(schema), mutations: [] }) });
  }

  /** Ends a group. @throws RolledBack with the result */
  end(within: Store, result: unknown): never {
    if (this.#before) this.#fields.learn(this.#before, within.schema());
    throw new RolledBack(result);
  }
}
