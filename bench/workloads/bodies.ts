import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import type { SteadyResult } from '../load/steady-reads.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { type BodyTargets, type LargeBody, largeBodies } from '../support/json-bodies.ts';
import { LoadClient } from '../support/load-client.ts';
import { LINE, type LoopFigures } from '../support/loop-meter.ts';
import { MemoryWatch } from '../support/memory.ts';
import { megabytes, note, printTable, verdict } from '../support/report.ts';
import type { Scratch } from '../support/scratch.ts';

const table = 'Bodies';
const READ_INTERVAL_MS = 2;
/** Reads go on for so long before the bodies come. */
const QUIET_MS = 100;
const keyed = 'Keyed';
const logged = 'Logged';
/** Another table than that of the bodies. */
const small = 'Small';

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
  const target = serviceTarget(service);
  const reads = [`/platform/classes/${small}/${targets.small}`, `/platform/classes/${table}/${targets.read}?keys=Key`].map(
    (path) => ({ method: 'GET', path }),
  );
  // Another process: sending long bodies would delay the reads.
  const reader = new LoadClient(scratch);
  const readSteadily = () => reader.readSteadily(target, reads, READ_INTERVAL_MS);
  for (const body of largeBodies(targets).filter(({ name }) => filter.test(name))) {
    const bytes = body.make();
    for (const times of process.env.BODIES_TIMES?.split(',').map(Number) ?? [1, 5]) {
      const row = [
        body.name,
        String(times),
        megabytes(bytes.length),
        ...(await measured(service, readSteadily, { body, bytes, times })),
      ];
      rows.push(row);
      note(row.join(' | '));
    }
  }
  printTable(
    `bodies: ${database ? 'PostgreSQL' : 'embedded'}; point reads of another table and of the same one are due every ${READ_INTERVAL_MS} ms; milliseconds`,
    [
      '',
      'at once',
      'size',
      'answer',
      'all took',
      'longest read',
      'in its table',
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
async function prepare(service: ServiceProcess): Promise<BodyTargets & { readonly read: string; readonly small: string }> {
  const types = { Text: 'String', Number: 'Number', Data: 'Object', List: 'Array', Key: 'String' };
  const fields = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
  await must(service.call('POST', `/platform/schemas/${table}`, { body: { fields } }));
  const uniqueIndexes = { key: { fields: ['Key'] } };
  await must(service.call('POST', `/platform/schemas/${keyed}`, { body: { fields, uniqueIndexes } }));
  await must(
    service.call('POST', `/platform/schemas/${logged}`, { body: { fields, timeline: { displayFields: { Key: true } } } }),
  );
  for (const Name of ['AcceptWebLeads', 'AcceptWebToTable'])
    await must(service.call('POST', '/platform/classes/Config', { body: { Name, Value: { [Name]: true } } }));
  const make = async (body: unknown, className = table): Promise<string> =>
    (await must(service.call('POST', `/platform/classes/${className}`, { body }))).body.objectId;
  const listed = await make({ List: Array.from({ length: 390_000 }, (_, at) => `t${at}`) });
  const large = await make({ Text: 'a'.repeat(20 * 1024 * 1024 - 1_000) });
  const [plain, read] = [await make({ Text: 'a' }), await make({ Key: 'a' })];
  return { appId: service.appId, table, keyed, logged, listed, large, plain, read, small: await make({ Name: 'a' }, small) };
}

/** Bodies come from several addresses: one alone has only a part of the memory for bodies. */
const ADDRESSES = 10;

/** Characters of an answer that are looked at. */
const MAX_ANSWER = 200_000;

interface Sending {
  readonly body: LargeBody;
  readonly bytes: Buffer;
  readonly times: number;
}

async function measured(
  service: ServiceProcess,
  readSteadily: () => () => Promise<SteadyResult>,
  { body, bytes, times }: Sending,
): Promise<string[]> {
  const endReads = readSteadily();
  await wait(QUIET_MS);
  await figures(service);
  const memory = new MemoryWatch(service.process.pid as number);
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: times }, (_, at) => send(service, body, bytes, `127.0.0.${1 + (at % ADDRESSES)}`)),
  );
  const whole = performance.now() - began;
  const { took } = await endReads();
  memory.stop();
  const loop = await figures(service);
  const [longest = 0, ofSame = 0] = took.map((one) => one.at(-1) ?? 0);
  const times99 = took[0]?.[Math.floor(took[0].length * 0.99)] ?? 0;
  const milliseconds = [whole, longest, ofSame, times99, loop.turn, loop.cpu, loop.young, loop.whole].map((ms) => ms.toFixed(0));
  const { start, peak } = memory;
  const answer = [...new Set(answers)].join(', ');
  const isExpected = answer === body.answer;
  if (!isExpected) process.exitCode = 1;
  return [
    isExpected ? answer : `UNEXPECTED: ${answer}`,
    ...milliseconds,
    megabytes(peak.own - start.own),
    megabytes(peak.own),
    verdict(isExpected && loop.cpu < MAX_STALL_MS && Math.max(longest, ofSame) < MAX_STALL_MS),
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

/** Sends a body. @returns the status, and the code of the error */
function send(
  service: ServiceProcess,
  { method, path, type = 'application/json', isChunked, encoding }: LargeBody,
  bytes: Buffer,
  localAddress: string,
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
    const sent = request(`${service.url}${path}`, { method, headers, agent: false, localAddress }, (response) => {
      let text = '';
      response.on('data', (piece) => {
        if (text.length < MAX_ANSWER) text += piece;
      });
      response.on('end', () => resolve(`${response.statusCode}${method === 'GET' ? '' : faultIn(text)}`));
      response.on('error', reject);
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end(bytes);
  });
}

/** What is wrong by the text of an answer, also of one item of many. */
function faultIn(text: string): string {
  const code = /"code":\s*(-?\d+)/.exec(text)?.[1];
  if (code !== undefined) return ` ${code}`;
  const found = /"isError":true|"error"[^,}]*|\\"error.{60}/.exec(text)?.[0];
  return found === undefined ? '' : ` ${found.slice(0, 80)}`;
}
