import { setTimeout as wait } from 'node:timers/promises';
import type { BenchContext } from '../support/context.ts';
import { median, milliseconds, printTable, verdict } from '../support/report.ts';

/** Tables of a large system, and the fields of those that are added to the tables of a new one. */
const TABLES = 200;
const FIELDS = 25;
const most = { first: 150, remembered: 15, unchanged: 10, wait: 50 };
/** Times between two requests of the client beside, in milliseconds. */
const PAUSE_MS = 2;

const types = ['String', 'Number', 'Boolean', 'Date', 'Array'];

/** Requests `openapi.json` of a system of 200 tables: after a change of the schema, remembered, and unchanged (304), with a client beside that asks for little. */
export async function openapi({ rounds = 3, scratch }: BenchContext): Promise<void> {
  const service = await scratch.service(await scratch.directory());
  const { results } = (await service.call('GET', '/platform/schemas')).body;
  const fields = Object.fromEntries(Array.from({ length: FIELDS }, (_, at) => [`F${at}`, { type: types[at % types.length] }]));
  for (let n = results.length; n < TABLES; n++) {
    const { status, text } = await service.call('POST', `/platform/schemas/Large${n}`, { body: { fields } });
    if (status !== 200) throw new Error(text);
  }
  const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-API-Key': service.apiKey };
  const figures = { first: [] as number[], remembered: [] as number[], unchanged: [] as number[], wait: [] as number[] };
  let bytes = 0;
  const ask = async (figure: number[], status: number, etag = ''): Promise<string> => {
    const began = performance.now();
    const response = await fetch(`${service.url}/platform/openapi.json`, { headers: { ...headers, 'If-None-Match': etag } });
    const text = await response.text();
    figure.push(performance.now() - began);
    if (response.status !== status) throw new Error(text);
    if (status === 200) bytes = Buffer.byteLength(text);
    return String(response.headers.get('etag'));
  };
  // The first one compiles the code.
  await ask([], 200);
  for (let round = 0; round < rounds * 3; round++) {
    const body = { fields: { [`Round${round}`]: { type: 'String' } } };
    const { status, text } = await service.call('PUT', '/platform/schemas/Large199', { body });
    if (status !== 200) throw new Error(text);
    const beside = longestWait(service.url);
    const etag = await ask(figures.first, 200);
    figures.wait.push(await beside());
    await ask(figures.remembered, 200);
    await ask(figures.unchanged, 304, etag);
  }
  const row = (name: keyof typeof figures, what: string): string[] => {
    const ms = median(figures[name]);
    return [what, milliseconds(ms), `< ${most[name]} ms`, verdict(ms < most[name])];
  };
  printTable(
    `openapi: ${TABLES} tables, ${(bytes / 1_000_000).toFixed(2)} MB of JSON, embedded`,
    ['', 'measured', 'target', ''],
    [
      row('first', 'after a change of the schema'),
      row('remembered', 'remembered'),
      row('unchanged', '304'),
      row('wait', 'longest request of another client meanwhile'),
    ],
  );
  await service.stop();
}

/** Asks for little, again and again. @returns a function that ends it and returns the longest time of a request in milliseconds */
function longestWait(url: string): () => Promise<number> {
  let isOver = false;
  const asking = (async () => {
    let longest = 0;
    while (!isOver) {
      const began = performance.now();
      await (await fetch(`${url}/health/live`)).text();
      longest = Math.max(longest, performance.now() - began);
      await wait(PAUSE_MS);
    }
    return longest;
  })();
  return () => {
    isOver = true;
    return asking;
  };
}
