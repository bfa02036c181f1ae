/** Runs the worked example as an integrator would (examples/agent/README.md). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crmOf } from '../../support/client.ts';
import { mcpAddress } from '../../support/mcp.ts';
import { agentUser, everything, type Permission, signInFor } from '../../support/oauth.ts';
import { type Service, sampledEngines } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';
import { userPointer } from '../../support/users.ts';

const script = fileURLToPath(new URL('../../../examples/agent/chores.ts', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env }, timeout: 60_000 };
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });

/** Asserts that each chore has reported its result in one line. */
function assertDone({ code, stdout, stderr }: Ended): void {
  assert.equal(code, 0, stdout + stderr);
  const numbers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => /^ ?(\d+) [A-Z][^:]*: \S/.exec(line)?.[1]);
  assert.deepEqual(numbers, ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'], stdout);
}

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    before(async () => {
      service = await sharedService(engine);
    });
    const url = () => ['--url', mcpAddress(service)];
    const tokenOf = async (permissions: readonly Permission[]) => {
      const user = await agentUser(service, permissions);
      const { tokens } = await signInFor(service, user);
      return { user, env: { MCP_TOKEN: tokens.access_token } };
    };

    test('with an API key, twice', async () => {
      for (let times = 0; times < 2; times++) assertDone(await run([...url(), '--api-key', service.apiKey]));
    });

    test('as a user who signed in: what is written carries the user', async () => {
      const { user, env } = await tokenOf(everything);
      assertDone(await run(url(), env));
      for (const [table, count] of [
        ['Accounts', 3],
        ['PriceQuotes', 1],
        ['Activities', 2],
        ['Tasks', 2],
        ['Notes', 2],
        ['_DynamicQueries', 1],
      ] as const) {
        assert.equal(
          await crmOf(service)
            .table(table)
            .count({ createdBy: userPointer(user) }),
          count,
          table,
        );
      }
    });

    test('it says what it lacks', async () => {
      const { env } = await tokenOf(['mcp:view']);
      const viewer = await run(url(), env);
      assert.notEqual(viewer.code, 0);
      assert.match(viewer.stderr, /these chores take the permissions to see, add and change records/);
      const stranger = await run([...url(), '--api-key', 'wrong-key']);
      assert.notEqual(stranger.code, 0);
      assert.match(stranger.stderr, /Get-My-Access \{\}: Permission denied for action/);
      const nobody = await run(url());
      assert.deepEqual([nobody.code, nobody.stdout], [2, '']);
      assert.match(nobody.stderr, /^Usage: /);
    });
  });
