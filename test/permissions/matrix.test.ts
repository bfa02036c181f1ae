/**
 * Every operation × every kind of caller × every kind of permissions × every kind of ACL, each answer compared exactly. Expectations come
 * from test/support/permissions.ts (permissions.md#table-permissions). Each engine gets half of the pairs of permissions and caller;
 * with TEST_ENGINES set, all pairs.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { engines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { readMany, readOne, readThrough } from './reads.ts';
import type { Seat } from './seat.ts';
import { callerNames, makeWorld, runsOn, settings, type MatrixTable as Table, type World } from './world.ts';
import { addField, assertNothingElse, create, remove, removeMany, update, updateMany } from './writes.ts';

const defaults = 'objectId,createdAt,updatedAt,ACL,createdBy,updatedBy';

for (const engine of engines)
  describe(engine, () => {
    let world: World | undefined;
    before(async () => {
      world = await makeWorld(await sharedService(engine));
    });

    for (const [row, setting] of Object.keys(settings).entries())
      for (const [column, name] of callerNames.entries()) {
        if (!runsOn(engine, row + column)) continue;
        test(`permissions for ${setting}; ${name}`, async () => {
          assert.ok(world);
          const { service, callers } = world;
          const caller = callers[name];
          const table = world.tables.get(setting) as Table;
          const seat: Seat = {
            ...{ service, caller, table },
            call: (method, path, options) => service.call(method, path, { ...options, ...caller.options }),
          };
          await readOne(seat);
          await readMany(seat);
          await readThrough(seat);
          await create(seat);
          await update(seat);
          await updateMany(seat);
          await addField(seat);
          await remove(seat);
          await removeMany(seat);
          await assertNothingElse(seat, `${defaults},k,n,owner,watchers,rel`);
        });
      }
  });
