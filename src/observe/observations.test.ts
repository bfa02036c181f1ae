import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Observations } from './observations.ts';

test('an observer receives the kinds that it subscribed to, until it leaves', () => {
  const observations = new Observations();
  const seen: string[] = [];
  assert.equal(observations.isObserved('mail'), false);
  const leave = observations.subscribe(['mail', 'login'], ({ kind, outcome }) => seen.push(`${kind} ${outcome}`));
  observations.subscribe(['mail'], ({ outcome }) => seen.push(`other ${outcome}`));
  assert.equal(observations.isObserved('login'), true);
  assert.equal(observations.isObserved('commit'), false);
  observations.observe({ kind: 'mail', outcome: 'sent' });
  observations.observe({ kind: 'commit', ms: 1, writes: 1 });
  observations.observe({ kind: 'login', outcome: 'refused' });
  leave();
  assert.equal(observations.isObserved('login'), false);
  observations.observe({ kind: 'mail', outcome: 'failed' });
  assert.deepEqual(seen, ['mail sent', 'other sent', 'login refused', 'other failed']);
});

test('an observer that fails harms neither the reporter nor other observers', () => {
  const errors: unknown[] = [];
  const observations = new Observations((error) => errors.push(error));
  const fault = new Error('of an observer');
  let seen = 0;
  observations.subscribe(['mail'], () => {
    throw fault;
  });
  observations.subscribe(['mail'], () => seen++);
  observations.observe({ kind: 'mail', outcome: 'sent' });
  assert.deepEqual(errors, [fault]);
  assert.equal(seen, 1);
});
