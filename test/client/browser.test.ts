/** The client in a page of another origin: every header that it sends is allowed, and every one that it reads is shown. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { newPerson, type Person } from '../support/browser.ts';
import { useStore } from '../support/records.ts';
import { anyEngine } from '../support/service.ts';
import { type FaultyProxy, startProxy } from './faulty-proxy.ts';

const sources = new URL('../../client/src/', import.meta.url);

/** Serves an empty page, and the modules of the client without their types. */
function startPage(): Promise<Server> {
  const server = createServer(({ url = '' }, answer) => {
    const name = /^\/([\w-]+\.ts)$/.exec(url)?.[1];
    if (name === undefined) answer.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>page</title>');
    else
      answer
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(stripTypeScriptTypes(readFileSync(new URL(name, sources), 'utf8')));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

for (const engine of anyEngine)
  describe(`the client in a browser, ${engine}`, () => {
    const store = useStore(engine);
    let page: Server;
    let proxy: FaultyProxy;
    let person: Person;
    before(async () => {
      page = await startPage();
      proxy = await startProxy(store.service().url);
      person = await newPerson({ url: `http://127.0.0.1:${(page.address() as AddressInfo).port}` });
      await person.open('/');
    });
    after(async () => {
      await person.close();
      await proxy.close();
      page.close();
    });

    test('it writes with conditions and keys, repeats what was cut off, uploads, and reads ids and versions', async () => {
      const table = await store.table({ Name: 'String', File: 'File' });
      const { appId, apiKey } = store.service();
      const run = (code: string) =>
        person.page.evaluate(`(async () => {
          const { client } = await import('/index.ts');
          const crm = client(${JSON.stringify({ url: proxy.url, appId, apiKey, retries: { minDelayMs: 1 } })});
          const table = crm.table('${table}');
          ${code}
        })()`) as Promise<Record<string, unknown>>;
      const first = await run(`
        const file = await crm.files.upload('שם.txt', new Blob(['hello'], { type: 'text/plain' }));
        const made = await table.create({ Name: 'דנה', File: file });
        await table.update(made.objectId, { Name: 'נועה' }, { ifMatch: made });
        const error = await table.update(made.objectId, { Name: 'late' }, { ifMatch: made }).catch((error) => error);
        const names = [];
        for await (const { Name } of table.all()) names.push(Name);
        const answers = await crm.batch((items) => [items.table('${table}').create({ Name: 'batch' })]);
        const long = await table.count({ Name: { $in: ['batch', 'x'.repeat(9000)] } });
        return { status: error.status, requestId: error.requestId, updatedAt: error.details.updatedAt, names, id: answers[0].success.objectId, long };
      `);
      const answered = proxy.seen.at(-1)?.headers['x-request-id'];
      assert.ok(answered);
      const { requestId, updatedAt, id, ...rest } = first;
      assert.deepEqual(rest, { status: 412, names: ['נועה'], long: 1 });
      assert.ok(proxy.seen.some(({ headers }) => headers['x-request-id'] === requestId));
      assert.match(String(updatedAt), /^\d{4}-/);
      assert.match(String(id), /^\w{10}$/);

      // The preflight for this address is remembered, so the write itself is cut off.
      proxy.spoil('cut after');
      const { objectId } = await run(`return table.create({ Name: 'once' });`);
      assert.equal(proxy.seen.filter(({ method }) => method === 'POST').length, 2);
      const made = (await store.all(table)).filter(({ Name }) => Name === 'once');
      assert.deepEqual(
        made.map((record) => record.objectId),
        [objectId],
      );
    });
  });
