/** Maximum size of request bodies for agent tools, by caller. Reference: agents.md#limits-for-agents. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bearerHeaders, callTool, keyHeaders, mcpAddress, message, post } from '../../support/mcp.ts';
import { agentUser, type Permission, signInFor } from '../../support/oauth.ts';
import type { Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';

let service: Service;
before(async () => {
  service = await sharedService('sqlite');
});

const long = message('ping', { text: 'x'.repeat(1_100_000) });

async function headersOf(permissions: readonly Permission[]): Promise<Record<string, string>> {
  const { tokens } = await signInFor(service, await agentUser(service, permissions));
  return bearerHeaders(tokens.access_token);
}

test('bodies over 1 MiB: keys and users who may write', async () => {
  const cases: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [keyHeaders(service), 200],
    [await headersOf(['mcp:view', 'mcp:create']), 200],
    [await headersOf(['mcp:update']), 200],
    [await headersOf(['mcp:view']), 413],
    [await headersOf(['mcp:edit-page-and-schema']), 413],
    [{}, 413],
  ];
  for (const [headers, status] of cases) assert.equal((await post(mcpAddress(service), long, headers)).status, status);
});

test('a body of millions of values is refused, and holds up no other request', async () => {
  const table = `[${Array(12_000_000).fill('{}').join()}]`;
  const body = JSON.stringify(message('tools/call', { name: 'Get-Data', arguments: {} })).replace('{}', `{"table":${table}}`);
  let longest = 0;
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      const started = performance.now();
      await (await fetch(`${service.url}/health/live`)).text();
      longest = Math.max(longest, performance.now() - started);
      await wait(10);
    }
  })();
  const answer = await post(mcpAddress(service), body, keyHeaders(service));
  isOver = true;
  await others;
  assert.equal(answer.status, 413);
  assert.deepEqual(answer.body.error, { code: -32000, message: 'Request body is too large: too many values.' });
  assert.ok(longest < 4_000, `${longest} ms`);
});

test('who stops in the middle of a long body keeps no place from others', async () => {
  const users = await Promise.all([headersOf(['mcp:create']), headersOf(['mcp:create']), headersOf(['mcp:update'])]);
  const stopped = [...users, ...users, ...users].map((headers) => {
    const sent = request(mcpAddress(service), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 40_000_000, ...headers },
    });
    const state = { sent, status: 0 };
    sent.on('error', () => {});
    sent.on('response', (answer) => {
      state.status = answer.statusCode ?? 0;
      answer.resume();
    });
    sent.write(`{"x":"${'a'.repeat(1_500_000)}`);
    return state;
  });
  await wait(500);
  const base64 = Buffer.alloc(1_500_000, 97).toString('base64');
  const args = { fileName: 'a.txt', contentType: 'text/plain', base64 };
  const uploaded = await callTool(service, keyHeaders(service), 'Upload-Public-File', args);
  assert.equal(uploaded.isError, false, uploaded.text);
  assert.ok(stopped.filter(({ status }) => status === 408).length >= 1);
  for (const { sent } of stopped) sent.destroy();
});
