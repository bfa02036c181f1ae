/** The thread of `EditThread`: applies edits to long values, one after the other. */

import { parentPort } from 'node:worker_threads';
import { ServiceError } from '../../errors/fail.ts';
import { applyEdits, type JsonEdit } from './apply.ts';
import type { EditAnswer, EditTask } from './edit-thread.ts';

function answerOf({ id, current, edits, type, label }: EditTask): EditAnswer {
  try {
    return { id, value: applyEdits(current, JSON.parse(edits) as JsonEdit[], type, label) };
  } catch (error) {
    if (!(error instanceof ServiceError)) return { id, fault: error };
    const { key, message: text, details } = error;
    return { id, key, text, details };
  }
}

parentPort?.on('message', (task: EditTask) => parentPort?.postMessage(answerOf(task)));
