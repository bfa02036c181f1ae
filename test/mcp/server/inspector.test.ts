/** Runs the protocol's inspector (its CLI), with which operators try out a connection. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bearerHeaders, keyHeaders, mcpAddress, useTool } from '../../support/mcp.ts';
import { agentUser, signInFor } from '../../support/oauth.ts';
import { type Json, unique } from '../../support/records.ts';
import type { Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';

const inspector = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

let service: Service;
before(async () => {
  service = await sharedService('sqlite');
});

interface Said {
  code: number;
  /** Its output, parsed as JSON. */
  json: Json;
  errors: string;
}

function inspect(method: string, headers: Record<string, string>, ...args: string[]): Promise<Said> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const all = [inspector, '--cli', mcpAddress(service), '--transport', 'http', '--method', method, ...sent, ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, all, { timeout: 60_000 }, (_error, stdout, stderr) => {
      let json: Json;
      try {
        json = JSON.parse(stdout);
      } catch {
        json = undefined;
      }
      resolve({ code: child.exitCode ?? -1, json, errors: stderr });
    });
  });
}

const call = (headers: Record<string, string>, name: string, ...args: string[]): Promise<Said> =>
  inspect('tools/call', headers, '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]));

test('it lists the tools, and finds nothing wrong with their schemas', async () => {
  const { code, json, errors } = await inspect('tools/list', {}, '--strict');
  assert.equal(code, 0, errors);
  assert.ok(json.tools.length > 1);
});

test('it calls tools with a key and with a token', async () => {
  const { tokens } = await signInFor(service, await agentUser(service));
  const Name = unique('Inspected');
  for (const headers of [keyHeaders(service), bearerHeaders(tokens.access_token)]) {
    const made = await call(headers, 'Create-Record', 'table=Accounts', `data={"Name":"${Name}"}`);
    assert.equal(made.code, 0, made.errors);
    assert.match(JSON.parse(made.json.content[0].text).objectId, /^\w{10}$/);
    const found = await call(headers, 'Get-Data', 'table=Accounts', `where={"Name":"${Name}"}`, 'limit=3');
    assert.equal(found.code, 0, found.errors);
    assert.equal(JSON.parse(found.json.content[0].text).results[0].Name, Name);
  }
  const { results } = await useTool(service, keyHeaders(service), 'Get-Data', { table: 'Accounts', where: { Name } });
  assert.equal(results.length, 2);
});

test('it shows refusals', async () => {
  const wrong = await call({ 'X-Platform-API-Key': 'none' }, 'Get-Data', 'table=Accounts');
  assert.equal(wrong.json.content[0].text, 'Permission denied for action find on class Accounts');
  assert.notEqual(wrong.code, 0);
  const none = await call({}, 'Get-Data', 'table=Accounts');
  assert.notEqual(none.code, 0);
  assert.match(none.errors, /mcp:view/);
});
