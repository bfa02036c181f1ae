/** MCP permissions are set per user, and off by default. Reference: agents.md#mcp-permissions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Json, mismatch, useStore } from '../support/records.ts';
import { anyEngine } from '../support/service.ts';
import { signUp, updateUser } from '../support/users.ts';

const wrong: [Json, string][] = [
  [['mcp:delete'], 'mcp:delete'],
  [['view'], 'view'],
  [['mcp:view', 5], 'number'],
  [[null], 'object'],
  [{ __op: 'AddUnique', objects: ['mcp:all'] }, 'mcp:all'],
  [{ __op: 'SetOnInsert', amount: ['MCP:VIEW'] }, 'MCP:VIEW'],
];

for (const engine of anyEngine)
  describe(engine, () => {
    const store = useStore(engine);
    const read = async (id: string) => (await store.call('GET', `/platform/users/${id}`)).body.mcpPermissions;

    test('a user has none until they are written; a key writes them whole or by operators', async () => {
      const { id } = await signUp(store);
      const write = async (mcpPermissions: Json) =>
        assert.equal((await updateUser(store, id, { mcpPermissions })).status, 200, JSON.stringify(mcpPermissions));
      assert.equal(await read(id), undefined);
      await write(['mcp:view', 'mcp:create']);
      assert.deepEqual(await read(id), ['mcp:view', 'mcp:create']);
      await write({ __op: 'AddUnique', objects: ['mcp:update', 'mcp:edit-page-and-schema'] });
      await write({ __op: 'Remove', objects: ['mcp:create'] });
      assert.deepEqual(await read(id), ['mcp:view', 'mcp:update', 'mcp:edit-page-and-schema']);
      await write(null);
      assert.equal(await read(id), undefined);
    });

    for (const [value, name] of wrong)
      test(`${JSON.stringify(value)} is no list of permissions`, async () => {
        const { id } = await signUp(store);
        const refusal = { code: 107, error: `Invalid MCP permission: ${name}` };
        assertRefused(await updateUser(store, id, { mcpPermissions: value }), refusal);
        const body = { username: `${id}@example.com`, password: 'Secret123', mcpPermissions: value };
        assertRefused(await store.call('POST', '/platform/users', { body }), refusal);
        assert.equal(await read(id), undefined);
      });

    test('another type is 111, a session that writes its own 206', async () => {
      const { id, token } = await signUp(store);
      assertRefused(
        await updateUser(store, id, { mcpPermissions: 'mcp:view' }),
        mismatch('_User', 'mcpPermissions', 'Array', 'String'),
      );
      const answer = await store.call('PUT', `/platform/users/${id}`, { session: token, body: { mcpPermissions: ['mcp:view'] } });
      assertRefused(answer, { code: 206 });
    });
  });
