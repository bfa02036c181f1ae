import { serviceTarget } from '../support/fill.ts';
import { walOf } from '../support/health.ts';
import { memoryOf } from '../support/memory.ts';
import { besideOf, PointReads, quantile } from '../support/point-reads.ts';
import { count, megabytes, milliseconds, note, printTable } from '../support/report.ts';
import { send } from '../support/target.ts';
import type { Engine } from './measure.ts';
import { GROUP, groupsOf, named } from './records.ts';
import type { SizedSubject } from './sizes.ts';

/** Records of the largest table that one request deletes. */
const DELETED = 100_000;

/** Builds an index over the largest table and deletes many of its records, each beside point reads; then what the service and its store take. */
export async function measureLarge(engine: Engine, of: SizedSubject): Promise<void> {
  const { service, table } = of;
  const { className } = table;
  const reads = await PointReads.begin(service, className);
  const rows: string[][] = [];
  const beside = async (what: string, work: Promise<unknown>) => {
    const began = performance.now();
    const { took } = await reads.beside(work);
    const seconds = (performance.now() - began) / 1000;
    rows.push([what, `${seconds.toFixed(1)} s`]);
    rows.push(['point reads beside it, p99: quiet, busy', besideOf(reads.quiet, took, 0.99)]);
    rows.push(['the same, slowest', milliseconds(quantile(took, 1 - Number.EPSILON))]);
    note(`${engine.name}: ${what} done`);
  };
  const index = service.call('PUT', `/platform/schemas/${className}`, { body: { indexes: { byName: { Name: 1 } } } });
  await beside('an index built over a text', succeeded(index));
  // Records of the second half, which no record points at.
  const groups = Array.from({ length: Math.min((2 * DELETED) / GROUP, groupsOf(table)) }, (_, group) => `Group ${group}`);
  const half = { $gte: { __type: 'Date', iso: new Date(1_700_000_000_000 + table.records * 50).toISOString() } };
  const where = encodeURIComponent(JSON.stringify({ Group: { $in: groups }, createdAt: half }));
  const path = `/platform/classes/${className}?where=${where}`;
  const { count: matching } = await send(serviceTarget(service), { method: 'GET', path: `${path}&count=1&limit=0` });
  await beside(
    `${count(matching)} records deleted by where`,
    send(serviceTarget(service), { method: 'DELETE', path }).then(({ deleted, ...answer }) => {
      if (deleted !== matching) throw new Error(JSON.stringify({ deleted, ...answer }));
    }),
  );
  const memory = memoryOf(service.process.pid ?? 0);
  rows.push(['memory of the service without file pages', megabytes(memory?.own ?? 0)]);
  rows.push(['memory of the service with them', megabytes(memory?.resident ?? 0)]);
  if (!of.database) rows.push(['write-ahead log of the system', megabytes(walOf(service.dataDir))]);
  printTable(`growth: a table of ${named(table)}, ${engine.name}`, ['', 'measured'], rows);
}

async function succeeded(answering: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answering;
  if (status !== 200) throw new Error(text);
}
