/** The answer of an update obeys read permissions. Reference: permissions.md#table-permissions. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Caller, makeTable, newCaller, type Rules } from '../support/permissions.ts';
import { type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

const everybody = { requiresAuthentication: true } as const;
const operators = { n: { __op: 'Increment', amount: 1 }, list: { __op: 'AddUnique', objects: [] } };

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    let caller: Caller;
    before(async () => {
      service = await sharedService(engine);
      caller = await newCaller(service);
    });

    const answerTo = async (name: string, rules: Rules, ACL: object = {}) => {
      await makeTable(service, name, { n: 'Number', list: 'Array' }, rules);
      const { body } = await service.call('POST', `/platform/classes/${name}`, { body: { n: 5, list: ['secret'], ACL } });
      const at = `/platform/classes/${name}/${body.objectId}`;
      const answer = await service.call('PUT', at, { ...caller.options, body: operators });
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await service.call('GET', at)).body.n, 6);
      return Object.keys(answer.body).sort();
    };

    test('a caller that may read the record gets the new values', async () =>
      assert.deepEqual(await answerTo('Read', { get: everybody, update: everybody }), ['list', 'n', 'objectId', 'updatedAt']));
    test('a caller that may only write the table gets none', async () =>
      assert.deepEqual(await answerTo('Write', { update: everybody }), ['objectId', 'updatedAt']));
    test('a caller whom the ACL lets only write gets none', async () =>
      assert.deepEqual(await answerTo('Acl', { get: everybody, update: everybody }, { [caller.id]: { write: true } }), [
        'objectId',
        'updatedAt',
      ]));
    test('what pointerFields give to read counts as the record is after the update', async () => {
      const rules = { get: { pointerFields: ['createdBy'] }, update: everybody };
      assert.deepEqual(await answerTo('Held', rules), ['objectId', 'updatedAt']);
    });
  });
