/** Property: tables with unique indexes accept what a plain list of records accepts. Reference: schemas.md#unique-indexes, records.md#upsert. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { date, type Json, unique } from '../support/records.ts';
import { engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { settings } from './settings.ts';

type As = 'text' | 'nocase' | 'phone';
interface Index {
  readonly name: string;
  readonly fields: readonly string[];
  readonly as?: As;
}
type Row = Record<string, Json>;
type Step =
  | { readonly kind: 'create' | 'upsert'; readonly body: Row }
  | { readonly kind: 'update'; readonly nth: number; readonly body: Row }
  | { readonly kind: 'delete'; readonly nth: number }
  | { readonly kind: 'index'; readonly index: Index }
  | { readonly kind: 'drop'; readonly nth: number };

/** Texts with their keys, written by hand: regardless of case, and as phones. */
const texts: readonly (readonly [text: string, nocase: string, phone: string | null])[] = [
  ...[['a', 'a', null] as const, ['A', 'a', null] as const, ['á', 'á', null] as const, ['Á', 'á', null] as const],
  ...[['ss', 'ss', null] as const, ['ß', 'ss', null] as const, ['ẞ', 'ss', null] as const, ['Ss', 'ss', null] as const],
  ...[['i', 'i', null] as const, ['I', 'i', null] as const, ['ı', 'ı', null] as const, ['İ', 'i̇', null] as const],
  ...[['ς', 'σ', null] as const, ['Σ', 'σ', null] as const, ['שלום', 'שלום', null] as const, [' ', ' ', null] as const],
  ...[['03-1', '03-1', '031'] as const, ['+972 31', '+972 31', '031'] as const, ['0 3 1', '0 3 1', '031'] as const],
  ...[['x031', 'x031', '031'] as const, ['X031', 'x031', '031'] as const, ['31', '31', '31'] as const],
  ...[['X'.repeat(300), 'x'.repeat(300), null] as const, ['x'.repeat(300), 'x'.repeat(300), null] as const],
];
const keysOf = new Map(texts.map(([text, nocase, phone]) => [text, { text, nocase, phone }]));

const text = fc.constantFrom(...texts.map(([one]) => one));
const cleared = fc.constantFrom<Json>(null, { __op: 'Delete' });
const values: Record<string, fc.Arbitrary<Json>> = {
  s: fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.constant('') }, { weight: 1, arbitrary: cleared }),
  t: fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: cleared }),
  n: fc.oneof(fc.constantFrom<Json>(0, 1, 0.1, null), fc.constant<Json>({ __op: 'Increment', amount: 1 })),
  d: fc.constantFrom<Json>(date('2020-01-01T00:00:00.000Z'), date('2020-01-01T00:00:00.001Z'), null),
};
const body = fc
  .uniqueArray(fc.constantFrom('s', 't', 'n', 'd'), { minLength: 1 })
  .chain((names) => fc.tuple(...names.map((name) => (values[name] as fc.Arbitrary<Json>).map((value) => [name, value] as const))))
  .map((entries): Row => Object.fromEntries(entries));
const index = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom('s', 't', 'n', 'd'), { minLength: 1, maxLength: 2 }),
    fc.constantFrom<As>('text', 'nocase', 'phone'),
    fc.constantFrom('one', 'two', 'three'),
  )
  .map(
    ([fields, as, name]): Index => ({
      name,
      fields,
      ...(fields.every((one) => one === 's' || one === 't') && as !== 'text' && { as }),
    }),
  );
const nth = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: body.map((of): Step => ({ kind: 'create', body: of })) },
  { weight: 6, arbitrary: fc.tuple(nth, body).map(([at, of]): Step => ({ kind: 'update', nth: at, body: of })) },
  { weight: 3, arbitrary: body.map((of): Step => ({ kind: 'upsert', body: of })) },
  { weight: 2, arbitrary: nth.map((at): Step => ({ kind: 'delete', nth: at })) },
  { weight: 2, arbitrary: index.map((of): Step => ({ kind: 'index', index: of })) },
  { weight: 1, arbitrary: nth.map((at): Step => ({ kind: 'drop', nth: at })) },
);

/** Records and indexes as they should be. */
class Model {
  readonly rows = new Map<string, Row>();
  readonly indexes: Index[] = [];

  /** Returns the key of a record under an index; `null` if a value is absent. */
  key({ fields, as = 'text' }: Index, row: Row): string | null {
    const keys = fields.map((name) => {
      const value = row[name] ?? null;
      return typeof value === 'string' ? (value === '' ? null : (keysOf.get(value)?.[as] ?? null)) : value;
    });
    return keys.includes(null) ? null : JSON.stringify(keys);
  }

  /** Returns the record after a write. */
  after(before: Row, sent: Row): Row {
    const row = { ...before };
    for (const [name, value] of Object.entries(sent))
      if (value?.__op === 'Increment') row[name] = (row[name] ?? 0) + 1;
      else if (value === null || value.__op === 'Delete') delete row[name];
      else row[name] = value;
    return row;
  }

  holder(one: Index, row: Row, except?: string): string | undefined {
    const key = this.key(one, row);
    return key === null ? undefined : [...this.rows].find(([id, other]) => id !== except && this.key(one, other) === key)?.[0];
  }

