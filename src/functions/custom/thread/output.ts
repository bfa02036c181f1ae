import { StringDecoder } from 'node:string_decoder';
import { truncate } from '../loading/failure.ts';
import { runningFunction } from '../loading/unhandled-errors.ts';
import type { ThreadLogLine } from './protocol.ts';

/** Maximum number of lines that a thread sends to the log in a second: a function may print in a loop. */
const LINES_PER_SECOND = 100;
/** Maximum length of a printed line in characters. */
const MAX_LINE_LENGTH = 2_000;

/** Sends lines to the log of the service, so many in a second. */
export class ThreadLog {
  readonly #send: (line: ThreadLogLine) => void;
  #since = 0;
  #sent = 0;
  #omitted = 0;

  constructor(send: (line: ThreadLogLine) => void) {
    this.#send = send;
  }

  write(line: ThreadLogLine): void {
    const now = performance.now();
    if (now - this.#since >= 1_000) {
      if (this.#omitted > 0)
        this.#send({ level: 'info', who: undefined, text: `${this.#omitted} lines of functions were left out` });
      this.#since = now;
      this.#sent = 0;
      this.#omitted = 0;
    }
    if (this.#sent++ < LINES_PER_SECOND) this.#send(line);
    else this.#omitted++;
  }
}

/** Takes over the output streams of the thread, so that what functions print (`console.log`) becomes lines of the log. */
export function captureOutput(log: ThreadLog): void {
  for (const output of ['stdout', 'stderr'] as const) {
    const lines = new Lines((text) => {
      const running = runningFunction();
      const who = running ? { system: running.system, function: running.function } : undefined;
      log.write({ level: 'info', who, text: truncate(text, MAX_LINE_LENGTH), output });
    });
    // Called at once, in the context of the code that prints. Node itself needs the stream, so that it stays.
    const _write = (chunk: Buffer | string, encoding: string, done: () => void) => {
      lines.add(typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk);
      done();
    };
    Object.assign(process[output], { _write, _writev: undefined });
  }
}

/** Passes on each line of a text when it is complete. */
class Lines {
  readonly #onLine: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(onLine: (text: string) => void) {
    this.#onLine = onLine;
  }

  add(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    // An endless line is cut.
    this.#rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH + 1);
    for (const line of lines) if (line !== '') this.#onLine(line);
  }
}
