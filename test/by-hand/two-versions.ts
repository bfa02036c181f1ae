/**
 * Two versions of the service on one PostgreSQL, under load: the one of another checkout, and this one, which is reloaded in the middle and then serves
 * alone. Counts failed requests and wrong answers, and exits with 1 if there are any.
 *
 *     git worktree add /tmp/before f8df0d2c && npm --prefix /tmp/before ci --omit=dev
 *     node test/by-hand/two-versions.ts /tmp/before [seconds of each phase]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sharedServer, testDatabase } from '../../src/storage/postgres/testing/server.ts';

const [before, seconds = '5'] = process.argv.slice(2);
if (before === undefined) throw new Error('usage: two-versions.ts CHECKOUT [SECONDS]');
const phaseMs = Number(seconds) * 1_000;
const here = join(import.meta.dirname, '../..');

const database = await testDatabase();
const directory = mkdtempSync(join(tmpdir(), 'two-versions-'));
const credentials = { APP_ID: 'testapp', MASTER_KEY: 'test-master-key', API_KEY: 'test-api-key' };
const running: ChildProcess[] = [];

interface Service {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  output(): string;
}

async function start(name: string, checkout: string): Promise<Service> {
  const env = {
    ...{ PATH: process.env.PATH, DATA_DIR: directory, DATABASE_URL: database.url, PORT: '0', WEB_CONCURRENCY: '2' },
    ...credentials,
  };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(checkout, 'src/main.ts'), 'start'], {
    env,
    cwd: directory,
  });
  running.push(child);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const found = /listening on (\S+)/.exec(output)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`${name} ended with ${code}:\n${output}`)));
  });
  console.log(`${name} serves at ${url}`);
  return { name, url, process: child, output: () => output };
}

async function stop({ name, process: child }: Service): Promise<void> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const code = await ended;
  if (code !== 0) failures.push(`${name} ended with ${code}`);
}

const failures: string[] = [];
const counts = new Map<string, number>();
let created = 0;

interface Answer {
  readonly status: number;
  readonly body: any;
}

async function ask(
  agent: Agent,
  { name, url }: Service,
  kind: string,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  counts.set(`${name}: ${kind}`, (counts.get(`${name}: ${kind}`) ?? 0) + 1);
  const headers = {
    'X-Platform-Application-Id': credentials.APP_ID,
    'X-Platform-Master-Key': credentials.MASTER_KEY,
    ...(body && { 'Content-Type': 'application/json' }),
  };
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      const sent = request(new URL(`/platform/${path}`, url), { method, agent, headers }, async (message) => {
        try {
          let text = '';
          for await (const piece of message) text += piece;
          resolve({ status: message.statusCode ?? 0, body: JSON.parse(text) });
        } catch (error) {
          reject(error);
        }
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
    if (answer.status >= 300) failures.push(`${name} ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  } catch (error) {
    failures.push(`${name} ${method} ${path}: ${(error as Error).message}`);
    return { status: 0, body: {} };
  }
}

/** The services that get requests now. */
let serving: Service[] = [];
let isOver = false;

/** One client: each round creates, updates and reads over whichever services serve, on kept connections. */
async function client(id: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  for (let round = 0; !isOver; round++) {
    const one = serving[round % serving.length] as Service;
    const other = serving[(round + 1) % serving.length] as Service;
    const Name = `c${id}r${round}`;
    const made = await ask(agent, one, 'create', 'POST', 'classes/Accounts', { Name });
    if (made.status === 201) created++;
    const at = `classes/Accounts/${made.body.objectId}`;
    await ask(agent, other, 'update', 'PUT', at, { City: `of ${Name}` });
    const { body } = await ask(agent, one, 'read', 'GET', at);
    if (body.Name !== Name || body.City !== `of ${Name}`) failures.push(`${one.name}: wrong answer ${JSON.stringify(body)}`);
    const requests = [0, 1].map((n) => ({ method: 'POST', path: '/platform/classes/Tasks', body: { Name: `${Name}t${n}` } }));
    const batch = await ask(agent, other, 'batch', 'POST', 'batch', { requests });
    if (!(batch.body as object[])?.every?.((item) => 'success' in item)) failures.push(`batch: ${JSON.stringify(batch.body)}`);
    if (round % 5 === 0)
      await ask(agent, other, 'login', 'POST', 'login', { username: 'dana@example.com', password: 'Secret123Pass' });
    if (round % 8 === id) {
      const field = `F${id}_${round}`;
      await ask(agent, one, 'schema', 'PUT', 'schemas/Accounts', { fields: { [field]: { type: 'String' } } });
      await ask(agent, other, 'new field', 'PUT', at, { [field]: 'x' });
    }
    await wait(id * 5);
  }
  agent.destroy();
}

