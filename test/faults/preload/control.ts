/** Injects faults of the operating system: builds faults.c and controls it through shared memory. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('faults.c', import.meta.url));

/** Bits as in faults.c. `change`: opening a file for writing. */
const calls = { read: 1, write: 2, sync: 4, open: 8, truncate: 16, change: 32 } as const;
const effects = { half: 1, flip: 2 } as const;
const RULES = 16;
const HEADER_BYTES = 64;
const RULE_BYTES = 160;
const PATH_AT = 32;
const MET_AT = 24;

export interface Rule {
  calls: readonly (keyof typeof calls)[];
  /** Substring of the paths of the affected files. */
  path: string;
  /** The error of a call. Without it, the call is executed. */
  error?: 'EIO' | 'ENOSPC' | 'EROFS' | 'EMFILE' | 'EACCES' | 'ENOENT';
  delayMs?: number;
  /** `half`: writes half the bytes; `flip`: reads inverted bytes. */
  effect?: keyof typeof effects;
}

/** A rule that is in force. */
export interface Injected {
  /** Number of calls that met the rule so far. */
  met(): number;
  end(): void;
}

export interface Injector {
  /** Environment of the process that should meet the faults. */
  env: Record<string, string>;
  /** Whether a process has loaded the library. */
  isLoaded(): boolean;
  begin(rule: Rule): Injected;
  /** Shifts the wall clock of the process by milliseconds; 0: right. */
  setClock(milliseconds: number): void;
}

let built: string | null | undefined;

/**
 * Builds the library. Returns `null` and reports it if there is no C compiler.
 * @throws if CI is set, where no test may be skipped
 */
function build(directory: string): string | null {
  const library = join(directory, 'faults.so');
  const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', library, source, '-ldl', '-lpthread'];
  const failures: string[] = [];
  for (const compiler of process.platform === 'linux' ? ['cc', 'gcc', 'clang'] : []) {
    const { status, stderr, error } = spawnSync(compiler, flags, { encoding: 'utf8' });
    if (status === 0) return library;
    failures.push(`${compiler}: ${error?.message ?? stderr}`);
  }
  const why = `faults cannot be injected here, no C compiler builds them: ${failures.join('; ') || process.platform}`;
  if (process.env.CI === 'true') throw new Error(why);
  console.error(`SKIPPED: ${why}`);
  return null;
}

let directory: string | undefined;
let count = 0;
after(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

/** Returns an injector for services that run one after the other, or `null` if faults cannot be injected and the test must be skipped. */
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
      // Activates the rule after the rest is written.
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
