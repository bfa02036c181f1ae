/** Runs the protocol's official conformance suite (its CLI) against a started service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mcpAddress } from '../../support/mcp.ts';
import type { Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';

const suite = fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const baselineFile = new URL('conformance-baseline.yml', import.meta.url);

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** The checks by scenario. */
type Findings = Map<string, Check[]>;

let service: Service;
let proxy: Server;
let directory: string;

before(async () => {
  service = await sharedService('sqlite');
  proxy = await keyProxy(service);
  directory = await mkdtemp(join(tmpdir(), 'rds-conformance-'));
});

after(async () => {
  proxy?.close();
  proxy?.closeAllConnections();
  await rm(directory, { recursive: true, force: true });
});

/** Starts a proxy that adds the API key, since the suite cannot send custom headers. */
async function keyProxy(to: Service): Promise<Server> {
  const target = new URL(mcpAddress(to));
  const server = createServer((incoming, outgoing) => {
    const { method = 'POST', headers } = incoming;
    const forwarded = request(target, { method, headers: { ...headers, 'x-platform-api-key': to.apiKey } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function run(name: string, args: readonly string[]): Promise<Findings> {
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
  const output = join(directory, name);
  const all = [suite, 'server', '--url', url, '--output-dir', output, ...args];
  // The suite exits with 1 if any check fails; the failed checks are read from its files.
  const report = await new Promise<string>((resolve) =>
    execFile(process.execPath, all, { cwd: directory, timeout: 120_000 }, (_error, stdout, stderr) => resolve(stdout + stderr)),
  );
  const findings: Findings = new Map();
  for (const entry of await readdir(output).catch(() => assert.fail(report))) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(entry)?.[1];
    if (scenario) findings.set(scenario, JSON.parse(await readFile(join(output, entry, 'checks.json'), 'utf8')));
  }
  return findings;
}

/** Returns the checks that are known to fail, each listed below the reason. */
async function baseline(): Promise<Set<string>> {
  const entries = new Set<string>();
  let reason: string | undefined;
  for (const line of (await readFile(baselineFile, 'utf8')).split('\n')) {
    const [, comment, entry] = /^ {2}(?:# (.+)|- (\S+))$/.exec(line) ?? [];
    if (line === '') reason = undefined;
    if (comment) reason = comment;
    if (!entry) continue;
    assert.ok(reason, `${entry} stands in the baseline without a reason`);
    entries.add(entry);
  }
  return entries;
}

/** Minimum number of checks that must pass per scenario, because a scenario that could test nothing passes too. */
const minChecks: Record<string, readonly (readonly [scenario: string, checks: number])[]> = {
  all: [
    ['server-initialize', 1],
    ['ping', 1],
    ['tools-list', 2],
    ['dns-rebinding-protection', 2],
    ['http-header-validation', 14],
    ['server-stateless', 22],
    ['caching', 3],
  ],
  '2025-11-25': [
    ['server-initialize', 1],
    ['ping', 1],
    ['tools-list', 2],
    ['dns-rebinding-protection', 2],
  ],
  '2026-07-28': [
    ['tools-list', 3],
    ['dns-rebinding-protection', 2],
    ['http-header-validation', 14],
    ['server-stateless', 22],
    ['caching', 3],
  ],
};

/** `all` runs each scenario at its default revision; the others run every scenario at the given revision. */
const runs: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['all', ['--suite', 'all']],
  ['2025-11-25', ['--requirements', '2025-11-25']],
  ['2026-07-28', ['--requirements', '2026-07-28']],
];

for (const [name, args] of runs) {
  test(`conformance suite: ${name}`, async () => {
    const findings = await run(name, args);
    const known = await baseline();
    const failed = new Map<string, string>();
    for (const [scenario, checks] of findings)
      for (const { id, status, errorMessage = '' } of checks)
        if (status === 'FAILURE') failed.set(`${scenario}:${id}`, errorMessage);
    const unexpected = [...failed].filter(([check]) => !known.has(check)).map(([check, why]) => `${check}: ${why}`);
    assert.deepEqual(unexpected, [], 'checks that fail and are not in the baseline');
    if (name === 'all') {
      const stale = [...known].filter((check) => !failed.has(check));
      assert.deepEqual(stale, [], 'checks of the baseline that do not fail');
    }
    for (const [scenario, count] of minChecks[name] ?? []) {
      const held = (findings.get(scenario) ?? []).filter(({ status }) => status === 'SUCCESS').length;
      assert.ok(held >= count, `${scenario}: ${held} checks hold, not ${count}`);
    }
  });
}