async function phase(name: string, services: Service[], act?: () => Promise<unknown>): Promise<void> {
  const [asked, failed] = [total(), failures.length];
  serving = services;
  await wait(phaseMs / 2);
  await act?.();
  await wait(phaseMs / 2);
  console.log(`${name}: ${total() - asked} requests, ${failures.length - failed} failed`);
}

const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);

/** Waits for a line of the log. */
async function line({ output }: Service, text: string): Promise<void> {
  for (let waited = 0; !output().includes(text); waited += 50) {
    if (waited > 120_000) throw new Error(`no ${text} in\n${output()}`);
    await wait(50);
  }
}

try {
  const old = await start('before', before);
  const agent = new Agent();
  await ask(agent, old, 'user', 'POST', 'users', {
    username: 'dana@example.com',
    email: 'dana@example.com',
    password: 'Secret123Pass',
  });
  await ask(agent, old, 'trigger', 'POST', 'classes/_Trigger', {
    Name: 'follow',
    table: 'Accounts',
    events: ['create'],
    actions: [{ type: 'create-object', actionData: { table: 'Tasks', fields: { Name: 'follow {{Name}}' } } }],
  });
  serving = [old];
  const clients = [0, 1, 2, 3].map(client);
  await phase('before alone', [old]);
  const now = await start('now', here);
  await phase('side by side', [old, now]);
  await phase('side by side, SIGHUP to this one', [old, now], async () => {
    now.process.kill('SIGHUP');
    await line(now, '"msg":"reloaded"');
  });
  await phase('this one alone', [now]);
  await stop(old);
  const again = await start('before, again', before);
  await phase('before, started on what this one has changed', [again, now]);
  isOver = true;
  await Promise.all(clients);
  const count = async (service: Service, table: string, where: object) =>
    (
      await ask(
        agent,
        service,
        'count',
        'GET',
        `classes/${table}?limit=0&count=1&where=${encodeURIComponent(JSON.stringify(where))}`,
      )
    ).body.count;
  for (let waited = 0; waited < 60_000; waited += 500) {
    if ((await count(now, 'Tasks', { Name: { $regex: '^follow ' } })) === created) break;
    await wait(500);
  }
  for (const service of [now, again]) {
    const found = [
      await count(service, 'Accounts', { Name: { $regex: '^c\\d+r\\d+$' } }),
      await count(service, 'Tasks', { Name: { $regex: '^follow ' } }),
    ];
    console.log(`${service.name}: ${created} created, ${found[0]} found, ${found[1]} triggers ran`);
    if (found.some((one) => one !== created)) failures.push(`${service.name}: ${found} of ${created}`);
  }
  await stop(again);
  await stop(now);
  const lines = [old, now, again].flatMap(({ name, output }) =>
    output()
      .split('\n')
      .filter((text) => /"level":(?:50|60)/.test(text))
      .map((text) => `${name}: ${text}`),
  );
  console.log(Object.fromEntries([...counts].sort()));
  console.log(`${total()} requests, ${failures.length} failures, ${lines.length} error lines`);
  for (const text of [...failures.slice(0, 20), ...lines.slice(0, 10)]) console.log(text);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  isOver = true;
  for (const child of running) if (child.exitCode === null) child.kill('SIGKILL');
  await database.drop();
  await (await sharedServer()).close();
  rmSync(directory, { recursive: true, force: true });
}
