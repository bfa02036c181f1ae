/**
 * Properties of names through Pointers: a `where` finds what the `$inQuery` finds that it stands for, and an order is that of the records as the
 * caller sees them. Reference: queries.md#names-through-pointers.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type Json, type Row, runQuery } from '../support/oracle.ts';
import { assertDone, type Caller, forAll, newCaller } from '../support/permissions.ts';
import { pointer } from '../support/records.ts';
import { type CallOptions, engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { type Scenario, scenario, TARGET } from './arbitraries.ts';
import { settings } from './settings.ts';

/** A drawn table, and what hides some of its records and values from a caller. */
interface Drawn extends Scenario {
  /** By record: whether an ACL shows it to one of the users alone, or to none of them. */
  hides: { acl: boolean; boss: boolean }[];
  /** Index of the field that is hidden from users. */
  hidden: number;
  /** Index of the record that each of the pointing records points at; beyond the last, at none. */
  links: number[];
}

const drawn = scenario(12).chain((base) =>
  fc.record({
    ...Object.fromEntries(Object.entries(base).map(([name, value]) => [name, fc.constant(value)])),
    hides: fc.array(fc.record({ acl: fc.boolean(), boss: fc.boolean() }), { minLength: 40, maxLength: 40 }),
    hidden: fc.nat(5),
    links: fc.array(fc.nat(44), { maxLength: 25 }),
  }),
) as fc.Arbitrary<Drawn>;

for (const engine of engines)
  describe(`names through Pointers (${engine})`, () => {
    let service: Service;
    let tables = 0;
    const callers: { name: string; options: CallOptions }[] = [];
    let boss: Caller;
    before(async () => {
      service = await sharedService(engine);
      boss = await newCaller(service);
      const other = await newCaller(service);
      callers.push({ name: 'master', options: {} });
      callers.push({ name: 'the boss', options: boss.options }, { name: 'another', options: other.options });
    });

    test('they filter as $inQuery does, and order as the target does', { timeout: 240_000 }, async () => {
      const property = fc.asyncProperty(drawn, async (given) => {
        const names = { table: `Through${++tables}`, target: `ThroughTarget${tables}`, links: `ThroughLinks${tables}` };
        const of: Drawn = JSON.parse(JSON.stringify(given).replaceAll(TARGET, names.target));
        await fill(service, names, of, boss.id);
        for (const caller of callers) await check(service, names, of, caller);
      });
      await fc.assert(property, settings(40));
    });
  });

const hiddenIn = ({ fields, hidden }: Drawn): string => fields[hidden % fields.length]?.name as string;

type Names = Record<'table' | 'target' | 'links', string>;

async function fill(service: Service, { table, target, links }: Names, of: Drawn, bossId: string): Promise<void> {
  const rights = forAll({ requiresAuthentication: true });
  const make = async (className: string, fields: Json, rules: object = rights) => {
    const body = { className, fields, classLevelPermissions: rules };
    assertDone(await service.call('POST', `/platform/schemas/${className}`, { body }), 200, className);
  };
  await make(target, { rank: { type: 'Number' } });
  const columns = of.fields.map(({ name, type }) => [name, type === 'Pointer' ? { type, targetClass: target } : { type }]);
  await make(table, Object.fromEntries(columns), { ...rights, protectedFields: { '*': [hiddenIn(of)] } });
  await make(links, { to: { type: 'Pointer', targetClass: table } });
  const bodies: [string, Json][] = [
    ...of.targets.map((body): [string, Json] => [target, body]),
    ...of.records.map((record, at): [string, Json] => [
      table,
      {
        ...record,
        ...(of.hides[at]?.acl && { ACL: { [of.hides[at]?.boss ? bossId : 'someone']: { read: true } } }),
      },
    ]),
    ...of.links.map((to, at): [string, Json] => {
      const id = of.records[to]?.objectId ?? (to % 2 === 0 ? 'gone' : undefined);
      return [links, { objectId: `link${String(at).padStart(3, '0')}`, ...(id !== undefined && { to: pointer(table, id) }) }];
    }),
  ];
  for (const className of [target, table, links]) {
    const requests = bodies
      .filter(([name]) => name === className)
      .map(([name, body]) => ({ method: 'POST', path: `/platform/classes/${name}`, body }));
    const items = assertDone(await service.call('POST', '/platform/batch', { body: { requests } }), 200, className);
    for (const item of items) assert.ok(item.success, JSON.stringify(item));
  }
}

async function check(
  service: Service,
  { table, links }: Names,
  of: Drawn,
  { name, options }: { name: string; options: CallOptions },
): Promise<void> {
  const ask = (className: string, query: Record<string, unknown>) =>
    service.call('GET', `/platform/classes/${className}`, { ...options, query: { limit: 1000, ...query } });
  const list = async (className: string): Promise<Row[]> => assertDone(await ask(className, {}), 200, className).results;
  /** The objectIds that a query answers, or its refusal. */
  const answerTo = async (query: Record<string, unknown>): Promise<Json> => {
    const { status, body } = await ask(links, query);
    return status === 200 ? ids(body.results) : body;
  };
  const visible = new Map((await list(table)).map((row) => [row.objectId, { ...row, createdAt: wide(row.createdAt) } as Row]));
  const pointing = (await list(links)).map(({ objectId, to }): Row => {
    const target = visible.get((to as Json as { objectId: string } | undefined)?.objectId ?? '');
    return target ? { objectId, to: target } : { objectId };
  });
  const hidden = name === 'master' ? undefined : hiddenIn(of);
  for (const { where = {}, order = [] } of of.queries) {
    for (const [field, constraint] of Object.entries(where)) {
      if (field.startsWith('$')) continue;
      const dotted = { [`to.${field}`]: constraint };
      const through = { to: { $inQuery: { className: table, where: { [field]: constraint } } } };
      const expected = await answerTo({ where: through });
      assert.equal(Array.isArray(expected), field.split('.')[0] !== hidden, JSON.stringify(expected));
      assert.deepEqual(await answerTo({ where: dotted }), expected, `${name}: ${JSON.stringify(dotted)}`);
      const denied = await answerTo({ where: { $nor: [through] } });
      assert.deepEqual(await answerTo({ where: { $nor: [dotted] } }), denied, `${name}: not ${JSON.stringify(dotted)}`);
    }
    if (order.length === 0) continue;
    const pointed = order.map((key) => key.replace(/^-?/, '$&to.'));
    const ordered = await answerTo({ order: pointed.join() });
    const named = order.map((key) => key.replace('-', '')).find((key) => key.split('.')[0] === hidden);
    const expected =
      named === undefined ? ids(runQuery(pointing, { order: pointed, limit: 1000 }).results) : denial(named, table);
    assert.deepEqual(ordered, expected, `${name}: order ${pointed} over ${JSON.stringify(pointing)}`);
  }
}

const ids = (rows: readonly Row[]) => rows.map(({ objectId }) => objectId);
const denial = (field: string, table: string): Json => ({
  code: 119,
  error: `This user is not allowed to access ${field} on class ${table}`,
});

const wide = (iso: Json | undefined): Json => ({ __type: 'Date', iso: iso ?? null });
