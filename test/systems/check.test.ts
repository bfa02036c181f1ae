/** `record-service check`. Reference: operations.md#check. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { runCommand } from '../support/hosts/run-command.ts';
import { engines, type Service, startService } from '../support/service.ts';

let folder: string;
let mail: Server;
const received: string[] = [];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'check-'));
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'functions', 'good.mjs'), 'setInterval(() => {}, 1_000);\nexport default { run: () => 1 };\n');
  mail = createServer((socket) => {
    socket.write('220 mail.example ESMTP\r\n');
    socket.on('data', (data) => {
      received.push(String(data).trim().slice(0, 4));
      socket.write('250 mail.example\r\n');
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
});
after(() => {
  mail.close();
  rmSync(folder, { recursive: true });
});

/** Returns the content and the time of each file, except those that SQLite makes for its readers. */
function filesUnder(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => !/-(?:shm|wal)$/.test(name));
  return Object.fromEntries(
    names.sort().map((name) => {
      const path = join(directory, name);
      const found = statSync(path);
      if (found.isDirectory()) return [name, 'directory'];
      return [name, `${found.mtimeMs} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`];
    }),
  );
}

const check = async (settings: Record<string, string>, ...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(['check', ...args], settings, folder);
  return {
    code,
    stderr,
    lines: stdout.trim().split('\n'),
    found: new Map(stdout.split('\n').map((line) => [line.split('\t')[0], line])),
  };
};

for (const engine of engines)
  describe(`check on ${engine}`, () => {
    let service: Service;
    let settings: Record<string, string>;

    before(async () => {
      service = await startService({ engine });
      await service.call('POST', '/platform/classes/Accounts', { body: { Name: 'x' } });
      const { port } = mail.address() as { port: number };
      settings = { ...service.settings, FUNCTIONS_DIR: join(folder, 'functions'), SMTP_URL: `smtp://u:secret@127.0.0.1:${port}` };
    });
    after(() => service.stop());

    test('what is in order is a line each; nothing is changed, beside the service', async () => {
      // The service itself writes what belongs to the last request.
      let before = filesUnder(service.dataDir);
      for (let last = {}; !isDeepStrictEqual(last, before); before = filesUnder(service.dataDir)) {
        last = before;
        await wait(300);
      }
      const { code, lines, found, stderr } = await check(settings);
      assert.deepEqual([code, stderr], [0, ''], lines.join('\n'));
      assert.deepEqual(
        lines.map((line) => line.split('\t', 2).join(' ')),
        ['settings ok', 'database ok', 'files ok', 'mail ok', 'disk ok', 'functions ok', 'migrations ok', 'testapp store'],
      );
      assert.match(found.get('database') ?? '', engine === 'sqlite' ? /SQLite \d/ : /PostgreSQL \d\S*, UTF8, may create schemas/);
      assert.match(found.get('functions') ?? '', /\t1 loaded$/);
      assert.match(found.get('migrations') ?? '', /\tnone pending$/);
      assert.deepEqual(filesUnder(service.dataDir), before);
      assert.ok(
        received.every((command) => /^(?:EHLO|QUIT)/.test(command)),
        String(received),
      );
      assert.ok(!lines.join().includes('secret'));
    });

    test('what is at fault has its reason, and exit code 1; --json is an object a line', async () => {
      writeFileSync(join(folder, 'functions', 'broken.mjs'), "const a = 1;\nthrow new Error('no luck');\n");
      const faults = { SMTP_URL: 'smtp://127.0.0.1:9', BACKUP_URL: join(folder, 'functions', 'good.mjs', 'below') };
      const { code, lines, stderr } = await check({ ...settings, ...faults }, '--json');
      rmSync(join(folder, 'functions', 'broken.mjs'));
      const found = lines.map((line) => JSON.parse(line) as { check: string; outcome: string; detail?: string });
      assert.deepEqual([code, /3 checks failed/.test(stderr)], [1, true], stderr);
      assert.deepEqual(
        found.filter(({ outcome }) => outcome === 'failed').map((one) => one.check),
        ['mail', 'functions', 'backups'],
      );
      assert.match(found.find((one) => one.check === 'functions')?.detail ?? '', /^1 loaded, 1 broken: broken\.mjs:2 no luck$/);
    });
  });

test('a malformed setting is a line, and no crash', async () => {
  const { code, lines } = await check({ DATA_DIR: join(folder, 'none'), SESSION_DAYS: 'x' });
  assert.deepEqual([code, lines], [1, ['settings\tfailed\tSESSION_DAYS: must be a whole number of days from 1 to 36500']]);
});

test('before the first start there are no systems, and nothing is made', async () => {
  const { code, found } = await check({ DATA_DIR: join(folder, 'none'), FUNCTIONS_DIR: join(folder, 'nowhere') });
  assert.equal(code, 0);
  assert.match(found.get('database') ?? '', /no systems yet$/);
  assert.match(found.get('functions') ?? '', /\t0 loaded$/);
  assert.deepEqual(readdirSync(folder), ['functions']);
});
