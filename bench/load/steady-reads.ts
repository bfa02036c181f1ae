import { performance } from 'node:perf_hooks';
import { Connection, none } from './connection.ts';

/** Reads at a fixed rate until they are stopped. */
export interface SteadyReads {
  kind: 'steady';
  host: string;
  port: number;
  /** Complete requests as text, sent in turn. */
  requests: string[];
  intervalMs: number;
}

export interface SteadyResult {
  /** For each request the sorted times of its answers in milliseconds, from when each was due. */
  took: number[][];
  /** Answers by status, other than 200. */
  failures: Record<string, number>;
}

/** More than are due in the longest wait that is expected: a read does not wait for those before it. */
const CONNECTIONS = 64;

/** Begins to read. @returns a function that ends it; resolves with what was measured when the last answer is there */
export function startReads({ host, port, requests, intervalMs }: SteadyReads): () => Promise<SteadyResult> {
  const texts = requests.map((text) => Buffer.from(text));
  const took = texts.map((): number[] => []);
  const failures: Record<string, number> = {};
  const lost = (error: Error) => {
    failures[error.message] = (failures[error.message] ?? 0) + 1;
  };
  const free = Array.from({ length: CONNECTIONS }, () => new Connection(host, port, lost));
  const all = [...free];
  const waiting: number[] = [];
  let count = 0;
  let open = 0;
  let onEnd: (() => void) | undefined;
  const read = (connection: Connection, due: number) => {
    const which = count++ % texts.length;
    open++;
    connection.send(texts[which] as Buffer, none, (status) => {
      took[which]?.push(performance.now() - due);
      if (status !== 200) failures[status] = (failures[status] ?? 0) + 1;
      open--;
      const next = waiting.shift();
      if (next !== undefined) read(connection, next);
      else {
        free.push(connection);
        if (open === 0) onEnd?.();
      }
    });
  };
  let due = performance.now();
  let timer: NodeJS.Timeout;
  const tick = () => {
    for (const now = performance.now(); due <= now; due += intervalMs) {
      // The one that has rested longest.
      const connection = free.shift();
      if (connection) read(connection, due);
      else waiting.push(due);
    }
    timer = setTimeout(tick, due - performance.now());
  };
  tick();
  return async () => {
    clearTimeout(timer);
    const isOver = new Promise<void>((resolve) => {
      onEnd = resolve;
    });
    if (open > 0) await isOver;
    for (const connection of all) connection.close();
    return { took: took.map((times) => times.sort((a, b) => a - b)), failures };
  };
}
