/**
 * `node bench/main.ts [name...] [--records N] [--seconds S] [--rounds R] [--against DIR] [--page FILE]`: runs the named workloads, by default all, one after
 * another, and
 * prints a table for each. See bench/README.md.
 */
import { parseArgs } from 'node:util';
import type { BenchContext } from './support/context.ts';
import { runNow, writeSection } from './support/page.ts';
import { takePrinted } from './support/report.ts';
import { Scratch } from './support/scratch.ts';
import { access } from './workloads/access.ts';
import { backup } from './workloads/backup.ts';
import { bodies } from './workloads/bodies.ts';
import { clone } from './workloads/clone.ts';
import { consoleGrid } from './workloads/console.ts';
import { crud } from './workloads/crud.ts';
import { driver } from './workloads/driver.ts';
import { evolution } from './workloads/evolution.ts';
import { exportRecords } from './workloads/export.ts';
import { files } from './workloads/files.ts';
import { forms } from './workloads/forms.ts';
import { functions } from './workloads/functions.ts';
import { growth } from './workloads/growth.ts';
import { hostile } from './workloads/hostile.ts';
import { importRecords } from './workloads/import.ts';
import { many } from './workloads/many.ts';
import { mcp } from './workloads/mcp.ts';
import { metrics } from './workloads/metrics.ts';
import { migrate } from './workloads/migrate.ts';
import { openapi } from './workloads/openapi.ts';
import { parse } from './workloads/parse.ts';
import { safe } from './workloads/safe.ts';
import { schemaCode } from './workloads/schema-code.ts';
import { search } from './workloads/search.ts';
import { slowDisk } from './workloads/slow-disk.ts';
import { soak } from './workloads/soak.ts';
import { stream } from './workloads/stream.ts';
import { systems } from './workloads/systems.ts';
import { triggers } from './workloads/triggers.ts';
import { unique } from './workloads/unique.ts';
import { versions } from './workloads/versions.ts';

const workloads = new Map<string, (context: BenchContext) => Promise<void>>([
  ['crud', crud],
  ['safe', safe],
  ['parse', parse],
  ['access', access],
  ['stream', stream],
  ['files', files],
  ['forms', forms],
  ['functions', functions],
  ['triggers', triggers],
  ['unique', unique],
  ['mcp', mcp],
  ['search', search],
  ['console', consoleGrid],
  ['hostile', hostile],
  ['slow-disk', slowDisk],
  ['growth', growth],
  ['bodies', bodies],
  ['many', many],
  ['import', importRecords],
  ['export', exportRecords],
  ['backup', backup],
  ['clone', clone],
  ['evolution', evolution],
  ['migrate', migrate],
  ['schema-code', schemaCode],
  ['openapi', openapi],
  ['systems', systems],
  ['metrics', metrics],
  ['driver', driver],
  ['versions', versions],
  ['soak', soak],
]);
const MINUTES_EACH = 15;
/** Time limit of workloads that first fill two engines with a million records. */
const LONG_MINUTES = 60;
const long = new Set(['console', 'growth', 'search']);
/** Default duration of a soak per engine. */
const soakSeconds = 3_600;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    records: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    against: { type: 'string' },
    page: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !workloads.has(name));
if (unknown.length > 0) {
  console.error(`unknown workload: ${unknown.join(', ')}; known: ${[...workloads.keys()].join(', ')}`);
  process.exit(2);
}

/** `versions` needs another version to compare with, and a soak takes hours. */
const all = [...workloads.keys()].filter((name) => name !== 'soak' && (name !== 'versions' || values.against !== undefined));
for (const name of positionals.length > 0 ? positionals : all) {
  const scratch = new Scratch();
  const interrupted = () => void scratch.dispose().finally(() => process.exit(130));
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  try {
    const seconds = whole(values.seconds) ?? (name === 'soak' ? soakSeconds : 3);
    const minutes = (long.has(name) ? LONG_MINUTES : MINUTES_EACH) + (name === 'soak' ? (2 * seconds) / 60 : 0);
    const context = {
      records: whole(values.records),
      seconds,
      rounds: whole(values.rounds) ?? 3,
      against: values.against,
      scratch,
    };
    const run = runNow([name, ...process.argv.slice(2).filter((arg, at, all) => isSize(arg) || isSize(all[at - 1] ?? ''))]);
    takePrinted();
    await Promise.race([workloads.get(name)?.(context), deadline(minutes)]);
    if (values.page !== undefined) writeSection(values.page, name, run, takePrinted());
  } catch (error) {
    console.error(`\n${name}: failed: ${error instanceof Error ? error.stack : error}`);
    process.exitCode = 1;
  } finally {
    await scratch.dispose();
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  }
}

/** Whether an argument names a size, whose value follows. */
function isSize(arg: string): boolean {
  return ['--records', '--seconds', '--rounds'].includes(arg);
}

function whole(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`not a whole number above 0: ${text}`);
  process.exit(2);
}

function deadline(minutes: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`not done within ${minutes} minutes`)), minutes * 60_000).unref();
  });
}
