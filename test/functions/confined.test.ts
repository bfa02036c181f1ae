/** Functions of some systems only; a function does not publish a file because its caller knows the name. Reference: functions.md#custom-functions. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertGone, assertServed, credentials, fileObject, publicUrl, uploadFile } from '../support/files.ts';
import { sampledEngines } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { useFunctions } from './operator.ts';

const here = (body: string) => `export default { systems: ['testapp'], run: async ({ input, system, record }) => { ${body} } };`;

for (const engine of sampledEngines())
  describe(`confined functions (${engine})`, () => {
    const operator = useFunctions(engine, {
      'mine.mjs': here(`if (record) await system.create('Ran', { by: record.objectId }); return system.appId;`),
      'ours.mjs': `export default { systems: ['testapp', 'other'], run: async () => 'ours' };`,
      'nobodys.mjs': `export default { systems: [], run: async () => 'nobody' };`,
      'wrong.mjs': `export default { systems: 'testapp', run: async () => 'wrong' };`,
      'everybodys.mjs': `export default async () => 'all';`,
      'publish.mjs': here(`return system.create('Shown', { F: input.file });`),
      'both.mjs': here(`return system.createAll([{ table: 'Shown', fields: { F: input.file } }]);`),
      'later.mjs': here(
        `const { objectId } = await system.create('Shown', {}); return system.update('Shown', objectId, { F: { ...input.file } });`,
      ),
      'share.mjs': here(`const { P } = await system.get('Held', input.id); await system.create('Shown', { F: P }); return null;`),
      'copies.mjs': here(`await system.create('Shown', { F: record.P });`),
    });
    const { send, result, call } = operator;
    let system: System;
    before(async () => {
      system = await addSystem(operator.service(), '--app-id', 'other');
      for (const [table, fields] of Object.entries({
        Held: { P: { type: 'PrivateFile' } },
        Shown: { F: { type: 'File' } },
        Ran: { by: { type: 'String' } },
      }))
        assert.equal((await call('POST', `/platform/schemas/${table}`, { body: { fields } })).status, 200);
    });
    const define = (appId: string, table: string, functionName: string) => {
      const body = {
        Name: 'calls',
        table,
        events: ['create'],
        actions: [{ type: 'server-side-code', actionData: { functionName, useQueue: false } }],
      };
      return appId === 'testapp'
        ? call('POST', '/platform/classes/_Trigger', { body })
        : callSystem(operator.service(), system, 'POST', '/platform/classes/_Trigger', { body });
    };

    test('`systems`: for others than these the function does not exist; one that is ill-formed cannot be called at all', async () => {
      assert.equal(await result('mine'), 'testapp');
      const elsewhere = async (name: string) => {
        const { status, body } = await send(name, { appId: 'other', body: {} });
        return status === 200 ? body.result : [status, body];
      };
      const missing = [400, { error: 'User function not found' }];
      assert.deepEqual(await elsewhere('mine'), missing);
      assert.deepEqual([await result('ours'), await elsewhere('ours')], ['ours', 'ours']);
      assert.deepEqual([await result('everybodys'), await elsewhere('everybodys')], ['all', 'all']);
      assert.deepEqual(await elsewhere('nobodys'), missing);
      assert.equal((await send('nobodys', { body: {} })).status, 400);
      assert.equal((await send('wrong', { body: {} })).status, 500);
    });

    test('`systems`: triggers of others do not call it', async () => {
      for (const appId of ['testapp', 'other']) assert.equal((await define(appId, 'Tags', 'mine')).status, 201);
      await callSystem(operator.service(), system, 'POST', '/platform/classes/Tags', { body: { Name: 'x' } });
      const { body: made } = await call('POST', '/platform/classes/Tags', { body: { Name: 'x' } });
      await soon(async () => {
        const ran = (await call('GET', '/platform/classes/Ran')).body.results;
        assert.deepEqual(
          ran.map(({ by }: { by: string }) => by),
          [made.objectId],
        );
      });
      await soon(async () => {
        const rows = await callSystem(operator.service(), system, 'GET', '/platform/classes/_syslogTriggers');
        assert.match(JSON.stringify(rows.body.results), /User function not found/);
      });
      assert.equal((await callSystem(operator.service(), system, 'GET', '/platform/classes/Ran')).text, '{"results":[]}');
    });

    test('a private file is not published by who knows its name; keys and what the function read itself publish it', async () => {
      const service = operator.service();
      const file = await uploadFile(service, 'private.txt', 'private');
      const held = await call('POST', '/platform/classes/Held', { body: { P: fileObject(file) } });
      assert.equal(held.status, 201);
      const address = publicUrl(service, file.name);
      for (const name of ['publish', 'both', 'later']) {
        const { status, body } = await send(name, { body: { file: fileObject(file) } });
        assert.equal(status, 400, JSON.stringify(body));
        await assertGone(address);
      }
      assert.equal(await result('share', { id: held.body.objectId }), null);
      await assertServed(address, 'private');
      const other = await uploadFile(service, 'private.txt', 'other');
      await call('POST', '/platform/classes/Held', { body: { P: fileObject(other) } });
      const headers = credentials(service, { as: 'apiKey' });
      assert.equal((await send('publish', { body: { file: fileObject(other) }, headers })).status, 200);
      await assertServed(publicUrl(service, other.name), 'other');
      const free = await uploadFile(service, 'free.txt', 'free');
      assert.equal((await send('publish', { body: { file: fileObject(free) } })).status, 200, 'nobody’s yet');
    });

    test('a function that a trigger calls hands on the files of its record', async () => {
      assert.equal((await define('testapp', 'Held', 'copies')).status, 201);
      const file = await uploadFile(operator.service(), 'record.txt', 'of the record');
      await call('POST', '/platform/classes/Held', { body: { P: fileObject(file) } });
      await soon(async () => {
        await assertServed(publicUrl(operator.service(), file.name), 'of the record');
      });
    });
  });
