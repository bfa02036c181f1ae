/** Restores permissions of template tables, which other suites of the same service rely on. */
import { after, before } from 'node:test';
import { assertDone, type Rules, setRules } from '../support/permissions.ts';
import type { Service } from '../support/service.ts';

/** Restores the permissions of these tables after the surrounding `describe`. */
export function putBackRules(service: () => Service, tables: readonly string[]): void {
  const found = new Map<string, Rules>();
  before(async () => {
    for (const table of tables) {
      const schema = assertDone(await service().call('GET', `/platform/schemas/${table}`), 200, table);
      found.set(table, schema.classLevelPermissions);
    }
  });
  after(async () => {
    for (const [table, rules] of found) await setRules(service(), table, rules);
  });
}
