/** The worked examples, deployed as an operator would (examples/functions/README.md). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { masterHeaders, pointer, unique } from '../support/records.ts';
import { type Service, sampledEngines, startService } from '../support/service.ts';
import { assertFailed, callsOf } from './operator.ts';

const directory = fileURLToPath(new URL('../../examples/functions', import.meta.url));
const formType = { 'Content-Type': 'application/x-www-form-urlencoded' };

for (const engine of sampledEngines())
  describe(`example functions, ${engine}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine, env: { FUNCTIONS_DIR: directory } });
    });
    after(() => service.stop());
    const { send, result, all, create, read, update } = callsOf(() => service);
    const accounts = async (email: string) => (await all('Accounts')).filter((account) => account.Email === email);

    test('newsletter: an address subscribes, once, with what it is interested in', async () => {
      const email = `${unique('reader')}@example.com`;
      const [first, second] = (await all('Interests')).slice(0, 2);
      const interests = 'array_interests_Pointer_Interests';
      assert.deepEqual(await result('newsletter', { email, name: 'Dana', interests: [first.Name, 'unheard of'] }), {
        subscribed: true,
      });
      assert.deepEqual(await result('newsletter', { email, interests: [first.Name, second.Name] }), { subscribed: true });
      const [account, ...more] = await accounts(email);
      assert.deepEqual(more, []);
      assert.deepEqual([account.Name, account.IsAccount], ['Dana', false]);
      assert.deepEqual(account[interests], [pointer('Interests', first.objectId), pointer('Interests', second.objectId)]);
    });

    test('newsletter: a form will do, and who was off the list is on it again', async () => {
      const email = `${unique('reader')}@example.com`;
      const id = await create('Accounts', { Email: email, Name: 'Before', Unsubscribed: true });
      const body = `email=${encodeURIComponent(email)}&interests=one&name=Other`;
      const { status, body: answer } = await send('newsletter', { headers: formType, body });
      assert.deepEqual([status, answer], [200, { result: { subscribed: true } }]);
      const account = await read('Accounts', id);
      assert.deepEqual([account.Name, account.Unsubscribed], ['Before', false]);
    });

    test('newsletter: what is no address is refused, and nothing is written', async () => {
      const before = (await all('Accounts')).length;
      assertFailed(await send('newsletter', { body: { email: 'nobody' } }), /^email: /);
      assertFailed(await send('newsletter', { body: {} }), /^email: /);
      assertFailed(await send('newsletter', { body: { email: { $exists: true } } }), /^email: /);
      assert.equal((await all('Accounts')).length, before);
    });

    test('sale-total: the rows of a sale are summed into it', async () => {
      const saleId = await create('Sales', { Name: 'a sale' });
      const other = await create('Sales', { Name: 'another' });
      const add = (sale: string, Total: number) => create('SaleRows', { SaleId: pointer('Sales', sale), Total });
      const ids = [await add(saleId, 10.5), await add(saleId, 2), await add(other, 100)];
      const call = (body: object) => send('sale-total', { headers: masterHeaders(service), body });
      assert.deepEqual((await call({ saleId })).body, { result: { saleId, total: 12.5 } });
      assert.equal((await read('Sales', saleId)).Total, 12.5);
      await update('SaleRows', ids[1] as string, { Total: 3 });
      assert.deepEqual((await call({ saleId })).body.result.total, 13.5);
      assert.equal('Total' in (await read('Sales', other)), false);
      assert.deepEqual((await call({ saleId: await create('Sales', {}) })).body.result.total, 0);
    });

    test('sale-total: keys alone, and a sale that is there', async () => {
      assertFailed(await send('sale-total', { body: { saleId: 'any' } }), 'A key is needed.');
      const call = (body: object) => send('sale-total', { headers: masterHeaders(service), body });
      assertFailed(await call({}), 'saleId is missing.');
      assertFailed(await call({ saleId: 5 }), 'saleId: must be string');
      assertFailed(await call({ saleId: 'nowhere000' }), 'Object not found.');
    });
  });
