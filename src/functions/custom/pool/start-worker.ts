import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { ThreadSetup } from '../thread/protocol.ts';

const workerFile = new URL('../thread/worker.ts', import.meta.url);

/**
 * Heap in MiB at which V8 ends a thread, beyond the limit that `MemoryWatch` enforces. V8 ends the whole process if one allocation, such as that of a
 * large array, passes this limit, so it has to be far away.
 */
const HEAP_RESERVE_MB = 4_096;
/** Size of the young generation in MiB: most of what a call allocates dies with it. */
const YOUNG_GENERATION_MB = 8;

/** Parameters of a thread. */
export interface ThreadOptions {
  /** FUNCTIONS_DIR, absolute. */
  readonly directory: string;
  /** Time limit for loading a file, in milliseconds. */
  readonly timeLimit: number;
  /** Memory that a thread may use, in MiB. */
  readonly memoryMb: number;
  /** The environment variables of functions. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts the worker of a thread that runs functions.
 * @param begun where it writes the number of the call that it began last
 * @returns the worker, and the port by which it is spoken to
 * @throws if the operating system refuses another thread
 */
export function startWorker(options: ThreadOptions, begun: Int32Array): { worker: Worker; port: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  const { directory, timeLimit, env, memoryMb } = options;
  const workerData: ThreadSetup = { port: port2, directory, timeLimit, begun };
  const worker = new Worker(workerFile, {
    workerData,
    transferList: [port2],
    env: { ...env },
    // The thread sends what is printed as lines of the log; these streams stay empty.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb + HEAP_RESERVE_MB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  return { worker, port: port1 };
}
