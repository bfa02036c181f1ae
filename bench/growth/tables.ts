import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { memoryOf } from '../support/memory.ts';
import { count, megabytes, milliseconds, note, printTable } from '../support/report.ts';
import type { Prepared } from '../support/target.ts';
import { createMany, type Engine, type Kind, measureGrowth, type Subject } from './measure.ts';

/** Records of each table. */
const RECORDS = 20;
const REQUESTS = 2_000;
/** Schema changes of a round. */
const CHANGES = 30;
/** Passes over the tables of the template until their records are gone: as many as their Pointers follow each other, and one more. */
const PASSES = 3;

/** A system of this many tables, beside those of the service. */
interface System extends Subject {
  readonly tables: number;
  /** Paths of records, one of each table. */
  readonly paths: readonly string[];
}

const bodyOf = (seed: number) => ({ Name: `Record ${seed}`, Amount: seed });
const create = (tableAt: number, seed: number): Prepared => ({
  method: 'POST',
  path: `/platform/classes/Many${tableAt}`,
  body: bodyOf(seed),
});
const many = (length: number, make: (index: number) => Prepared) => Array.from({ length }, (_, index) => make(index));
const creates = ({ tables }: System) => many(REQUESTS, (index) => create(index % tables, index));

const kinds: readonly Kind<System>[] = [
  {
    name: 'read one of one table',
    isFlat: true,
    requests: ({ paths }) => [{ method: 'GET', path: paths[0] ?? '' }],
  },
  {
    name: 'read one, each table in turn',
    isFlat: true,
    requests: ({ paths }) => paths.map((path) => ({ method: 'GET', path })),
  },
  { name: 'create in one table', isFlat: true, requests: () => many(REQUESTS, (index) => create(0, index)) },
  { name: 'create, each table in turn', isFlat: true, requests: creates },
  {
    name: 'delete, each table in turn',
    isFlat: true,
    isOnce: true,
    requests: async (of) => {
      const paths = await createMany(serviceTarget(of.service), creates(of));
      return paths.map((path) => ({ method: 'DELETE', path }));
    },
  },
  {
    name: 'schema of one table',
    isFlat: true,
    requests: ({ tables }) =>
      many(REQUESTS, (index) => ({ method: 'GET', path: `/platform/schemas/Many${index % tables}`, headers: master })),
  },
  {
    name: 'schemas of all tables',
    isFlat: false,
    requests: () => [{ method: 'GET', path: '/platform/schemas', headers: master }],
  },
  {
    name: 'new field, each table in turn',
    isFlat: true,
    isOnce: true,
    requests: ({ tables }, round) =>
      many(CHANGES, (index) => {
        const body = { fields: { [`Round${round}x${index}`]: { type: 'String' } } };
        return { method: 'PUT', path: `/platform/schemas/Many${index % tables}`, body, headers: master };
      }),
  },
];

const master: Record<string, string> = {};

/** Measures requests to systems with different numbers of tables, and the start of these systems. */
export async function measureTables(context: BenchContext, engine: Engine, numbers: readonly number[]): Promise<void> {
  const systems: System[] = [];
  const starts: string[][] = [];
  for (const tables of numbers) {
    const dataDir = await context.scratch.directory();
    const database = await engine.server?.database();
    const first = await context.scratch.service(dataDir, database);
    master['X-Platform-Master-Key'] = first.masterKey;
    const began = performance.now();
    const paths = await prepare(first, tables);
    note(`${engine.name}: ${count(tables)} tables in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    await first.stop();
    // As autovacuum does in time.
    if (database) await engine.server?.query('VACUUM ANALYZE', database);
    const starting = performance.now();
    const service = await context.scratch.service(dataDir, database);
    const listening = performance.now();
    await service.call('GET', paths[0] ?? '', { as: 'apiKey' });
    const answered = performance.now();
    const { own = 0 } = memoryOf(service.process.pid ?? 0) ?? {};
    starts.push([count(tables), milliseconds(listening - starting), milliseconds(answered - listening), megabytes(own)]);
    systems.push({ name: count(tables), service, tables, paths, ...(database && { database }) });
  }
  await measureGrowth('growth: tables of a system', context, engine, systems, kinds);
  for (const [at, { service }] of systems.entries()) {
    starts[at]?.push(megabytes(memoryOf(service.process.pid ?? 0)?.own ?? 0));
    await service.stop();
  }
  const columns = ['tables', 'start to listening', 'first read', 'memory without file pages', 'the same at the end'];
  printTable(`growth: start and memory of a system, ${engine.name}`, columns, starts);
}

/** Removes the tables of the template, creates tables, each with a Pointer at the one before, and records. @returns a path of a record of each */
async function prepare(service: Service, tables: number): Promise<string[]> {
  const call = async (method: string, path: string, body?: unknown, query: Record<string, unknown> = {}) => {
    const answer = await service.call(method, path, { body, query });
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const { results } = (await call('GET', '/platform/schemas')) as { results: { className: string }[] };
  const template = results.map(({ className }) => className).filter((name) => !name.startsWith('_') && name !== 'Config');
  const empty = new Set<string>();
  // Records that others point at are refused until these are gone. A site and its first page point at each other: these tables stay.
  for (let pass = 0; pass < PASSES; pass++)
    for (const className of template) {
      const path = `/platform/classes/${className}`;
      const { count: expect } = await call('GET', path, undefined, { count: 1, limit: 0 });
      const { refused } = await call('DELETE', path, undefined, { where: {}, expect });
      if (refused.length === 0) empty.add(className);
    }
  for (const className of empty) await call('DELETE', `/platform/schemas/${className}`);
  for (let at = 0; at < tables; at++) {
    const before = { type: 'Pointer', targetClass: `Many${Math.max(at - 1, 0)}` };
    const fields = { Name: { type: 'String' }, Amount: { type: 'Number' }, Before: before };
    await call('POST', `/platform/schemas/Many${at}`, { className: `Many${at}`, fields });
  }
  const paths = await createMany(
    serviceTarget(service),
    many(tables * RECORDS, (index) => create(index % tables, index)),
  );
  return paths.slice(0, tables);
}
