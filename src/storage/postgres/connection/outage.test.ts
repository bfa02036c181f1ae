import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapWriteError } from './map-error.ts';
import { Outage } from './outage.ts';

/** An outage of a coordinator whose systems `rds_a` and `rds_b` cannot be written to. */
function outageOf() {
  const outage = new Outage({
    isCoordinator: true,
    conditions: undefined,
    check: () => Promise.reject(new Error('away')),
    query: async () => [],
  });
  for (const system of ['rds_a', 'rds_b']) outage.register(system, { appId: system, statements: () => [] });
  const isAway = (system: string) => Promise.race([outage.whenBack(system).then(() => false), nextTurn(true)]);
  return { outage, isAway };
}

const failed = (code: string, where?: string) =>
  mapWriteError(Object.assign(new Error('text'), { code, severity: 'ERROR', ...(where === undefined ? {} : { where }) }));

for (const code of ['53100', '53200', '25006'])
  test(`what a node reports (${code}) keeps only the system waiting that met it; the same of the server itself, all`, async () => {
    const { outage, isAway } = outageOf();
    outage.record(failed(code, 'while executing command on 10.0.0.1:5432'), 'rds_a');
    assert.deepEqual([await isAway('rds_a'), await isAway('rds_b')], [true, false]);
    outage.close();
    const whole = outageOf();
    whole.outage.record(failed(code), 'rds_a');
    assert.deepEqual([await whole.isAway('rds_a'), await whole.isAway('rds_b')], [true, true]);
    whole.outage.close();
  });
