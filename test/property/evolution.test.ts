/** Property: a history of new fields, renames, changes of types and writes leaves what a model of it leaves. Reference: schemas.md#rename-a-field. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { tableName } from '../support/query.ts';
import { type Answer, engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { settings } from './settings.ts';

const names = ['A', 'B', 'C', 'D'] as const;
const types = ['String', 'Number', 'Boolean', 'Array'] as const;
type Type = (typeof types)[number];
type Value = string | number | boolean | unknown[];
type Step =
  | { readonly kind: 'add'; readonly name: string; readonly type: Type }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  | { readonly kind: 'retype'; readonly name: string; readonly type: Type; readonly onError: 'refuse' | 'null' }
  | { readonly kind: 'write'; readonly name: string; readonly value: Value; readonly isNew: boolean }
  | { readonly kind: 'query'; readonly name: string };

const name = fc.constantFrom(...names);
const type = fc.constantFrom(...types);
const value = fc.constantFrom<Value>('', '1', 'true', '0', 'x', ' 7 ', 1, 0, 2.5, true, false, ['a'], [1]);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name, type }),
  fc.record({ kind: fc.constant('delete' as const), name }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename' as const), name, to: name }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('retype' as const), name, type, onError: fc.constantFrom('refuse', 'null') }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), name, value, isNew: fc.boolean() }) },
  fc.record({ kind: fc.constant('query' as const), name }),
);

const typeOf = (of: Value): Type =>
  Array.isArray(of) ? 'Array' : typeof of === 'string' ? 'String' : typeof of === 'number' ? 'Number' : 'Boolean';

/** Returns the value in another type; `null`: absent, `undefined`: cannot be converted. */
function convert(from: Type, to: Type, of: Value): Value | null | undefined {
  if (to === 'Array') return [of];
  if (to === 'String') return Array.isArray(of) ? JSON.stringify(of) : String(of);
  if (typeof of === 'string') {
    const text = of.trim();
    if (text === '') return null;
    if (to === 'Number') return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
    return ({ true: true, false: false, 1: true, 0: false } as Record<string, boolean>)[text];
  }
  if (from === 'Boolean') return Number(of);
  return of === 1 ? true : of === 0 ? false : undefined;
}

/** What a table should hold. */
class Model {
  readonly fields = new Map<string, Type>();
  readonly former = new Map<string, string>();
  readonly records: Map<string, Value>[] = [];

  /** Applies a step. @returns the code of the error that the service must answer; `null`: none */
  apply(one: Step): number | null {
    const known = this.fields.get(one.name);
    switch (one.kind) {
      case 'add':
        if (known) return known === one.type ? null : 255;
        this.former.delete(one.name);
        this.fields.set(one.name, one.type);
        return null;
      case 'delete':
        if (!known) return 255;
        this.fields.delete(one.name);
        for (const [former, now] of this.former) if (now === one.name) this.former.delete(former);
        for (const record of this.records) record.delete(one.name);
        return null;
      case 'rename':
        return this.#rename(one.name, one.to, known);
      case 'retype':
        return this.#retype(one, known);
      case 'write':
        return this.#write(one, known);
      case 'query':
        return !known && this.former.has(one.name) ? 105 : null;
    }
  }

  #rename(from: string, to: string, known: Type | undefined): number | null {
    if (!known) return 255;
    if (this.fields.has(to)) return 105;
    this.fields.delete(from);
    this.fields.set(to, known);
    this.former.delete(to);
    for (const [former, now] of this.former) if (now === from) this.former.set(former, to);
    this.former.set(from, to);
    for (const record of this.records) move(record, from, to);
    return null;
  }

  #retype({ name: field, type: to, onError }: Extract<Step, { kind: 'retype' }>, from: Type | undefined): number | null {
    if (!from) return 255;
    if (from === to) return null;
    if (from === 'Array' && to !== 'String') return 111;
    const converted = this.records.map((record) => {
      const stored = record.get(field);
      return stored === undefined ? null : convert(from, to, stored);
    });
    if (onError === 'refuse' && converted.includes(undefined)) return 111;
    this.fields.set(field, to);
    for (const [at, record] of this.records.entries()) {
      const next = converted[at] ?? null;
      if (next === null) record.delete(field);
      else record.set(field, next);
    }
    return null;
  }

  #write({ name: field, value: written, isNew }: Extract<Step, { kind: 'write' }>, known: Type | undefined): number | null {
    if (!known && this.former.has(field)) return 105;
    // A String field takes numbers as text.
    const taken = known === 'String' && typeof written === 'number' ? String(written) : written;
    if (known && typeOf(taken) !== known) return 111;
    this.fields.set(field, known ?? typeOf(taken));
    if (isNew || this.records.length === 0) this.records.push(new Map());
    this.records.at(-1)?.set(field, taken);
    return null;
  }
}

function move(record: Map<string, Value>, from: string, to: string): void {
  const stored = record.get(from);
  record.delete(from);
  if (stored !== undefined) record.set(to, stored);
}

for (const engine of engines)
  describe(`evolution property (${engine})`, () => {
    let service: Service;
    before(async () => {
      service = await sharedService(engine);
    });

    const send = (table: string, ids: string[], one: Step): Promise<Answer> => {
      const put = (definition: object) =>
        service.call('PUT', `/platform/schemas/${table}`, { body: { fields: { [one.name]: definition } } });
      switch (one.kind) {
        case 'add':
          return put({ type: one.type });
        case 'delete':
          return put({ __op: 'Delete' });
        case 'rename':
          return put({ __op: 'Rename', to: one.to });
        case 'retype':
          return put({ __op: 'Retype', type: one.type, onError: one.onError });
        case 'write': {
          const [method, id] = one.isNew || ids.length === 0 ? ['POST', ''] : ['PUT', `/${ids.at(-1)}`];
          return service.call(method as string, `/platform/classes/${table}${id}`, { body: { [one.name]: one.value } });
        }
        case 'query':
          return service.call('GET', `/platform/classes/${table}`, { query: { where: { [one.name]: { $exists: true } } } });
      }
    };

    test('Schemas: histories of fields, renames, types and writes', { timeout: 240_000 }, async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const table = tableName('Evolving');
        assert.equal((await service.call('POST', `/platform/schemas/${table}`, { body: {} })).status, 200);
        const model = new Model();
        const ids: string[] = [];
        for (const one of steps) {
          const answer = await send(table, ids, one);
          const code = model.apply(one);
          const what = `${JSON.stringify(one)}: ${answer.text}`;
          if (code !== null) assert.deepEqual([answer.status, answer.body.code], [400, code], what);
          else assert.ok(answer.status < 300, what);
          if (answer.status === 201) ids.push(answer.body.objectId);
          if (one.kind === 'query' && code === null)
            assert.equal(answer.body.results.length, model.records.filter((record) => record.has(one.name)).length, what);
        }
        const { fields } = (await service.call('GET', `/platform/schemas/${table}`)).body;
        const own = Object.entries<{ type: string }>(fields).filter(([field]) => (names as readonly string[]).includes(field));
        assert.deepEqual(new Map(own.map(([field, { type: of }]) => [field, of])), model.fields);
        const { results } = (await service.call('GET', `/platform/classes/${table}`)).body;
        assert.deepEqual(
          results.map(
            (row: Record<string, Value>) => new Map(names.flatMap((one) => (one in row ? [[one, row[one]]] : [])) as []),
          ),
          model.records,
        );
      });
      await fc.assert(property, settings(40));
    });
  });
