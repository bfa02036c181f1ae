import { Worker } from 'node:worker_threads';
import type { ErrorKey } from '../../errors/catalogue.ts';
import { ServiceError } from '../../errors/fail.ts';
import { unavailableSince } from '../../errors/system-faults.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { containerText } from '../json/checked-ahead.ts';
import { applyEdits, type JsonEdit } from './apply.ts';

/** Characters of a value and its edits together up to which the event loop applies them: some milliseconds. */
const MAX_SHORT_LENGTH = 128 * 1024;

/** Input of the thread. */
export interface EditTask {
  readonly id: number;
  readonly current: string | null;
  /** `editsText`. */
  readonly edits: string;
  readonly type: 'Array' | 'Object';
  readonly label: string;
}

/** What the thread answers. */
export type EditAnswer = { readonly id: number } & (
  | { readonly value: string | null }
  | { readonly key: ErrorKey; readonly text: string; readonly details: JsonObject | undefined }
  | { readonly fault: unknown }
);

/** Returns the JSON text of edits. */
export function editsText(edits: readonly JsonEdit[]): string {
  const texts = edits.map((edit) => {
    if (!('objects' in edit)) return JSON.stringify(edit);
    const { objects, ...rest } = edit;
    return `${JSON.stringify(rest).slice(0, -1)},"objects":${containerText(objects as JsonObject[])}}`;
  });
  return `[${texts.join(',')}]`;
}

/**
 * Applies edits like `applyEdits`; those that would hold the event loop for long, on a thread.
 * @throws what `applyEdits` throws; unavailable if the thread ends
 */
export function applyEditsApart(
  current: string | null,
  edits: readonly JsonEdit[],
  type: 'Array' | 'Object',
  label: string,
): string | null | Promise<string | null> {
  const text = editsText(edits);
  if ((current?.length ?? 0) + text.length <= MAX_SHORT_LENGTH) return applyEdits(current, edits, type, label);
  return thread.apply({ current, edits: text, type, label });
}

interface Waiting {
  readonly resolve: (value: string | null) => void;
  readonly reject: (error: unknown) => void;
}

/** The thread, started when it is first needed. */
class EditThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #last = 0;

  apply(task: Omit<EditTask, 'id'>): Promise<string | null> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage({ id, ...task } satisfies EditTask);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./edit-worker.ts', import.meta.url));
    worker.on('message', (answer: EditAnswer) => this.#answered(answer));
    const ended = (cause: unknown) => {
      if (this.#worker === worker) this.#worker = undefined;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of waiting) reject(unavailableSince(cause));
    };
    worker.once('error', ended);
    worker.once('exit', () => ended(new Error('the thread of edits ended')));
    return worker;
  }

  #answered(answer: EditAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if ('value' in answer) waiting?.resolve(answer.value);
    else waiting?.reject('key' in answer ? new ServiceError(answer.key, answer.text, answer.details) : answer.fault);
  }
}

const thread = new EditThread();
