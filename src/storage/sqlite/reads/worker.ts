/**
 * A reader thread: runs potentially long reads, for any system. SQLite runs synchronously here; a task yields to others between pages, and `rds_tick`
 * inside the statement ends it at its time limit.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { endOfPiece } from '../../../kernel/json.ts';
import type { ByIdsPlan, ResolveInclude } from '../../sql/reads/read-plan.ts';
import type { Connection } from '../connection/connection.ts';
import { mapError, SQLITE_TOOBIG, sentFault, storeFaultOf } from '../connection/map-error.ts';
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

/** Minimum and maximum characters of an answer in one message; a large record is split. */
const MIN_CHUNK_CHARS = 32 * 1024;
const MAX_CHUNK_CHARS = 128 * 1024;

interface Task {
  readonly id: number;
  credits: number;
  /** Milliseconds of work left until the time limit. */
  budget: number;
  cancelled: boolean;
  /** Characters of rows that are being written. */
  held: number;
  /** Number of rows read so far. */
  rows: number;
  /** Continues a task that waits for credit. */
  wake?: () => void;
  resolved?: (plan: ByIdsPlan | null) => void;
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

/** Runs a synchronous part of a task and deducts its time. */
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

/** Runs a task in a read transaction, so that its statements see one snapshot of the data and the schema. */
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

async function find(task: Task, connection: Connection, plans: FindPlans): Promise<void> {
  const [removals] = connection.first(removalsQuery) as [number];
  if (removals !== plans.removals) {
    post({ type: 'stale', task: task.id });
    return;
  }
  const { list, count } = plans;
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
  const pages = runPaged(connection, list, resolve, (characters, rows) => {
    task.held = characters;
    task.rows += rows;
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
      if (text.length < MIN_CHUNK_CHARS) continue;
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
    const end = endOfPiece(text, at, MAX_CHUNK_CHARS);
    await sendPiece(task, connection, text.slice(at, end));
    at = end;
  }
}

async function sendPiece(task: Task, connection: Connection, text: string): Promise<void> {
  // Messages (credit, cancel, other tasks) are received only between turns.
  await turn();
  // There may be many slow clients, each with a connection.
  if (task.credits === 0) connection.use((db) => db.exec('PRAGMA shrink_memory'));
  while (task.credits === 0 && !task.cancelled)
    await new Promise<void>((resolve) => {
      task.wake = resolve;
    });
  if (task.cancelled) throw serviceError('timeout');
  task.credits--;
  post({ type: 'piece', task: task.id, text, held: task.held, rows: task.rows });
}

function clientError(thrown: unknown): ServiceError {
  const error = mapError(thrown);
  if (error instanceof ServiceError) return error;
  if ((error as { errcode?: number }).errcode === SQLITE_TOOBIG)
    return serviceError('badQuery', 'the query builds too large a value');
  return serviceError('internal');
}

async function start(message: Extract<ToReader, { type: 'find' }>): Promise<void> {
  const task: Task = { id: message.task, credits: CREDITS, budget: message.budget, cancelled: false, held: 0, rows: 0 };
  tasks.set(task.id, task);
  try {
    await inSnapshot(message.path, (connection) => find(task, connection, message.plans));
  } catch (error) {
    const mapped = clientError(error);
    const isPassing = mapped.cause !== undefined && storeFaultOf(mapped) !== null;
    const cause = isPassing ? { cause: sentFault(mapped) } : {};
    const fault = isPassing || mapped === error || mapped.code !== 1 ? {} : { fault: faultText(error) };
    post({ type: 'failed', task: task.id, key: mapped.key, text: mapped.message, ...fault, ...cause });
  } finally {
    tasks.delete(task.id);
  }
}

/** Reports a fault (a file that is gone, a full disk) as the result: thrown, it would end the thread together with the queries of others. */
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
  if (message.type === 'resolved') task.resolved?.(message.plan);
  else if (message.type === 'credit') task.credits++;
  else task.cancelled = true;
  if (message.type !== 'resolved') task.wake?.();
});
