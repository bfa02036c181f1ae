import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Logger } from '../../../../observe/index.ts';

/** A line of a log. */
export interface Heard {
  readonly level: string;
  readonly msg: string;
  readonly file?: string;
  readonly function?: string;
  readonly system?: string;
  readonly count?: number;
  readonly err?: { readonly message: string };
}

/** A log whose lines can be inspected. */
export function heardLog(): { log: Logger; heard(level: string): Heard[]; text(): string } {
  const lines: string[] = [];
  const log = pino(
    { level: 'trace', formatters: { level: (level) => ({ level }) } },
    new Writable({
      write(line, _encoding, done) {
        lines.push(String(line));
        done();
      },
    }),
  );
  return {
    log,
    heard: (level) => lines.map((line) => JSON.parse(line) as Heard).filter((one) => one.level === level),
    text: () => lines.join(''),
  };
}
