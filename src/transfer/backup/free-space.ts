import { statfs } from 'node:fs/promises';
import { OperatorError } from '../../kernel/operator-error.ts';

/** @param needed bytes @throws OperatorError if the disk of a directory has too little room */
export async function refuseFull(directory: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < needed)
    throw new OperatorError(`there is no room for it: it takes ${megabytes(needed)} MB, and ${megabytes(free)} MB are free`);
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1e6).toLocaleString('en-US');
