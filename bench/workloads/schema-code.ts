import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { median, printTable, verdict } from '../support/report.ts';

/** Tables of a large system, and of a new one. */
const LARGE = 200;
const FIELDS = 25;
const most = { read: 1, apply: 2 };

/** Exports and compares a system of 200 tables, and applies the 111 tables of a new system to one without tables; embedded, then on PostgreSQL. */
export async function schemaCode({ rounds = 3, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  for (const isEmbedded of [true, false]) {
    const dataDir = await scratch.directory();
    const env: Record<string, string> = isEmbedded ? {} : { DATABASE_URL: (await server.database()).url };
    const take = async (args: string[], expected = 0): Promise<number> => {
      const result = await runCommand(scratch, dataDir, args, env);
      if (result.code !== expected) throw new Error(`${args.join(' ')}: ${reason(result)}`);
      return result.seconds;
    };
    const start = await take(['system', 'add', '--app-id', 'large']);
    await take(['system', 'add', '--app-id', 'empty']);
    const directory = async (name: string): Promise<string> => {
      await mkdir(join(dataDir, name, 'tables'), { recursive: true });
      return join(dataDir, name);
    };
    const [whole, none, large, out] = (await Promise.all(['whole', 'none', 'large', 'out'].map(directory))) as [
      string,
      string,
      string,
      string,
    ];
    await take(['schema', 'export', '--system', 'empty', '--to', whole]);
    await writeFile(join(none, 'schema.json'), '{"format":1,"complete":true}');
    await writeFile(join(none, 'labels.json'), '{}');
    await writeFile(join(none, 'tables', '_User.json'), '{}');
    for (let n = 111; n < LARGE; n++) await writeFile(join(large, 'tables', `Large${n}.json`), tableText(n));
    await take(['schema', 'apply', '--system', 'large', '--from', large]);
    const figures: Record<string, number[]> = { export: [], diff: [], apply: [] };
    for (let round = 0; round < rounds; round++) {
      await rm(out, { recursive: true });
      figures.export?.push(await take(['schema', 'export', '--system', 'large', '--to', out]));
      figures.diff?.push(await take(['schema', 'diff', '--system', 'large', '--from', out]));
      await take(['schema', 'apply', '--system', 'empty', '--from', none, '--allow-destructive']);
      figures.apply?.push(await take(['schema', 'apply', '--system', 'empty', '--from', whole]));
    }
    const row = (name: string, what: string, target: number): string[] => {
      const seconds = median(figures[name] ?? []);
      return [what, `${seconds.toFixed(2)} s`, `< ${target} s`, verdict(seconds < target)];
    };
    printTable(
      `schema-code: start of the program included, ${isEmbedded ? 'embedded' : 'PostgreSQL'} (adding a system: ${start.toFixed(2)} s)`,
      ['', 'measured', 'target', ''],
      [
        row('export', `export of ${LARGE} tables`, most.read),
        row('diff', `diff of ${LARGE} tables`, most.read),
        row('apply', 'apply of the tables and labels of a new system to one without', most.apply),
      ],
    );
  }
}

function tableText(n: number): string {
  const types = ['String', 'Number', 'Boolean', 'Date', 'Array'];
  const fields = Array.from({ length: FIELDS }, (_, at): [string, object] => {
    return [`F${at}`, { type: types[at % types.length], dictionary: `field ${at} of ${n}` }];
  });
  return JSON.stringify({ fields: Object.fromEntries(fields), indexes: { first: { F0: 1 } } });
}
