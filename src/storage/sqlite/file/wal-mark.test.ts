/** WALs that were truncated, removed, or belong to another file, and harmless cases (docs/adr/0020). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreRefused } from '../../identity.ts';
import { prepare, readWalLength, type WalLength, walLengthQuery } from '../connection/statements.ts';
import { WalMark } from './wal-mark.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rds-mark-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Returns a file with its WAL as `kill -9` leaves them: copied while a connection is open. */
class Live {
  readonly path: string;
  readonly db: DatabaseSync;
  readonly mark: WalMark;
  readonly missing: number | null;

  constructor(name: string, owner = name) {
    this.path = join(directory, name);
    this.mark = WalMark.before(this.path, owner);
    this.db = new DatabaseSync(this.path);
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
    this.missing = this.mark.missingSince(this.db);
    this.db.exec('CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, x TEXT)');
    this.mark.committed(this.db);
  }

  add(rows: number): this {
    for (let n = 0; n < rows; n++) {
      this.db.exec(`INSERT INTO t (x) VALUES ('${'x'.repeat(500)}')`);
      this.mark.committed(this.db);
    }
    return this;
  }

  length(): WalLength {
    return readWalLength(prepare(this.db, walLengthQuery));
  }

  count(): number {
    return Number(this.db.prepare('SELECT count(*) AS n FROM t').get()?.n);
  }

  killed(name: string): string {
    for (const suffix of ['', '-wal', '-mark'])
      if (existsSync(this.path + suffix)) cpSync(this.path + suffix, join(directory, name) + suffix);
    return join(directory, name);
  }

  async close(): Promise<void> {
    await this.mark.closing();
    this.db.close();
    await this.mark.closed();
  }
}

/** Opens what was left; its owner has another name. @returns what is reported missing, and the number of rows */
async function opened(name: string, owner: string): Promise<[missing: boolean, rows: number]> {
  const live = new Live(name, owner);
  const found: [boolean, number] = [live.missing !== null, live.count()];
  await live.close();
  return found;
}

