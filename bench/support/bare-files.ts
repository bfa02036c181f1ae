import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listening } from './listening.ts';
import type { Scratch } from './scratch.ts';
import type { Target } from './target.ts';

const program = fileURLToPath(new URL('../peers/bare-files.ts', import.meta.url));

/** Starts the bare file server. @param directory must be empty @param size of a file in bytes */
export async function startBareFiles(
  scratch: Scratch,
  directory: string,
  size: number,
): Promise<{ target: Target; stop(): Promise<void> }> {
  const child = scratch.watch(
    spawn(process.execPath, [program, directory, String(size)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const target = { name: 'bare node:http', url: await listening(child, 'the bare server of files'), headers: {} };
  return {
    target,
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** Writes and syncs files, this many concurrently, without a network. @returns seconds */
export async function writeFiles(directory: string, files: { size: number; count: number; writers: number }): Promise<number> {
  const bytes = randomBytes(files.size);
  let written = 0;
  const started = performance.now();
  const write = async () => {
    while (written < files.count) {
      const handle = await open(join(directory, String(written++)), 'w');
      await handle.writeFile(bytes);
      await handle.sync();
      await handle.close();
    }
  };
  await Promise.all(Array.from({ length: files.writers }, write));
  return (performance.now() - started) / 1000;
}
