/** Agent tools by way of two processes at the same moment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byKey } from '../mcp/tools/callers.ts';
import { unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses, times } from './processes.ts';

describeProcesses('agent tools over two processes', (stores) => {
  const [a, b] = both(stores);

  test('Set-Config-Flag: a flag that is new to both keeps the keys of all, in the row that counts', async () => {
    for (let round = 0; round < 10; round++) {
      const name = unique('Race');
      const keys = await times(4, async (n) => {
        await byKey(n % 2 ? a : b).use('Set-Config-Flag', { name, value: { [name]: true, [`k${n}`]: n } });
        return [`k${n}`, n] as const;
      });
      await soon(async () => {
        const [flag] = (await byKey(a).use('Get-Config-Flags', { name })).results;
        assert.deepEqual(flag.value, { [name]: true, ...Object.fromEntries(keys) });
      });
    }
  });
});
