// Filling a search index during other writes, for the unit tests of both engines.
import assert from 'node:assert/strict';
import type { Filter } from '../../../query/model/filter.ts';
import type { SchemaChange } from '../../../schema/change.ts';
import { fieldOf, type TableSchema, tableOf } from '../../../schema/model.ts';
import { fillsSearchIndex, hasSearchIndex, SEARCH_INDEX, wantedSearchIndex } from '../../../schema/search-index.ts';
import type { Mutation, Store } from '../../port.ts';
import { tableChanges } from './tables.ts';

const never = () => false;

/** A table whose search index is being filled, and what its records are to be found by. */
export class FilledTable {
  readonly #store: () => Store;
  readonly className: string;
  readonly #names = new Map<string, string>();
  readonly #gone = new Set<string>();
  #time = 0;

  /** @param store returns the open store */
  constructor(store: () => Store, className: string) {
    this.#store = store;
    this.className = className;
  }

  get table(): TableSchema {
    return tableOf(this.#store().schema(), this.className);
  }

  /** Creates the table, its records, and the empty index. */
  async make(records: number): Promise<void> {
    await this.change(...tableChanges(this.className, { Name: 'String', Mobile: 'String', City: 'String' }));
    await this.create(records);
    await this.index();
    assert.deepEqual([hasSearchIndex(this.table), fillsSearchIndex(this.table)], [false, true]);
  }

  async index(): Promise<void> {
    const index = wantedSearchIndex(this.table) ?? assert.fail();
    await this.change({ kind: 'setIndex', className: this.className, index: { ...index, isFilling: true } });
  }

  async change(...changes: SchemaChange[]): Promise<void> {
    await this.#store().write({ plan: () => ({ changes, mutations: [] }) });
  }

  async create(count: number): Promise<void> {
    const ids = Array.from({ length: count }, () => `r${this.#names.size + this.#gone.size}x${this.#time++}`);
    await this.#write(
      ids.map((objectId, at) => {
        const Name = this.#named(objectId);
        const values = Object.entries({ objectId, createdAt: this.#time + at, updatedAt: this.#time, Name });
        return { kind: 'insert', table: this.table, values: values.map(([name, value]) => [fieldOf(this.table, name), value]) };
      }),
    );
  }

  /** Changes and deletes records at both ends and in the middle, and adds others. */
  async disturb(): Promise<void> {
    const ids = [...this.#names.keys()];
    const some = [3, Math.floor(ids.length / 2), ids.length - 3].map((at) => ids.slice(at, at + 2));
    await this.#write(
      some.map(([objectId = '']): Mutation => {
        this.#gone.add(this.#names.get(objectId) ?? '');
        const assignments = [{ kind: 'set', field: fieldOf(this.table, 'Name'), value: this.#named(objectId) }] as const;
        return { kind: 'update', table: this.table, objectId, guard: null, assignments, returning: [] };
      }),
    );
    await this.#write(
      some.map(([, objectId = '']): Mutation => {
        this.#gone.add(this.#names.get(objectId) ?? '');
        this.#names.delete(objectId);
        return { kind: 'delete', table: this.table, objectId, guard: null };
      }),
    );
    await this.create(3);
  }

  fill(shouldStop = never): Promise<void> {
    return this.#store().fillSearchIndex(this.className, shouldStop);
  }

  /** Checks that the index finds all records by their present names, and by nothing else. */
  async check(): Promise<void> {
    assert.deepEqual([hasSearchIndex(this.table), fillsSearchIndex(this.table)], [true, false]);
    // Records listed as changed count as found until there are 500.
    for (let noted = await this.#found('nothing'); noted.length > 0; noted = await this.#found('nothing'))
      await this.create(500 - noted.length);
    for (const [objectId, name] of this.#names) assert.deepEqual(await this.#found(name), [objectId], name);
    for (const name of this.#gone) assert.deepEqual(await this.#found(name), [], name);
  }

  #named(objectId: string): string {
    const name = `name${this.#time++}`;
    this.#names.set(objectId, name);
    return name;
  }

  async #write(mutations: readonly Mutation[]): Promise<void> {
    await this.#store().write({ plan: () => ({ changes: [], mutations }) });
  }

  async #found(word: string): Promise<string[]> {
    const { table } = this;
    const fields = (table.indexes.get(SEARCH_INDEX)?.keys ?? []).map(([name]) => fieldOf(table, name));
    const search = { words: [{ word, isWhole: true }], tokens: [], starts: [], fields, limit: 100 };
    const filter: Filter = { kind: 'candidates', table, guard: null, search };
    const shape = { includes: [], order: [], skip: 0, limit: 1000, count: false, withScore: false };
    const { results } = await this.#store().reader.find({ table, fields: [fieldOf(table, 'objectId')], filter, ...shape });
    let text = '';
    if (typeof results === 'string') text = results;
    else for await (const piece of results) text += piece;
    return (JSON.parse(text) as { objectId: string }[]).map(({ objectId }) => objectId);
  }
}
