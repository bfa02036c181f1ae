/**
 * A reader thread: runs reads that may be long, for any system. SQLite's work is synchronous here; a task gives way to others between
 * pages, and `rds_tick` inside the statement ends it at its time limit.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { endOfPiece } from '../../../values/rows/row-pieces.ts';
import type { ByIdsPlan, ResolveInclude } from '../../sql/reads/read-plan.ts';
import type { Connection } from '../connection/connection.ts';
import { SQLITE_TOOBIG, sentFault, sortedError, storeFaultOf } from '../connection/map-error.ts';
import { lowerPriority } from '../connection/thread-priority.ts';
import { removalsQuery } from '../schema/catalog.ts';
import { ReaderConnections } from './connections.ts';
import { runPaged } from './execute-read.ts';
import { runMaintenance } from './maintenance.ts';
import {
  CREDITS,
  type FindPlans,
  type FromReader,
  faultText,
  type MaintenanceTask,
  type ReaderSetup,
  type ToReader,
} from './protocol.ts';

/** Characters of an answer that go in one message, at the least; and at the most, however large a record is. */
const PIECE_LENGTH = 32 * 1024;
const MAX_PIECE_LENGTH = 128 * 1024;

interface Task {
  readonly id: number;
  credits: number;
  /** Milliseconds of work left until the time limit. */
  budget: number;
  cancelled: boolean;
  /** Characters of rows that are being written. */
  held: number;
  /** Continues a task that waits for credit. */
  wake?: () => void;
  resolved?: (job: ByIdsPlan | null) => void;
}

const port = parentPort;
if (!port) throw new Error('this file is a worker');
const { cancelled } = workerData as ReaderSetup;
lowerPriority();

const tasks = new Map<number, Task>();
const connections = new ReaderConnections(tick);
let running: { task: Task; since: number } | undefined;

const post = (message: FromReader) => port.postMessage(message);

function tick(): void {
  if (!running) return;
  const { task, since } = running;
  if (Atomics.load(cancelled, 0) === task.id) task.cancelled = true;
  if (task.cancelled || performance.now() - since > task.budget) throw serviceError('timeout');
}

/** Runs a synchronous stretch of a task's work on its time. */
function onTime<T>(task: Task, work: () => T): T {
  const since = performance.now();
  running = { task, since };
  try {
    return work();
  } finally {
    running = undefined;
    task.budget -= performance.now() - since;
  }
}

/** Runs a task in a read transaction, so that its statements see the data, and the schema, of one moment. */
async function inSnapshot(path: string, work: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = connections.take(path);
  try {
    connection.execute('BEGIN');
    await work(connection);
  } finally {
    connection.rollback();
    connections.giveBack(connection);
  }
}

async function find(task: Task, connection: Connection, jobs: FindPlans): Promise<void> {
  const [removals] = connection.first(removalsQuery) as [number];
  if (removals !== jobs.removals) {
    post({ type: 'stale', task: task.id });
    return;
  }
  const { list, count } = jobs;
  if (count) {
    const row = onTime(task, () => connection.first(count)) as [number];
    post({ type: 'count', task: task.id, count: row[0] });
  }
  if (!list) {
    post({ type: 'whole', task: task.id, text: '' });
    return;
  }
  const resolve: ResolveInclude = (includePath, classes, className) => {
    const answer = new Promise<ByIdsPlan | null>((resolved) => {
      task.resolved = resolved;
    });
    post({ type: 'resolve', task: task.id, path: includePath, classes, className });
    return answer;
  };
  const pages = runPaged(connection, list, resolve, (characters) => {
    task.held = characters;
  });
  await sendPages(task, connection, pages);
}

async function sendPages(task: Task, connection: Connection, pages: AsyncGenerator<string>): Promise<void> {
  let text = '';
  let sent = false;
  try {
    for (;;) {
      const page = await onTime(task, () => pages.next());
      if (page.done) break;
      text += page.value;
      if (text.length < PIECE_LENGTH) continue;
      await sendPieces(task, connection, text);
      sent = true;
      text = '';
    }
  } finally {
    await pages.return(undefined);
  }
  if (!sent) post({ type: 'whole', task: task.id, text });
  else {
    if (text !== '') await sendPieces(task, connection, text);
    post({ type: 'end', task: task.id });
  }
}

async function sendPieces(task: Task, connection: Connection, text: string): Promise<void> {
  for (let at = 0; at < text.length; ) {
    const end = endOfPiece(text, at, MAX_PIECE_LENGTH);
    await sendPiece(task, connection, text.slice(at, end));
    at = end;
  }
}

async function sendPiece(task: Task, connection: Connection, text: string): Promise<void> {
  // Messages (credit, cancel, other tasks) come in between turns only.
  await turn();
  // There may be many slow clients, each with a connection.
  if (task.credits === 0) connection.ask((db) => db.exec('PRAGMA shrink_memory'));
  while (task.credits === 0 && !task.cancelled)
    await new Promise<void>((resolve) => {
      task.wake = resolve;
    });
  if (task.cancelled) throw serviceError('timeout');
  task.credits--;
  post({ type: 'piece', task: task.id, text, held: task.held });
}

function shownError(thrown: unknown): ServiceError {
  const error = sortedError(thrown);
  if (error instanceof ServiceError) return error;
  if ((error as { errcode?: number }).errcode === SQLITE_TOOBIG)
    return serviceError('badQuery', 'the query builds too large a value');
  return serviceError('internal');
}

async function start(message: Extract<ToReader, { type: 'find' }>): Promise<void> {
  const task: Task = { id: message.task, credits: CREDITS, budget: message.budget, cancelled: false, held: 0 };
  tasks.set(task.id, task);
  try {
    await inSnapshot(message.path, (connection) => find(task, connection, message.jobs));
  } catch (error) {
    const shown = shownError(error);
    const isPassing = shown.cause !== undefined && storeFaultOf(shown) !== null;
    const cause = isPassing ? { cause: sentFault(shown) } : {};
    const fault = isPassing || shown === error || shown.code !== 1 ? {} : { fault: faultText(error) };
    post({ type: 'failed', task: task.id, key: shown.key, text: shown.message, ...fault, ...cause });
  } finally {
    tasks.delete(task.id);
  }
}

/** A fault (a file that is gone, a full disk) is told: were it thrown, it would end the thread and the queries of others with it. */
async function run({ type, task, path }: MaintenanceTask): Promise<void> {
  try {
    if (type === 'forget') await connections.forget(path);
    post({ type: 'done', task, result: type === 'forget' ? {} : runMaintenance(type, path) });
  } catch (error) {
    post({ type: 'done', task, result: { fault: sentFault(error) } });
  }
}

post({ type: 'started', task: 0 });
port.on('message', (message: ToReader) => {
  if (message.type === 'find') {
    void start(message);
    return;
  }
  if (message.task < 0) {
    void run(message as MaintenanceTask);
    return;
  }
  const task = tasks.get(message.task);
  if (!task) return;
  if (message.type === 'resolved') task.resolved?.(message.job);
  else if (message.type === 'credit') task.credits++;
  else task.cancelled = true;
  if (message.type !== 'resolved') task.wake?.();
});
