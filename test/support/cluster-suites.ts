/** Which suites run on a PostgreSQL database for which the service keeps to what a Citus coordinator can plan (docs/adr/0027-citus.md). */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { getCallSites } from 'node:util';

/** TEST_ENGINES with "cluster": all suites on PostgreSQL; TEST_ENGINES without it: none. */
const named = process.env.TEST_ENGINES?.split(',');

/**
 * Whether the calling suite does: half of the files, drawn by their names, because the answers are the same in both modes. A caller that is no test
 * file is drawn by the file that its process runs. Must be called before the caller awaits anything.
 */
export function isClusterSuite(): boolean {
  if (named) return named.includes('cluster');
  const file = getCallSites().find(({ scriptName }) => scriptName.endsWith('.test.ts'))?.scriptName;
  // A file of the runner (scripts/test-files.mjs) begins with its place in the run.
  const name = basename(file ?? process.argv[1] ?? '').replace(/^\d{3}-/, '');
  return (createHash('sha256').update(name).digest()[2] ?? 0) % 2 === 1;
}
