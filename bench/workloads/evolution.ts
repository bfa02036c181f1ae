import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { BenchContext } from '../support/context.ts';
import { fillByImport } from '../support/fill-by-import.ts';
import { besideOf, PointReads } from '../support/point-reads.ts';
import { table } from '../support/records.ts';
import { count, milliseconds, note, printTable, verdict } from '../support/report.ts';

const MAX_RENAME_MS = 200;
const MAX_RETYPE_MS = 20_000;

/** New types in turn: an indexed Number to text and back, and a text without an index. */
const retypes = [
  ['Amount', 'String'],
  ['Amount', 'Number'],
  ['Comment', 'HTML/XML'],
] as const;

/** Renames fields of a large table, and gives them other types with point reads beside it; embedded, then on PostgreSQL. */
export async function evolution({ records = 1_000_000, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  for (const isEmbedded of [true, false]) {
    const database = isEmbedded ? undefined : await server.database();
    const { dataDir } = await fillByImport(scratch, records, database);
    note(`${count(records)} records imported`);
    const service = await scratch.service(dataDir, database);
    const change = async (fields: object): Promise<number> => {
      const began = performance.now();
      const { status, text } = await service.call('PUT', `/platform/schemas/${table}`, { body: { fields } });
      if (status !== 200) throw new Error(text);
      return performance.now() - began;
    };
    const reads = await PointReads.begin(service);
    const rows: string[][] = [];
    for (const [from, to] of [
      ['City', 'Town'],
      ['Town', 'City'],
    ] as const) {
      const ms = await change({ [from]: { __op: 'Rename', to } });
      rows.push([`rename ${from} to ${to}`, milliseconds(ms), '< 200 ms', verdict(ms < MAX_RENAME_MS)]);
    }
    for (const [name, type] of retypes) {
      const { result, took } = await reads.beside(change({ [name]: { __op: 'Retype', type } }));
      rows.push(
        [`${name} to ${type}`, milliseconds(result), '≤ 20 s', verdict(result <= MAX_RETYPE_MS)],
        ['point reads, median: quiet, beside it', besideOf(reads.quiet, took, 0.5), '–', ''],
        ['point reads, p99: quiet, beside it', besideOf(reads.quiet, took, 0.99), '–', ''],
      );
    }
    printTable(
      `evolution: ${count(records)} records, ${isEmbedded ? 'embedded' : 'PostgreSQL'}`,
      ['', 'measured', 'target', ''],
      rows,
    );
    await service.stop();
  }
}
