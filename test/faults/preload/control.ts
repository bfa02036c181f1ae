/** Faults of the operating system, made on purpose: builds and steers faults.c. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('faults.c', import.meta.url));

/** As in faults.c. `change`: opening a file to change it. */
const calls = { read: 1, write: 2, sync: 4, open: 8, truncate: 16, change: 32 } as const;
const effects = { half: 1, flip: 2 } as const;
const RULES = 16;
const HEADER_BYTES = 64;
const RULE_BYTES = 160;
const PATH_AT = 32;
const MET_AT = 24;

export interface Rule {
  calls: readonly (keyof typeof calls)[];
  /** Part of the path of the files it is about. */
  path: string;
  /** What a call fails with; it is carried out where this is left out. */
  error?: 'EIO' | 'ENOSPC' | 'EROFS' | 'EMFILE' | 'EACCES' | 'ENOENT';
  delayMs?: number;
  /** A write of half the bytes; a read that answers other bytes. */
  effect?: keyof typeof effects;
}

/** A rule that is in force. */
export interface Injected {
  /** How many calls it has met so far. */
  met(): number;
  end(): void;
}

export interface Injector {
  /** Settings of the process that is to meet the faults. */
  env: Record<string, string>;
  /** Whether a process has taken the faults in. */
  isLoaded(): boolean;
  begin(rule: Rule): Injected;
  /** Sets the wall clock of the process off by so many milliseconds; 0: right. */
  setClock(milliseconds: number): void;
}

let built: string | null | undefined;

/**
 * The library, built once; `null` where nothing here builds it, which is told.
 * @throws in a run that has to be whole (CI)
 */
function build(directory: string): string | null {
  const library = join(directory, 'faults.so');
  const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', library, source, '-ldl', '-lpthread'];
  const said: string[] = [];
  for (const compiler of process.platform === 'linux' ? ['cc', 'gcc', 'clang'] : []) {
    const { status, stderr, error } = spawnSync(compiler, flags, { encoding: 'utf8' });
    if (status === 0) return library;
    said.push(`${compiler}: ${error?.message ?? stderr}`);
  }
  const why = `faults cannot be injected here, no C compiler builds them: ${said.join('; ') || process.platform}`;
  if (process.env.CI === 'true') throw new Error(why);
  console.error(`SKIPPED: ${why}`);
  return null;
}

let directory: string | undefined;
let count = 0;
after(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

/** Faults for one service, or several one after the other; `null` where none can be injected: the test has to be skipped. */
export function injector(): Injector | null {
  directory ??= mkdtempSync(join(tmpdir(), 'rds-test-preload-'));
  built ??= build(directory);
  if (built === null) return null;
  const path = join(directory, `control-${count++}`);
  writeFileSync(path, Buffer.alloc(HEADER_BYTES + RULES * RULE_BYTES));
  const control = openSync(path, 'r+');
  after(() => closeSync(control));
  const free = new Set(Array.from({ length: RULES }, (_, at) => HEADER_BYTES + at * RULE_BYTES));
  const number = (at: number): number => {
    const bytes = Buffer.alloc(8);
    readSync(control, bytes, 0, 8, at);
    return Number(bytes.readBigUInt64LE());
  };
  return {
    env: { LD_PRELOAD: built, FAULTS_CONTROL: path },
    isLoaded: () => number(0) === 1,
    begin(rule) {
      const [at] = free;
      if (at === undefined) throw new Error(`more than ${RULES} faults at once`);
      free.delete(at);
      writeSync(control, bytesOf(rule), 0, RULE_BYTES, at);
      // In force only when the rest is there.
      writeSync(control, Buffer.from([1]), 0, 1, at);
      return {
        met: () => number(at + MET_AT),
        end() {
          writeSync(control, Buffer.from([0]), 0, 1, at);
          free.add(at);
        },
      };
    },
    setClock(milliseconds) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(milliseconds) * 1_000_000n);
      writeSync(control, bytes, 0, 8, 8);
    },
  };
}

function bytesOf({ calls: of, path, error, delayMs = 0, effect }: Rule): Buffer {
  const bytes = Buffer.alloc(RULE_BYTES);
  bytes.writeUInt32LE(
    of.reduce((mask, call) => mask | calls[call], 0),
    4,
  );
  bytes.writeInt32LE(error === undefined ? 0 : constants.errno[error], 8);
  bytes.writeUInt32LE(effect === undefined ? 0 : effects[effect], 12);
  bytes.writeBigUInt64LE(BigInt(Math.round(delayMs * 1_000)), 16);
  bytes.write(path, PATH_AT, RULE_BYTES - PATH_AT - 1);
  return bytes;
}
