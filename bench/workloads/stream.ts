import { get, type IncomingMessage } from 'node:http';
import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { MemoryWatch } from '../support/memory.ts';
import { table } from '../support/records.ts';
import { count, median, megabytes, milliseconds, printTable, verdict } from '../support/report.ts';
import { send, type Target } from '../support/target.ts';

interface Measured {
  firstByte: number;
  total: number;
  bytes: number;
  growth: number;
  ownGrowth: number;
}

/** One answer with every record of the table: time to the first byte, total time, growth of the server's memory. */
export async function stream({ records = 100_000, rounds, scratch }: BenchContext): Promise<void> {
  const dataDir = await scratch.directory();
  const first = await scratch.service(dataDir);
  await declareTable(first);
  await fill(serviceTarget(first), records);
  await first.stop();

  const path = `/platform/classes/${table}?limit=${records}`;
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    // A fresh process per round: memory retained from loading must not hide the growth.
    const service = await scratch.service(dataDir);
    const target = serviceTarget(service);
    for (let warm = 0; warm < 20; warm++) await send(target, { method: 'GET', path: `/platform/classes/${table}?limit=100` });
    measured.push(await measure(target, path, service.process.pid ?? 0));
    if (round === rounds - 1) {
      const { results } = await send(target, { method: 'GET', path });
      if (results.length !== records) throw new Error(`the answer held ${results.length} records, not ${records}`);
    }
    await service.stop();
  }

  const middle = (name: keyof Measured) => median(measured.map((one) => one[name]));
  const growth = Math.max(...measured.map((one) => one.growth));
  const rows = [
    ['first byte of the body', milliseconds(middle('firstByte')), '≤ 100 ms', verdict(middle('firstByte') <= 100)],
    ['growth of resident memory (worst)', megabytes(growth), '< 50 MB', verdict(growth < 50e6)],
    ['growth without file pages', megabytes(middle('ownGrowth')), '–', ''],
    ['whole answer', milliseconds(middle('total')), '–', ''],
    ['size', megabytes(middle('bytes')), '–', ''],
  ];
  printTable(`stream: one answer of ${count(records)} records, ${rounds} fresh processes`, ['', 'measured', 'target', ''], rows);
}

async function measure(target: Target, path: string, pid: number): Promise<Measured> {
  const memory = new MemoryWatch(pid);
  const started = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${target.url}${path}`, { headers: target.headers }, resolve).on('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`GET ${path} answered ${response.statusCode}`);
  let firstByte = 0;
  let bytes = 0;
  for await (const chunk of response) {
    if (bytes === 0) firstByte = performance.now() - started;
    bytes += (chunk as Buffer).length;
  }
  const total = performance.now() - started;
  memory.stop();
  const { start, peak } = memory;
  return { firstByte, total, bytes, growth: peak.resident - start.resident, ownGrowth: peak.own - start.own };
}
