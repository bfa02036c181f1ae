import { readFile } from 'node:fs/promises';
import pLimit from 'p-limit';

/** Files that are open for this at the same time: each takes a descriptor, of which a process may have few (`ulimit -n`). */
const MAX_OPEN_FILES = 16;

const limit = pLimit(MAX_OPEN_FILES);

/**
 * Reads a text file. Calls for many files at once wait for each other, so that they never use up the descriptors that the store needs.
 * @param file path or URL
 * @returns the text, decoded from UTF-8
 * @throws the operating system's error
 */
export const readTextFile = (file: string | URL): Promise<string> => limit(() => readFile(file, 'utf8'));
