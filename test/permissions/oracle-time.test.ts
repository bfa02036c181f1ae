/** A pattern that never ends on a hidden record would reveal its value: patterns run only against records that the caller may see. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertDone, type Caller, forAll, makeTable, newCaller } from '../support/permissions.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { createAll } from './world.ts';

const table = 'Endless';
const list = `/platform/classes/${table}`;
const aggregate = `/platform/classes-aggregate/${table}`;
// Back references prevent a linear-time match on both engines. The number of letters is odd, so the pattern never matches.
const where = { title: { $regex: `^${'(a+)'.repeat(8)}${'12345678'.replace(/./g, '\\$&')}!$` } };
const copied = [{ $addFields: { copy: '$title' } }, { $match: { copy: where.title } }, { $count: 'all' }];

const questions: [path: string, query: Record<string, unknown>][] = [
  [list, { where }],
  [list, { where: { n: 1, $or: [where, { n: 7 }] }, count: 1, order: '-title' }],
  [list, { where: { title: { $not: where.title } } }],
  [list, { where: { n: { $select: { query: { className: table, where }, key: 'n' } } } }],
  [list, { where: { to: { $inQuery: { className: table, where } } } }],
  [aggregate, { pipeline: copied }],
  [aggregate, { where, count: 'all' }],
];

for (const engine of engines)
  describe(engine, () => {
    let service: Service | undefined;
    let caller: Caller;
    before(async () => {
      service = await startService({ engine, env: { QUERY_TIMEOUT_MS: '1500' } });
      caller = await newCaller(service);
      const other = await newCaller(service);
      await makeTable(service, table, { title: 'String', n: 'Number', to: `Pointer:${table}` }, forAll({ '*': true }));
      const ACL = { [other.id]: { read: true } };
      await createAll(service, table, [
        { objectId: 'seen', title: 'aa', n: 1 },
        { objectId: 'hidden', title: `${'a'.repeat(71)}!`, n: 1, ACL },
      ]);
    });
    after(async () => {
      await service?.stop();
    });

    test('over the hidden record the pattern does not end', async () => {
      const { status, body } = await (service as Service).call('GET', list, { query: { where } });
      assert.deepEqual([status, body.code], [503, 124]);
    });

    for (const [path, query] of questions)
      test(`it ends for a caller that does not see the record: ${path} ${JSON.stringify(query)}`, async () => {
        const answer = await (service as Service).call('GET', path, { ...caller.options, query });
        assertDone(answer, 200, path);
      });
  });
