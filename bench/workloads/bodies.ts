import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import { Connection, none } from '../load/connection.ts';
import type { BenchContext } from '../support/context.ts';
import { type BodyTargets, type LargeBody, largeBodies } from '../support/json-bodies.ts';
import { LINE, type LoopFigures } from '../support/loop-meter.ts';
import { MemoryWatch } from '../support/memory.ts';
import { megabytes, note, printTable, verdict } from '../support/report.ts';
import type { Scratch } from '../support/scratch.ts';

const table = 'Bodies';
const READ_INTERVAL_MS = 2;
const MAX_CONNECTIONS = 64;

/** Longest turn of the event loop that is accepted, in milliseconds of processor time, and longest wait of a read by the clock. */
const MAX_STALL_MS = 50;

/** Sends large bodies of many kinds, one and then five at once, beside point reads at a fixed rate: how long these wait, and what the process needs. */
export async function bodies({ scratch }: BenchContext): Promise<void> {
  const engines = process.env.TEST_ENGINES ?? 'sqlite,postgres';
  if (engines.includes('sqlite')) await onEngine(scratch);
  if (!engines.includes('postgres')) return;
  const server = await testServer();
  scratch.keep(server);
  await onEngine(scratch, await server.database());
}

async function onEngine(scratch: Scratch, database?: { url: string }): Promise<void> {
  const meter = `--import=${new URL('../support/loop-meter.ts', import.meta.url).href}`;
  const service = await scratch.service(await scratch.directory(), database, undefined, {
    NODE_OPTIONS: `${meter} ${process.env.BODIES_NODE_OPTIONS ?? ''}`,
    FUNCTION_BODY_BYTES: String(20 * 1024 * 1024),
  });
  const targets = await prepare(service);
  const filter = new RegExp(process.env.BODIES_ONLY ?? '');
  const rows: string[][] = [];
  for (const body of largeBodies(targets).filter(({ name }) => filter.test(name))) {
    const bytes = body.make();
    for (const times of process.env.BODIES_TIMES?.split(',').map(Number) ?? [1, 5]) {
      const row = [
        body.name,
        String(times),
        megabytes(bytes.length),
        ...(await measured(service, targets, { body, bytes, times })),
      ];
      rows.push(row);
      note(row.join(' | '));
    }
  }
  printTable(
    `bodies: ${database ? 'PostgreSQL' : 'embedded'}; point reads are due every ${READ_INTERVAL_MS} ms; milliseconds`,
    [
      '',
      'at once',
      'size',
      'answer',
      'all took',
      'longest read',
      'p99',
      'turn',
      'turn, CPU',
      'young GC',
      'whole GC',
      'grown',
      'memory',
      '',
    ],
    rows,
  );
  await service.stop();
}

/** Makes the table, and the records that bodies refer to. */
async function prepare(service: ServiceProcess): Promise<BodyTargets> {
  const types = { Text: 'String', Number: 'Number', Data: 'Object', List: 'Array', Key: 'String' };
  const fields = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
  await must(service.call('POST', `/platform/schemas/${table}`, { body: { fields } }));
  const make = async (body: unknown): Promise<string> =>
    (await must(service.call('POST', `/platform/classes/${table}`, { body }))).body.objectId;
  const listed = await make({ List: Array.from({ length: 390_000 }, (_, at) => `t${at}`) });
  const large = await make({ Text: 'a'.repeat(20 * 1024 * 1024 - 1_000) });
  return { appId: service.appId, table, listed, large, plain: await make({ Text: 'a' }) };
}

interface Sending {
  readonly body: LargeBody;
  readonly bytes: Buffer;
  readonly times: number;
}

