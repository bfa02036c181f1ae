/** Random schemas survive the way through a snapshot: into an empty system, and to the other engine. Reference: schema-as-code.md. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../support/oracle.ts';
import { type EngineName, engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { addSystem, serviceOf } from '../systems/cli.ts';
import { settings } from './settings.ts';
import { snapshots } from './snapshot-arbitraries.ts';

describe('random schemas', () => {
  /** Of each engine two systems. */
  const systems = new Map<EngineName, [Service, Service]>();
  let fresh: Json;
  before(async () => {
    for (const engine of engines) {
      const service = await sharedService(engine);
      const [one, other] = [serviceOf(service, await addSystem(service)), serviceOf(service, await addSystem(service))];
      systems.set(engine, [one, other]);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      fresh = await snapshotOf(one);
    }
  });
  after(() => systems.clear());

  const snapshotOf = async (system: Service): Promise<Json> => {
    const answer = await system.call('GET', '/platform/schema/snapshot');
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text);
  };

  async function apply(system: Service, snapshot: Json): Promise<void> {
    const compared = await system.call('POST', '/platform/schema/diff', { body: snapshot });
    assert.equal(compared.status, 200, compared.text);
    const body = { hash: compared.body.hash, snapshot, allowDestructive: true };
    const applied = await system.call('POST', '/platform/schema/apply', { body });
    assert.equal(applied.status, 200, applied.text);
    const again = await system.call('POST', '/platform/schema/diff', { body: snapshot });
    assert.deepEqual(again.body.changes, []);
  }

  test('applied to a system, exported, applied to an empty one of each engine, and to one without tables: the same text', async () => {
    await fc.assert(
      fc.asyncProperty(snapshots, async (snapshot) => {
        const [[source]] = [...systems.values()] as [[Service, Service]];
        await apply(source, fresh);
        await apply(source, snapshot);
        const whole = await snapshotOf(source);
        for (const [, target] of systems.values()) {
          await apply(target, fresh);
          await apply(target, whole);
          assert.equal(JSON.stringify(await snapshotOf(target)), JSON.stringify(whole));
        }
        const [, target] = [...systems.values()].at(-1) as [Service, Service];
        await apply(target, { format: 1, complete: true, tables: {}, triggers: [], reports: [], config: {}, labels: {} });
        await apply(target, whole);
        assert.equal(JSON.stringify(await snapshotOf(target)), JSON.stringify(whole));
      }),
      settings(6),
    );
  });
});
