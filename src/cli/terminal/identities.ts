import { readFile } from 'node:fs/promises';
import { OperatorError } from '../../kernel/operator-error.ts';

/**
 * Reads the identities in a file of `age-keygen`: one per line; lines beginning with # are comments.
 * @param file path from the command line; the result is empty if absent
 * @throws OperatorError if it cannot be read or contains none
 */
export async function identitiesFrom(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new OperatorError(`--identity: ${error.message}`, { cause: error });
  });
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.length === 0 || !lines.every((line) => /^AGE-SECRET-KEY-[A-Z0-9-]+$/i.test(line)))
    throw new OperatorError(`--identity: ${file} holds no key of age: a line that begins with AGE-SECRET-KEY-1`);
  return lines.map((line) => line.toUpperCase());
}
