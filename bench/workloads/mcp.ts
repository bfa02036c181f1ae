import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { table } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';
import { connections } from './operations.ts';

/** Target of the median latency without other load, in milliseconds. */
const targets = { list: 2, read: 3 } as const;

/** The newest protocol revision, and an earlier one. */
type Era = '2026-07-28' | '2025-06-18';

interface Kind {
  name: string;
  /** Maximum latency in milliseconds, if the target applies. */
  maxMs?: number;
  target: Target;
  request: Prepared;
  /** Throws if an answer is not the expected one. */
  check: (answer: Answer) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Answer = any;

/** Compares the list of tools and reads of five records with the same read over REST, alternately; on either engine. */
export async function mcp(context: BenchContext): Promise<void> {
  const { scratch } = context;
  await measure(context, 'embedded', await scratch.service(await scratch.directory()));
  const server = await testServer({ fsync: 'on', full_page_writes: 'on', wal_level: 'replica', max_wal_senders: 10 });
  scratch.keep(server);
  const database = await server.database();
  const service = await scratch.service(await scratch.directory(), database);
  await measure(context, 'PostgreSQL', service, () => server.query('VACUUM ANALYZE', database));
}

async function measure(
  { records = 20_000, seconds, rounds, scratch }: BenchContext,
  engine: string,
  service: Service,
  settle: () => Promise<unknown> = async () => {},
): Promise<void> {
  await declareTable(service);
  await fill(serviceTarget(service), records);
  await settle();
  const kinds = kindsOf(service);
  for (const { target, request, check } of kinds) check(await send(target, request));
  const load = new LoadClient(scratch);
  const alone = new Map<Kind, number[]>();
  const rates = new Map<Kind, number[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const kind of round % 2 === 1 ? kinds : kinds.toReversed()) {
      const run = (many: number) => load.run(kind.target, [kind.request], { connections: many, seconds, warmup: 0.5 });
      alone.set(kind, [...(alone.get(kind) ?? []), (await run(1)).p50]);
      rates.set(kind, [...(rates.get(kind) ?? []), (await run(connections)).perSecond]);
    }
    note(`${engine}: round ${round} of ${rounds} done`);
  }
  const first = median(rates.get(kinds[0] as Kind) ?? []);
  const rows = kinds.map((kind) => {
    const [time, rate] = [median(alone.get(kind) ?? []), median(rates.get(kind) ?? [])];
    const judged = kind.maxMs === undefined ? ['–', ''] : [`< ${milliseconds(kind.maxMs)}`, verdict(time < kind.maxMs)];
    return [kind.name, milliseconds(time), ...judged, count(rate), ratio(rate / first)];
  });
  const heading = `mcp, ${engine}: ${count(records)} records, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['', 'alone', 'target', '', `req/s at ${connections}`, 'of REST'], rows);
}

/** Requests of agents. The first is the baseline. */
export function kindsOf(service: Service): Kind[] {
  const rest = serviceTarget(service);
  const read = { table, limit: 5 };
  const called = ({ result }: Answer) => {
    if (result.isError || JSON.parse(result.content[0].text).results.length !== 5) throw new Error(JSON.stringify(result));
  };
  const listed = ({ result }: Answer) => {
    if (!(result.tools.length > 1)) throw new Error(JSON.stringify(result));
  };
  return [
    {
      name: 'REST: GET classes, limit=5',
      target: rest,
      request: { method: 'GET', path: `/platform/classes/${table}?limit=5` },
      check({ results }) {
        if (results.length !== 5) throw new Error(JSON.stringify(results));
      },
    },
    ...(['2025-06-18', '2026-07-28'] as const).flatMap((era): Kind[] => [
      {
        name: `Get-Data, limit 5, ${era}`,
        maxMs: targets.read,
        ...askTool(service, era, 'tools/call', { name: 'Get-Data', arguments: read }),
        check: called,
      },
      { name: `tools/list, ${era}`, maxMs: targets.list, ...askTool(service, era, 'tools/list', {}), check: listed },
    ]),
  ];
}

/** A request as sent by clients of a protocol revision. */
export function askTool(
  service: Service,
  era: Era,
  method: string,
  params: { name?: string; arguments?: object },
): Pick<Kind, 'target' | 'request'> {
  const headers: Record<string, string> = {
    Accept: 'application/json, text/event-stream',
    'X-Platform-API-Key': service.apiKey,
    'MCP-Protocol-Version': era,
  };
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const isNewest = era === '2026-07-28';
  if (isNewest) Object.assign(headers, { 'Mcp-Method': method, ...(params.name !== undefined && { 'Mcp-Name': params.name }) });
  return {
    target: { name: method, url: service.url, headers },
    request: {
      method: 'POST',
      path: `/mcp/${service.appId}`,
      body: isNewest ? { ...body, params: { ...params, _meta: meta } } : body,
    },
  };
}

/** Metadata in each request of the newest revision. */
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
