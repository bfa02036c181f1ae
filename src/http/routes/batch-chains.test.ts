import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chains, linkOf } from './batch-chains.ts';
import type { RoutedItem } from './batch-items.ts';

const watch = { watches: (className: string) => ['_User', '_Role'].includes(className) };
const item = (method: string, path: string, params: Record<string, string> = {}): RoutedItem =>
  ({ endpoint: { method, path }, params }) as unknown as RoutedItem;

test('changes and deletes in watched tables are links, by whatever address; others are not', () => {
  const user = { chain: 'table _User', isAwaited: true };
  assert.deepEqual(linkOf(item('PUT', '/users/:objectId'), watch), user);
  assert.deepEqual(linkOf(item('DELETE', '/classes/:className/:objectId', { className: '_User' }), watch), user);
  assert.deepEqual(linkOf(item('POST', '/roles'), watch), { chain: 'table _Role', isAwaited: false });
  for (const other of [item('PUT', '/classes/:className/:objectId', { className: 'Accounts' }), item('POST', '/schemas')])
    assert.equal(linkOf(other, watch), null);
  assert.equal(linkOf(item('PUT', '/users/:objectId'), undefined), null);
});

test('work of a chain waits for what must be awaited, and for no other chain', async () => {
  const chains = new Chains();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`begin ${name}`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`end ${name}`);
  };
  const link = (isAwaited: boolean) => ({ chain: 'a', isAwaited });
  const all = [
    chains.run(link(false), work('create')),
    chains.run(link(true), work('delete')),
    chains.run(link(true), work('change')),
    chains.run(null, work('other')),
  ];
  assert.deepEqual(log, ['begin create', 'begin delete', 'begin other']);
  await Promise.all(all);
  assert.ok(log.indexOf('end delete') < log.indexOf('begin change'), String(log));
});
