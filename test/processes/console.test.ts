/** The console on several processes: a session of one is valid on the others, and each signals what another writes. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Visitor } from '../support/console.ts';
import type { Store } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { join, signUp } from '../support/users.ts';
import { describeProcesses } from './processes.ts';

/** Changes of others show within three seconds, two of which lie between two polls (console.md#the-change-signal). */
const SIGNAL_MS = 3_000;

describeProcesses('the console', ([one, other]) => {
  assert.ok(one && other);
  let visitor: Visitor;
  /** The same browser, routed to the other process. */
  let atOther: Visitor;
  const led = (to: Store, from: Visitor): Visitor => {
    const there = new Visitor(to.service());
    for (const [name, cookie] of from.cookies) there.cookies.set(name, cookie);
    return there;
  };

  before(async () => {
    const user = await signUp(one);
    await join(one, 'Sales', [user]);
    visitor = new Visitor(one.service());
    await visitor.signIn(user.username);
    atOther = led(other, visitor);
  });

  const changes = async (of: Visitor, since?: string) =>
    (await of.api('GET', `changes${since === undefined ? '' : `?since=${encodeURIComponent(since)}`}`)).body;

  test('a session of one is good at the other, and ends at both', async () => {
    assert.equal((await atOther.api('GET', 'me')).status, 200);
    const user = await signUp(one);
    const short = new Visitor(one.service());
    await short.signIn(user.username);
    const there = led(other, short);
    assert.equal((await there.api('GET', 'me')).status, 200);
    await short.api('DELETE', 'session');
    await soon(async () => assert.equal((await there.api('GET', 'me')).body.code, 209));
  });

  test('a write at the other is signalled once it is committed', async () => {
    let { now } = await changes(visitor);
    await other.call('POST', '/platform/classes/Accounts', { body: { Name: 'Written elsewhere' } });
    const began = performance.now();
    const signalled = new Set<string>();
    while (!signalled.has('Accounts')) {
      assert.ok(performance.now() - began < SIGNAL_MS, 'in time');
      const answer = await changes(visitor, now);
      for (const table of answer.tables) signalled.add(table);
      now = answer.now;
      await wait(50);
    }
  });

  test('a browser that is routed to both in turn receives no signal when nothing is written', async () => {
    // A process does not know what was written before its first poll, and signals what was written just before it twice.
    for (const each of [visitor, atOther]) await changes(each);
    await wait(SIGNAL_MS + 1_000);
    let { now } = await changes(visitor);
    for (let count = 0; count < 6; count++) {
      const answer = await changes(count % 2 === 0 ? atOther : visitor, now);
      assert.deepEqual(answer.tables, [], `question ${count}`);
      assert.equal(answer.isModelChanged, false);
      now = answer.now;
    }
  });
});
