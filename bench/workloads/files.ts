import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { startBareFiles, writeFiles } from '../support/bare-files.ts';
import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { type Memory, MemoryWatch, memoryOf } from '../support/memory.ts';
import { count as counted, median, megabytes, note, printTable, ratio } from '../support/report.ts';
import type { Prepared, Target } from '../support/target.ts';

const SIZE = 8 * 2 ** 20;
/** Number of files used for downloads. */
const STORED = 32;
const connections = 32;

/** What transfers files in each direction: the service, a bare server, or the disk or network alone. */
const ways = ['upload', 'bare upload', 'write and fsync', 'download', 'bare download', 'from memory'] as const;
type Way = (typeof ways)[number];
const uploads = ways.slice(0, 3);
const downloads = ways.slice(3);

interface Round {
  seconds: ReadonlyMap<Way, number>;
  memory: { before: Memory; uploading: Memory; downloading: Memory; after: Memory };
}

/** Uploads and downloads of 8 MiB files at 32 connections, compared with a bare server and with disk and network alone. */
export async function files({ records: count = 192, rounds, scratch }: BenchContext): Promise<void> {
  const load = new LoadClient(scratch);
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    measured.push(await measure({ scratch, load, count, turn: round % 2 === 1 }));
    note(`round ${round} of ${rounds} done`);
  }
  const seconds = (way: Way) => median(measured.map((round) => round.seconds.get(way) ?? 0));
  const row = (way: Way, yardsticks: readonly Way[]) => [
    way,
    `${megabytes((count * SIZE) / seconds(way))}/s`,
    ...yardsticks.map((other) => (other === way ? '' : ratio(seconds(other) / seconds(way)))),
  ];
  const title = (what: string) =>
    `files: ${counted(count)} ${what} of 8 MiB, ${connections} at a time, medians of ${rounds} rounds`;
  for (const [what, group] of [
    ['uploads', uploads],
    ['downloads', downloads],
  ] as const) {
    const yardsticks = group.slice(1);
    const rows = group.map((way) => row(way, yardsticks));
    printTable(title(what), ['', 'measured', ...yardsticks.map((way) => `of ${way}`)], rows);
  }
  const middle = (when: keyof Round['memory'], what: keyof Memory) =>
    megabytes(median(measured.map(({ memory }) => memory[when][what])));
  printTable(
    'files: memory of the service',
    ['', 'resident', 'without file pages'],
    [
      ['before', middle('before', 'resident'), middle('before', 'own')],
      ['peak of uploads', middle('uploading', 'resident'), middle('uploading', 'own')],
      ['peak of downloads', middle('downloading', 'resident'), middle('downloading', 'own')],
      ['5 s after', middle('after', 'resident'), middle('after', 'own')],
    ],
  );
}

interface Setting extends Pick<BenchContext, 'scratch'> {
  load: LoadClient;
  count: number;
  /** Whether the service is measured first. */
  turn: boolean;
}

/** Executes one round with its own processes and directories, so that the disk does not fill up. */
async function measure({ scratch, load, count, turn }: Setting): Promise<Round> {
  const directories = [await scratch.directory(), await scratch.directory(), await scratch.directory()] as const;
  const service = await scratch.service(directories[0]);
  const target = serviceTarget(service);
  const bare = await startBareFiles(scratch, directories[1], SIZE);
  const upload = { method: 'POST', path: '/platform/files/photo.jpg' };
  const bareUpload = { method: 'POST', path: '/' };
  const addresses = await store(target, upload);
  await store(bare.target, bareUpload);

  const send = { body: SIZE, count, connections };
  const receive = { body: 0, count, connections };
  const stored = addresses.map((url): Prepared => ({ method: 'GET', path: new URL(url).pathname }));
  const onDisk = addresses.map((_, index): Prepared => ({ method: 'GET', path: `/disk/${index}` }));
  const run: Record<Way, () => Promise<number>> = {
    upload: () => load.transfer(target, [upload], send),
    'bare upload': () => load.transfer(bare.target, [bareUpload], send),
    'write and fsync': () => writeFiles(directories[2], { size: SIZE, count, writers: connections }),
    download: () => load.transfer(target, stored, receive),
    'bare download': () => load.transfer(bare.target, onDisk, receive),
    'from memory': () => load.transfer(bare.target, [{ method: 'GET', path: '/memory' }], receive),
  };
  const pid = service.process.pid ?? 0;
  const before = memoryOf(pid) ?? { resident: 0, own: 0 };
  const seconds = new Map<Way, number>();
  const inTurn = async (group: readonly Way[]) => {
    const memory = new MemoryWatch(pid);
    try {
      for (const way of turn ? group : group.toReversed()) seconds.set(way, await run[way]());
    } finally {
      memory.stop();
    }
    return memory.peak;
  };
  const uploading = await inTurn(uploads);
  const downloading = await inTurn(downloads);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const after = memoryOf(pid) ?? before;
  await service.stop();
  await bare.stop();
  for (const directory of directories) await rm(directory, { recursive: true });
  return { seconds, memory: { before, uploading, downloading, after } };
}

/** Uploads the files for later downloads, which also warms up the server. @returns their addresses, if the server returns them */
async function store({ url, headers }: Target, { method, path }: Prepared): Promise<string[]> {
  const body = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), randomBytes(SIZE - 4)]);
  const addresses: string[] = [];
  for (let n = 0; n < STORED; n++) {
    const response = await fetch(`${url}${path}`, { method, headers: { ...headers, 'Content-Type': 'image/jpeg' }, body });
    const answer = (await response.json()) as { url?: string };
    if (response.status !== 201) throw new Error(`${method} ${path} answered ${response.status} ${JSON.stringify(answer)}`);
    addresses.push(answer.url ?? '');
  }
  return addresses;
}
