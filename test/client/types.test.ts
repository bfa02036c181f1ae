/** The types of the client: right code compiles, wrong code does not. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('typed code compiles, for browsers too; each wrong table, field, type and option is an error', async () => {
  const args = ['node_modules/@typescript/native/bin/tsc', '--noEmit', '--project', 'client'];
  const { code = 0, stdout } = await promisify(execFile)(process.execPath, args, { cwd: root }).catch((error) => error);
  assert.deepEqual([code, stdout], [0, '']);
});
