/**
 * What a run of many test files shares, each made when the first test asks for it (`runResource`): a PostgreSQL server, the data of a service that has
 * started once, to be copied, the program of the console, and hosts (hosts/leases.ts). A run of unit tests starts none of it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { RESOURCES_VARIABLE } from '../../src/storage/postgres/testing/run-resources.ts';
import type { EngineName } from './data.ts';
import type { HostKind } from './hosts/host.ts';
import { closeHosts, leaseHost } from './hosts/leases.ts';
import { useMemoryDirectory } from './memory-directory.ts';
import { beginRecording, endRecording } from './statements.ts';

const QUIET = '--disable-warning=ExperimentalWarning';

/** In the order of their making; released in the opposite one. */
const releases: (() => Promise<unknown>)[] = [];

/** The resources by name; each answers what leads a test file to it. */
const makers = new Map<string, () => Promise<string>>([
  ['postgres', startPostgres],
  ['sqlite-data', async () => (await startedOnce('sqlite')).dataDir],
  ['postgres-data', async () => new URL((await startedOnce('postgres')).database?.url ?? '').pathname.slice(1)],
  ['console', () => runScript('build-console')],
  ['chromium', () => runScript('chromium')],
]);

async function startPostgres(): Promise<string> {
  const { clusterUrls, prepareCluster } = await import('../../src/storage/postgres/testing/cluster.ts');
  const cluster = clusterUrls();
  if (cluster[0]) {
    await prepareCluster(cluster);
    return cluster[0];
  }
  const { ServerProcess } = await import('../../src/storage/postgres/testing/process.ts');
  const server = await ServerProcess.create();
  releases.push(() => server.close());
  return server.url();
}

/** Data on which a service has made its first system. */
async function startedOnce(engine: EngineName) {
  const [{ makeData }, { startServiceProcess }] = await Promise.all([import('./data.ts'), import('./service-process.ts')]);
  const data = await makeData(engine, false);
  releases.push(() => data.remove());
  const service = await startServiceProcess({ engine, ...data });
  await service.stop();
  return data;
}

async function runScript(name: string): Promise<string> {
  const script = fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url));
  // Without the runner's own flags and context, which would make a test run of it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [QUIET, script], { env, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`scripts/${name}.ts failed`);
  return '';
}

const made = new Map<string, Promise<string>>();
const server = createServer(async (request, response) => {
  const name = request.url?.slice(1) ?? '';
  try {
    const [, kind, pid] = /^(services|commands)\/(\d+)$/.exec(name) ?? [];
    if (kind) {
      response.end(JSON.stringify(await leaseHost(kind as HostKind, Number(pid))));
      return;
    }
    const resource = made.get(name) ?? makers.get(name)?.();
    if (!resource) throw new Error(`no resource ${name}`);
    made.set(name, resource);
    response.end(await resource);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

/** Called by the test runner before the first file. */
export async function globalSetup(): Promise<void> {
  useMemoryDirectory();
  await beginRecording();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  process.env[RESOURCES_VARIABLE] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Called by the test runner after the last file. */
export async function globalTeardown(): Promise<void> {
  await closeHosts();
  for (const release of releases.reverse()) await release();
  server.close();
  // An error would make the runner call this function again.
  const report = await endRecording().catch(String);
  if (report === '') return;
  console.error(`\nA Citus coordinator cannot take these statements of suites in cluster mode (test/README.md):\n\n${report}\n`);
  process.exitCode = 1;
}
