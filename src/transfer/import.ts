import { fail } from '../errors/fail.ts';
import { isJsonObject } from '../kernel/json.ts';
import { createRecord, type RecordContext } from '../records/index.ts';
import { parseRequestJson } from '../values/index.ts';

/** Records that share a commit; memory holds no more than one such group. */
const GROUP = 1_000;

/** A line that was not imported. */
export interface RejectedLine {
  /** From 1. */
  readonly line: number;
  readonly error: unknown;
}

export interface ImportResult {
  readonly imported: number;
  readonly rejected: number;
}

/**
 * Creates a record for each line of newline-delimited JSON, in order. Empty lines are passed over; a line that is refused is reported
 * and the others go on, as in a batch.
 * @param lines one JSON object each, as a POST would carry it; an `objectId` in it is kept
 * @param onRejected called for each refused line
 * @param onProgress called after each group, with the records imported so far
 */
export async function importRecords(
  context: RecordContext,
  className: string,
  lines: AsyncIterable<string>,
  onRejected: (rejected: RejectedLine) => void,
  onProgress: (imported: number) => void = () => {},
): Promise<ImportResult> {
  let number = 0;
  let imported = 0;
  let rejected = 0;
  let group: Promise<void>[] = [];
  const importLine = async (text: string, line: number) => {
    try {
      const body = parseRequestJson(text);
      if (!isJsonObject(body)) fail('invalidJson', 'a line must hold one JSON object');
      await createRecord(context, className, body);
      imported++;
    } catch (error) {
      rejected++;
      onRejected({ line, error });
    }
  };
  for await (const text of lines) {
    number++;
    if (text.trim() === '') continue;
    group.push(importLine(text, number));
    if (group.length < GROUP) continue;
    await Promise.all(group);
    group = [];
    onProgress(imported);
  }
  await Promise.all(group);
  return { imported, rejected };
}
