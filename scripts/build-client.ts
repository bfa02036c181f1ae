/** Builds the package of the client in client/dist: JavaScript without comments, and type declarations with them. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const compiler = ['node_modules/@typescript/native/bin/tsc', '--project', 'client/tsconfig.build.json'];

rmSync('client/dist', { recursive: true, force: true });
for (const options of [['--declaration', 'false', '--removeComments'], ['--emitDeclarationOnly']]) {
  const { status } = spawnSync(process.execPath, [...compiler, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const code = globSync('client/dist/*.js').map((file) => readFileSync(file));
const bytes = code.reduce((sum, { length }) => sum + length, 0);
console.log(`client/dist: ${code.length} modules, ${bytes} bytes (${gzipSync(Buffer.concat(code)).length} compressed)`);