  /** Returns the first index that refuses a record. */
  refusal(row: Row, id?: string): Index | undefined {
    return this.indexes.find((one) => this.holder(one, row, id) !== undefined);
  }

  /** Returns how many values occur more than once. */
  contradictions(one: Index): number {
    const counts = new Map<string, number>();
    for (const row of this.rows.values()) {
      const key = this.key(one, row);
      if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts.values()].filter((count) => count > 1).length;
  }
}

for (const engine of engines)
  describe(`unique property (${engine})`, () => {
    let service: Service;
    before(async () => {
      service = await sharedService(engine);
    });

    test('any chain of writes, upserts and indexes', { timeout: 240_000 }, async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const table = unique('T');
        const types = { s: 'String', t: 'String', n: 'Number', d: 'Date' };
        const fields = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
        assert.equal((await service.call('POST', `/platform/schemas/${table}`, { body: { fields } })).status, 200);
        const model = new Model();
        for (const one of steps) await play(service, table, model, one);
        const { body: found } = await service.call('GET', `/platform/classes/${table}`, { query: { limit: 1000 } });
        const stored = new Map(
          found.results.map((row: Row) => [
            row.objectId,
            Object.fromEntries(Object.keys(types).flatMap((name) => (name in row ? [[name, row[name]]] : []))),
          ]),
        );
        assert.deepEqual(stored, model.rows);
      });
      await fc.assert(property, settings(60));
    });
  });

async function play(service: Service, table: string, model: Model, step: Step): Promise<void> {
  const at = `/platform/classes/${table}`;
  const shown = () => `${JSON.stringify(step)} with ${JSON.stringify([...model.rows])} ${JSON.stringify(model.indexes)}`;
  const ids = [...model.rows.keys()];
  const id = 'nth' in step ? (ids[step.nth % Math.max(1, ids.length)] ?? null) : null;
  switch (step.kind) {
    case 'create': {
      const row = model.after({}, step.body);
      const answer = await service.call('POST', at, { body: step.body });
      assertAnswer(answer, 201, model.refusal(row), shown);
      if (answer.status === 201) model.rows.set(answer.body.objectId, row);
      return;
    }
    case 'update': {
      if (id === null) return;
      const row = model.after(model.rows.get(id) as Row, step.body);
      const answer = await service.call('PUT', `${at}/${id}`, { body: step.body });
      assertAnswer(answer, 200, model.refusal(row, id), shown);
      if (answer.status === 200) model.rows.set(id, row);
      return;
    }
    case 'delete':
      if (id !== null) await service.call('DELETE', `${at}/${id}`);
      if (id !== null) model.rows.delete(id);
      return;
    case 'upsert':
      return upsert(service, table, model, step.body, shown);
    case 'index': {
      const { name, ...definition } = step.index;
      if (model.indexes.some((one) => one.name === name)) return;
      const body = { uniqueIndexes: { [name]: definition } };
      const answer = await service.call('PUT', `/platform/schemas/${table}`, { body });
      const count = model.contradictions(step.index);
      assert.deepEqual([answer.status, answer.body.count ?? 0], [count > 0 ? 400 : 200, count], `${shown()} ${answer.text}`);
      if (count === 0) model.indexes.push(step.index);
      return;
    }
    case 'drop': {
      const dropped = model.indexes[step.nth];
      if (!dropped) return;
      const body = { uniqueIndexes: { [dropped.name]: { __op: 'Delete' } } };
      assert.equal((await service.call('PUT', `/platform/schemas/${table}`, { body })).status, 200);
      model.indexes.splice(step.nth, 1);
    }
  }
}

async function upsert(service: Service, table: string, model: Model, body: Row, shown: () => string): Promise<void> {
  const index = model.indexes[0];
  const row = model.after({}, body);
  // An operator names no value, and several indexes of the same fields are chosen among by their forms.
  if (!index || index.fields.some((name) => body[name]?.__op !== undefined)) return;
  if (model.indexes.some((one) => one !== index && String([...one.fields].sort()) === String([...index.fields].sort()))) return;
  const request = { matchOn: index.fields, records: [body] };
  const answer = await service.call('POST', `/platform/upsert/${table}`, { body: request });
  assert.equal(answer.status, 200, `${shown()} ${answer.text}`);
  const [result] = answer.body.results;
  if (model.key(index, row) === null) {
    assert.equal(result.error?.code, 142, `${shown()} ${answer.text}`);
    return;
  }
  const id = model.holder(index, row);
  const changed = id === undefined ? row : model.after(model.rows.get(id) as Row, body);
  const refusal = model.refusal(changed, id);
  assertAnswer({ status: result.error ? 400 : 200, body: result.error ?? {}, text: answer.text }, 200, refusal, shown);
  if (result.error) return;
  assert.deepEqual([result.created, id ?? result.objectId], [id === undefined, result.objectId], shown());
  model.rows.set(result.objectId, changed);
}

function assertAnswer(
  { status, body, text }: { status: number; body: Json; text: string },
  done: number,
  refusal: Index | undefined,
  shown: () => string,
): void {
  assert.deepEqual(
    [status, body.code, body.fields],
    refusal ? [400, 137, refusal.fields] : [done, undefined, undefined],
    `${shown()} ${text}`,
  );
}
