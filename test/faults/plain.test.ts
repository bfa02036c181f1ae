/** The harness itself: without a fault nothing fails, and the faults that are injected reach the process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../support/service.ts';
import { besideFault } from './world.ts';

for (const engine of engines)
  test(`without a fault all is served and nothing is told (${engine})`, async () => {
    const expect = { writes: 'work', reads: 'work', ready: 'ready', condition: null } as const;
    await besideFault({ engine, expect, fault: () => wait(1_000) });
    assert.ok(true);
  });
