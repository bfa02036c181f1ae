/** Two services, one on each engine, that get the same requests. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { uploadFile } from '../../support/files.ts';
import type { EngineName } from '../../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { password } from '../../support/users.ts';
import { jsonText, MAIN, OTHER, type Request } from './request.ts';
import { FILE_BYTE, files } from './values.ts';

/** Stops the clock, so that both services give records the same times. Each signal names the next file, so that both give the same file names. */
const stopped = `import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  const { randomBytes } = crypto;
  let file = -1;
  process.on('SIGUSR2', () => file++);
  crypto.randomBytes = (size, ...more) =>
    size === 16 && file >= 0 && file < ${files.length} ? Buffer.from('${FILE_BYTE}'.repeat(15) + '0' + file, 'hex') : randomBytes(size, ...more);
  syncBuiltinESMExports();
  const Real = Date;
  const now = Real.UTC(2030, 0, 2, 3, 4, 5, 678);
  globalThis.Date = class extends Real {
    constructor(...a) { if (a.length > 0) super(...a); else super(now); }
    static now() { return now; }
  };`;
const env = {
  NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(stopped).toString('base64')}`,
  BASE_URL: 'http://h',
};

export interface Pair {
  /** Returns the answer of each engine, with the tables named as in the request. */
  ask(request: Request, run: number): Promise<readonly [sqlite: string, postgres: string]>;
  /** Throws if a process has ended. */
  alive(): void;
  stop(): Promise<void>;
}

interface Side {
  readonly engine: EngineName;
  readonly service: ServiceProcess;
  readonly session: string;
}

/** Starts both; the caller stops them. */
export async function startPair(): Promise<Pair> {
  const sides = await Promise.all([start('sqlite'), start('postgres')]);
  return {
    async ask(request, run) {
      const [sqlite, postgres] = await Promise.all(sides.map((side) => answerOf(side, request, run)));
      return [sqlite as string, postgres as string];
    },
    alive() {
      for (const { service } of sides) assert.equal(service.process.exitCode, null, service.output());
    },
    async stop() {
      await Promise.all(sides.map(({ service }) => service.stop()));
    },
  };
}

/** Starts a service with a user `u1`, who has a session and no role. */
async function start(engine: EngineName): Promise<Side> {
  const service = await startServiceProcess({ engine, env });
  const made = await service.call('POST', '/platform/users', { body: { objectId: 'u1', username: 'u1', password } });
  assert.equal(made.status, 201, made.text);
  await uploadFiles(service);
  return { engine, service, session: made.body.sessionToken };
}

async function uploadFiles(service: ServiceProcess): Promise<void> {
  const next = async () => {
    service.process.kill('SIGUSR2');
    await wait(200);
  };
  for (const { fileName, name } of files) {
    await next();
    assert.equal((await uploadFile(service, fileName)).name, name);
  }
  await next();
}

/** Sends a request. Each run has its own tables, with names of the same length. */
async function answerOf(
  { engine, service, session }: Side,
  { method, path, body, byUser }: Request,
  run: number,
): Promise<string> {
  const number = String(run).padStart(5, '0');
  const names = [MAIN, OTHER].map((name) => [name, `${name.slice(0, -number.length)}${number}`] as const);
  const sent = (text: string) => names.reduce((all, [name, own]) => all.replaceAll(name, own), text);
  const shown = (text: string) => names.reduce((all, [name, own]) => all.replaceAll(own, name), text);
  const asParameters = method === 'GET' && body !== undefined;
  const answer = await service.call(asParameters ? 'POST' : method, `/platform/${sent(path)}`, {
    ...(byUser && { session }),
    ...(body !== undefined && { body: sent(jsonText(asParameters ? { ...(body as object), _method: 'GET' } : body)) }),
  });
  const text = engine === 'sqlite' && path.startsWith('classes-aggregate') ? respelled(answer.text) : answer.text;
  return `${answer.status} ${shown(text)}`;
}

/** Returns the same JSON with numbers as JSON.stringify writes them: in objects and arrays of aggregations SQLite writes 1.0e+308 for 1e+308. */
function respelled(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(Number(token)),
  );
}
