/** A thread that runs custom functions: it loads their files and runs calls, for any system. */

import { channel } from 'node:diagnostics_channel';
import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { FunctionImporter, type LoadedFunction } from '../loading/importer.ts';
import { catchUnhandledErrors, runningFunction } from '../loading/unhandled-errors.ts';
import { ThreadCalls } from './calls.ts';
import { captureOutput, ThreadLog } from './output.ts';
import { type FromThread, sentError, type ThreadSetup, type ToThread } from './protocol.ts';

const { port, directory, timeLimit, begun } = workerData as ThreadSetup;
// Functions can import `workerData`, and would reach the port.
Reflect.deleteProperty(workerData, 'port');
// Reports of Node would show the environment of the process.
if (process.report) process.report.excludeEnv = true;
// Below the event loop's: requests that call no function do not wait for functions.
setPriority(5);

const post = (message: FromThread) => port.postMessage(message);
const log = new ThreadLog((line) => post({ type: 'log', line }));
captureOutput(log);
catchUnhandledErrors(
  {
    error: ({ err, system, function: name }, text) =>
      log.write({ level: 'error', who: { system, function: name }, text, error: sentError(err) }),
  },
  (error) => {
    throw error;
  },
);

const { exit } = process;
process.exit = (code) => {
  post({ type: 'exiting', call: runningFunction()?.call ?? null });
  return exit(code);
};

/** Whether functions have imported files since that was reported. */
let hasImported = false;
const importer = new FunctionImporter(directory, timeLimit, (path, stamp) => {
  hasImported = true;
  post({ type: 'imported', path, stamp });
});
const calls = new ThreadCalls(post);

async function load({ name, file }: Extract<ToThread, { type: 'load' }>): Promise<void> {
  const { files, result } = await importer.load(name, file);
  hasImported = false;
  post({
    type: 'loaded',
    name,
    files,
    result: 'loaded' in result ? { described: describe(result.loaded) } : { failure: sentError(result.failure) },
  });
}

const describe = ({ systems, inputSchema }: LoadedFunction) => ({ systems: systems && [...systems], inputSchema });

async function call(message: Extract<ToThread, { type: 'call' }>): Promise<void> {
  const loaded = importer.loaded(message.name);
  if (!loaded) throw new Error(`${message.name} is not loaded`);
  Atomics.store(begun, 0, message.call);
  if (message.trace) passTracesOn();
  await calls.run(loaded, message);
  if (!hasImported) return;
  hasImported = false;
  for (const [name, files] of importer.files()) post({ type: 'files', name, files });
}

let passesTracesOn = false;

/** Adds the headers of the trace to requests that functions send with `fetch`, unless they have some. */
function passTracesOn(): void {
  if (passesTracesOn) return;
  passesTracesOn = true;
  channel('undici:request:create').subscribe((message) => {
    const { request } = message as { readonly request: OutgoingRequest };
    const headers = String(request.headers).toLowerCase();
    for (const [name, value] of Object.entries(runningFunction()?.trace ?? {}))
      if (!headers.includes('traceparent')) request.addHeader(name, value);
  });
}

/** A request of `fetch`, as its diagnostics channel passes it. */
interface OutgoingRequest {
  readonly headers: string | readonly unknown[];
  addHeader(name: string, value: string): unknown;
}

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'load':
      post({ type: 'alive' });
      void load(message);
      break;
    case 'call':
      void call(message);
      break;
    case 'abort':
      calls.abort(message);
      post({ type: 'alive' });
      break;
    case 'ping':
      post({ type: 'alive' });
      break;
    default:
      calls.answer(message);
  }
});
