/** Reverts what a killed process wrote and did not flush, as a power cut may, from the journal of faults.c. */
import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const [WRITTEN, FLUSH_BEGAN, FLUSHED] = [1, 2, 3];
const ENTRY_BYTES = 40;

interface Written {
  offset: number;
  before: Buffer;
  sizeBefore: number;
}

/** Writes to a file since its last successful flush. */
interface Notes {
  unflushed: Written[];
  /** Number of writes when a flush began, by the number of the flush. */
  began: Map<number, number>;
}

/** Environment that makes a process record its writes to files whose path contains a string. */
export const journalSettings = (journal: string, of: string) => ({ FAULTS_JOURNAL: journal, FAULTS_JOURNAL_OF: of });

/**
 * Call after the process has ended.
 * @param directory of the store: shared memory files in it are deleted too
 * @param isKept whether the disk has got a write that was not flushed; it may have got any of them
 * @returns the number of reverted writes
 */
export function cutPower(journal: string, directory: string, isKept: () => boolean = () => false): number {
  let count = 0;
  for (const [path, { unflushed }] of notesIn(readFileSync(journal))) {
    if (path.endsWith('-shm') || unflushed.length === 0) continue;
    const file = openSync(path, 'r+');
    const kept: { offset: number; after: Buffer | null }[] = [];
    for (const { offset, before, sizeBefore } of unflushed.toReversed()) {
      const { size } = fstatSync(file);
      // What was written: it ends with the file if that has grown. A file that has shrunk was truncated there.
      const after = size < sizeBefore ? null : Buffer.alloc(size > sizeBefore ? size - offset : before.length);
      if (after) readSync(file, after, 0, after.length, offset);
      writeSync(file, before, 0, before.length, offset);
      ftruncateSync(file, sizeBefore);
      if (isKept()) kept.push({ offset, after });
      else count++;
    }
    for (const { offset, after } of kept.toReversed())
      if (after) writeSync(file, after, 0, after.length, offset);
      else ftruncateSync(file, offset);
    closeSync(file);
  }
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('-shm')) rmSync(join(directory, name));
  rmSync(journal);
  return count;
}

function notesIn(journal: Buffer): Map<string, Notes> {
  const all = new Map<string, Notes>();
  for (let at = 0; at + ENTRY_BYTES <= journal.length; ) {
    const kind = journal.readUInt32LE(at);
    const pathLength = journal.readUInt32LE(at + 4);
    const [offset, length, sizeBefore, flush] = [8, 16, 24, 32].map((field) => Number(journal.readBigInt64LE(at + field)));
    const start = at + ENTRY_BYTES;
    const path = journal.toString('utf8', start, start + pathLength);
    const isWrite = kind === WRITTEN;
    const end = start + pathLength + (isWrite ? (length as number) : 0);
    const notes: Notes = all.get(path) ?? { unflushed: [], began: new Map() };
    all.set(path, notes);
    if (isWrite)
      notes.unflushed.push({
        offset: offset as number,
        before: journal.subarray(start + pathLength, end),
        sizeBefore: sizeBefore as number,
      });
    if (kind === FLUSH_BEGAN) notes.began.set(flush as number, notes.unflushed.length);
    if (kind === FLUSHED) {
      const done = notes.began.get(flush as number) ?? 0;
      notes.unflushed.splice(0, done);
      for (const [number, before] of notes.began) notes.began.set(number, Math.max(0, before - done));
    }
    at = end;
  }
  return all;
}
