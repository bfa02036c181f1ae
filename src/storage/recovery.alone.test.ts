import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recovery } from './recovery.ts';

test('a store that works counts as back, though somebody goes on to meet faults', async () => {
  const recovery: Recovery = new Recovery(async () => recovery.met());
  recovery.met();
  await recovery.whenBack();
  assert.equal(recovery.isAway, false);
  recovery.close();
});

test('a fault that is met while the store is looked at has it looked at again', async () => {
  let looks = 0;
  const recovery: Recovery = new Recovery(async () => {
    looks++;
    if (looks === 1) recovery.met();
  });
  recovery.met();
  await recovery.whenBack();
  assert.equal(looks, 2);
  recovery.close();
});

test('a store that is closed is looked at no more', async () => {
  let looks = 0;
  const recovery = new Recovery(async () => {
    looks++;
  });
  recovery.met();
  recovery.close();
  await recovery.whenBack();
  assert.equal(looks, 0);
});
