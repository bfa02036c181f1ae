import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listening } from './listening.ts';
import type { Scratch } from './scratch.ts';
import type { Target } from './target.ts';

const program = fileURLToPath(new URL('../peers/bare-fastify.ts', import.meta.url));

/** Starts the bare Fastify peer on a fresh database. */
export async function startPeer(scratch: Scratch): Promise<Target> {
  const file = join(await scratch.directory(), 'bare.db');
  const args = ['--disable-warning=ExperimentalWarning', program, file];
  const child = scratch.watch(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const url = await listening(child, 'the bare Fastify peer');
  return { name: 'bare Fastify', url, headers: {} };
}
