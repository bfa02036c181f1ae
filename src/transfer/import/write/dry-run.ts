import { isDefaultField, type NewField, type SchemaChange } from '../../../schema/change.ts';
import type { Schema } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { Store } from '../../../storage/port.ts';

/** Rows of a group, which holds the store for as long as it is tried. */
const GROUP_SIZE = 500;
/** Of tables whose values are unique by rules of their own: a row shows only in its own group. */
const UNIQUE_GROUP_SIZE = 20_000;

/** Undoes a group that was only tried. */
export class Undone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('tried, not done');
    this.result = result;
  }
}

/** The fields that a table would have by what was only tried, and the table itself. */
export class WouldBeFields {
  readonly #className: string;
  #fields: readonly NewField[] | null = null;

  constructor(className: string) {
    this.#className = className;
  }

  /** What makes them in a schema that may have some of them by now. */
  changes(schema: Schema): readonly SchemaChange[] {
    const className = this.#className;
    const known = schema.tables.get(className);
    if (!this.#fields) return [];
    if (!known) return [{ kind: 'createTable', className, fields: this.#fields }];
    const missing = this.#fields.filter(({ name }) => !known.fields.has(name));
    return missing.map((field) => ({ kind: 'addField', className, ...field }));
  }

  /** Remembers what the table has gained. */
  learn(before: Schema, after: Schema): void {
    const known = before.tables.get(this.#className);
    const table = after.tables.get(this.#className);
    if (!table) return;
    this.#fields = [...table.fields.values()]
      .filter(({ name }) => (known ? !known.fields.has(name) : !isDefaultField(name)))
      .map(({ name, type, targetClass }) => ({ name, type, ...(targetClass !== undefined && { targetClass }) }));
  }
}

/** A group that is tried begins with the fields that those before it would have made, and ends by being undone. */
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

  /** @throws Undone with the result */
  end(within: Store, result: unknown): never {
    if (this.#before) this.#fields.learn(this.#before, within.schema());
    throw new Undone(result);
  }
}
