/** `_AdminLog`. Reference: audit.md#log-of-administrators. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { unique } from '../support/records.ts';
import { engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

for (const engine of engines)
  describe(`log of administrators (${engine})`, () => {
    let service: Service;
    before(async () => {
      service = await sharedService(engine);
    });
    const log = async () => (await service.call('GET', '/platform/classes/_AdminLog', { query: { limit: 1000 } })).body;
    test('smoke', async () => {
      const T = unique('T');
      const call = async (m: string, p: string, body?: unknown, as: 'master' | 'apiKey' = 'master') => {
        const a = await service.call(m, `/platform/${p}`, { body, as });
        console.log(m, p, a.status, a.text.slice(0, 200));
        return a.body;
      };
      await call('POST', `schemas/${T}`, { fields: { A: { type: 'String' } }, classLevelPermissions: { find: { '*': true } } });
      await call(
        'PUT',
        `schemas/${T}`,
        { fields: { B: { type: 'Number' }, A: { __op: 'Rename', to: 'A2' } }, indexes: { i: { B: 1 } } },
        'apiKey',
      );
      await call('PUT', `schemas/${T}`, { classLevelPermissions: { get: { '*': true } } });
      const r = await call('POST', `classes/${T}`, { C: 1, B: 2 });
      await call('PUT', `classes/${T}/${r.objectId}`, { B: 1 });
      await call('DELETE', `classes/${T}/${r.objectId}`);
      await call('DELETE', `schemas/${T}`);
      const u = await call('POST', 'users', { username: unique('u'), password: 'Secret123Pass', email: `${unique('u')}@e.com` });
      await call('PUT', `users/${u.objectId}`, { active: false });
      await call('PUT', `users/${u.objectId}`, { phone: '03' });
      await call('PUT', `users/${u.objectId}`, { password: 'Secret123Pass2' }, 'apiKey');
      const role = await call('POST', 'roles', {
        name: unique('r'),
        ACL: {},
        users: { __op: 'AddRelation', objects: [{ __type: 'Pointer', className: '_User', objectId: u.objectId }] },
      });
      await call('PUT', `roles/${role.objectId}`, {
        users: { __op: 'RemoveRelation', objects: [{ __type: 'Pointer', className: '_User', objectId: u.objectId }] },
      });
      await call('DELETE', `roles/${role.objectId}`);
      await call('DELETE', `users/${u.objectId}`);
      const c = await call('POST', 'classes/Config', { Name: unique('flag'), Value: 'true' });
      await call('PUT', `classes/Config/${c.objectId}`, { Value: 'false' });
      await call('PUT', `classes/Config/${c.objectId}`, { Value: 'false' });
      await call('DELETE', `classes/Config/${c.objectId}`);
      await call('POST', 'classes/_AdminLog', { act: 'x' });
      for (const row of (await log()).results)
        console.log(JSON.stringify([row.act, row.who, row.subject, row.before, row.after, row.requestId]));
    });
  });
