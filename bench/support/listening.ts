import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Returns the address that a server prints when it listens. @throws Error if it exits before @param name for that error */
export function listening(child: ChildProcess & { readonly stdout: Readable }, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
}
