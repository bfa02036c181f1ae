import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import { Connection, none } from '../load/connection.ts';
import type { BenchContext } from '../support/context.ts';
import { type LargeBody, largeBodies } from '../support/json-bodies.ts';
import { LINE, type LoopFigures } from '../support/loop-meter.ts';
import { MemoryWatch } from '../support/memory.ts';
import { megabytes, note, printTable } from '../support/report.ts';

const table = 'Bodies';
const READ_INTERVAL_MS = 2;
const MAX_CONNECTIONS = 64;

export async function bodies({ scratch }: BenchContext): Promise<void> {
  const meter = `--import=${new URL('../support/loop-meter.ts', import.meta.url).href}`;
  const service = await scratch.service(await scratch.directory(), undefined, undefined, {
    NODE_OPTIONS: `${meter} ${process.env.BODIES_NODE_OPTIONS ?? ''}`,
    FUNCTION_BODY_BYTES: String(20 * 1024 * 1024),
  });
  const fields = {
    Text: { type: 'String' },
    Number: { type: 'Number' },
    Data: { type: 'Object' },
    List: { type: 'Array' },
    Key: { type: 'String' },
  };
  await must(service.call('POST', `/platform/schemas/${table}`, { body: { fields, indexes: { k: { Key: 1 } } } }));
  const made = async (body: unknown) =>
    (await must(service.call('POST', `/platform/classes/${table}`, { body }))).body.objectId as string;
  const listed = await made({ List: Array.from({ length: 390_000 }, (_, at) => `t${at}`) });
  const plain = await made({ Text: 'a' });
  const reads = `/platform/classes/${table}/${plain}?keys=Key`;
  const filter = process.env.BODIES_ONLY ? new RegExp(process.env.BODIES_ONLY) : /./;
  const rows: string[][] = [];
  for (const body of largeBodies({ appId: service.appId, table, listed, plain }).filter(({ name }) => filter.test(name))) {
    const bytes = body.make();
    for (const times of process.env.BODIES_TIMES?.split(',').map(Number) ?? [1, 5]) {
      await figures(service);
      const memory = new MemoryWatch(service.process.pid as number);
      const began = performance.now();
      const work = Promise.all(Array.from({ length: times }, () => send(service, body, bytes)));
      const [answers, took] = await Promise.all([work, readsDuring(service, reads, work)]);
      const seconds = (performance.now() - began) / 1000;
      memory.stop();
      const { turn, cpu, young, whole } = await figures(service);
      const at = (share: number) => (took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0).toFixed(0);
      const row = [
        body.name,
        String(times),
        megabytes(bytes.length),
        [...new Set(answers)].join(' ').slice(0, 60),
        seconds.toFixed(1),
        at(1),
        at(0.99),
        turn.toFixed(0),
        cpu.toFixed(0),
        young.toFixed(0),
        whole.toFixed(0),
        megabytes(memory.peak.own - memory.start.own),
        megabytes(memory.peak.own),
      ];
      rows.push(row);
      note(row.join(' | '));
    }
  }
  printTable(
    'bodies',
    ['', 'at once', 'size', 'answer', 's', 'longest', 'p99', 'turn', 'cpu', 'young', 'whole', 'grown', 'memory'],
    rows,
  );
  await service.stop();
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
    const connection = new Connection(hostname, Number(port), (error) => {
      throw error;
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
