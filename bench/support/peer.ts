import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Scratch } from './scratch.ts';
import type { Target } from './target.ts';

const program = fileURLToPath(new URL('../peers/bare-fastify.ts', import.meta.url));

/** Starts the bare Fastify peer on a fresh database. */
export async function startPeer(scratch: Scratch): Promise<Target> {
  const file = join(await scratch.directory(), 'bare.db');
  const args = ['--disable-warning=ExperimentalWarning', program, file];
  const child = scratch.watch(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the bare Fastify peer ended with ${code}`)));
  });
  return { name: 'bare Fastify', url, headers: {} };
}
