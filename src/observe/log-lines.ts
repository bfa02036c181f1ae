import { writeSync } from 'node:fs';

/** Bytes of lines buffered for a slow reader; beyond, lines are lost. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Retry interval of writing buffered lines, in milliseconds. */
const RETRY_MS = 100;

/** Writes bytes, or the first of them. @returns their number @throws errors of the operating system */
export type WriteBytes = (bytes: Buffer) => number;

interface Line {
  /** The part not written yet. */
  bytes: Buffer;
  isBegun: boolean;
  /** Number of lost lines that the line reports; 0 for ordinary lines. */
  readonly lost: number;
}

/**
 * Writes lines to a file or a pipe synchronously, so that none is lost when the process ends. An unwritable log never fails a request: lines are
 * lost while its disk is full or its reader is gone, and the next line that is written reports how many.
 */
export class LogLines {
  readonly #writeBytes: WriteBytes;
  #waiting: Line[] = [];
  #waitingBytes = 0;
  #lost = 0;
  /** Whether a line was written in part and its rest is lost. */
  #isTorn = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(writeBytes: WriteBytes) {
    this.#writeBytes = writeBytes;
  }

  /** @param text a line with its end. Never throws */
  write(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#lost++;
      return;
    }
    if (this.#lost > 0 && this.#waiting.length === 0) this.#add(Buffer.from(lostLine(this.#lost)), this.#lost);
    this.#add(bytes, 0);
    this.flush();
  }

  /** Writes the buffered lines as far as possible now. Never throws. */
  flush(): void {
    for (let line = this.#waiting[0]; line; line = this.#waiting[0])
      try {
        this.#writeFirst(line);
      } catch (error) {
        if (isBusy(error)) break;
        this.#lose(line);
      }
    if (this.#waiting.length > 0) {
      this.#timer ??= setInterval(() => this.flush(), RETRY_MS).unref();
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #add(bytes: Buffer, lost: number): void {
    this.#waiting.push({ bytes, isBegun: false, lost });
    this.#waitingBytes += bytes.length;
  }

  #writeFirst(line: Line): void {
    if (this.#isTorn) {
      this.#writeBytes(Buffer.from('\n'));
      this.#isTorn = false;
    }
    const written = this.#writeBytes(line.bytes);
    this.#waitingBytes -= written;
    line.bytes = line.bytes.subarray(written);
    line.isBegun = true;
    if (line.bytes.length > 0) return;
    this.#waiting.shift();
    this.#lost -= line.lost;
  }

  /** Drops all lines: what prevents the first from being written prevents the others too. */
  #lose(first: Line): void {
    this.#isTorn ||= first.isBegun;
    this.#lost += this.#waiting.filter(({ lost }) => lost === 0).length;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

function lostLine(count: number): string {
  return `${JSON.stringify({ level: 40, time: new Date().toISOString(), count, msg: 'lines of the log were lost' })}\n`;
}

/** Whether the reader has to read first. */
function isBusy(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR';
}

/** The log lines of this process on stderr. */
export const stderrLines = new LogLines((bytes) => writeSync(2, bytes));
process.once('exit', () => stderrLines.flush());
