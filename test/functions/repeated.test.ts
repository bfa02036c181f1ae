/** Functions with an `Idempotency-Key`. Reference: requests.md#repeated-requests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { unique } from '../support/records.ts';
import { type Answer, sampledEngines } from '../support/service.ts';
import { flags, newPhone, on } from './forms.ts';
import { useFunctions } from './operator.ts';

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

const files = {
  'notes.js': `
    export default async ({ input, system }) => {
      const { objectId } = await system.create('Notes', { Name: String(input.name) });
      await system.create('Notes', { Name: String(input.name) });
      if (input.wait) await new Promise((resolve) => setTimeout(resolve, input.wait));
      if (input.fail) throw new Error('after its writes');
      return { objectId, at: Math.random() };
    };`,
  'refuses.js': `
    export default async ({ input, system }) => {
      if (input.fail && (await system.count('Notes', { Name: input.name })) === 0) throw new Error('nothing yet');
      return Math.random();
    };`,
};

for (const engine of sampledEngines())
  describe(engine, () => {
    const operator = useFunctions(engine, files);
    const send = (fn: string, body: object, key: string) => operator.send(fn, { body, headers: { 'Idempotency-Key': key } });
    const notes = async (Name: string) => {
      const { body } = await operator.call('GET', '/platform/classes/Notes', { query: { where: { Name } } });
      return body.results.length;
    };
    const open = async (name: string) =>
      assert.equal(
        (await operator.call('POST', '/platform/classes/Config', { body: { Name: name, Value: on(name) } })).status,
        201,
      );

    test('a custom function is run once; a repetition has its result', async () => {
      const [key, name] = [randomUUID(), unique('n')];
      const first = await send('notes', { name }, key);
      assert.equal(first.status, 200, first.text);
      const second = await send('notes', { name }, key);
      assert.deepEqual([second.status, second.body, isReplay(second)], [200, first.body, true]);
      assert.equal(second.headers.get('cache-control'), 'no-store');
      assert.equal(await notes(name), 2);
      assert.equal((await send('notes', { name: 'other' }, key)).status, 422);
      assert.equal((await send('refuses', { name }, key)).status, 422);
    });

    test('while it runs, a repetition is 409', async () => {
      const [key, name] = [randomUUID(), unique('n')];
      const running = send('notes', { name, wait: 400 }, key);
      await wait(100);
      const second = await send('notes', { name, wait: 400 }, key);
      assert.deepEqual([second.status, second.body.code], [409, 409], second.text);
      assert.equal((await running).status, 200);
      assert.equal(await notes(name), 2);
    });

    test('an error after its writes is the answer; one before any is tried again', async () => {
      const [key, name] = [randomUUID(), unique('n')];
      const first = await send('notes', { name, fail: true }, key);
      const second = await send('notes', { name, fail: true }, key);
      assert.deepEqual(
        [first.status, second.status, second.body, isReplay(second)],
        [400, 400, { error: 'after its writes' }, true],
      );
      assert.equal(await notes(name), 2);
      const again = randomUUID();
      const other = unique('n');
      assert.equal((await send('refuses', { name: other, fail: true }, again)).status, 400);
      await operator.create('Notes', { Name: other });
      assert.equal((await send('refuses', { name: other, fail: true }, again)).status, 200);
    });

    test('getlead and web2table make one record each; a refused form keeps no key', async () => {
      await open(flags.web2table);
      const PhoneNumber = newPhone();
      const key = randomUUID();
      const first = await send('getlead', { PhoneNumber }, key);
      assert.equal(first.status, 200, first.text);
      const second = await send('getlead', { PhoneNumber }, key);
      assert.deepEqual([second.body, isReplay(second)], [first.body, true]);
      const leads = async (phone: string) =>
        (await operator.call('GET', '/platform/classes/Accounts', { query: { where: { PhoneNumber: phone } } })).body.results
          .length;
      assert.equal(await leads(PhoneNumber), 1);
      for (const phone of [PhoneNumber, newPhone()]) {
        const form = { table: 'Notes', phone, table_Name: unique('n') };
        const own = randomUUID();
        const made = await send('web2table', form, own);
        assert.equal(made.status, 200, made.text);
        const repeated = await send('web2table', form, own);
        assert.deepEqual([repeated.body, isReplay(repeated)], [made.body, true]);
        assert.deepEqual([await notes(form.table_Name), await leads(phone)], [1, 1]);
      }
      const refused = randomUUID();
      for (let n = 0; n < 2; n++) assert.equal((await send('getlead', {}, refused)).status, 400);
      assert.equal((await send('getlead', { PhoneNumber: newPhone() }, refused)).status, 200);
    });

    test('many calls of a form with one key at once make one record', async () => {
      const PhoneNumber = newPhone();
      const key = randomUUID();
      const answers = await Promise.all(Array.from({ length: 10 }, () => send('getlead', { PhoneNumber }, key)));
      const done = answers.filter(({ status }) => status === 200);
      assert.equal(new Set(done.map(({ text }) => text)).size, 1);
      for (const { status } of answers) assert.ok(status === 200 || status === 409, String(status));
    });

    test('on GET a key is ignored; a malformed one is 400', async () => {
      const name = unique('n');
      const options = { method: 'GET', query: { name }, headers: { 'Idempotency-Key': randomUUID() } } as const;
      for (let n = 0; n < 2; n++) assert.equal((await operator.send('notes', options)).status, 200);
      assert.equal(await notes(name), 4);
      assert.equal((await send('notes', { name }, '')).body.code, 107);
      assert.equal(await notes(name), 4);
    });

    test('X-Platform-Request-Id: a repetition is 159', async () => {
      const name = unique('n');
      const headers = { 'X-Platform-Request-Id': randomUUID() };
      const answers = [
        await operator.send('notes', { body: { name }, headers }),
        await operator.send('notes', { body: { name }, headers }),
      ];
      assert.deepEqual(
        answers.map(({ status, body }) => [status, body.code]),
        [
          [200, undefined],
          [400, 159],
        ],
      );
      assert.equal(await notes(name), 2);
    });
  });
