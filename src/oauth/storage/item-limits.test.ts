import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/engine.ts';
import { openMigrated } from '../../systems/testing/open.ts';
import { ItemAdapter } from './adapter.ts';
import { ItemEncryption } from './encryption.ts';
import { OpenItems } from './item-limits.ts';
import { Items } from './items.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-open-items-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
let store: Store;
let network = '';
let adapter: (kind: string) => ItemAdapter;
before(async () => {
  store = await openMigrated(engine, 'items');
  const open = { items: new OpenItems(store, 6, 1), network: () => network };
  const items = new Items(store, new ItemEncryption('secret', 'items'));
  adapter = (kind) => new ItemAdapter(items, kind, open);
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const exp = Math.floor(Date.now() / 1_000) + 1_000;
const ask = (id: string, from: string, more: object = {}) => {
  network = from;
  return adapter('Interaction').upsert(id, { jti: id, kind: 'Interaction', exp, ...more }, 1_000);
};
async function left(kind: string, ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids) if (await adapter(kind).find(id)) found.push(id);
  return found;
}

test('of the requests that wait for a user the oldest of the network with most of them goes', async () => {
  await ask('one', '203.0.113.1');
  await ask('known', '203.0.113.9', { session: { accountId: 'dana' } });
  const many = Array.from({ length: 9 }, (_, n) => `many-${n}`);
  for (const id of many) await ask(id, '203.0.113.2');
  await ask('two', '203.0.113.1');
  assert.deepEqual(await left('Interaction', many), ['many-5', 'many-6', 'many-7', 'many-8']);
  assert.deepEqual(await left('Interaction', ['one', 'known', 'two']), ['one', 'known', 'two']);
});

test('so do clients that never came to a grant, and no others', async () => {
  const register = (id: string) => adapter('Client').upsert(id, { client_id: id } as never);
  await register('used');
  await adapter('Grant').upsert('g', { jti: 'g', kind: 'Grant', accountId: 'dana', clientId: 'used', exp }, 1_000);
  const ids = Array.from({ length: 8 }, (_, n) => `client-${n}`);
  for (const id of ids) await register(id);
  assert.deepEqual(await left('Client', ['used', ...ids]), ['used', ...ids.slice(2)]);
});