async function measured(service: ServiceProcess, { plain }: BodyTargets, { body, bytes, times }: Sending): Promise<string[]> {
  await figures(service);
  const memory = new MemoryWatch(service.process.pid as number);
  const began = performance.now();
  const work = Promise.all(Array.from({ length: times }, () => send(service, body, bytes)));
  const [answers, took] = await Promise.all([work, readsDuring(service, `/platform/classes/${table}/${plain}?keys=Key`, work)]);
  const whole = performance.now() - began;
  memory.stop();
  const loop = await figures(service);
  const longest = took.at(-1) ?? 0;
  const times99 = took[Math.floor(took.length * 0.99)] ?? 0;
  const milliseconds = [whole, longest, times99, loop.turn, loop.cpu, loop.young, loop.whole].map((ms) => ms.toFixed(0));
  const { start, peak } = memory;
  return [
    [...new Set(answers)].join(' ').slice(0, 60),
    ...milliseconds,
    megabytes(peak.own - start.own),
    megabytes(peak.own),
    verdict(loop.cpu < MAX_STALL_MS && longest < MAX_STALL_MS),
  ];
}

async function must<T extends { status: number; text: string }>(answer: Promise<T>): Promise<T> {
  const got = await answer;
  if (got.status > 201) throw new Error(got.text);
  return got;
}

async function figures(service: ServiceProcess): Promise<LoopFigures> {
  const before = service.output().split(LINE).length;
  service.process.kill('SIGUSR2');
  for (;;) {
    await wait(5);
    const lines = service.output().split(LINE);
    const last = lines.at(-1) as string;
    if (lines.length > before && last.includes('\n')) return JSON.parse(last.slice(0, last.indexOf('\n')));
  }
}

/** Sends a body. @returns the status and the beginning of a refusal */
function send(
  service: ServiceProcess,
  { method, path, type = 'application/json', isChunked, encoding }: LargeBody,
  bytes: Buffer,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      'X-Platform-Application-Id': service.appId,
      'X-Platform-Master-Key': service.masterKey,
      Authorization: `Bearer ${service.masterKey}`,
      Accept: 'application/json, text/event-stream',
      'Content-Type': type,
      ...(encoding && { 'Content-Encoding': encoding }),
      ...(isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': bytes.length }),
    };
    const sent = request(`${service.url}${path}`, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (piece) => {
        if (text.length < 300) text += piece;
      });
      response.on('end', () => {
        const isDone = response.statusCode === 200 || response.statusCode === 201;
        resolve(`${response.statusCode} ${isDone && !text.includes('rror') ? '' : text.slice(0, 200)}`);
      });
      response.on('error', reject);
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end(bytes);
  });
}

/** Reads a record at a fixed rate until some work is done. @returns the sorted times of the answers in milliseconds, from when each was due */
async function readsDuring(service: ServiceProcess, path: string, work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  const { hostname, port } = new URL(service.url);
  const credentials = `X-Platform-Application-Id: ${service.appId}\r\nX-Platform-API-Key: ${service.apiKey}`;
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${credentials}\r\n\r\n`);
  const took: number[] = [];
  const all: Connection[] = [];
  const free: Connection[] = [];
  const connect = () => {
    // The service closes idle connections.
    const connection = new Connection(hostname, Number(port), () => {
      all.splice(all.indexOf(connection), 1);
      if (free.includes(connection)) free.splice(free.indexOf(connection), 1);
    });
    all.push(connection);
    return connection;
  };
  const waiting = new Set<Promise<void>>();
  for (let due = performance.now(); !isOver; due += READ_INTERVAL_MS) {
    await wait(Math.max(0, due - performance.now()));
    // A read that is due does not wait for those before it, up to a number of them.
    while (free.length === 0 && all.length === MAX_CONNECTIONS) await Promise.race(waiting);
    const connection = free.pop() ?? connect();
    const from = due;
    const answered = new Promise<void>((resolve) => connection.send(bytes, none, () => resolve())).then(() => {
      took.push(performance.now() - from);
      free.push(connection);
      waiting.delete(answered);
    });
    waiting.add(answered);
  }
  await Promise.all(waiting);
  for (const connection of all) connection.close();
  return took.sort((a, b) => a - b);
}
