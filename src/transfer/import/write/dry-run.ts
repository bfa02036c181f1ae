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

/** A group that is tried begins with the fields that those before it would have made, and ends by being undone. */
export class DryRun {
  readonly groupSize: number;
  readonly #className: string;
  #before: Schema | null = null;
  #changes: readonly SchemaChange[] = [];

  constructor(className: string) {
    this.#className = className;
    this.groupSize = uniqueFieldsOf(className).size > 0 ? UNIQUE_GROUP_SIZE : GROUP_SIZE;
  }

  async begin(within: Store): Promise<void> {
    this.#before = within.schema();
    const changes = this.#changes;
    if (changes.length > 0) await within.write({ plan: () => ({ changes, mutations: [] }) });
  }

  /** @throws Undone with the result */
  end(within: Store, result: unknown): never {
    if (this.#before) this.#changes = growth(this.#before, within.schema(), this.#className);
    throw new Undone(result);
  }
}

/** What a table has gained. */
function growth(before: Schema, after: Schema, className: string): SchemaChange[] {
  const known = before.tables.get(className);
  const fields = [...(after.tables.get(className)?.fields.values() ?? [])]
    .filter(({ name }) => (known ? !known.fields.has(name) : !isDefaultField(name)))
    .map(({ name, type, targetClass }): NewField => ({ name, type, ...(targetClass !== undefined && { targetClass }) }));
  if (known) return fields.map((field) => ({ kind: 'addField', className, ...field }));
  return after.tables.has(className) ? [{ kind: 'createTable', className, fields }] : [];
}