describe('The mark of a log', () => {
  test('nothing is said after a clean close, a kill, a checkpoint, a log that began again, or without a mark', async () => {
    const live = new Live('a').add(20);
    live.killed('killed');
    live.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    live.killed('filled');
    live.add(3).killed('anew');
    live.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    live.killed('emptied');
    live.add(1).killed('unmarked');
    rmSync(join(directory, 'unmarked-mark'));
    await live.close();
    for (const [name, rows] of Object.entries({ killed: 20, filled: 20, anew: 23, emptied: 23, unmarked: 24, a: 24 }))
      assert.deepEqual([name, ...(await opened(name, 'a'))], [name, false, rows]);
  });

  test('nothing is said of marks that are older than the log, as power cuts may leave them', async () => {
    const live = new Live('a').add(3);
    const early = readFileSync(`${live.path}-mark`);
    const name = live.add(20).killed('later');
    writeFileSync(`${name}-mark`, early);
    live.db.exec('PRAGMA wal_checkpoint(RESTART)');
    const anew = live.add(2).killed('anew');
    writeFileSync(`${anew}-mark`, early);
    await live.close();
    assert.deepEqual(
      [await opened('later', 'a'), await opened('anew', 'a')],
      [
        [false, 23],
        [false, 25],
      ],
    );
  });

  test('of commits that follow each other fast the last is noted soon, or before the file is closed', async () => {
    const live = new Live('a');
    const mark = () => readFileSync(`${live.path}-mark`).toString('hex');
    const write = (rows: number) => {
      for (let n = 0; n < rows; n++) {
        live.db.exec(`INSERT INTO t (x) VALUES ('x')`);
        live.mark.committedOften(live.length());
      }
      return mark();
    };
    const early = write(1);
    const began = performance.now();
    const seen = new Set(Array.from({ length: 50 }, () => write(1)));
    const most = 2 + (performance.now() - began) / 10;
    assert.ok(seen.size <= most, `${seen.size} marks of 50 commits, ${most} at the most`);
    await wait(30);
    const late = mark();
    assert.notEqual(late, early);
    live.mark.committed(live.db);
    assert.equal(mark(), late);
    write(20);
    await live.mark.closing();
    const last = mark();
    live.mark.committed(live.db);
    assert.equal(mark(), last);
    await live.close();
  });

  test('nothing is said where another tool has opened and closed a file that was killed', async () => {
    const live = new Live('a').add(9);
    const path = live.killed('tool');
    await live.close();
    const script = `const { DatabaseSync } = require('node:sqlite'); const db = new DatabaseSync(process.argv[1]); db.prepare('SELECT * FROM t').all(); db.close()`;
    execFileSync(process.execPath, ['-e', script, path], { stdio: 'ignore' });
    assert.equal(existsSync(`${path}-wal`), false);
    assert.deepEqual(await opened('tool', 'a'), [false, 9]);
  });

  // Tools with a SQLite older than 3.51 remove the WAL of a file that seems unused.
  test('nor where commits came after the last mark, and the log was emptied since', async () => {
    const live = new Live('a');
    const write = () => {
      for (let n = 0; n < 20; n++) {
        live.db.exec(`INSERT INTO t (x) VALUES ('x')`);
        live.mark.committedOften(live.length());
      }
    };
    write();
    const tool = new DatabaseSync(live.killed('tool'));
    assert.ok(tool.prepare('SELECT 1 FROM t').get());
    tool.close();
    write();
    live.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await wait(30);
    live.killed('emptied');
    await live.close();
    for (const [name, rows] of [
      ['tool', 20],
      ['emptied', 40],
    ] as const)
      assert.deepEqual([name, ...(await opened(name, 'a'))], [name, false, rows]);
  });

  test('what is no file at the place of a mark proves nothing', async () => {
    const live = new Live('a').add(3);
    const name = live.killed('directory');
    await live.close();
    rmSync(`${name}-mark`);
    mkdirSync(`${name}-mark`);
    assert.deepEqual(await opened('directory', 'a'), [false, 3]);
  });

  test('a file that is open stays locked for other processes, also where its log was found to be missing', {
    skip: !existsSync('/proc/locks'),
  }, async () => {
    const live = new Live('a').add(20);
    rmSync(`${live.killed('open')}-wal`);
    await live.close();
    const open = new Live('open', 'a').add(5);
    assert.notEqual(open.missing, null);
    assert.match(readFileSync('/proc/locks', 'utf8'), new RegExp(`:${statSync(open.path).ino} `));
    await open.close();
  });

  test('a log that was cut, removed, emptied or broken is reported, with what is before it', async () => {
    const live = new Live('a').add(20);
    const { size } = statSync(`${live.path}-wal`);
    truncateSync(`${live.killed('cut')}-wal`, Math.floor(size / 2));
    rmSync(`${live.killed('removed')}-wal`);
    truncateSync(`${live.killed('emptied')}-wal`, 0);
    for (const [name, at] of Object.entries({ flipped: Math.floor(size / 2), header: 17 })) {
      const log = `${live.killed(name)}-wal`;
      const bytes = readFileSync(log);
      bytes[at] = (bytes[at] as number) ^ 0xff;
      writeFileSync(log, bytes);
    }
    await live.close();
    for (const [name, isSome] of Object.entries({ cut: true, removed: false, emptied: false, flipped: true, header: false })) {
      const [missing, rows] = await opened(name, 'a');
      assert.deepEqual([name, missing, rows > 0 && rows < 20], [name, true, isSome]);
      assert.deepEqual([name, ...(await opened(name, 'a'))], [name, false, rows], 'told once');
    }
  });

  test('a log that is of another file, or of an earlier time, is refused, and every byte stays', async () => {
    const live = new Live('a').add(20);
    const early = readFileSync(`${live.path}-wal`);
    live.db.exec('PRAGMA wal_checkpoint(RESTART)');
    live.add(20);
    const other = new Live('b').add(30);
    writeFileSync(`${live.killed('foreign')}-wal`, readFileSync(`${other.path}-wal`));
    writeFileSync(`${live.killed('older')}-wal`, early);
    await live.close();
    await other.close();
    for (const why of ['foreign', 'older']) {
      const path = join(directory, why);
      const before = ['', '-wal', '-mark'].map((suffix) => readFileSync(path + suffix));
      assert.throws(
        () => WalMark.before(path, 'a'),
        (error) => error instanceof StoreRefused && error.why === why,
      );
      assert.deepEqual(
        ['', '-wal', '-mark'].map((suffix) => readFileSync(path + suffix)),
        before,
      );
    }
  });

  test("another file's log beside one that was closed cleanly is refused; one of another version of the service is not", async () => {
    const live = new Live('a').add(20);
    await live.close();
    const other = new Live('b', 'b').add(40);
    // A WAL that contains another file completely also contains its identity, which is checked separately (schema/identity.ts).
    other.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    other.add(40);
    cpSync(`${other.path}-wal`, `${live.path}-wal`);
    await other.close();
    assert.throws(() => WalMark.before(live.path, 'a'), StoreRefused);
    rmSync(`${live.path}-wal`);
    const without = new DatabaseSync(live.path);
    without.exec("INSERT INTO t (x) VALUES ('y')");
    for (const suffix of ['', '-wal', '-mark']) cpSync(live.path + suffix, join(directory, 'version') + suffix);
    without.close();
    assert.deepEqual(await opened('version', 'a'), [false, 21]);
  });

  test("another's mark, and what is none, prove nothing", async () => {
    const live = new Live('a').add(5);
    const other = new Live('b').add(50);
    cpSync(`${other.path}-mark`, `${live.killed('swapped')}-mark`);
    writeFileSync(`${live.killed('none')}-mark`, 'x'.repeat(64));
    truncateSync(`${live.killed('short')}-mark`, 10);
    await live.close();
    await other.close();
    for (const name of ['swapped', 'none', 'short']) assert.deepEqual([name, ...(await opened(name, 'a'))], [name, false, 5]);
  });
});
